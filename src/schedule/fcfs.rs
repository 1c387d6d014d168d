//! First come, first served: the head of the queue starts as soon as it fits. No job overtakes another.

use super::policy::{Policy, View};
use super::queue::Waiting;
use crate::job::JobId;

/// Starts jobs strictly in order of arrival.
pub struct Fcfs;

impl Policy for Fcfs {
    fn pass(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        heads_that_fit(view.waiting.iter(), view.free, |job| starts.push(job.id));
    }
}

/// Calls `fits` for the first jobs of a queue that can start one after the other. Returns the first job that cannot
/// start, and the processors that are then free.
pub(super) fn heads_that_fit<'a>(
    queue: impl Iterator<Item = &'a Waiting>,
    mut free: i64,
    mut fits: impl FnMut(&Waiting),
) -> (Option<&'a Waiting>, i64) {
    for job in queue {
        if i64::from(job.procs) > free {
            return (Some(job), free);
        }
        free -= i64::from(job.procs);
        fits(job);
    }
    (None, free)
}
