//! The index of a deep queue in the order of the scan, for orders that do not depend on waits.

use super::arrivals::Arrivals;
use super::order::Order;
use super::queue::Waiting;
use super::ranked::Ranked;
use super::widths::{Candidate, Room, Widths};
use crate::time::Seconds;

/// [`Widths`] for the two usual orders, [`Ranked`] for the others.
pub(super) enum ScanIndex {
    Arrival(Widths),
    ShortestPrediction(Widths),
    Other(Order, Ranked),
}

impl ScanIndex {
    pub fn new(order: Order) -> ScanIndex {
        match order {
            Order::Arrival => ScanIndex::Arrival(Widths::default()),
            Order::ShortestPrediction => ScanIndex::ShortestPrediction(Widths::default()),
            order => ScanIndex::Other(order, Ranked::default()),
        }
    }

    pub fn clear(&mut self) {
        match self {
            ScanIndex::Arrival(widths) | ScanIndex::ShortestPrediction(widths) => widths.clear(),
            ScanIndex::Other(_, ranked) => ranked.clear(),
        }
    }

    pub fn push(&mut self, job: &Waiting, arrivals: &Arrivals) {
        match self {
            ScanIndex::Arrival(widths) | ScanIndex::ShortestPrediction(widths) => widths.push(job),
            ScanIndex::Other(order, ranked) => ranked.put(job.procs, job.length, order.rank(job, arrivals, 0)),
        }
    }

    pub fn remove(&mut self, job: &Waiting) {
        match self {
            ScanIndex::Arrival(widths) | ScanIndex::ShortestPrediction(widths) => widths.remove(job),
            ScanIndex::Other(_, ranked) => ranked.remove(job.id),
        }
    }

    /// The prediction of a job has changed. The job may have arrived since the last pass; then it is pushed later.
    pub fn change(&mut self, job: &Waiting, arrivals: &Arrivals) {
        match self {
            ScanIndex::Arrival(widths) | ScanIndex::ShortestPrediction(widths) => widths.change(job),
            ScanIndex::Other(order, ranked) => ranked.put(job.procs, job.length, order.rank(job, arrivals, 0)),
        }
    }

    /// The width of the narrowest job.
    pub fn narrowest(&self) -> Option<i64> {
        match self {
            ScanIndex::Arrival(widths) | ScanIndex::ShortestPrediction(widths) => widths.narrowest(),
            ScanIndex::Other(_, ranked) => ranked.narrowest(),
        }
    }

    /// Removes the first job that fits.
    pub fn take(&mut self, room: &Room) -> Option<Candidate> {
        match self {
            ScanIndex::Arrival(widths) => widths.take_earliest(room),
            ScanIndex::ShortestPrediction(widths) => widths.take_shortest(room),
            ScanIndex::Other(_, ranked) => ranked.take_first(|procs| match procs {
                procs if procs > room.free => None,
                procs if procs <= room.extra => Some(Seconds::MAX - 1),
                _ => Some(room.longest),
            }),
        }
    }
}
