//! The result of a run: its label, its figures, and those of its baseline.

use serde::{Deserialize, Serialize};

use super::fairness::{Losers, UserChange};
use super::summary::Summary;
use crate::time::{DAY, HOUR};

/// What was run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunLabel {
    /// The name of the log in results. It is not kept with a run, because it depends on the other logs of the same table.
    #[serde(skip)]
    pub trace: String,
    /// The processors of the machine.
    pub procs: u32,
    /// The scheduler's spec.
    pub scheduler: String,
    /// The predictor's spec.
    pub predictor: String,
    /// The number of records of the log that did not become jobs.
    pub dropped: u64,
    /// The options that differ from the defaults and have no column, as `name=value` separated by blanks.
    pub options: String,
    /// The name of the change of a site that it is, see `Options::what_if`; empty if it is none. Not kept either.
    #[serde(skip)]
    pub what_if: String,
    /// What the machine has more than that of the baseline. Not kept either.
    #[serde(skip)]
    pub more: More,
}

/// What a machine has more than another, or less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum More {
    /// It is as large, or that is not known.
    #[default]
    Nothing,
    /// Nodes.
    Nodes(i64),
    /// Processors of a pool.
    Procs(i64),
}

impl More {
    /// The number of nodes.
    pub fn nodes(self) -> Option<i64> {
        if let More::Nodes(number) = self { Some(number) } else { None }
    }

    /// The number of processors of a pool.
    pub fn procs(self) -> Option<i64> {
        if let More::Procs(number) = self { Some(number) } else { None }
    }
}

impl RunLabel {
    /// Whether it was run on a resample of the log.
    pub fn is_of_resample(&self) -> bool {
        self.options.split(' ').any(|option| option.starts_with("resample="))
    }
}

/// The run that another run is compared with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// `scheduler/predictor`.
    pub name: String,
    /// Its figures.
    pub summary: Summary,
    /// The users that lose against it.
    pub losers: Losers,
    /// Each user in comparison with it. Empty unless that is wanted: for replications.
    #[serde(default)]
    pub users: Vec<UserChange>,
}

impl RunRow {
    /// By how many hours all jobs together wait less than in the site as it is. None for what is no change of a site.
    pub(super) fn wait_hours_saved(&self) -> Option<f64> {
        let base = self.baseline.as_ref().filter(|_| !self.label.what_if.is_empty()).map(|base| &base.summary)?;
        let hours = |summary: &Summary| summary.wait_mean * summary.jobs as f64 / HOUR as f64;
        Some(hours(base) - hours(&self.summary))
    }

    /// The same for each day of what the machine has more, over the makespan of the baseline. Of a smaller machine, what each day
    /// costs of what it has less.
    pub(super) fn wait_hours_saved_per_day(&self, more: Option<i64>) -> Option<f64> {
        let days = self.baseline.as_ref()?.summary.makespan as f64 / DAY as f64;
        Some(self.wait_hours_saved()? / (more? as f64 * days))
    }
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    /// What was run.
    pub label: RunLabel,
    /// Its figures.
    pub summary: Summary,
    /// The run that it is compared with, if any.
    pub baseline: Option<Baseline>,
}
