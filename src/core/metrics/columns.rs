//! The columns of runs: `sim`, `sim sweep`. CSV, JSON, tables, means over groups, improvements over a baseline and the
//! documentation of columns are all made from this one list.

use std::sync::LazyLock;

use super::cell::{Cell, Cells};
use super::column::{Column, Main, Role, Shown, cells, present};
use super::row::{Baseline, RunRow};
use super::summary::Summary;
use super::when::{Given, When};
use crate::time::HOUR;
use crate::tres::Resource;

/// Defines each column as a static of its own, and the list of these.
macro_rules! run_columns {
    ($list:ident: |$run:ident| $($column:ident $kind:ident $name:literal $about:literal $value:expr $(, $how:ident $(($with:expr))?)*;)*) => {
        $(
            #[doc = concat!("The column `", $name, "`.")]
            pub static $column: Column =
                Column::<RunRow>::$kind($name, $about, |$run: &RunRow| Cell::from($value))$(.$how($($with)?))*;
        )*

        static $list: &[&Column] = &[$(&$column),*];
    };
}

/// All columns, in the order in which they are printed.
pub static COLUMNS: LazyLock<Vec<&'static Column>> =
    LazyLock::new(|| BEFORE.iter().copied().chain(UTILIZATION_OF.iter()).chain(BEHIND.iter().copied()).collect());

run_columns! {
    BEFORE: |run|
    TRACE key "trace" "the label of the log" run.label.trace.clone(), main(Main::Always);
    PROCS key "procs" "processors of the machine" run.label.procs;
    SCHEDULER key "scheduler" "the scheduler, with the keys that are not the defaults"
        run.label.scheduler.clone(), main(Main::Always);
    PREDICTOR key "predictor" "the predictor of runtimes, likewise" run.label.predictor.clone(), main(Main::Always);
    JOBS count "jobs" "measured jobs" run.summary.jobs;
    DROPPED label "dropped" "records of the log that did not become jobs, and jobs that can never start" run.label.dropped;
    WAIT_MEAN duration "wait_mean" "seconds from submission to start, mean"
        Cell::Seconds(run.summary.wait_mean), lower, main(Main::Always);
    BSLD_MEAN real "bsld_mean" "bounded slowdown, max(1, (wait + runtime) / max(runtime, 10 s)), mean"
        run.summary.bsld_mean, lower, main(Main::Always);
    AI_MEAN duration "ai_mean"
        "absolute inaccuracy in seconds, |runtime - prediction| weighted by how long each prediction held, mean"
        Cell::Seconds(run.summary.ai_mean), lower, main(Main::Always);
    RA_MEAN fraction "ra_mean"
        "relative accuracy, a fraction: the smaller of runtime and prediction over the larger, weighted likewise, mean"
        run.summary.ra_mean, higher, main(Main::Always);
    BACKFILLED real "backfilled" "jobs that started before a job that had waited longer"
        run.summary.backfilled, shown(Shown::ShareOfJobs);
    MISSES count "misses" "missed deadlines: how often a job ran longer than predicted" run.summary.misses;
    UTILIZATION fraction "utilization" "share of the machine that was used in the whole simulation, a fraction"
        run.summary.utilization, higher, main(Main::Always);
    MAKESPAN duration "makespan" "seconds from the first submission to the last end of the whole simulation"
        Cell::Seconds(run.summary.makespan as f64), lower;
    WAIT_P50 duration "wait_p50" "median wait in seconds; percentiles are nearest-rank"
        Cell::Seconds(run.summary.wait_p50), lower;
    WAIT_P95 duration "wait_p95" "wait in seconds that 95% of the jobs do not exceed"
        Cell::Seconds(run.summary.wait_p95), lower;
    WAIT_MAX duration "wait_max" "longest wait in seconds"
        Cell::Seconds(run.summary.wait_max), lower, main(Main::Compared);
    BSLD_P50 real "bsld_p50" "median bounded slowdown" run.summary.bsld_p50, lower;
    BSLD_P95 real "bsld_p95" "bounded slowdown that 95% of the jobs do not exceed" run.summary.bsld_p95, lower;
    MAE duration "mae" "mean error of the prediction in force at the start, in seconds"
        Cell::Seconds(run.summary.mae), lower;
    MAE_PCT percent "mae_pct" "the same in percent of the mean runtime" run.summary.mae_pct, lower;
    ANSWERED real "answered" "jobs whose prediction at the start had a confidence interval; empty without any"
        run.summary.inside_pct.map(|_| run.summary.answered), shown(Shown::ShareOfJobs);
    INSIDE_PCT percent "inside_pct" "percentage of these jobs that ended within it" run.summary.inside_pct;
    JAIN real "jain"
        "Jain's index over the users' mean bounded slowdowns: 1 if all are equal, 1/n if one of n users has all of it"
        run.summary.jain, shown(Shown::Index), higher, main(Main::Compared);
    WIDE_WAIT_MEAN duration "wide_wait_mean" "mean wait in seconds of the widest jobs that together make 1% of the area"
        Cell::Seconds(run.summary.wide_wait_mean), lower, main(Main::Compared);
}

