//! `sim reproduce`: a paper's tables, published and measured side by side.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::failure::UsageError;
use super::progress::Progress;
use super::{Format, available_threads};
use crate::experiment::Options;
use crate::report::{Output, csv_cell, grouped, summary_columns, write_csv, write_json_list};
use crate::reproduce::{
    Downey, Figure, FoundLog, LogName, Smith, Talby, Tsafrir, acknowledgements, find_logs, smith_logs, talby_logs,
    tsafrir_logs, write_figures,
};
use crate::schedule::catalog;
use crate::sweep::{Cell, Keys, Shard, Store, run};
use crate::time::humane;
use crate::trace::{ReadOptions, Source, Workload, read};

#[derive(Debug, Args)]
pub struct ReproduceArgs {
    #[command(subcommand)]
    study: Study,
}

#[derive(Debug, Subcommand)]
enum Study {
    /// Session-based prediction: Tables 2, 4, 5, 6, Figures 2 to 5 and the claims of the text of Talby et al.
    #[command(after_help = "Examples:
  sim reproduce talby --logs logs --replications 1              a first look, in less than a minute a core
  sim reproduce talby --logs logs --out study --format csv      ten replications, resumable

Wants the logs SDSC-SP2-1998, CTC-SP2-1996, KTH-SP2-1996 and SDSC-BLUE-2000 of the Parallel Workloads Archive, any
version; those that are not there are named, and the tables are made of the others.")]
    Talby(TalbyArgs),
    /// Templates and the search for them: Tables 1 and 4 to 10 of Smith, Foster and Taylor
    #[command(after_help = "Examples:
  sim reproduce smith --logs logs --replications 1              one genetic search a log
  sim reproduce smith --logs logs --format csv                  ten of them, for intervals: about a minute

Wants the logs CTC-SP2-1996 and SDSC-Par-1996 of the Parallel Workloads Archive, any version. The paper's two other
workloads, ANL and SDSC95, are not public: their published figures are printed with nothing beside them.")]
    Smith(SmithArgs),
    /// Models of user estimates: Tables 1, 2 and 5 and Figures 14 to 16 of Tsafrir, Etsion and Feitelson
    #[command(after_help = "Examples:
  sim reproduce tsafrir --logs logs --seeds 4                   a first look, in seconds
  sim reproduce tsafrir --logs logs --format csv                a hundred seeds, as in the paper: some minutes

Wants the logs SDSC-SP2-1998, CTC-SP2-1996, KTH-SP2-1996 and SDSC-BLUE-2000 of the Parallel Workloads Archive, any
version, and prepares them as the paper does: only jobs with a runtime and processors above 0; SDSC without the estimates
that one user alone uses, who has more of his own than all others; of KTH the jobs with estimates up to 4 hours. Figures 14 to 16 are pictures there: what is
measured stands alone.")]
    Tsafrir(TsafrirArgs),
    /// Malleable jobs: Tables 1 and 2, Figure 5, the text's figures and the future work of Downey
    #[command(after_help = "Examples:
  sim reproduce downey --days 20                                a first look
  sim reproduce downey --format csv                             ten workloads as in the paper: a minute on two free cores

Needs no logs: the workload is the paper's model. What is published is one run of it; the note says whether it lies among
ours.")]
    Downey(DowneyArgs),
}

