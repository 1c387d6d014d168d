//! Replay: the log's own schedule, independent of the machine's size. It is used to evaluate a predictor on the real
//! history of a site.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::machine::Machine;
use super::policy::Policy;
use crate::job::{JobId, Submission};
use crate::spec::Form;
use crate::time::{Seconds, Time};

pub const FORM: Form =
    Form { name: "replay", about: "the log's own schedule: each job starts when the log says it did", keys: &[] };

/// Starts each job after the wait that the log recorded.
pub struct Replay {
    waits: Vec<Seconds>,
    due: BinaryHeap<Reverse<(Time, JobId)>>,
}

impl Replay {
    /// With the waits of all jobs, in the order in which they will be submitted. A job without a recorded wait starts at once.
    pub fn new(waits: impl Iterator<Item = Option<Seconds>>) -> Self {
        Replay { waits: waits.map(|wait| wait.unwrap_or(0)).collect(), due: BinaryHeap::new() }
    }
}

impl Policy for Replay {
    fn pass(&mut self, machine: &Machine, starts: &mut Vec<JobId>) {
        while let Some(&Reverse((due, id))) = self.due.peek()
            && due <= machine.now
        {
            self.due.pop();
            // The job may have been cancelled.
            if machine.waiting.get(id).is_some() {
                starts.push(id);
            }
        }
    }

    fn on_arrival(&mut self, id: JobId, job: &Submission) {
        self.due.push(Reverse((job.submit + self.waits[id.index()], id)));
    }

    fn on_recorded_wait(&mut self, id: JobId, wait: Seconds) {
        self.waits[id.index()] = wait;
    }

    fn wakes_at(&self) -> Option<Time> {
        self.due.peek().map(|&Reverse((due, _))| due)
    }

    fn oversubscribes(&self) -> bool {
        true
    }
}
