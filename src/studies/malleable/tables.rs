//! The results of a study as rows of named cells, one row per strategy, and as tables for people.

use std::io::{self, Write};

use super::figures::{MalleableFigures, saved};
use super::schedule::{Allocation, DecisionKind, MalleableSchedule, QueueTimePair, StudyView};
use super::workload::MalleableJob;
use crate::metrics::{Cell, Cells, Column, Given, ListedColumn, Shown, When, column_list, listed, present};
use crate::report::{Table, Width, grouped, percent, signed_percent, write_rows, write_wrapped};
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

/// The figures of a study, of one run.
pub static STUDY_COLUMNS: &[Column<MalleableFigures>] = &column_list! {
    |run: MalleableFigures|
    count "jobs" "jobs" run.jobs;
    count "rebels" "jobs that first wait for more processors than are free" run.rebels;
    duration "saved_mean_s" "seconds that rebels saved against starting at once, summed and divided by all jobs"
        Cell::Seconds(run.saved_mean), higher;
    percent "losers_pct" "percentage of rebels that lost time" run.losers_pct(), lower;
    duration "turnaround_mean_s" "mean seconds from arrival to end" Cell::Seconds(run.turnaround_mean), lower;
    fraction "utilization" "mean efficiency over time and processors, a fraction" run.utilization, higher;
    count "spoiled" "jobs that got all processors they can use at once" run.spoiled, only(When::Details);
    count "losers" "rebels that lost time" run.losers, lower, only(When::Details);
    duration "saved_rebel_mean_s" "mean seconds that a rebel saved"
        Cell::Seconds(run.saved_by_rebel), higher, only(When::Details);
    duration "saved_rebel_median_s" "the median of them"
        Cell::Seconds(run.saved_by_rebel_median), higher, only(When::Details);
    duration "lost_loser_mean_s" "mean seconds that a loser lost"
        Cell::Seconds(run.lost_by_loser), lower, only(When::Details);
    duration "wait_mean_s" "mean seconds from arrival to start" Cell::Seconds(run.wait_mean), lower, only(When::Details);
    duration "runtime_mean_s" "mean seconds from start to end"
        Cell::Seconds(run.runtime_mean), lower, only(When::Details);
    duration "runtime_median_s" "the median of them" Cell::Seconds(run.runtime_median), lower, only(When::Details);
    duration "rebel_lifetime_mean_s" "mean sequential lifetime of rebels"
        Cell::Seconds(run.rebel_lifetime), only(When::Details);
    duration "docile_lifetime_mean_s" "mean sequential lifetime of the others"
        Cell::Seconds(run.docile_lifetime), only(When::Details);
    count "pairs" "queue times that rebels decided by" run.pairs, only(When::Details);
    real "correlation" "of the logarithms of predicted and actual queue times"
        run.correlation, higher, only(When::Details);
    real "slope" "of the line of actual on predicted queue times" run.slope, only(When::Details);
    real "intercept" "of that line" run.intercept, only(When::Details);
};

/// The columns of a study, of its jobs and of its queue times, for lists.
pub fn listed_study() -> [Vec<ListedColumn>; 3] {
    let key = |name, about, when| ListedColumn::key(name, about, when);
    let strategy = || key("strategy", "the strategy of jobs", When::Always);
    let view = |when| key("view", "application: one job decides, the others run under avg; system: all decide", when);
    let labelled = |columns: Vec<ListedColumn>| [vec![strategy(), view(When::Always)], columns].concat();
    let rows = ListedColumn::other("rows", "workloads, of which means are printed", When::Replications);
    let study = [vec![strategy(), rows], listed(STUDY_COLUMNS), vec![view(When::Views)]].concat();
    [study, labelled(listed(&allocation_columns())), labelled(listed(PAIR_COLUMNS))]
}

