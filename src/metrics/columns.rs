//! The columns of results. CSV, JSON, tables, means over groups, improvements over a baseline and the documentation of
//! columns are all made from this one list.

use super::cell::Cell;
use super::column::{Column, Main, Shown, Source};
use super::improvement::Better;

/// Defaults for columns. Each column sets its own name, meaning and source.
const LABEL: Column = Column {
    name: "",
    about: "",
    shown: Shown::AsPrinted,
    better: None,
    main: Main::Never,
    source: Source::BaselineName,
};
const WAIT: Column = Column { shown: Shown::Duration, better: Some(Better::Lower), ..LABEL };
const SLOWDOWN: Column = Column { shown: Shown::Slowdown, better: Some(Better::Lower), ..LABEL };
const IMPROVEMENT: Column =
    Column { shown: Shown::Improvement, better: Some(Better::Higher), main: Main::Always, ..LABEL };

/// The column `trace`.
pub static TRACE: Column = Column {
    name: "trace",
    about: "the label of the log",
    main: Main::Always,
    source: Source::Label(|run| Cell::Text(run.trace.clone())),
    ..LABEL
};
static PROCS: Column = Column {
    name: "procs",
    about: "processors of the machine",
    source: Source::Label(|run| Cell::Count(run.procs.into())),
    ..LABEL
};
/// The column `scheduler`.
pub static SCHEDULER: Column = Column {
    name: "scheduler",
    about: "the scheduler, with the keys that are not the defaults",
    main: Main::Always,
    source: Source::Label(|run| Cell::Text(run.scheduler.clone())),
    ..LABEL
};
/// The column `predictor`.
pub static PREDICTOR: Column = Column {
    name: "predictor",
    about: "the predictor of runtimes, likewise",
    main: Main::Always,
    source: Source::Label(|run| Cell::Text(run.predictor.clone())),
    ..LABEL
};
/// The column `jobs`.
pub static JOBS: Column = Column {
    name: "jobs",
    about: "measured jobs",
    shown: Shown::Count,
    source: Source::Count(|run| Some(run.jobs as u64)),
    ..LABEL
};
static DROPPED: Column = Column {
    name: "dropped",
    about: "records of the log that did not become jobs",
    source: Source::Label(|run| Cell::Count(run.dropped)),
    ..LABEL
};
/// The column `wait_mean`.
pub static WAIT_MEAN: Column = Column {
    name: "wait_mean",
    about: "seconds from submission to start, mean",
    main: Main::Always,
    source: Source::Seconds(|run| run.wait_mean),
    ..WAIT
};
/// The column `bsld_mean`.
pub static BSLD_MEAN: Column = Column {
    name: "bsld_mean",
    about: "bounded slowdown, max(1, (wait + runtime) / max(runtime, 10 s)), mean",
    main: Main::Always,
    source: Source::Real(|run| run.bsld_mean),
    ..SLOWDOWN
};
/// The column `ai_mean`.
pub static AI_MEAN: Column = Column {
    name: "ai_mean",
    about: "absolute inaccuracy in seconds, |runtime - prediction| weighted by how long each prediction held, mean",
    shown: Shown::Duration,
    better: Some(Better::Lower),
    main: Main::Always,
    source: Source::Seconds(|run| run.ai_mean),
};
/// The column `ra_mean`.
pub static RA_MEAN: Column = Column {
    name: "ra_mean",
    about: "relative accuracy, a fraction: the smaller of runtime and prediction over the larger, weighted likewise, mean",
    shown: Shown::Fraction,
    better: Some(Better::Higher),
    main: Main::Always,
    source: Source::Real(|run| run.ra_mean),
};
/// The column `backfilled`.
pub static BACKFILLED: Column = Column {
    name: "backfilled",
    about: "jobs that started before a job that had waited longer",
    shown: Shown::ShareOfJobs,
    source: Source::Count(|run| Some(run.backfilled as u64)),
    ..LABEL
};
/// The column `misses`.
pub static MISSES: Column = Column {
    name: "misses",
    about: "missed deadlines: how often a job ran longer than predicted",
    shown: Shown::Count,
    source: Source::Count(|run| Some(run.misses)),
    ..LABEL
};
/// The column `utilization`.
pub static UTILIZATION: Column = Column {
    name: "utilization",
    about: "share of the machine that was used in the whole simulation, a fraction",
    shown: Shown::Fraction,
    better: Some(Better::Higher),
    main: Main::Always,
    source: Source::Real(|run| run.utilization),
};
/// The column `makespan`.
pub static MAKESPAN: Column = Column {
    name: "makespan",
    about: "seconds from the first submission to the last end of the whole simulation",
    shown: Shown::Duration,
    better: Some(Better::Lower),
    source: Source::Seconds(|run| run.makespan as f64),
    ..LABEL
};
/// The column `wait_p50`.
pub static WAIT_P50: Column = Column {
    name: "wait_p50",
    about: "median wait in seconds; percentiles are nearest-rank",
    source: Source::Seconds(|run| run.wait_p50),
    ..WAIT
};
/// The column `wait_p95`.
pub static WAIT_P95: Column = Column {
    name: "wait_p95",
    about: "wait in seconds that 95% of the jobs do not exceed",
    source: Source::Seconds(|run| run.wait_p95),
    ..WAIT
};
/// The column `wait_max`.
pub static WAIT_MAX: Column = Column {
    name: "wait_max",
    about: "longest wait in seconds",
    main: Main::Compared,
    source: Source::Seconds(|run| run.wait_max),
    ..WAIT
};
/// The column `bsld_p50`.
pub static BSLD_P50: Column =
    Column { name: "bsld_p50", about: "median bounded slowdown", source: Source::Real(|run| run.bsld_p50), ..SLOWDOWN };