/// The columns of the shares that jobs were given, by [`Resource::OF_NODES`].
pub static UTILIZATION_OF: LazyLock<[Column; Resource::OF_NODES.len()]> = LazyLock::new(|| {
    let mut places = 0..;
    Resource::OF_NODES.map(|kind| {
        let (name, about) = kind.columns().utilization;
        let about = match kind {
            Resource::Cpus => "share of the CPUs that jobs were given, also those of whole nodes, a fraction",
            Resource::Memory => "share of the memory that jobs were given; empty if memory does not count",
            _ => about,
        };
        let place = places.next().expect("they are endless");
        let share = |run: &RunRow, place: usize| run.summary.utilization_of[place].into();
        Column::of(place, (name, about), Shown::Fraction, share).higher().only(When::Nodes)
    })
});

run_columns! {
    BEHIND: |run|
    PREEMPTED count "preempted" "runs of jobs that were stopped so that others could start"
        run.summary.preempted, only(When::Preemption);
    LOST_CPU_HOURS real "lost_cpu_hours" "processor-hours of these runs, or of those that outages stopped, which are lost"
        run.summary.lost.map(|seconds| seconds / HOUR as f64), only(When::Stops);
    AVAILABLE fraction "available" "share of the machine that was not out, or in use, in the whole simulation, a fraction"
        run.summary.available, only(When::Outages);
    UTILIZATION_AVAILABLE fraction "utilization_available" "share of what was available that was used, a fraction"
        run.summary.utilization_available, higher, only(When::Outages);
    REQUEUED count "requeued" "runs of jobs that outages stopped, so that the jobs waited again"
        run.summary.requeued, lower, only(When::Outages);
    FAILED count "failed" "jobs that outages ended (--on-failure kill)" run.summary.failed, lower, only(When::Outages);
    NEVER_STARTED count "never_started" "jobs that wait at the end for what never comes back"
        run.summary.never_started, lower, only(When::Outages);
    JOBS_PER_DAY real "jobs_per_day" "simulated jobs per day of the makespan"
        run.summary.jobs_per_day, higher, only(When::Feedback);
    LINKED_JOBS count "linked_jobs" "jobs that were submitted after the ends of earlier jobs"
        run.summary.linked_jobs, only(When::Feedback);
    THINK_MEAN duration "think_mean" "seconds from these ends to the submission, mean"
        run.summary.think_mean.map(Cell::Seconds), only(When::Feedback);
    WHAT_IF key "what_if" "the change of --what-if by its name; empty for the site as it is"
        run.label.what_if.clone(), only(When::WhatIf);
    BASELINE key "baseline" "what the run is compared with, scheduler/predictor"
        run.baseline.as_ref().map(|base| base.name.clone()), only(When::Baseline);
    WAIT_GAIN percent "wait_improvement_pct" "improvement of wait_mean over the baseline in percent"
        WAIT_MEAN.gain_of(run), shown(Shown::Improvement), higher, only(When::Baseline), heading("wait gain");
    BSLD_GAIN percent "bsld_improvement_pct" "improvement of bsld_mean over the baseline in percent"
        BSLD_MEAN.gain_of(run), shown(Shown::Improvement), higher, only(When::Baseline), heading("bsld gain");
    AI_GAIN percent "ai_improvement_pct" "improvement of ai_mean over the baseline in percent"
        AI_MEAN.gain_of(run), shown(Shown::Improvement), higher, only(When::Baseline), heading("ai gain");
    RA_GAIN percent "ra_improvement_pct" "improvement of ra_mean over the baseline in percent"
        RA_MEAN.gain_of(run), shown(Shown::Improvement), higher, only(When::Baseline), heading("ra gain");
    USERS_LOSE percent "users_lose_pct"
        "percentage of users who lose: mean wait over 1.1 times the baseline's and over a minute more, with replications by more than chance"
        run.baseline.as_ref().map(|base| base.losers.users_pct), lower, only(When::Baseline), main(Main::Compared);
    AREA_LOSE percent "area_lose_pct" "percentage of the area (processors x runtime) that belongs to these users"
        run.baseline.as_ref().map(|base| base.losers.area_pct), lower, only(When::Baseline), main(Main::Compared);
    WAIT_SAVED real "wait_hours_saved" "hours that all jobs together wait less than in the site as it is"
        run.wait_hours_saved(), only(When::WhatIf), shown(Shown::Hours);
    SAVED_PER_NODE real "wait_hours_saved_per_node_day" "the same per day of each node that the machine has more, or less"
        run.wait_hours_saved_per_day(run.label.more.nodes()), only(When::WhatIf), shown(Shown::Hours);
    SAVED_PER_PROC real "wait_hours_saved_per_proc_day" "the same per day of each processor of a pool"
        run.wait_hours_saved_per_day(run.label.more.procs()), only(When::WhatIf), shown(Shown::Hours);
    // Makes the labels of any two rows differ if their settings differ. It is the last.
    OPTIONS key "options" "other options that change the result, as in first=1000 load=1.1" run.label.options.clone();
}

