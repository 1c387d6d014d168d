//! The waiting jobs in the order of the queue, from which heads are started and reservations are made.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::job::JobId;
use crate::schedule::arrivals::Arrivals;
use crate::schedule::machine::Machine;
use crate::schedule::order::{Order, Rank};
use crate::schedule::queue::{QueuePlace, Waiting};
use crate::time::Seconds;

/// The order of the queue, kept from pass to pass where that is possible.
pub(super) struct QueueOrder {
    order: Order,
    is_kept_sorted: bool,
    /// Jobs that have waited this long come first, in order of arrival.
    starve: Option<Seconds>,
    /// The waiting jobs, unless the order is that of arrival or depends on waits.
    sorted: BTreeMap<Rank, Waiting>,
    ranks: FxHashMap<JobId, Rank>,
    /// Scratch: the ranks in an order that depends on waits.
    heap: BinaryHeap<Reverse<Rank>>,
    /// An order from outside, which holds instead.
    given: Option<GivenOrder>,
}

/// The first jobs of a queue. The others follow in order of arrival.
struct GivenOrder {
    jobs: Vec<JobId>,
    has: FxHashSet<JobId>,
}

/// Waiting jobs in the order of the queue.
pub(super) enum InOrder<'a> {
    Arrival(std::slice::Iter<'a, QueuePlace>),
    Other(Box<dyn Iterator<Item = &'a Waiting> + 'a>),
}

impl<'a> Iterator for InOrder<'a> {
    type Item = &'a Waiting;

    #[inline]
    fn next(&mut self) -> Option<&'a Waiting> {
        match self {
            InOrder::Arrival(places) => places.find_map(QueuePlace::job),
            InOrder::Other(jobs) => jobs.next(),
        }
    }
}

impl QueueOrder {
    pub fn new(order: Order, starve: Option<Seconds>) -> QueueOrder {
        let (sorted, ranks, heap) = (BTreeMap::new(), FxHashMap::default(), BinaryHeap::new());
        let is_kept_sorted = order != Order::Arrival && !order.depends_on_waits();
        QueueOrder { order, is_kept_sorted, starve, sorted, ranks, heap, given: None }
    }

    /// From now on these jobs come first. Each is named once.
    pub fn give(&mut self, jobs: Vec<JobId>) {
        self.given = Some(GivenOrder { has: jobs.iter().copied().collect(), jobs });
    }

    /// Whether submission times are needed.
    pub fn needs_submissions(&self) -> bool {
        self.order.needs_submissions() || self.starve.is_some()
    }

    /// Whether the waiting jobs are kept in the order of the queue.
    pub fn is_kept_sorted(&self) -> bool {
        self.is_kept_sorted
    }

    /// A job arrives, or its prediction changes.
    pub fn put(&mut self, job: &Waiting, arrivals: &Arrivals) {
        if self.is_kept_sorted() {
            let rank = self.order.rank(job, arrivals, 0);
            if let Some(old) = self.ranks.insert(job.id, rank) {
                self.sorted.remove(&old);
            }
            self.sorted.insert(rank, *job);
        }
    }

    /// A job leaves.
    pub fn remove(&mut self, id: JobId) {
        if let Some(rank) = self.ranks.remove(&id) {
            self.sorted.remove(&rank);
        }
    }

    /// Whether jobs are in order of arrival.
    pub fn is_of_arrival(&self) -> bool {
        self.given.is_none() && self.order == Order::Arrival
    }

    /// The waiting jobs in order. In an order that depends on waits the first k of n jobs cost n + k log n.
    #[inline]
    pub fn jobs<'a>(&'a mut self, machine: &'a Machine, arrivals: &'a Arrivals) -> InOrder<'a> {
        match self.is_of_arrival() {
            true => InOrder::Arrival(machine.waiting.places_after(None).iter()),
            false => InOrder::Other(self.others(machine, arrivals)),
        }
    }

    fn others<'a>(
        &'a mut self,
        machine: &'a Machine,
        arrivals: &'a Arrivals,
    ) -> Box<dyn Iterator<Item = &'a Waiting> + 'a> {
        let (waiting, now) = (&machine.waiting, machine.now);
        if let Some(given) = &self.given {
            let others = waiting.iter().filter(|job| !given.has.contains(&job.id));
            return Box::new(given.jobs.iter().filter_map(|&id| waiting.get(id)).chain(others));
        }
        let starve = self.starve;
        let is_starved = move |job: &Waiting| arrivals.has_waited(job.id, starve, now);
        // Jobs arrive in order of submission, so those that have waited longest are the first.
        let starved = waiting.iter().take_while(move |job| is_starved(job));
        if self.is_kept_sorted() {
            let sorted = self.sorted.values();
            return Box::new(starved.chain(sorted.filter(move |job| !is_starved(job))));
        }
        // The memory of the last pass is used again.
        let mut ranks = std::mem::take(&mut self.heap).into_vec();
        ranks.clear();
        let others = waiting.iter().filter(|job| !is_starved(job));
        ranks.extend(others.map(|job| Reverse(self.order.rank(job, arrivals, now))));
        self.heap = BinaryHeap::from(ranks);
        let heap = &mut self.heap;
        let sorted =
            std::iter::from_fn(move || heap.pop()).filter_map(move |Reverse(rank)| waiting.arrived(rank.arrival()));
        Box::new(starved.chain(sorted))
    }
}
