//! What decides in a pass where the rules of backfilling leave something open.

use crate::schedule::arrivals::Arrivals;
use crate::schedule::order::Rank;
use crate::schedule::queue::Waiting;
use crate::schedule::rules::Rules;
use crate::time::Time;

/// The place of a job among those that are tried: a class, and its place in that. The smallest comes first.
pub type Precedence = (u8, Rank);

/// Who is protected, who starts first, and in which order jobs are tried.
pub trait Guide {
    /// Whether jobs that overtake this one, which has got a reservation, must fit by their estimates if those are longer than their
    /// predictions. `is_first`: no other job has a reservation.
    fn is_protected(&self, job: &Waiting, is_first: bool, arrivals: &Arrivals, now: Time) -> bool;

    /// The place of a job among those that are tried after the reservations are made.
    fn precedence(&self, job: &Waiting, arrivals: &Arrivals, now: Time) -> Precedence;

    /// Jobs of at least this width start before all others if they can be placed; none if there is no such width. `head` is the
    /// first of the waiting jobs.
    fn width_that_starts_first(&self, _head: &Waiting, _now: Time) -> Option<u32> {
        None
    }
}

impl Guide for Rules {
    fn is_protected(&self, job: &Waiting, is_first: bool, arrivals: &Arrivals, now: Time) -> bool {
        is_first && arrivals.has_waited(job.id, self.protect, now)
    }

    fn precedence(&self, job: &Waiting, arrivals: &Arrivals, now: Time) -> Precedence {
        (0, self.scan.rank(job, arrivals, now))
    }
}
