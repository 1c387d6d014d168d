//! What a job waits for before it may join the queue: other jobs, a time, a release, a free place in its array.
//!
//! Few jobs of few logs have conditions, so they are kept beside the records, by index. The engine's gate
//! ([`crate::engine::Gate`]) obeys them.

mod arrays;
mod dropped;
mod links;
mod reading;
mod recorded;
mod survey;
mod text;

pub use arrays::TaskArrays;
pub use dropped::NeverEligible;
pub use links::{GatedJob, Links};
pub use reading::{ConditionsRead, WrittenConditions};
pub use recorded::recorded_eligibility;
pub use survey::ConditionSurvey;
pub use text::{CONDITION_FIELDS, ConditionTexts, array_limit_in, log_seconds, set_condition};

pub(in crate::trace) use dropped::drop_never_eligible;
pub(in crate::trace) use links::RecordPlaces;

use rustc_hash::FxHashMap;

use crate::sort::sort_by_key;
use crate::time::Seconds;

/// What a dependency waits for, by its name as an option of `sbatch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DependencyKind {
    /// `after`: the other job has started.
    After,
    /// `afterany`: it has ended.
    AfterAny,
    /// `afterok`: it has ended, and has not failed.
    AfterOk,
    /// `afternotok`: it has failed.
    AfterNotOk,
}

impl DependencyKind {
    /// All of them.
    pub const ALL: [DependencyKind; 4] =
        [DependencyKind::After, DependencyKind::AfterAny, DependencyKind::AfterOk, DependencyKind::AfterNotOk];

    /// As `sbatch` spells it.
    pub fn name(self) -> &'static str {
        match self {
            DependencyKind::After => "after",
            DependencyKind::AfterAny => "afterany",
            DependencyKind::AfterOk => "afterok",
            DependencyKind::AfterNotOk => "afternotok",
        }
    }
}

/// A job that another one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dependency {
    /// What it waits for.
    pub kind: DependencyKind,
    /// The index of the other job's record in the log, counted from 0.
    pub record: u32,
}

/// Whether a job was held when it was submitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hold {
    /// It was not.
    #[default]
    None,
    /// It is released so many seconds after its submission.
    Until(Seconds),
    /// It is never released.
    Forever,
}

/// The conditions of one job. Times are counted from its submission, so that they move with it when the log is shaped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// The jobs that it waits for, each once.
    pub after: Vec<Dependency>,
    /// It waits until no job of the same user and executable runs, or was submitted before it and has not ended.
    pub singleton: bool,
    /// It may not start before this many seconds after its submission; 0 if it has no begin time.
    pub begin: Seconds,
    /// Whether it was held.
    pub hold: Hold,
    /// Its array, an index into [`LogConditions::arrays`], if the array has a limit.
    pub array: Option<u32>,
}

impl Conditions {
    /// How long after its submission it may start at the earliest, by its begin time and its hold. None: never.
    pub fn delay(&self) -> Option<Seconds> {
        match self.hold {
            Hold::None => Some(self.begin),
            Hold::Until(seconds) => Some(self.begin.max(seconds)),
            Hold::Forever => None,
        }
    }

    fn is_empty(&self) -> bool {
        *self == Conditions::default()
    }
}

/// A job array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobArray {
    /// Its id in the log.
    pub id: String,
    /// The most tasks that run at once, at least 1. None: any number.
    pub limit: Option<u32>,
    /// The records of its tasks, in order.
    pub tasks: Vec<u32>,
}

/// The conditions of the jobs of a log, by record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogConditions {
    /// In order of records, without those that have none.
    by_record: Vec<(u32, Conditions)>,
    /// All arrays. Those with a limit are conditions. The others matter to schedulers that have one place in their queue for an array.
    pub arrays: Vec<JobArray>,
    /// Dependencies on jobs that the log does not have. They count as met.
    pub unknown: u64,
}

impl LogConditions {
    /// The conditions of these records. Empty ones are left out.
    pub fn new(mut by_record: Vec<(u32, Conditions)>, arrays: Vec<JobArray>, unknown: u64) -> LogConditions {
        by_record.retain(|(_, conditions)| !conditions.is_empty());
        sort_by_key(&mut by_record, |(record, _)| *record);
        LogConditions { by_record, arrays, unknown }
    }

    /// The arrays alone, without what their tasks wait for.
    pub fn only_arrays(&self) -> LogConditions {
        LogConditions { arrays: self.arrays.clone(), ..LogConditions::default() }
    }

    /// By record: its array, as a place in the list.
    pub fn array_places(&self) -> FxHashMap<u32, u32> {
        let arrays = self.arrays.iter().zip(0..);
        arrays.flat_map(|(array, at)| array.tasks.iter().map(move |&task| (task, at))).collect()
    }

    /// Whether no job has any.
    pub fn is_empty(&self) -> bool {
        self.by_record.is_empty()
    }

    /// Those of a record. None if it has none.
    pub fn get(&self, record: usize) -> Option<&Conditions> {
        let at = self.by_record.binary_search_by_key(&(record as u32), |(record, _)| *record).ok()?;
        Some(&self.by_record[at].1)
    }

    /// All of them with their records, in order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Conditions)> {
        self.by_record.iter().map(|(record, conditions)| (*record as usize, conditions))
    }
}
