//! The results of a study as rows of named cells, one row per strategy, and as tables for people.

use std::io::{self, Write};

use super::figures::{MalleableFigures, saved};
use super::schedule::{DecisionKind, MalleableSchedule, StudyView};
use super::workload::MalleableJob;
use crate::report::{Cell, Table, csv_cell, grouped, percent, signed_percent, write_wrapped};
use crate::stats::mean_and_half_width;
use crate::time::readable_duration;

impl StudyView {
    /// As in CSV and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            StudyView::Application => "application",
            StudyView::System => "system",
        }
    }
}

impl DecisionKind {
    /// As in CSV.
    pub fn name(self) -> &'static str {
        match self {
            DecisionKind::Spoiled => "spoiled",
            DecisionKind::Docile => "docile",
            DecisionKind::Rebel => "rebel",
        }
    }
}

/// A strategy in a view on one or many workloads.
#[derive(Clone, Debug)]
pub struct StudyRow {
    /// The strategy's spec.
    pub strategy: String,
    /// Whether the decisions are acted upon.
    pub view: StudyView,
    /// One per workload, never empty.
    pub runs: Vec<MalleableFigures>,
    /// The strategy `avg` in the same view on the same workloads.
    pub avg: Vec<MalleableFigures>,
}

/// How a column is written.
#[derive(Clone, Copy)]
enum ColumnKind {
    Count,
    Seconds,
    Real,
}

