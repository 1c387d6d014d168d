//! Replay: the log's own schedule, independent of the machine's size. It is used to evaluate a predictor on the real
//! history of a site.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::machine::Machine;
use super::policy::{Decisions, Policy, PolicyEvent, Scheduler};
use crate::job::{ArrivalNumber, JobId};
use crate::spec::Form;
use crate::time::{Seconds, Time};

pub const FORM: Form =
    Form { name: "replay", about: "the log's own schedule: each job starts when the log says it did", keys: &[] };

/// Starts each job after the wait that the log recorded.
pub struct Replay {
    /// By id.
    waits: Vec<Seconds>,
    due: BinaryHeap<Reverse<(Time, ArrivalNumber, JobId)>>,
}

impl Replay {
    /// With the waits of all jobs, in workload order. A job without a recorded wait starts at once.
    pub fn new(waits: impl Iterator<Item = Option<Seconds>>) -> Self {
        Replay { waits: waits.map(|wait| wait.unwrap_or(0)).collect(), due: BinaryHeap::new() }
    }
}

impl Policy for Replay {
    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        while let Some(&Reverse((due, _, id))) = self.due.peek()
            && due <= machine.now
        {
            self.due.pop();
            // The job may have been cancelled.
            if machine.waiting.get(id).is_some() {
                out.starts.push(id);
            }
        }
    }

    fn on(&mut self, event: &PolicyEvent<'_>, machine: &Machine) {
        match *event {
            PolicyEvent::Arrival { id, job, .. } => {
                let start = job.submit + self.waits[id.index()];
                self.due.push(Reverse((start, machine.waiting.arrival(id), id)));
            }
            PolicyEvent::RecordedWait(id, wait) => self.waits[id.index()] = wait,
            _ => {}
        }
    }

    fn wake(&self) -> Option<Time> {
        self.due.peek().map(|&Reverse((due, ..))| due)
    }
}

impl From<Replay> for Scheduler {
    fn from(replay: Replay) -> Scheduler {
        Scheduler { replays: true, ..Scheduler::new(replay) }
    }
}
