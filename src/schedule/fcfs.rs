//! First come, first served: the head of the queue starts as soon as it fits. No job overtakes another.

use super::policy::{Policy, View};
use super::queue::Waiting;
use crate::job::JobId;

/// Starts jobs strictly in order of arrival.
pub struct Fcfs;

impl Policy for Fcfs {
    fn pass(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        heads_that_fit(view, |job| starts.push(job.id));
    }
}

/// Calls `fits` for the jobs at the head of the queue that can start one after the other. Returns the first job that
/// cannot start, and the processors that are then free.
pub fn heads_that_fit<'a>(view: &View<'a>, mut fits: impl FnMut(&Waiting)) -> (Option<&'a Waiting>, i64) {
    let mut free = view.free;
    for job in view.waiting.iter() {
        if i64::from(job.procs) > free {
            return (Some(job), free);
        }
        free -= i64::from(job.procs);
        fits(job);
    }
    (None, free)
}
