//! The room that a reservation leaves for a job that starts now.

use crate::time::Seconds;

/// The limits that a job must fit to be backfilled.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub free: i64,
    /// The processors that the reservation does not need; jobs of any length may use them.
    pub extra: i64,
    /// The length of the longest job that ends by the shadow time.
    pub longest: Seconds,
}

impl Room {
    /// Whether a job of this width and length fits. False for 0 processors.
    pub fn holds(&self, procs: u32, length: Seconds) -> bool {
        // Without short-circuit operators: their branches would be mispredicted too often.
        (i64::from(procs.wrapping_sub(1)) < self.free) & ((length <= self.longest) | (i64::from(procs) <= self.extra))
    }

    /// The length of the longest job of this width that fits. None if no such job does.
    pub fn longest(&self, procs: i64) -> Option<Seconds> {
        match procs {
            procs if procs > self.free => None,
            procs if procs <= self.extra => Some(Seconds::MAX - 1),
            _ => Some(self.longest),
        }
    }
}
