//! Jobs, and what is known of them before they run.
//!
//! The two are different types on purpose. A [`Submission`] is everything that a scheduler or a predictor can read while
//! the job waits or runs. The runtime is part of [`Job`], which only the engine reads, and the code that evaluates its
//! record afterwards.

use crate::request::RequestId;
use crate::time::{HOUR, IfKnown, MINUTE, Seconds, Time};

/// A job's number in its workload, from 0 in order of submission, or of the log if users react. It is the same everywhere, from
/// the reading of a log to the rows about its jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u32);

/// A job's place in the order of arrival: how many jobs arrived before it. That is not the order of [`JobId`] if some jobs had to
/// wait at the gate ([`crate::engine::Gate`]) or follow the ends of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrivalNumber(pub u32);

impl JobId {
    /// As an index of a vector.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Stores something of this job in a vector by id. Jobs before it that have nothing there have `none`.
    #[inline]
    pub(crate) fn store<T: Clone>(self, all: &mut Vec<T>, value: T, none: T) {
        match all.get_mut(self.index()) {
            Some(place) => *place = value,
            None => {
                // Usually it is the next one.
                if all.len() < self.index() {
                    all.resize(self.index(), none);
                }
                all.push(value);
            }
        }
    }
}

/// Everything that is known of a job at its arrival.
///
/// `user` to `partition` are the numbers in the log, as [`crate::trace::WideNumbers`] codes them. -1 means unknown; all
/// unknown users count as one user, and likewise for the other fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submission {
    /// When the job arrives.
    pub submit: Time,
    /// The user's estimate of the runtime in seconds, at least 1.
    pub estimate: Seconds,
    /// The processors that the job needs, at least 1.
    pub procs: u32,
    /// The user's number; -1 if unknown.
    pub user: i32,
    /// The group's number; -1 if unknown.
    pub group: i32,
    /// The executable's number; -1 if unknown.
    pub executable: i32,
    /// The queue's number; -1 if unknown.
    pub queue: i32,
    /// The partition's number; -1 if unknown.
    pub partition: i32,
}

impl Submission {
    /// A submission with unknown user, group, executable, queue and partition.
    pub fn new(submit: Time, procs: u32, estimate: Seconds) -> Submission {
        let (user, group, executable, queue, partition) = (-1, -1, -1, -1, -1);
        Submission { submit, estimate, procs, user, group, executable, queue, partition }
    }
}

/// What the log says of a job that most predictors and schedulers do not read.
#[derive(Clone, Copy, Debug)]
pub struct InLog {
    /// The job's number; -1 if it has none. Numbers may repeat.
    pub number: i64,
    /// The index of its record, by which its id in the log is found.
    pub record: u32,
    /// What the job asks of a machine of nodes.
    pub request: RequestId,
}

/// The job is of no log.
impl Default for InLog {
    fn default() -> InLog {
        InLog { number: -1, record: u32::MAX, request: RequestId::NONE }
    }
}

/// A job of a workload, with its runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// What schedulers and predictors can read.
    pub submission: Submission,
    /// The true runtime in seconds, at least 1.
    pub runtime: Seconds,
    /// The wait in the log, in seconds; may be unknown.
    pub recorded_wait: IfKnown,
    /// The index of its record in the log, counted from 0.
    pub record: u32,
    /// What it asks of a machine of nodes. Schedulers can read it.
    pub request: RequestId,
    /// The job's number in the log.
    pub number: i64,
}

impl Job {
    /// What the log says of it that most predictors and schedulers do not read.
    pub fn in_log(&self) -> InLog {
        let Job { number, record, request, .. } = *self;
        InLog { number, record, request }
    }

    /// A job of this runtime that no log has: its record and its number are 0, and it asks for processors only.
    pub fn new(submission: Submission, runtime: Seconds) -> Job {
        let request = RequestId::NONE;
        Job { submission, runtime, recorded_wait: None.into(), record: 0, request, number: 0 }
    }
}

/// The k-th missed deadline of a job adds the k-th of these to its prediction; every further miss adds the last one. Tsafrir et
/// al. ("Backfilling using runtime predictions rather than user estimates") call them predefined gradual increments.
const INCREMENTS: [Seconds; 11] = [
    MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    20 * HOUR,
    50 * HOUR,
    100 * HOUR,
];

/// What a job's miss adds to its prediction; misses are counted from 1.
pub fn increment(miss: u32) -> Seconds {
    INCREMENTS[(miss.max(1) as usize - 1).min(INCREMENTS.len() - 1)]
}
