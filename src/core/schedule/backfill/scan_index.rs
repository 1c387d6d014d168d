//! The index of a deep queue in the order of the scan, for orders that do not depend on waits.

use super::fitting_job::FittingJob;
use super::ranked::Ranked;
use super::widths::Widths;
use crate::schedule::arrivals::Arrivals;
use crate::schedule::order::Order;
use crate::schedule::queue::Waiting;
use crate::time::Seconds;

/// [`Widths`] for the usual orders, [`Ranked`] for the others.
pub enum ScanIndex {
    Usual(Widths),
    Other(Ranked),
}

/// The same of either.
macro_rules! of_either {
    ($index:expr, $name:ident => $what:expr) => {
        match $index {
            ScanIndex::Usual($name) => $what,
            ScanIndex::Other($name) => $what,
        }
    };
}

impl ScanIndex {
    /// An empty index in this order, which must not depend on waits.
    pub fn new(order: Order) -> ScanIndex {
        match Widths::ORDERS.contains(&order) {
            true => ScanIndex::Usual(Widths::new(order)),
            false => ScanIndex::Other(Ranked::new(order)),
        }
    }

    pub fn clear(&mut self) {
        of_either!(self, index => index.clear());
    }

    /// Adds a job.
    pub fn push(&mut self, job: &Waiting, arrivals: &Arrivals) {
        of_either!(self, index => index.push(job, arrivals));
    }

    /// The prediction of a job has changed.
    pub fn change(&mut self, job: &Waiting, arrivals: &Arrivals) {
        of_either!(self, index => index.change(job, arrivals));
    }

    /// Removes a job, if it is in the index.
    pub fn remove(&mut self, job: &Waiting) {
        of_either!(self, index => index.remove(job));
    }

    /// The width of the narrowest job.
    pub fn narrowest(&self) -> Option<i64> {
        of_either!(self, index => index.narrowest())
    }

    /// The first job that is not too long. `longest` is the limit for jobs of a width, and None for this and all larger widths if no
    /// such job can start.
    pub fn first(&self, longest: impl Fn(i64) -> Option<Seconds>) -> Option<FittingJob> {
        of_either!(self, index => index.first(longest))
    }

    /// Removes the first job that is not too long.
    pub fn take(&mut self, longest: impl Fn(i64) -> Option<Seconds>) -> Option<FittingJob> {
        of_either!(self, index => index.take(longest))
    }
}
