//! What decides in a backfilling pass where its rules leave something open.

use crate::schedule::arrivals::Arrivals;
use crate::schedule::machine::Machine;
use crate::schedule::order::{Order, Rank};
use crate::schedule::policy::{Decisions, Policy};
use crate::schedule::queue::Waiting;
use crate::schedule::rules::Rules;
use crate::time::{Seconds, Time};

/// The place of a job among those that are tried: a class, and its place in that. The smallest comes first.
pub(in crate::schedule) type Precedence = (u8, Rank);

/// Who is protected, who starts first, and in which order jobs are tried.
pub(in crate::schedule) trait Guide {
    /// The classes of precedence before the last one, in which jobs are in the order of the scan.
    const CLASSES: u8 = 0;

    /// Whether jobs that overtake this one, which has got a reservation, must fit by their estimates if those are longer than their
    /// predictions. `is_first`: no other job has a reservation.
    fn is_protected(&self, job: &Waiting, is_first: bool, arrivals: &Arrivals, now: Time) -> bool;

    /// The place of a job among those that are tried after the reservations are made.
    fn precedence(&self, job: &Waiting, arrivals: &Arrivals, now: Time) -> Precedence;

    /// Puts jobs in the order of their precedence.
    fn sort(&self, jobs: &mut [Waiting], arrivals: &Arrivals, now: Time) {
        jobs.sort_by_cached_key(|job| self.precedence(job, arrivals, now));
    }

    /// Adds the waiting jobs of a class that is not the last, if there is room for them, in the order of their precedence. `longest`
    /// is the length of the longest job of a width that has room; None if none has.
    fn list_class(
        &self,
        _class: u8,
        _longest: impl Fn(i64) -> Option<Seconds>,
        _machine: &Machine,
        _jobs: &mut Vec<Waiting>,
    ) {
    }

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

    fn sort(&self, jobs: &mut [Waiting], arrivals: &Arrivals, now: Time) {
        match self.scan {
            // They are in this order.
            Order::Arrival => {}
            Order::ShortestPrediction => jobs.sort_unstable_by_key(|job| (job.length, job.arrival)),
            order => jobs.sort_by_cached_key(|job| order.rank(job, arrivals, now)),
        }
    }
}

/// A backfilling policy of which a pass can have another guide than the rules.
pub(in crate::schedule) trait Guided: Policy {
    /// A pass, as [`Policy::decide`] makes it.
    fn guided_pass(&mut self, guide: &impl Guide, machine: &Machine, out: &mut Decisions);
}
