//! `sim sweep report`: the results of a sweep as one HTML file.

use std::path::PathBuf;

use clap::Args;

use super::results::{all_settings, means};
use crate::cli::output_options::PrintOptions;
use crate::cli::places::refuse_collisions;
use crate::cli::stderr::{note, warning};
use crate::metrics::Group;
use crate::metrics::columns::{BSLD_MEAN, RA_MEAN, WAIT_MEAN};
use crate::report::html::{Fact, SweepReport};
use crate::report::{Cell, Output, counted, grouped, shown};
use crate::sweep::{FinishedRow, Sweep, SweepCells, SweepProgress, number_lines};
use crate::text::shortened;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim sweep --predictor ruh:window=1..10 --replications 5 --out study
  sim sweep report study --out study.html

Cells that are not done are left out, and the report says how many there are.")]
pub struct SweepReportArgs {
    /// The folder of the sweep
    folder: PathBuf,
    /// The file to write the report to; - for standard output
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    out: String,
    #[command(flatten)]
    print: PrintOptions,
}

pub fn execute(args: &SweepReportArgs, quiet: bool) -> anyhow::Result<()> {
    let sweep = Sweep::open(&args.folder)?;
    let own = [sweep.folder.join("grid.toml"), sweep.results_file()].map(|file| file.display().to_string());
    let (own, prints) = (own.each_ref().map(|file| ("the sweep", file.as_str())), args.print.given().is_some());
    refuse_collisions(&[("--out", &args.out)], &own, prints)?;
    let cells = SweepCells::recorded(&sweep)?;
    let out = Output::create(&args.out)?;
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
    let names = all_settings(&sweep.grid);
    let groups = means(&sweep.grid, &names, rows.iter().map(Ok))?;
    let result = result_in_words(&names, &groups);
    let report = SweepReport {
        title: format!("Sweep {}", args.folder.display()),
        result,
        facts: facts(args, &sweep, &progress),
        charts: number_lines(&sweep.grid, &rows, &[&WAIT_MEAN, &BSLD_MEAN, &RA_MEAN]),
        names,
        groups,
    };
    let charts = report.charts.len();
    let page = report.page();
    out.fill(|out| out.write_all(page.as_bytes()))?;
    let row = [
        ("cells", Cell::Count(progress.cells as u64)),
        ("done", Cell::Count(progress.done as u64)),
        ("charts", Cell::Count(charts as u64)),
        ("out", Cell::Text(args.out.clone())),
        ("bytes", Cell::Count(page.len() as u64)),
    ];
    Ok(args.print.report(&args.out, quiet, &row, || {
        let size = grouped((page.len() as u64).div_ceil(1000));
        if !Output::is_stdout(&args.out) {
            note(format_args!("the report is in {} ({size} kB): open it with a browser", args.out));
        }
    })?)
}

fn facts(args: &SweepReportArgs, sweep: &Sweep, progress: &SweepProgress) -> Vec<Fact> {
    let folder = args.folder.to_string_lossy();
    let quoted = shlex::try_quote(&folder).map_or(folder.to_string(), |quoted| quoted.into_owned());
    let mut facts = vec![
        Fact::code("command", format!("sim sweep report {quoted}")),
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

/// The setting with the shortest mean wait of each log.
fn result_in_words(names: &[String], groups: &[Group]) -> String {
    let figure = |group: &Group| {
        let mean = group.means.iter().find(|mean| mean.column.name == WAIT_MEAN.name);
        mean.map_or(f64::NAN, |mean| mean.mean)
    };
    let mut best: Vec<&Group> = Vec::new();
    for group in groups {
        // The first label is the log.
        match best.iter_mut().find(|other| other.labels.first() == group.labels.first()) {
            Some(other) if figure(group) < figure(other) => *other = group,
            Some(_) => {}
            None => best.push(group),
        }
    }
    let setting = |group: &Group| {
        let labels = names.iter().zip(&group.labels).skip(1).filter(|(_, label)| !label.is_empty());
        labels.map(|(name, label)| format!("{name} {}", shortened(label))).collect::<Vec<_>>().join(", ")
    };
    let sentence = |group: &&Group| {
        let wait = shown(WAIT_MEAN.shown, figure(group));
        format!("{}: the shortest mean wait, {wait}, is that of {}.", shortened(&group.labels[0]), setting(group))
    };
    let all: Vec<String> = best.iter().take(5).map(sentence).collect();
    all.join(" ")
}
