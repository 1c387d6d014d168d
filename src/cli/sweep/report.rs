//! `sim sweep report`: the results of a sweep as one HTML file.

use std::path::PathBuf;

use clap::Args;

use crate::cli::failure::UsageError;
use crate::cli::output_options::PrintOptions;
use crate::cli::report_files::ReportFileOptions;
use crate::cli::stderr::warning;
use crate::metrics::columns::{BSLD_MEAN, RA_MEAN, WAIT_MEAN};
use crate::report::html::{Fact, SweepReport, WrittenReport};
use crate::report::{Cell, counted, grouped};
use crate::runs::FinishedRow;
use crate::sweep::{
    AskedSettings, Sweep, SweepCells, SweepProgress, conditions, groups, number_lines, setting_columns,
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim sweep --predictor ruh:window=1..10,estimate --replications 5 --out study
  sim sweep report study --out study.html
  sim sweep report study --svg figures    pictures for papers
  sim sweep report study --show easy/estimate --show ruh

Cells that are not done are left out, and the report says how many there are.")]
pub struct SweepReportArgs {
    /// The folder of the sweep
    folder: PathBuf,
    #[command(flatten)]
    files: ReportFileOptions,
    /// Draw this setting even if a chart has no room for all: SCHEDULER/PREDICTOR, or a scheduler or a predictor; may be repeated
    #[arg(long, value_name = "SPEC")]
    show: Vec<String>,
    #[command(flatten)]
    print: PrintOptions,
}

pub fn execute(args: &SweepReportArgs) -> anyhow::Result<()> {
    let sweep = Sweep::open(&args.folder)?;
    let own = [sweep.folder.join("grid.toml"), sweep.results_file()].map(|file| file.display().to_string());
    let own = own.each_ref().map(|file| ("the sweep", file.as_str()));
    let files = args.files.open(&own, &args.print)?;
    let cells = SweepCells::recorded(&sweep)?;
    let progress = cells.progress();
    let rows = cells.rows().collect::<Result<Vec<FinishedRow>, _>>()?;
    if rows.is_empty() {
        let folder = args.folder.display();
        anyhow::bail!("no cell of the sweep in {folder} is done: `sim sweep --out {folder} --resume` computes them");
    }
    if !progress.is_complete() {
        warning(format_args!(
            "{} of {} are in the report",
            grouped(progress.done as u64),
            counted(progress.cells as u64, "cell")
        ));
    }
    let report = page(&cells, &rows, &args.show)?;
    let row = [("cells", Cell::Count(progress.cells as u64)), ("done", Cell::Count(progress.done as u64))];
    files.write(&report, row, &args.print)
}

/// The page of finished cells.
pub fn page(cells: &SweepCells<'_>, rows: &[FinishedRow], show: &[String]) -> anyhow::Result<WrittenReport> {
    let sweep = cells.sweep;
    let asked = AskedSettings::read(show, rows).map_err(|error| UsageError(format!("--show: {error}")))?;
    let names = setting_columns(&sweep.grid);
    let groups = groups(&sweep.grid, &names, rows)?;
    let report = SweepReport {
        title: format!("Sweep {}", sweep.folder.display()),
        facts: facts(show, sweep, &cells.progress()),
        conditions: conditions(&sweep.grid, rows, &asked),
        lines: number_lines(&sweep.grid, rows, &[&WAIT_MEAN, &BSLD_MEAN, &RA_MEAN], &asked),
        names,
        groups,
    };
    Ok(report.write())
}

fn facts(show: &[String], sweep: &Sweep, progress: &SweepProgress) -> Vec<Fact> {
    let folder = sweep.folder.to_string_lossy();
    let quoted = |text: &str| shlex::try_quote(text).map_or(text.to_string(), |quoted| quoted.into_owned());
    let show: String = show.iter().map(|spec| format!(" --show {}", quoted(spec))).collect();
    let mut facts = vec![
        Fact::code("command", format!("sim sweep report {}{show}", quoted(&folder))),
        Fact::new("program", format!("Shadowtime {}", env!("CARGO_PKG_VERSION"))),
        Fact::new(
            "cells",
            format!(
                "{}: {} done, {} failed, {} missing",
                grouped(progress.cells as u64),
                grouped(progress.done as u64),
                grouped(progress.failed.len() as u64),
                grouped(progress.missing.len() as u64)
            ),
        ),
    ];
    facts.extend(sweep.grid.axes().iter().map(|axis| {
        let values = axis.values.join(", ");
        Fact::new("list", format!("{} ({}): {values}", axis.name, grouped(axis.values.len() as u64)))
    }));
    facts
}
