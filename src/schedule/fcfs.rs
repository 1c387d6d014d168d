//! First come, first served: the head of the queue starts while it fits. Nobody overtakes.

use super::policy::{Policy, View};
use crate::job::JobId;
use crate::spec::Form;

pub const FORM: Form =
    Form { name: "fcfs", about: "first come, first served: the head of the queue starts when it fits", keys: &[] };

pub struct Fcfs;

impl Policy for Fcfs {
    fn pass(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        let (heads, _) = heads_that_fit(view);
        starts.extend(view.waiting[..heads].iter().map(|job| job.id));
    }
}

/// How many jobs at the head of the queue can start one after the other, and the processors then free.
pub fn heads_that_fit(view: &View<'_>) -> (usize, i64) {
    let mut free = view.free;
    for (count, job) in view.waiting.iter().enumerate() {
        if i64::from(job.procs) > free {
            return (count, free);
        }
        free -= i64::from(job.procs);
    }
    (view.waiting.len(), free)
}
