//! What is submitted, and what is true of a job.
//!
//! The two are different types on purpose. A [`Submission`] is all that a scheduler or a predictor may know while
//! the job waits or runs; the runtime is part of [`Job`], which only the engine (and what reads its record
//! afterwards) ever sees.

use crate::time::{IfKnown, Seconds, Time};

/// A job's place in its workload: jobs are numbered from 0 in order of submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u32);

impl JobId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a user hands in: everything about a job that is known at its arrival.
///
/// The names (`user` ... `partition`) are the log's numbers; -1 means unknown, and all unknowns of one kind
/// compare equal, so that unknown users are one user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submission {
    pub submit: Time,
    /// The user's estimate of the runtime, at least 1.
    pub estimate: Seconds,
    /// Processors, at least 1.
    pub procs: u32,
    pub user: i32,
    pub group: i32,
    pub executable: i32,
    pub queue: i32,
    pub partition: i32,
}

impl Submission {
    /// A submission of which no names are known.
    pub fn new(submit: Time, procs: u32, estimate: Seconds) -> Submission {
        let (user, group, executable, queue, partition) = (-1, -1, -1, -1, -1);
        Submission { submit, estimate, procs, user, group, executable, queue, partition }
    }
}

/// A job of a workload: its submission, and the truth about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    pub submission: Submission,
    /// How long it runs, at least 1 second.
    pub runtime: Seconds,
    /// How long it waited on the machine that was logged, if the log knows.
    pub recorded_wait: IfKnown,
    /// Which record of the log it came from, counted from 0.
    pub record: u32,
    /// The number the log gives it.
    pub number: i64,
}
