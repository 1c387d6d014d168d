//! Writes the summary of a run as a table, with a column for its baseline if it has one.

use std::io::{self, Write};

use super::shown::{shown, signed_percent, with_share};
use super::table::{Table, grouped};
use crate::metrics::columns::{
    AI_MEAN, ANSWERED, BACKFILLED, BSLD_MEAN, BSLD_P50, BSLD_P95, INSIDE_PCT, MAE, MAE_PCT, MAKESPAN, MISSES, RA_MEAN,
    UTILIZATION, WAIT_MAX, WAIT_MEAN, WAIT_P50, WAIT_P95,
};
use crate::metrics::{Column, RunRow, Shown, Summary};
use crate::text::printable;

/// The lines of the table: caption and column.
static LINES: [(&str, &Column); 17] = [
    ("wait, mean", &WAIT_MEAN),
    ("  median", &WAIT_P50),
    ("  95% of jobs within", &WAIT_P95),
    ("  longest", &WAIT_MAX),
    ("bounded slowdown, mean", &BSLD_MEAN),
    ("  median", &BSLD_P50),
    ("  95% of jobs within", &BSLD_P95),
    ("absolute inaccuracy (AI)", &AI_MEAN),
    ("relative accuracy (RA)", &RA_MEAN),
    ("error at start, mean", &MAE),
    ("  of the mean runtime", &MAE_PCT),
    ("  within its interval", &INSIDE_PCT),
    ("  with an interval", &ANSWERED),
    ("jobs backfilled", &BACKFILLED),
    ("missed deadlines", &MISSES),
    ("utilization", &UTILIZATION),
    ("makespan", &MAKESPAN),
];

/// Writes a line for each figure of a run. If there is a baseline, the line also has its figure and the improvement.
pub fn write_summary(out: &mut dyn Write, row: &RunRow) -> io::Result<()> {
    let RunRow { label, summary: run, baseline } = row;
    let jobs = grouped(run.jobs as u64);
    write!(out, "{}: {} processors, {jobs} jobs", printable(&label.trace), grouped(u64::from(label.procs)))?;
    if label.dropped > 0 {
        write!(out, " ({} records dropped)", grouped(label.dropped))?;
    }
    if !label.options.is_empty() {
        write!(out, "; {}", label.options)?;
    }
    writeln!(out, "\n")?;
    let name = format!("{}/{}", label.scheduler, label.predictor);
    let mut table = Table::default();
    match baseline {
        None => table.line(["", &name]),
        Some(base) => table.line(["", &name, &base.name, "improvement"]),
    }
    let summaries = || [Some(run), baseline.as_ref().map(|base| &base.summary)].into_iter().flatten();
    let has_intervals = summaries().any(|summary| summary.inside_pct.is_some());
    for (caption, column) in LINES {
        if !has_intervals && [INSIDE_PCT.name, ANSWERED.name].contains(&column.name) {
            continue;
        }
        let mut cells = vec![caption.to_string()];
        cells.extend(summaries().map(|summary| figure(column, summary)));
        if let (Some(base), Some(_)) = (baseline, column.improvement_column()) {
            let improvement = column.improvement(&base.summary, run);
            cells.push(improvement.map_or("-".to_string(), signed_percent));
        }
        table.push(cells);
    }
    table.write(out)
}

fn figure(column: &Column, summary: &Summary) -> String {
    let figure = column.figure(summary);
    match column.shown {
        Shown::ShareOfJobs => with_share(figure.unwrap_or(0.0) as u64, summary.jobs as u64),
        how => shown(how, figure.unwrap_or(f64::NAN)),
    }
}
