//! What a backlog needs of an index of its jobs.

use super::arrivals::Arrivals;
use super::queue::Waiting;

/// An index of waiting jobs, in an order of its own.
pub(super) trait Index {
    fn clear(&mut self);

    /// Adds a job.
    fn push(&mut self, job: &Waiting, arrivals: &Arrivals);

    /// The prediction of a job has changed.
    fn change(&mut self, job: &Waiting, arrivals: &Arrivals);

    /// Removes a job, if it is in the index.
    fn remove(&mut self, job: &Waiting);

    /// The width of the narrowest job.
    fn narrowest(&self) -> Option<i64>;
}