#[derive(Debug, Args)]
struct TalbyArgs {
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

#[derive(Debug, Args)]
struct SmithArgs {
    #[command(flatten)]
    common: Common,
    /// How many genetic searches are made of each log, with seeds from 0 on; the first is the one measured, intervals are
    /// over all of them
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    replications: u32,
}

#[derive(Debug, Args)]
struct TsafrirArgs {
    #[command(flatten)]
    common: Common,
    /// How many seeds, from 1 on, each random model of estimates is simulated with
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: u64,
}

#[derive(Debug, Args)]
struct DowneyArgs {
    /// Not needed: the study has no logs. It is taken, so that all studies can be called alike
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    #[command(flatten)]
    printing: Printing,
    /// Days of each workload
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    days: u32,
    /// How many workloads are drawn, with seeds from 1 on (of those that are not the paper's own at most five); the first is
    /// the one measured, intervals are over all of them
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    replications: u32,
}

/// What every study of logs takes.
#[derive(Debug, Args)]
struct Common {
    /// The folder with the logs
    #[arg(long, value_name = "DIR")]
    logs: PathBuf,
    #[command(flatten)]
    printing: Printing,
}

/// What every study takes.
#[derive(Debug, Args)]
struct Printing {
    /// Threads to use; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    threads: Option<u32>,
    /// How to print the figures [default: table on a terminal, csv otherwise]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

pub fn execute(args: &ReproduceArgs, quiet: bool) -> anyhow::Result<()> {
    match &args.study {
        Study::Talby(args) => talby(args, quiet),
        Study::Smith(args) => smith(args, quiet),
        Study::Tsafrir(args) => tsafrir(args, quiet),
        Study::Downey(args) => downey(args, quiet),
    }
}

fn talby(args: &TalbyArgs, quiet: bool) -> anyhow::Result<()> {
    let logs = args.common.find(&talby_logs(), quiet)?;
    let cells_out = args.cells_out.as_deref().map(Output::create).transpose()?;
    let threads = args.common.printing.threads();
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

fn smith(args: &SmithArgs, quiet: bool) -> anyhow::Result<()> {
    let logs = args.common.find(&smith_logs(), quiet)?;
    let options = Options { scheduler: catalog::parse("replay")?, ..Options::default() };
    let workload = |log: &FoundLog| {
        let source = Source::from_argument(&log.file.to_string_lossy());
        Ok((log.clone(), options.clean(&read(&source, options.read_options(), &mut |_| ())?)?))
    };
    let workloads = logs.iter().map(workload).collect::<anyhow::Result<Vec<_>>>()?;
    let study =
        Smith { logs: &workloads, replications: u64::from(args.replications), threads: args.common.printing.threads() };
    let figures = {
        let progress = Progress::counting("searching", "searches", Some(study.steps()), quiet);
        let done = std::cell::Cell::new(0);
        study.figures(&|| {
            done.set(done.get() + 1);
            progress.at(done.get());
        })?
    };
    args.common.print("smith", &figures, &logs, false)
}

fn tsafrir(args: &TsafrirArgs, quiet: bool) -> anyhow::Result<()> {
    let found = args.common.find(&tsafrir_logs(), quiet)?;
    let log = |found: &FoundLog| {
        let source = Source::from_argument(&found.file.to_string_lossy());
        Ok((found.clone(), read(&source, ReadOptions::default(), &mut |_| ())?))
    };
    let logs = found.iter().map(log).collect::<anyhow::Result<Vec<_>>>()?;
    let study = Tsafrir::new(&logs, args.seeds, args.common.printing.threads())?;
    drop(logs);
    let figures = {
        let progress = Progress::counting("simulating", "runs", Some(study.steps()), quiet);
        study.figures(|done| progress.at(done)).map_err(anyhow::Error::msg)?
    };
    args.common.print("tsafrir", &figures, &found, false)
}

fn downey(args: &DowneyArgs, quiet: bool) -> anyhow::Result<()> {
    if let (Some(logs), false) = (&args.logs, quiet) {
        eprintln!("note: this study has no logs: {} is not looked into", logs.display());
    }
    let (replications, days) = (u64::from(args.replications), args.days);
    let study = Downey { replications, days, threads: args.printing.threads() };
    let began = std::time::Instant::now();
    let figures = {
        let progress = Progress::counting("simulating", "workloads", Some(study.steps()), quiet);
        study.figures(|done| progress.at(done))
    };
    if !quiet {
        let (count, time) = (grouped(study.steps() as u64), humane(began.elapsed().as_secs_f64()));
        eprintln!("note: {count} workloads in {time}");
    }
    args.printing.print("downey", &figures, false)
}

impl Common {
    /// The logs of a study that are there; those that are not are named.
    fn find(&self, names: &[LogName], quiet: bool) -> anyhow::Result<Vec<FoundLog>> {
        let failed = |error| UsageError(format!("cannot look into {}: {error}", self.logs.display()));
        let (logs, missing) = find_logs(&self.logs, names).map_err(failed)?;
        for name in &missing {
            eprintln!("warning: no log {}*.swf in {}: left out", name.prefix, self.logs.display());
        }
        if logs.is_empty() {
            return Err(UsageError(format!("none of the study's logs is in {}", self.logs.display())).into());
        }
        if !quiet {
            logs.iter().for_each(|log| eprintln!("note: {} is {}", log.name.short, log.file.display()));
        }
        Ok(logs)
    }

    /// The figures, and whom the logs are owed to.
    fn print(&self, study: &str, figures: &[Figure], logs: &[FoundLog], stdout_taken: bool) -> anyhow::Result<()> {
        self.printing.print(study, figures, stdout_taken)?;
        eprintln!("{}", acknowledgements(logs));
        Ok(())
    }
}

impl Printing {
    fn threads(&self) -> usize {
        self.threads.map_or_else(available_threads, |threads| threads as usize)
    }

    fn print(&self, study: &str, figures: &[Figure], stdout_taken: bool) -> anyhow::Result<()> {
        let cells: Vec<_> = figures.iter().map(|figure| figure.cells(study)).collect();
        let write = |out: &mut dyn Write| match Format::or_default(self.format) {
            Format::Table => write_figures(out, figures),
            Format::Csv => write_csv(out, &cells, true),
            Format::Json => write_json_list(out, &cells),
        };
        match stdout_taken {
            true => write(&mut io::stderr().lock())?,
            false => Output::stdout().fill(write)?,
        }
        Ok(())
    }
}

/// Runs all cells on the runner of sweeps; their rows, in order.
fn rows(cells: &Vec<Cell>, out: Option<PathBuf>, threads: usize, quiet: bool) -> anyhow::Result<Vec<String>> {
    // Without a folder to keep, one that is gone when all is done.
    let kept = out.is_some();
    let folder = out.unwrap_or_else(|| std::env::temp_dir().join(format!("shadowtime-{}", std::process::id())));
    let began = std::time::Instant::now();
    let keys = Keys::of(cells, threads);
    let store = Store::open(&folder)?;
    let report = {
        let progress = Progress::counting("simulating", "runs", Some(cells.len()), quiet);
        run(cells, &keys, &store, Shard::WHOLE, threads, &|done, all| progress.at_of(done, all))?
    };
    if !quiet {
        let (count, time) = (grouped(cells.len() as u64), humane(began.elapsed().as_secs_f64()));
        let (reused, computed) = (grouped(report.reused as u64), grouped(report.computed as u64));
        eprintln!("note: {count} runs: {reused} reused, {computed} computed, in {time}");
    }
    let store = Store::open(&folder)?;
    let row = |key: &Option<u128>| Ok(key.map(|key| store.row(key)).transpose()?.flatten());
    let rows: anyhow::Result<Vec<Option<String>>> = keys.keys.iter().map(row).collect();
    if !kept {
        let _ = std::fs::remove_dir_all(&folder);
    }
    if let Some(failure) = report.failures.first() {
        let again = cells[failure.cell].command();
        anyhow::bail!("{} runs failed, the first: {}\n  again: {again}", report.failures.len(), failure.message);
    }
    Ok(rows?.into_iter().flatten().collect())
}

/// Every run with the command that repeats it.
fn write_cells(out: &mut dyn Write, cells: &[Cell], rows: &[String]) -> io::Result<()> {
    writeln!(out, "command,{}", summary_columns(false).join(","))?;
    for (cell, row) in cells.iter().zip(rows) {
        writeln!(out, "{},{row}", csv_cell(&cell.command()))?;
    }
    Ok(())
}

/// The jobs of each log, as the study's runs have them.
fn workloads(logs: &[FoundLog], cells: &[Cell]) -> anyhow::Result<Vec<Workload>> {
    let workload = |log: &FoundLog| {
        let file = log.file.to_string_lossy();
        let cell = cells.iter().find(|cell| cell.trace.as_deref() == Some(&*file)).expect("every log has cells");
        Ok(cell.options.clean(&read(&cell.source(), cell.options.read_options(), &mut |_| ())?)?)
    };
    logs.iter().map(workload).collect()
}