/// The column `bsld_p95`.
pub static BSLD_P95: Column = Column {
    name: "bsld_p95",
    about: "bounded slowdown that 95% of the jobs do not exceed",
    source: Source::Real(|run| run.bsld_p95),
    ..SLOWDOWN
};
/// The column `mae`.
pub static MAE: Column = Column {
    name: "mae",
    about: "mean error of the prediction in force at the start, in seconds",
    shown: Shown::Duration,
    better: Some(Better::Lower),
    source: Source::Seconds(|run| run.mae),
    ..LABEL
};
/// The column `mae_pct`.
pub static MAE_PCT: Column = Column {
    name: "mae_pct",
    about: "the same in percent of the mean runtime",
    shown: Shown::Percent,
    better: Some(Better::Lower),
    source: Source::Real(|run| run.mae_pct),
    ..LABEL
};
/// The column `answered`.
pub static ANSWERED: Column = Column {
    name: "answered",
    about: "jobs whose prediction at the start had a confidence interval; empty without any",
    shown: Shown::ShareOfJobs,
    source: Source::Count(|run| run.inside_pct.map(|_| run.answered as u64)),
    ..LABEL
};
/// The column `inside_pct`.
pub static INSIDE_PCT: Column = Column {
    name: "inside_pct",
    about: "percentage of these jobs that ended within it",
    shown: Shown::Percent,
    source: Source::Real(|run| run.inside_pct.unwrap_or(f64::NAN)),
    ..LABEL
};
/// The column `jain`.
pub static JAIN: Column = Column {
    name: "jain",
    about: "Jain's index over the users' mean bounded slowdowns: 1 if all are equal, 1/n if one of n users has all of it",
    shown: Shown::Index,
    better: Some(Better::Higher),
    main: Main::Compared,
    source: Source::Real(|run| run.jain),
};
/// The column `wide_wait_mean`.
pub static WIDE_WAIT_MEAN: Column = Column {
    name: "wide_wait_mean",
    about: "mean wait in seconds of the widest jobs that together make 1% of the area",
    main: Main::Compared,
    source: Source::Seconds(|run| run.wide_wait_mean),
    ..WAIT
};
static BASELINE: Column = Column {
    name: "baseline",
    about: "what the run is compared with, scheduler/predictor",
    source: Source::BaselineName,
    ..LABEL
};
static WAIT_IMPROVEMENT: Column = Column {
    name: "wait_improvement_pct",
    about: "improvement of wait_mean over the baseline in percent",
    source: Source::Improvement(&WAIT_MEAN),
    ..IMPROVEMENT
};
static BSLD_IMPROVEMENT: Column = Column {
    name: "bsld_improvement_pct",
    about: "improvement of bsld_mean over the baseline in percent",
    source: Source::Improvement(&BSLD_MEAN),
    ..IMPROVEMENT
};
static AI_IMPROVEMENT: Column = Column {
    name: "ai_improvement_pct",
    about: "improvement of ai_mean over the baseline in percent",
    source: Source::Improvement(&AI_MEAN),
    ..IMPROVEMENT
};
static RA_IMPROVEMENT: Column = Column {
    name: "ra_improvement_pct",
    about: "improvement of ra_mean over the baseline in percent",
    source: Source::Improvement(&RA_MEAN),
    ..IMPROVEMENT
};
/// The column `users_lose_pct`.
pub static USERS_LOSE: Column = Column {
    name: "users_lose_pct",
    about: "percentage of users who lose: mean wait over 1.1 times the baseline's and over a minute more",
    shown: Shown::Percent,
    better: Some(Better::Lower),
    main: Main::Compared,
    source: Source::Losers(|losers| losers.users_pct),
};
/// The column `area_lose_pct`.
pub static AREA_LOSE: Column = Column {
    name: "area_lose_pct",
    about: "percentage of the area (processors x runtime) that belongs to these users",
    shown: Shown::Percent,
    better: Some(Better::Lower),
    main: Main::Compared,
    source: Source::Losers(|losers| losers.area_pct),
};
/// The column `options`.
pub static OPTIONS: Column = Column {
    name: "options",
    about: "other options that change the result, as in first=1000 load=1.1",
    source: Source::Label(|run| Cell::Text(run.options.clone())),
    ..LABEL
};

