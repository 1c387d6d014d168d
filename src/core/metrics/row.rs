//! The result of a run: its label, its figures, and those of its baseline.

use serde::{Deserialize, Serialize};

use super::fairness::{Losers, UserChange};
use super::summary::Summary;

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