type StudyColumn = (&'static str, ColumnKind, fn(&MalleableFigures) -> f64);

const COLUMNS: [StudyColumn; 6] = [
    ("jobs", ColumnKind::Count, |run| run.jobs as f64),
    ("rebels", ColumnKind::Count, |run| run.rebels as f64),
    ("saved_mean_s", ColumnKind::Seconds, |run| run.saved_mean),
    ("losers_pct", ColumnKind::Real, MalleableFigures::losers_pct),
    ("turnaround_mean_s", ColumnKind::Seconds, |run| run.turnaround_mean),
    ("utilization", ColumnKind::Real, |run| run.utilization),
];

const DETAILS: [StudyColumn; 14] = [
    ("spoiled", ColumnKind::Count, |run| run.spoiled as f64),
    ("losers", ColumnKind::Count, |run| run.losers as f64),
    ("saved_rebel_mean_s", ColumnKind::Seconds, |run| run.saved_by_rebel),
    ("saved_rebel_median_s", ColumnKind::Seconds, |run| run.saved_by_rebel_median),
    ("lost_loser_mean_s", ColumnKind::Seconds, |run| run.lost_by_loser),
    ("wait_mean_s", ColumnKind::Seconds, |run| run.wait_mean),
    ("runtime_mean_s", ColumnKind::Seconds, |run| run.runtime_mean),
    ("runtime_median_s", ColumnKind::Seconds, |run| run.runtime_median),
    ("rebel_lifetime_mean_s", ColumnKind::Seconds, |run| run.rebel_lifetime),
    ("docile_lifetime_mean_s", ColumnKind::Seconds, |run| run.docile_lifetime),
    ("pairs", ColumnKind::Count, |run| run.pairs as f64),
    ("correlation", ColumnKind::Real, |run| run.correlation),
    ("slope", ColumnKind::Real, |run| run.slope),
    ("intercept", ColumnKind::Real, |run| run.intercept),
];

impl StudyRow {
    /// The row of one workload, or means over many with the half-widths of their 95% intervals (`_ci95`).
    pub fn cells(&self, with_view: bool, details: bool) -> Vec<(String, Cell)> {
        let mut cells = vec![("strategy".to_string(), Cell::Text(self.strategy.clone()))];
        if self.runs.len() > 1 {
            cells.push(("rows".to_string(), Cell::Count(self.runs.len() as u64)));
        }
        for (name, kind, value) in COLUMNS.iter().chain(DETAILS.iter().filter(|_| details)) {
            let (mean, half) = self.stat(|run, _| value(run));
            let cell = |value: f64| match kind {
                ColumnKind::Seconds => Cell::Seconds(value),
                _ => Cell::Real(value),
            };
            match (kind, half) {
                (ColumnKind::Count, None) => cells.push((name.to_string(), Cell::Count(mean as u64))),
                (_, None) => cells.push((name.to_string(), cell(mean))),
                (_, Some(half)) => cells.extend([(name.to_string(), cell(mean)), (format!("{name}_ci95"), cell(half))]),
            }
        }
        if with_view {
            cells.push(("view".to_string(), Cell::Text(self.view.name().to_string())));
        }
        cells
    }

    /// The mean over all runs of a value, which may be compared with the value of AVG, and the half-width of its
    /// confidence interval if there are several runs.
    fn stat(&self, number: impl Fn(&MalleableFigures, &MalleableFigures) -> f64) -> (f64, Option<f64>) {
        let numbers: Vec<f64> = self.runs.iter().zip(&self.avg).map(|(run, avg)| number(run, avg)).collect();
        mean_and_half_width(&numbers)
    }

    /// The same as text; `-` if there is no number.
    fn text(
        &self,
        show: impl Fn(f64) -> String,
        number: impl Fn(&MalleableFigures, &MalleableFigures) -> f64,
    ) -> String {
        match self.stat(number) {
            (mean, _) if !mean.is_finite() => "-".to_string(),
            (mean, None) => show(mean),
            (mean, Some(half)) => format!("{} +- {}", show(mean), show(half).trim_start_matches('+')),
        }
    }
}

/// Writes the rows of both views like the paper's Tables 1 and 2, and the quality of the predictions.
pub fn write_tables(out: &mut dyn Write, width: usize, rows: &[StudyRow]) -> io::Result<()> {
    let of = |view: StudyView| rows.iter().filter(move |row| row.view == view);
    let whole = |number: f64| grouped(number.max(0.0).round() as u64);
    let real = |number: f64| format!("{number:.2}");
    let share = |number: f64| percent(number / 100.0);
    if let Some(first) = of(StudyView::Application).next() {
        let spoiled = first.text(share, |run, _| 100.0 * run.spoiled as f64 / run.jobs as f64);
        let heading =
            format!("What a job would gain by choosing when all others run under avg ({spoiled} get all they can use)");
        write_wrapped(out, "", &heading, width)?;
        let mut table = Table::default();
        table.headings(["", "rebels", "of all", "saved per job", "per rebel", "median", "rebels who lose", "losing"]);
        for row in of(StudyView::Application) {
            table.push(vec![
                row.strategy.clone(),
                row.text(whole, |run, _| run.rebels as f64),
                row.text(share, |run, _| run.rebels_pct()),
                row.text(readable_duration, |run, _| run.saved_mean),
                row.text(readable_duration, |run, _| run.saved_by_rebel),
                row.text(readable_duration, |run, _| run.saved_by_rebel_median),
                row.text(share, |run, _| run.losers_pct()),
                row.text(readable_duration, |run, _| run.lost_by_loser),
            ]);
        }
        table.write(out, width)?;
        writeln!(out)?;
    }
    if of(StudyView::System).next().is_some() {
        let heading = "The system when every job chooses, with improvements over avg: positive is better";
        write_wrapped(out, "", heading, width)?;
        let mut table = Table::default();
        table.headings([
            "",
            "utilization",
            "improvement",
            "turnaround",
            "improvement",
            "rebels, of all",
            "rebels who lose",
        ]);
        for row in of(StudyView::System) {
            table.push(vec![
                row.strategy.clone(),
                row.text(share, |run, _| 100.0 * run.utilization),
                row.text(signed_percent, |run, avg| 100.0 * (run.utilization / avg.utilization - 1.0)),
                row.text(readable_duration, |run, _| run.turnaround_mean),
                row.text(signed_percent, |run, avg| 100.0 * (1.0 - run.turnaround_mean / avg.turnaround_mean)),
                row.text(share, |run, _| run.rebels_pct()),
                row.text(share, |run, _| run.losers_pct()),
            ]);
        }
        table.write(out, width)?;
        writeln!(out)?;
    }
    // The predictions of an oracle equal the outcomes.
    let predicting: Vec<_> =
        rows.iter().filter(|row| row.runs[0].pairs > 0 && !row.strategy.starts_with("opt")).collect();
    if predicting.is_empty() {
        return Ok(());
    }
    let heading = "Queue times that rebels decided by, predicted and actual, in natural logarithms of seconds";
    write_wrapped(out, "", heading, width)?;
    let mut table = Table::with_left(2);
    table.headings(["", "view", "predictions", "correlation", "slope", "intercept"]);
    for row in predicting {
        table.push(vec![
            row.strategy.clone(),
            row.view.name().to_string(),
            row.text(whole, |run, _| run.pairs as f64),
            row.text(real, |run, _| run.correlation),
            row.text(real, |run, _| run.slope),
            row.text(real, |run, _| run.intercept),
        ]);
    }
    table.write(out, width)
}

const JOB_COLUMNS: &str = "strategy,view,job,arrival,lifetime,parallelism,sigma,kind,decided,offered,held_for,predicted,\
                           asked,start,procs,runtime,saved,scheduled_start,scheduled_procs";

/// Writes one CSV line per job of each schedule: the job, its decision and the result.
pub fn write_allocations(
    out: &mut dyn Write,
    jobs: &[MalleableJob],
    schedules: &[(&StudyRow, &MalleableSchedule)],
) -> io::Result<()> {
    writeln!(out, "{JOB_COLUMNS}")?;
    for (row, schedule) in schedules {
        let label = format!("{},{}", csv_cell(&row.strategy), row.view.name());
        for (number, (job, at)) in (1u64..).zip(jobs.iter().zip(&schedule.allocations)) {
            let (held_for, predicted) = match at.hold_out {
                Some(hold_out) if hold_out.wait.is_finite() => {
                    (hold_out.procs.to_string(), format!("{:.3}", hold_out.wait))
                }
                Some(hold_out) => (hold_out.procs.to_string(), String::new()),
                None => Default::default(),
            };
            writeln!(
                out,
                "{label},{number},{:.3},{:.3},{:.6},{:.6},{},{:.3},{},{held_for},{predicted},{},{:.3},{},{:.3},{:.3},{:.3},{}",
                job.arrival,
                job.lifetime,
                job.parallelism,
                job.sigma,
                at.kind.name(),
                at.decided,
                at.offered,
                at.decisions,
                at.placement.start,
                at.placement.procs,
                job.runtime(at.placement.procs),
                saved(job, at),
                at.scheduled.start,
                at.scheduled.procs,
            )?;
        }
    }
    Ok(())
}

/// Writes one CSV line per prediction behind a decision to hold out (the points of Figure 5).
pub fn write_pairs(out: &mut dyn Write, schedules: &[(&StudyRow, &MalleableSchedule)]) -> io::Result<()> {
    writeln!(out, "strategy,view,job,time,procs,predicted,actual")?;
    for (row, schedule) in schedules {
        let label = format!("{},{}", csv_cell(&row.strategy), row.view.name());
        for pair in &schedule.pairs {
            let (job, time, procs) = (pair.job + 1, pair.time, pair.procs);
            writeln!(out, "{label},{job},{time:.3},{procs},{:.3},{:.3}", pair.predicted, pair.actual)?;
        }
    }
    Ok(())
}