/// The columns that are equal for runs that differ only in random numbers.
pub static SETTING: [&Column; 3] = [&TRACE, &SCHEDULER, &PREDICTOR];

/// All columns, in the order in which they are printed.
pub static COLUMNS: [&Column; 33] = [
    &TRACE,
    &PROCS,
    &SCHEDULER,
    &PREDICTOR,
    &JOBS,
    &DROPPED,
    &WAIT_MEAN,
    &BSLD_MEAN,
    &AI_MEAN,
    &RA_MEAN,
    &BACKFILLED,
    &MISSES,
    &UTILIZATION,
    &MAKESPAN,
    &WAIT_P50,
    &WAIT_P95,
    &WAIT_MAX,
    &BSLD_P50,
    &BSLD_P95,
    &MAE,
    &MAE_PCT,
    &ANSWERED,
    &INSIDE_PCT,
    &JAIN,
    &WIDE_WAIT_MEAN,
    &BASELINE,
    &WAIT_IMPROVEMENT,
    &BSLD_IMPROVEMENT,
    &AI_IMPROVEMENT,
    &RA_IMPROVEMENT,
    &USERS_LOSE,
    &AREA_LOSE,
    // Makes the labels of any two rows differ if their settings differ.
    &OPTIONS,
];

/// The columns of results: all, or those that do not need a baseline.
pub fn columns(with_baseline: bool) -> impl Iterator<Item = &'static Column> {
    COLUMNS.into_iter().filter(move |column| with_baseline || !column.needs_baseline())
}

impl Column {
    /// Whether results have a column of this name. An option with such a name is not repeated in the column `options`.
    pub fn exists(name: &str) -> bool {
        COLUMNS.iter().any(|column| column.name == name)
    }

    /// The column with the improvement of this one over the baseline, if there is one.
    pub fn improvement_column(&self) -> Option<&'static Column> {
        let is_it = |column: &&&Column| matches!(column.source, Source::Improvement(of) if of.name == self.name);
        COLUMNS.iter().find(is_it).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Baseline, Losers, RunLabel, RunRow, Summary};

    #[test]
    fn improvements_are_those_of_the_figures_whose_names_they_have() {
        let base = Summary { wait_mean: 200.0, bsld_mean: 4.0, ai_mean: 10.0, ra_mean: 0.25, ..Summary::default() };
        let run = Summary { wait_mean: 150.0, bsld_mean: 5.0, ai_mean: 0.0, ra_mean: 0.5, ..Summary::default() };
        let baseline = Some(Baseline { name: "easy/estimate".to_string(), summary: base, losers: Losers::default() });
        let row = RunRow { label: RunLabel::default(), summary: run, baseline };
        let improvements = COLUMNS.iter().filter(|column| matches!(column.source, Source::Improvement(_)));
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
        for column in COLUMNS {
            if let Source::Improvement(of) = column.source {
                assert!(of.better.is_some() && column.about.contains(of.name), "{}", column.name);
                assert_eq!(of.improvement_column().map(|found| found.name), Some(column.name));
            }
        }
    }

    #[test]
    fn names_are_unique_and_columns_of_a_comparison_are_optional() {
        let mut names: Vec<_> = COLUMNS.iter().map(|column| column.name).collect();
        let (all, alone) = (names.len(), columns(false).count());
        names.sort_unstable();
        names.dedup();
        assert_eq!((names.len(), all - alone), (all, 7));
        let row = RunRow::default();
        assert_eq!(row.cells().len(), alone);
        assert!(row.cells().iter().all(|(name, _)| !name.contains("improvement") && *name != "baseline"));
    }
}
