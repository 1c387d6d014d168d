//! The waiting jobs in the order of the queue, from which heads are started and reservations are made.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use rustc_hash::FxHashMap;

use super::arrivals::Arrivals;
use super::order::{Order, Rank};
use super::policy::View;
use super::queue::Waiting;
use crate::job::JobId;
use crate::time::Seconds;

/// The order of the queue, kept from pass to pass where that is possible.
pub(super) struct Line {
    order: Order,
    /// Jobs that have waited this long come first, in order of arrival.
    starve: Option<Seconds>,
    /// The waiting jobs, unless the order is that of arrival or depends on waits.
    sorted: BTreeSet<Rank>,
    ranks: FxHashMap<JobId, Rank>,
    /// Scratch: the ranks in an order that depends on waits.
    heap: BinaryHeap<Reverse<Rank>>,
}

impl Line {
    pub fn new(order: Order, starve: Option<Seconds>) -> Line {
        Line { order, starve, sorted: BTreeSet::new(), ranks: FxHashMap::default(), heap: BinaryHeap::new() }
    }

    /// Whether submission times are needed.
    pub fn needs_submissions(&self) -> bool {
        self.order.needs_submissions() || self.starve.is_some()
    }

    fn is_kept_sorted(&self) -> bool {
        self.order != Order::Arrival && !self.order.depends_on_waits()
    }

    /// A job arrives, or its prediction changes.
    pub fn put(&mut self, job: &Waiting, arrivals: &Arrivals) {
        if self.is_kept_sorted() {
            let rank = self.order.rank(job, arrivals, 0);
            if let Some(old) = self.ranks.insert(job.id, rank) {
                self.sorted.remove(&old);
            }
            self.sorted.insert(rank);
        }
    }

    /// A job leaves.
    pub fn remove(&mut self, id: JobId) {
        if let Some(rank) = self.ranks.remove(&id) {
            self.sorted.remove(&rank);
        }
    }

    /// The waiting jobs in order. In an order that depends on waits the first k of n jobs cost n + k log n.
    pub fn jobs<'a>(
        &'a mut self,
        view: &View<'a>,
        arrivals: &'a Arrivals,
    ) -> Box<dyn Iterator<Item = &'a Waiting> + 'a> {
        let (waiting, now) = (view.waiting, view.now);
        if self.order == Order::Arrival {
            return Box::new(waiting.iter());
        }
        let starve = self.starve;
        let is_starved = move |job: &Waiting| arrivals.has_waited(job.id, starve, now);
        // Jobs arrive in order of submission, so those that have waited longest are the first.
        let starved = waiting.iter().take_while(move |job| is_starved(job));
        if self.is_kept_sorted() {
            let sorted = self.sorted.iter().filter_map(move |rank| waiting.get(rank.job()));
            return Box::new(starved.chain(sorted.filter(move |job| !is_starved(job))));
        }
        // The memory of the last pass is used again.
        let mut ranks = std::mem::take(&mut self.heap).into_vec();
        ranks.clear();
        let others = waiting.iter().filter(|job| !is_starved(job));
        ranks.extend(others.map(|job| Reverse(self.order.rank(job, arrivals, now))));
        self.heap = BinaryHeap::from(ranks);
        let heap = &mut self.heap;
        let sorted = std::iter::from_fn(move || heap.pop()).filter_map(move |Reverse(rank)| waiting.get(rank.job()));
        Box::new(starved.chain(sorted))
    }
}