/// The columns that are equal for runs that differ only in random numbers.
pub static SETTING: [&Column; 3] = [&TRACE, &SCHEDULER, &PREDICTOR];

/// The columns of results for which these conditions hold.
pub fn columns(given: Given) -> impl Iterator<Item = &'static Column> {
    present(COLUMNS.iter().copied(), given)
}

impl Column {
    /// Whether results have a column of this name. An option with such a name is not repeated in the column `options`.
    pub fn exists(name: &str) -> bool {
        COLUMNS.iter().any(|column| column.name == name)
    }

    /// Whether the column exists only if there is a baseline.
    pub fn needs_baseline(&self) -> bool {
        matches!(self.when, When::Baseline | When::WhatIf)
    }

    /// Whether it is the improvement of another column over the baseline.
    pub fn is_gain(&self) -> bool {
        self.shown == Shown::Improvement
    }

    /// The column with the improvement of this one over the baseline, if there is one.
    pub fn gain_column(&self) -> Option<&'static Column> {
        COLUMNS.iter().copied().find(|column| column.is_gain_of(self))
    }

    /// Whether it is the improvement of this column.
    pub fn is_gain_of(&self, column: &Column) -> bool {
        self.name.strip_suffix("_improvement_pct") == Some(column.short_name())
    }

    /// The name without the ending of means: `wait` for `wait_mean`.
    pub fn short_name(&self) -> &'static str {
        self.name.trim_end_matches("_mean")
    }

    /// Whether tables of many runs show it.
    pub fn is_main(&self, given: Given) -> bool {
        self.main == Main::Always || (given.has(When::Baseline) && self.main == Main::Compared)
    }

    /// Whether its values are numbers, which have means over runs.
    pub fn is_number(&self) -> bool {
        self.role == Role::Figure
    }

    /// The value of a figure. None for labels and comparisons.
    pub fn summary_cell(&self, summary: &Summary) -> Cell {
        match self.is_number() && !self.needs_baseline() {
            true => self.cell(&RunRow { summary: *summary, ..RunRow::default() }),
            false => Cell::None,
        }
    }

    /// The value with all digits. None for labels and comparisons, and if it is not defined.
    pub fn figure_of(&self, summary: &Summary) -> Option<f64> {
        self.summary_cell(summary).number()
    }

    /// The improvement of a run over a baseline in percent. None if neither lower nor higher is better, if the baseline is
    /// 0, or if the figure is not defined.
    pub fn improvement(&self, base: &Summary, run: &Summary) -> Option<f64> {
        let percent = self.better?.percent(self.figure_of(base)?, self.figure_of(run)?);
        percent.is_finite().then_some(percent)
    }

    /// By how much a run is better than a baseline, in the unit of the column. None likewise.
    pub fn gain(&self, base: &Summary, run: &Summary) -> Option<f64> {
        Some(self.better?.gain(self.figure_of(base)?, self.figure_of(run)?))
    }

    /// The improvement of a run over its baseline as a cell.
    fn gain_of(&self, run: &RunRow) -> Cell {
        let percent = |base: &Baseline| self.improvement(&base.summary, &run.summary);
        run.baseline.as_ref().and_then(percent).map(Cell::Real).into()
    }
}

