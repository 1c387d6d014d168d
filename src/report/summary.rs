//! The summary of a run as a table for people, beside its baseline if it has one.

use std::io::{self, Write};

use super::row::RunLabel;
use super::table::{Table, grouped, percent};
use crate::metrics::{Improvement, Summary};
use crate::text::printable;
use crate::time::humane;

/// A baseline: its name, `scheduler/predictor`, and its figures.
#[derive(Clone, Debug)]
pub struct Baseline {
    pub name: String,
    pub summary: Summary,
}

pub fn write_summary(
    out: &mut dyn Write,
    label: &RunLabel,
    run: &Summary,
    baseline: Option<&Baseline>,
) -> io::Result<()> {
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
    let gain = baseline.map(|base| Improvement::over(&base.summary, run));
    let mut line = |what: &str, show: &dyn Fn(&Summary) -> String, gained: Option<Option<f64>>| {
        let mut cells = vec![what.to_string(), show(run)];
        cells.extend(baseline.map(|base| show(&base.summary)));
        cells.extend(gained.map(|gained| gained.map_or("-".to_string(), signed_percent)));
        table.push(cells);
    };
    line("wait, mean", &|s| humane(s.wait_mean), gain.map(|g| g.wait));
    line("  median", &|s| humane(s.wait_p50), None);
    line("  95% of jobs within", &|s| humane(s.wait_p95), None);
    line("  longest", &|s| humane(s.wait_max), None);
    line("bounded slowdown, mean", &|s| slowdown(s.bsld_mean), gain.map(|g| g.bsld));
    line("  median", &|s| slowdown(s.bsld_p50), None);
    line("  95% of jobs within", &|s| slowdown(s.bsld_p95), None);
    line("absolute inaccuracy (AI)", &|s| humane(s.ai_mean), gain.map(|g| g.ai));
    line("relative accuracy (RA)", &|s| percent(s.ra_mean), gain.map(|g| g.ra));
    line("error at start, mean", &|s| minutes(s.mae), None);
    line("  of the mean runtime", &|s| percent(s.mae_pct / 100.0), None);
    if run.inside_pct.is_some() || baseline.is_some_and(|base| base.summary.inside_pct.is_some()) {
        line(
            "  within its interval",
            &|s| s.inside_pct.map_or("-".to_string(), |inside| percent(inside / 100.0)),
            None,
        );
        line("  with an interval", &|s| share(s.answered, s.jobs), None);
    }
    line("jobs backfilled", &|s| share(s.backfilled, s.jobs), None);
    line("missed deadlines", &|s| grouped(s.misses), None);
    line("utilization", &|s| percent(s.utilization), None);
    line("makespan", &|s| humane(s.makespan as f64), None);
    table.write(out)
}

/// With its sign, but none for what rounds to nothing.
fn signed_percent(percent: f64) -> String {
    if percent.abs() < 0.05 { "0.0%".to_string() } else { format!("{percent:+.1}%") }
}

/// As studies of prediction print errors.
fn minutes(seconds: f64) -> String {
    if seconds.is_finite() { format!("{:.2} min", seconds / 60.0) } else { "-".to_string() }
}

fn slowdown(value: f64) -> String {
    if value.is_finite() { format!("{value:.2}") } else { "-".to_string() }
}

fn share(part: usize, all: usize) -> String {
    format!("{} ({})", grouped(part as u64), percent(part as f64 / all as f64))
}
