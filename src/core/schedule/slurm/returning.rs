//! Jobs that were stopped to make way for others, and may not start again yet.

use std::collections::VecDeque;

use crate::job::{JobId, Submission};
use crate::time::{Seconds, Time};

/// In the order in which they were stopped.
///
/// Slurm gives a job that it requeues a begin time: the job may start when the permission for its last start has expired, which
/// is after 121 seconds (`cred_expire` of AuthInfo is 120).
pub struct Returning {
    delay: Seconds,
    jobs: VecDeque<(Time, JobId, Submission)>,
}

impl Returning {
    /// Each job waits for so long before it may start, at least until the next second.
    pub fn new(delay: Seconds) -> Returning {
        Returning { delay: delay.max(1), jobs: VecDeque::new() }
    }

    /// A job is stopped.
    pub fn push(&mut self, id: JobId, job: &Submission, now: Time) {
        self.jobs.push_back((now + self.delay, id, *job));
    }

    /// A job leaves the system.
    pub fn remove(&mut self, id: JobId) {
        self.jobs.retain(|(_, returning, _)| *returning != id);
    }

    /// Takes out the jobs that may start at this instant.
    pub fn take_until(&mut self, now: Time) -> Vec<(JobId, Submission)> {
        let ready = self.jobs.partition_point(|(begin, ..)| *begin <= now);
        self.jobs.drain(..ready).map(|(_, id, job)| (id, job)).collect()
    }

    /// When the next of them may start.
    pub fn next(&self) -> Option<Time> {
        self.jobs.front().map(|(begin, ..)| *begin)
    }
}
