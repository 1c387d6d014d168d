//! What indexes and spaces compare of a waiting job.

use crate::job::JobId;
use crate::schedule::queue::Waiting;
use crate::time::Seconds;

/// A job with the length that it must fit with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FittingJob {
    pub id: JobId,
    pub procs: i64,
    pub length: Seconds,
}

impl FittingJob {
    pub fn with(job: &Waiting, length: Seconds) -> FittingJob {
        FittingJob { id: job.id, procs: i64::from(job.procs), length }
    }
}
