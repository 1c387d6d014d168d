//! The index of a deep queue in the order of the scan, for orders that do not depend on waits.

use super::arrivals::Arrivals;
use super::index::Index;
use super::order::Order;
use super::queue::Waiting;
use super::ranked::Ranked;
use super::room::Room;
use super::widths::{FittingJob, Widths};

/// [`Widths`] for the usual orders, [`Ranked`] for the others.
pub(super) enum ScanIndex {
    Arrival(Widths),
    ShortestPrediction(Widths),
    PredictionClass(Widths),
    Other(Ranked),
}

impl ScanIndex {
    pub fn new(order: Order) -> ScanIndex {
        match order {
            Order::Arrival => ScanIndex::Arrival(Widths::default()),
            Order::ShortestPrediction => ScanIndex::ShortestPrediction(Widths::default()),
            Order::PredictionClass => ScanIndex::PredictionClass(Widths::default()),
            order => ScanIndex::Other(Ranked::new(order)),
        }
    }

    /// Removes the first job that fits.
    pub fn take(&mut self, room: &Room) -> Option<FittingJob> {
        match self {
            ScanIndex::Arrival(widths) => widths.take_earliest(room),
            ScanIndex::ShortestPrediction(widths) => widths.take_shortest(room),
            ScanIndex::PredictionClass(widths) => widths.take_of_lowest_class(room),
            ScanIndex::Other(ranked) => ranked.take_first(|procs| room.longest(procs)),
        }
    }
}

impl ScanIndex {
    fn of_its_kind(&mut self) -> &mut dyn Index {
        match self {
            ScanIndex::Arrival(widths) => widths,
            ScanIndex::ShortestPrediction(widths) | ScanIndex::PredictionClass(widths) => widths,
            ScanIndex::Other(ranked) => ranked,
        }
    }
}

impl Index for ScanIndex {
    fn clear(&mut self) {
        self.of_its_kind().clear();
    }

    fn push(&mut self, job: &Waiting, arrivals: &Arrivals) {
        self.of_its_kind().push(job, arrivals);
    }

    fn change(&mut self, job: &Waiting, arrivals: &Arrivals) {
        self.of_its_kind().change(job, arrivals);
    }

    fn remove(&mut self, job: &Waiting) {
        self.of_its_kind().remove(job);
    }

    fn narrowest(&self) -> Option<i64> {
        match self {
            ScanIndex::Arrival(widths) => widths.narrowest(),
            ScanIndex::ShortestPrediction(widths) | ScanIndex::PredictionClass(widths) => widths.narrowest(),
            ScanIndex::Other(ranked) => ranked.narrowest(),
        }
    }
}
