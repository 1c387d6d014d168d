//! `sim reproduce talby`: every run of the study, on the runner of sweeps.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use super::Common;
use crate::cli::places::given;
use crate::cli::progress::Progress;
use crate::cli::stderr::note;
use crate::metrics::RunRow;
use crate::report::{Cell, Output, grouped, temporary_folder, write_csv};
use crate::reproduce::{FoundLog, Talby, talby_logs};
use crate::sweep::{GridCell, Keys, Shard, Store, run};
use crate::time::readable_duration;
use crate::trace::{Workload, read};

#[derive(Debug, Args)]
pub struct TalbyArgs {
    #[command(flatten)]
    common: Common,
    /// How often each run is repeated on a slightly shaken log (submissions moved by up to 30 s); the first is the log as
    /// it is. Intervals are over all of them
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    replications: u32,
    /// Keep finished runs here, and use those that are there [default: nowhere]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write a CSV with every run: the command that repeats it alone, and its summary; - for standard output (the figures then go to
    /// standard error)
    #[arg(long, value_name = "FILE")]
    cells_out: Option<String>,
}

pub fn execute(args: &TalbyArgs, quiet: bool) -> anyhow::Result<()> {
    let logs = args.common.find(&talby_logs(), &given([("--cells-out", &args.cells_out)]), quiet)?;
    let cells_out = args.cells_out.as_deref().map(Output::create).transpose()?;
    let threads = args.common.output.threads();
    let study = Talby::new(logs.clone(), args.replications as usize);
    let cells = study.cells();
    let rows = rows(&cells, args.out.clone(), threads, quiet)?;
    if let Some(out) = cells_out {
        out.fill(|out| write_cells(out, &cells, &rows))?;
    }
    let figures = study.figures(&rows, &workloads(&logs, &cells)?)?;
    // As with the main command: what was asked to go to standard output has it for itself.
    let stdout_taken = args.cells_out.as_deref().is_some_and(Output::is_stdout);
    args.common.print("talby", &figures, &logs, stdout_taken)
}

/// Runs all cells on the runner of sweeps; their rows, in order.
fn rows(cells: &Vec<GridCell>, out: Option<PathBuf>, threads: usize, quiet: bool) -> anyhow::Result<Vec<RunRow>> {
    // Without a folder to keep, one that is gone when all is done.
    let kept = out.is_some();
    let folder = out.map_or_else(|| temporary_folder(&std::env::temp_dir()), Ok)?;
    let began = std::time::Instant::now();
    let store = Store::open(&folder)?;
    let keys = Keys::of(cells, &store, threads);
    let report = {
        let progress = Progress::counting("simulating", "runs", Some(cells.len()), quiet);
        run(cells, &keys, &store, Shard::WHOLE, threads, &|done, all| progress.at_of(done, all))?
    };
    if !quiet {
        let (count, time) = (grouped(cells.len() as u64), readable_duration(began.elapsed().as_secs_f64()));
        let (reused, computed) = (grouped(report.reused as u64), grouped(report.computed as u64));
        note(format_args!("{count} runs: {reused} reused, {computed} computed, in {time}"));
    }
    let store = Store::open(&folder)?;
    let row = |(cell, key): (&GridCell, &Option<u128>)| {
        let mut row = key.map(|key| store.row(key)).transpose()?.flatten();
        row.iter_mut().for_each(|row| row.label.trace = cell.source().label());
        Ok(row)
    };
    let rows: anyhow::Result<Vec<Option<RunRow>>> = cells.iter().zip(&keys.keys).map(row).collect();
    if !kept {
        let _ = std::fs::remove_dir_all(&folder);
    }
    if let Some(failure) = report.failures.first() {
        let again = cells[failure.cell].command();
        anyhow::bail!("{} runs failed, the first: {}\n  again: {again}", report.failures.len(), failure.message);
    }
    let rows: Vec<RunRow> = rows?.into_iter().flatten().collect();
    anyhow::ensure!(
        rows.len() == cells.len(),
        "{} finished runs vanished from {}",
        cells.len() - rows.len(),
        folder.display()
    );
    Ok(rows)
}

/// Every run with the command that repeats it.
fn write_cells(out: &mut dyn Write, cells: &[GridCell], rows: &[RunRow]) -> io::Result<()> {
    let with_command =
        |(cell, row): (&GridCell, &RunRow)| [vec![("command", Cell::Text(cell.command()))], row.cells()].concat();
    write_csv(out, &cells.iter().zip(rows).map(with_command).collect::<Vec<_>>(), true)
}

/// The jobs of each log, as the study's runs have them.
fn workloads(logs: &[FoundLog], cells: &[GridCell]) -> anyhow::Result<Vec<Workload>> {
    let workload = |log: &FoundLog| {
        let file = log.file.to_string_lossy();
        let cell = cells.iter().find(|cell| cell.trace.as_deref() == Some(&*file)).expect("every log has cells");
        Ok(cell.options.clean_out(&mut read(&cell.source(), cell.options.read_options(), &mut |_| ())?)?)
    };
    logs.iter().map(workload).collect()
}
