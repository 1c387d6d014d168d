//! What policies remember of waiting jobs beyond the state of the machine: submission times, estimates, or whole submissions.

use std::collections::VecDeque;

use crate::job::{JobId, Submission};
use crate::time::{Seconds, Time};

/// Something of all jobs from the first waiting one on. Ids are consecutive, so a job is found by its distance from the first
/// one that is kept.
#[derive(Clone, Debug)]
pub(super) struct ById<T> {
    /// The id of the first job that is kept.
    first: u32,
    jobs: VecDeque<T>,
}

impl<T> Default for ById<T> {
    fn default() -> Self {
        ById { first: 0, jobs: VecDeque::new() }
    }
}

impl<T> ById<T> {
    pub fn push(&mut self, JobId(id): JobId, value: T) {
        if self.jobs.is_empty() {
            self.first = id;
        }
        debug_assert_eq!(self.first as usize + self.jobs.len(), id as usize, "jobs arrive in the order of their ids");
        self.jobs.push_back(value);
    }

    /// Removes the jobs before the first waiting one; all jobs, if none waits.
    pub fn forget_before(&mut self, first_waiting: Option<JobId>) {
        let Some(JobId(id)) = first_waiting else { return self.jobs.clear() };
        while self.first < id && self.jobs.pop_front().is_some() {
            self.first += 1;
        }
    }

    pub fn get(&self, JobId(id): JobId) -> &T {
        &self.jobs[(id - self.first) as usize]
    }
}

/// The submission times and estimates of all jobs from the first waiting one on.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    /// Whether the policy needs them. If not, nothing is kept.
    is_kept: bool,
    jobs: ById<(Time, Seconds)>,
    /// The submission of the first simulated job.
    origin: Option<Time>,
}

impl Arrivals {
    pub fn new(is_kept: bool) -> Arrivals {
        Arrivals { is_kept, jobs: ById::default(), origin: None }
    }

    /// See [`super::Facts::first_submission`].
    pub fn set_origin(&mut self, first_submission: Option<Time>) {
        self.origin = first_submission;
    }

    pub fn push(&mut self, id: JobId, job: &Submission) {
        if self.is_kept {
            self.origin.get_or_insert(job.submit);
            self.jobs.push(id, (job.submit, job.estimate));
        }
    }

    /// Removes the jobs before the first waiting one; all jobs, if none waits.
    pub fn forget_before(&mut self, first_waiting: Option<JobId>) {
        if self.is_kept {
            self.jobs.forget_before(first_waiting);
        }
    }

    pub fn submit(&self, id: JobId) -> Time {
        self.jobs.get(id).0
    }

    pub fn estimate(&self, id: JobId) -> Seconds {
        self.jobs.get(id).1
    }

    /// Whether a job has waited this long or longer; None is never.
    pub fn has_waited(&self, id: JobId, long: Option<Seconds>, now: Time) -> bool {
        long.is_some_and(|long| now - self.submit(id) >= long)
    }

    /// The submission in seconds after that of the first simulated job, at least 1, so that it has a logarithm.
    pub fn seconds_after_first(&self, id: JobId) -> Seconds {
        (self.submit(id) - self.origin.unwrap_or(0)).max(1)
    }
}
