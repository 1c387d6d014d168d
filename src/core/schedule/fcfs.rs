//! First come, first served: the head of the queue starts as soon as it fits. No job overtakes another.

use super::backlog::Backlog;
use super::machine::Machine;
use super::order::Order;
use super::policy::{Decisions, Policy, PolicyEvent};
use super::queue::Waiting;
use super::rules::Rules;
use crate::machine::Capacity;

/// Starts jobs strictly in an order: the first that does not fit blocks all others.
pub struct Fcfs {
    backlog: Backlog,
}

impl Fcfs {
    /// Jobs start in this order.
    pub fn new(queue: Order) -> Fcfs {
        Fcfs { backlog: Backlog::unindexed(&Rules { queue, ..Rules::default() }) }
    }
}

impl Policy for Fcfs {
    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        self.backlog.begin_pass(machine);
        heads_that_fit(self.backlog.jobs(machine), machine.capacity, |job| out.starts.push(job.id));
        self.backlog.end_pass(machine, &out.starts);
    }

    fn on(&mut self, event: &PolicyEvent<'_>, _machine: &Machine) {
        self.backlog.on(event);
    }
}

/// Calls `fits` for the first jobs of a queue that can start one after the other. Returns the first job that cannot
/// start, and what is free then.
#[inline]
pub(super) fn heads_that_fit<'a>(
    queue: impl Iterator<Item = &'a Waiting>,
    mut capacity: Capacity,
    mut fits: impl FnMut(&Waiting),
) -> (Option<&'a Waiting>, Capacity) {
    for job in queue {
        if !capacity.fits(job.procs) {
            return (Some(job), capacity);
        }
        capacity.take(job.procs);
        fits(job);
    }
    (None, capacity)
}
