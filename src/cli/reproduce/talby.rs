//! `sim reproduce talby`: the runs of the study, computed and kept as those of a sweep.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use super::{Common, compute, print};
use crate::cli::places::given_files;
use crate::cli::stderr::note;
use crate::metrics::RunRow;
use crate::report::{Cell, Output, counted, grouped, write_csv};
use crate::reproduce::{Setup, TALBY_LOGS, Talby};
use crate::runs::PlannedRun;

#[derive(Debug, Args)]
pub struct TalbyArgs {
    #[command(flatten)]
    common: Common,
    /// The number of runs of each setting: the first on the log as it is, the others on slightly shaken copies (submissions
    /// moved by up to 30 s). Intervals are over all of them
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    replications: u32,
    /// Keep finished runs in this folder, and reuse those that are in it [default: runs are not kept]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write a CSV with one line per run: the command that repeats the run alone, and its summary; - for standard output (the
    /// figures then go to standard error)
    #[arg(long, value_name = "FILE")]
    cells_out: Option<String>,
}

pub fn execute(args: &TalbyArgs, quiet: bool) -> anyhow::Result<()> {
    let setup = args.common.setup(&TALBY_LOGS, &given_files([("--cells-out", &args.cells_out)]), quiet)?;
    let cells_out = args.cells_out.as_deref().map(Output::create).transpose()?;
    let html = args.common.output.open_html()?;
    let study = Talby::new(Setup { folder: args.out.clone(), ..setup }, args.replications as usize);
    let figures = compute(&study, quiet)?;
    if let Some(runs) = study.runs() {
        if !quiet {
            let [reused, computed] = [runs.reused, runs.computed].map(|count| grouped(count as u64));
            note(format_args!("{}: {reused} reused, {computed} computed", counted(runs.rows.len() as u64, "run")));
        }
        if let Some(out) = cells_out {
            out.fill(|out| write_cells(out, &study.cells(), &runs.rows))?;
        }
    }
    // As with the main command: if a file is standard output, the result goes to standard error.
    let stdout_taken = args.cells_out.as_deref().is_some_and(Output::is_stdout);
    print(&study, &figures, &args.common.output, html, stdout_taken)
}

/// Writes one line per run, with the command that repeats it.
fn write_cells(out: &mut dyn Write, cells: &[PlannedRun], rows: &[RunRow]) -> io::Result<()> {
    let with_command =
        |(cell, row): (&PlannedRun, &RunRow)| [vec![("command", Cell::Text(cell.command()))], row.cells()].concat();
    write_csv(out, &cells.iter().zip(rows).map(with_command).collect::<Vec<_>>(), true)
}
