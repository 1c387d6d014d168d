//! What the schedulers with an order of their own keep of the waiting jobs from pass to pass.

use super::line::QueueOrder;
use super::scan_index::ScanIndex;
use crate::job::{ArrivalNumber, JobId};
use crate::schedule::arrivals::Arrivals;
use crate::schedule::machine::Machine;
use crate::schedule::order::Order;
use crate::schedule::policy::PolicyEvent;
use crate::schedule::queue::QueuePlace;
use crate::schedule::rules::{Counting, Rules};

/// The waiting jobs in the order of the queue, what the machine does not say of them, and, while the queue is deep, an index of them.
pub(super) struct Backlog {
    pub arrivals: Arrivals,
    pub line: QueueOrder,
    /// The last job of the queue at the last pass. Later ones are newcomers, whose predictions were not known then.
    seen: Option<ArrivalNumber>,
    pub index: ScanIndex,
    is_indexable: bool,
    /// Whether the index has all jobs. If not, it is empty.
    is_deep: bool,
}

/// A queue is indexed from `DEEP` jobs on, until it has less than `SHALLOW`. Scanning a short queue is faster.
const DEEP: usize = 48;
const SHALLOW: usize = 16;

impl Backlog {
    /// With an index in this order, if there is one.
    pub fn new(rules: &Rules, index: Option<Order>) -> Backlog {
        let line = QueueOrder::new(rules.queue, rules.starve);
        let needs_estimates = rules.running == Counting::Estimate || rules.protect.is_some();
        let needs_submissions = line.needs_submissions() || rules.scan.needs_submissions();
        Backlog {
            arrivals: Arrivals::new(needs_estimates || needs_submissions),
            line,
            seen: None,
            index: ScanIndex::new(index.unwrap_or(Order::Arrival)),
            is_indexable: index.is_some(),
            is_deep: false,
        }
    }

    /// Whether the queue is deep: there is an index.
    pub fn is_deep(&self) -> bool {
        self.is_deep
    }

    /// The places of the jobs that arrived since the last pass.
    pub fn newcomers<'a>(&self, machine: &'a Machine) -> &'a [QueuePlace] {
        machine.waiting.places_after(self.seen)
    }

    /// Adds the newcomers.
    #[inline]
    pub fn begin_pass(&mut self, machine: &Machine) {
        if self.line.is_kept_sorted() | self.is_deep | (machine.waiting.len() >= DEEP) {
            self.add_newcomers(machine);
        }
    }

    fn add_newcomers(&mut self, machine: &Machine) {
        let waiting = &machine.waiting;
        let newcomers = || waiting.places_after(self.seen).iter().filter_map(QueuePlace::job);
        if self.line.is_kept_sorted() {
            newcomers().for_each(|job| self.line.put(job, &self.arrivals));
        }
        if self.is_deep {
            newcomers().for_each(|job| self.index.push(job, &self.arrivals));
            if waiting.len() < SHALLOW {
                self.is_deep = false;
                self.index.clear();
            }
        } else if waiting.len() >= DEEP && self.is_indexable {
            self.is_deep = true;
            waiting.iter().for_each(|job| self.index.push(job, &self.arrivals));
        }
    }

    /// Removes the jobs that a pass has started.
    #[inline]
    pub fn end_pass(&mut self, machine: &Machine, starts: &[JobId]) {
        if self.line.is_kept_sorted() {
            starts.iter().for_each(|&id| self.line.remove(id));
        }
        self.seen = machine.waiting.last().map(|job| job.arrival).or(self.seen);
        self.arrivals.forget_gone(&machine.waiting);
    }

    /// Something has happened.
    pub fn on(&mut self, event: &PolicyEvent<'_>, machine: &Machine) {
        match event {
            PolicyEvent::Begin(facts) => self.arrivals.set_origin(facts.first_submission),
            PolicyEvent::Arrival { id, job, .. } => self.arrivals.push(*id, job),
            // A newcomer is added at the next pass.
            PolicyEvent::Change(job) if self.seen.is_some_and(|seen| job.arrival <= seen) => {
                self.line.put(job, &self.arrivals);
                if self.is_deep {
                    self.index.change(job, &self.arrivals);
                }
            }
            PolicyEvent::Cancellation(job) => {
                self.line.remove(job.id);
                if self.is_deep {
                    self.index.remove(job);
                }
            }
            PolicyEvent::Requeue(id, job) => {
                self.arrivals.push(*id, job);
                // Where jobs are stopped there is no index.
                if let Some(job) = machine.waiting.get(*id) {
                    self.line.put(job, &self.arrivals);
                }
            }
            PolicyEvent::Order(jobs) => self.line.give(jobs.to_vec()),
            _ => {}
        }
    }
}