impl RunRow {
    /// What decides which columns it has.
    pub fn given(&self) -> Given {
        Given::of([
            (When::Baseline, self.baseline.is_some()),
            (When::Nodes, self.summary.on_nodes),
            (When::Preemption, self.summary.preempted.is_some()),
            (When::Feedback, self.summary.linked_jobs.is_some()),
            (When::Outages, self.summary.available.is_some()),
            (When::WhatIf, !self.label.what_if.is_empty()),
        ])
    }

    /// The names and values of its columns, in order.
    pub fn cells(&self) -> Cells {
        self.cells_given(self.given())
    }

    /// The same with the columns of all runs for which these conditions hold.
    pub fn cells_given(&self, given: Given) -> Cells {
        cells(COLUMNS.iter().copied(), self, given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Baseline, RunLabel, RunRow, Summary};

    #[test]
    fn improvements_are_those_of_the_figures_whose_names_they_have() {
        let base = Summary { wait_mean: 200.0, bsld_mean: 4.0, ai_mean: 10.0, ra_mean: 0.25, ..Summary::default() };
        let run = Summary { wait_mean: 150.0, bsld_mean: 5.0, ai_mean: 0.0, ra_mean: 0.5, ..Summary::default() };
        let baseline = Some(Baseline { name: "easy/estimate".to_string(), summary: base, ..Baseline::default() });
        let row = RunRow { label: RunLabel::default(), summary: run, baseline };
        let improvements = COLUMNS.iter().filter(|column| column.is_gain());
        let cells: Vec<_> = improvements.map(|column| (column.name, column.cell(&row).text())).collect();
        let expected = [
            ("wait_improvement_pct", "25.000000"),
            ("bsld_improvement_pct", "-25.000000"),
            ("ai_improvement_pct", "100.000000"),
            ("ra_improvement_pct", "100.000000"),
        ];
        assert_eq!(cells, expected.map(|(name, text)| (name, text.to_string())));
        assert_eq!(WAIT_MEAN.improvement(&Summary::default(), &run), None, "over a baseline of 0");
        assert_eq!(BACKFILLED.improvement(&base, &run), None, "neither good nor bad");
        for column in COLUMNS.iter().copied().filter(|column| column.is_gain()) {
            let of = COLUMNS
                .iter()
                .copied()
                .find(|of| of.gain_column().is_some_and(|gain| gain.name == column.name))
                .unwrap();
            assert!(of.better.is_some() && column.about.contains(of.name), "{}", column.name);
            assert_eq!(column.heading, format!("{} gain", of.short_name()));
        }
    }

    #[test]
    fn names_are_unique_and_runs_have_the_columns_of_what_holds_for_them() {
        let names: std::collections::BTreeSet<_> = COLUMNS.iter().map(|column| column.name).collect();
        assert_eq!(names.len(), COLUMNS.len());
        let has = |row: &RunRow, name: &str| row.cells().iter().any(|(own, _)| own == name);
        let of = |change: fn(&mut Summary)| {
            let mut row = RunRow::default();
            change(&mut row.summary);
            row
        };
        let [alone, nodes, preempting, reacting] = [
            of(|_| ()),
            of(|summary| summary.on_nodes = true),
            of(|summary| summary.preempted = Some(0)),
            of(|summary| summary.linked_jobs = Some(0)),
        ];
        assert_eq!(nodes.cells().len(), alone.cells().len() + Resource::OF_NODES.len());
        for (name, rows) in [
            ("preempted", [false, false, true, false]),
            ("lost_cpu_hours", [false, false, true, false]),
            ("jobs_per_day", [false, false, false, true]),
            ("wait_mean", [true; 4]),
            ("available", [false; 4]),
            ("baseline", [false; 4]),
        ] {
            assert_eq!([&alone, &nodes, &preempting, &reacting].map(|row| has(row, name)), rows, "{name}");
        }
    }
}