impl StudyRow {
    /// The row of one workload, or means over many with the half-widths of their 95% intervals (`_ci95`).
    pub fn cells(&self, with_view: bool, details: bool) -> Cells {
        let mut cells = vec![("strategy".to_string(), Cell::Text(self.strategy.clone()))];
        if self.runs.len() > 1 {
            cells.push(("rows".to_string(), Cell::Count(self.runs.len() as u64)));
        }
        for column in present(STUDY_COLUMNS, Given::of([(When::Details, details)])) {
            let name = column.name.to_string();
            if let [run] = &self.runs[..] {
                cells.push((name, column.cell(run)));
                continue;
            }
            let (mean, half) = self.stat(|run, _| column.cell(run).number().unwrap_or(f64::NAN));
            let cell = |value: f64| match column.shown {
                Shown::Duration => Cell::Seconds(value),
                _ => Cell::Real(value),
            };
            cells.extend([(name.clone(), cell(mean)), (format!("{name}_ci95"), half.map(cell).into())]);
        }
        if with_view {
            cells.push(("view".to_string(), Cell::Word(self.view.name())));
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
pub fn write_tables(out: &mut dyn Write, width: Width, rows: &[StudyRow]) -> io::Result<()> {
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

/// A job of a schedule with its number, its decision and the result.
pub type AllocationRow<'a> = (u64, &'a MalleableJob, &'a Allocation);

/// The columns of `--jobs-out`, after strategy and view.
pub fn allocation_columns<'a>() -> Vec<Column<AllocationRow<'a>>> {
    Vec::from(column_list! {
        |row: AllocationRow<'a>|
        key "job" "the number of the job" row.0;
        label "arrival" "seconds after the start of the first day" Cell::Seconds(row.1.arrival);
        label "lifetime" "seconds on one processor" Cell::Seconds(row.1.lifetime);
        label "parallelism" "average parallelism" row.1.parallelism;
        label "sigma" "variance of the parallelism" row.1.sigma;
        text "kind" "spoiled, docile or rebel" row.2.kind.name();
        duration "decided" "when it first decided" Cell::Seconds(row.2.decided);
        count "offered" "processors that it could have had then" row.2.offered;
        count "held_for" "processors that it waited for" row.2.hold_out.map(|hold_out| hold_out.procs);
        duration "predicted" "the predicted seconds until it has them"
            row.2.hold_out.map(|hold_out| Cell::Seconds(hold_out.wait));
        count "asked" "how often it decided" row.2.decisions;
        duration "start" "its start by its own decisions" Cell::Seconds(row.2.placement.start);
        count "procs" "its processors by its own decisions" row.2.placement.procs;
        duration "runtime" "seconds on these" Cell::Seconds(row.1.runtime(row.2.placement.procs));
        duration "saved" "seconds saved against starting at once" Cell::Seconds(saved(row.1, row.2)), higher;
        duration "scheduled_start" "its start in the schedule" Cell::Seconds(row.2.scheduled.start);
        count "scheduled_procs" "its processors in the schedule" row.2.scheduled.procs;
    })
}

/// The columns of `--scatter-out`, after strategy and view.
pub static PAIR_COLUMNS: &[Column<QueueTimePair>] = &column_list! {
    |pair: QueueTimePair|
    key "job" "the number of the job" Cell::Count(pair.job as u64 + 1);
    key "time" "when it decided" Cell::Seconds(pair.time);
    key "procs" "processors that it waited for" pair.procs;
    duration "predicted" "the predicted seconds until they are free" Cell::Seconds(pair.predicted);
    duration "actual" "the actual seconds until they are free" Cell::Seconds(pair.actual);
};

/// Writes rows of each schedule as CSV, after its strategy and its view.
fn write_schedules<'a, R, I: Iterator<Item = R>>(
    out: &mut dyn Write,
    columns: &[Column<R>],
    schedules: &[(&'a StudyRow, &'a MalleableSchedule)],
    rows: impl Fn(&'a MalleableSchedule) -> I,
) -> io::Result<()> {
    let rows = schedules
        .iter()
        .flat_map(|(study, schedule)| rows(schedule).map(|row| ([study.strategy.as_str(), study.view.name()], row)));
    write_rows(out, ["strategy", "view"], columns, rows)
}

/// Writes one CSV line per job of each schedule: the job, its decision and the result.
pub fn write_allocations<'a>(
    out: &mut dyn Write,
    jobs: &'a [MalleableJob],
    schedules: &[(&'a StudyRow, &'a MalleableSchedule)],
) -> io::Result<()> {
    write_schedules(out, &allocation_columns(), schedules, |schedule| {
        jobs.iter().zip(&schedule.allocations).zip(1..).map(|((job, allocation), number)| (number, job, allocation))
    })
}

/// Writes one CSV line per prediction behind a decision to hold out (the points of Figure 5).
pub fn write_pairs(out: &mut dyn Write, schedules: &[(&StudyRow, &MalleableSchedule)]) -> io::Result<()> {
    write_schedules(out, PAIR_COLUMNS, schedules, |schedule| schedule.pairs.iter().copied())
}
