//! What policies remember of waiting jobs beyond the state of the machine: submission times and estimates.

use rustc_hash::FxHashMap;

use super::queue::{Queue, Waiting};
use crate::job::{JobId, Submission};
use crate::time::{Seconds, Time};

/// The submission times and estimates of the waiting jobs, and of some that have left.
#[derive(Clone, Debug)]
pub struct Arrivals {
    /// Whether the policy needs them. If not, nothing is kept.
    is_kept: bool,
    jobs: FxHashMap<JobId, (Time, Seconds)>,
    /// The submission of the first simulated job.
    origin: Option<Time>,
}

impl Arrivals {
    /// Jobs that have left are removed when there are more of them than jobs that wait, plus this number.
    const FEW: usize = 32;

    pub fn new(is_kept: bool) -> Arrivals {
        Arrivals { is_kept, jobs: FxHashMap::default(), origin: None }
    }

    /// See [`super::Facts::first_submission`].
    pub fn set_origin(&mut self, first_submission: Option<Time>) {
        self.origin = first_submission;
    }

    pub fn push(&mut self, id: JobId, job: &Submission) {
        if self.is_kept {
            self.origin.get_or_insert(job.submit);
            self.jobs.insert(id, (job.submit, job.estimate));
        }
    }

    /// Removes the jobs that have left, if they are many.
    pub fn forget_gone(&mut self, waiting: &Queue) {
        if self.jobs.len() > 2 * waiting.len() + Self::FEW {
            self.jobs.retain(|&id, _| waiting.get(id).is_some());
        }
    }

    pub fn submit(&self, id: JobId) -> Time {
        self.jobs[&id].0
    }

    pub fn estimate(&self, id: JobId) -> Seconds {
        self.jobs[&id].1
    }

    /// The length of a job that may delay a reservation: by its prediction, or by its estimate if that is longer and a job with a
    /// reservation is protected.
    pub fn fitted_length(&self, is_protected: bool, job: &Waiting) -> Seconds {
        if is_protected { job.length.max(self.estimate(job.id)) } else { job.length }
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
