//! In which order jobs are tried, and which of them are wide or urgent.

use super::schedule::VirtualSchedule;
use crate::schedule::arrivals::Arrivals;
use crate::schedule::backfill::{Guide, Precedence};
use crate::schedule::machine::Machine;
use crate::schedule::order::{Order, Rank};
use crate::schedule::queue::Waiting;
use crate::schedule::rules::{Counting, Rules};
use crate::time::{Seconds, Time};

/// The keys of the scheduler.
#[derive(Clone, Copy, Debug)]
pub(super) struct FairRules {
    pub has_accounts: bool,
    /// The share of the machine from which on a job is wide.
    pub wide: f64,
    /// The share of the machine from which on a job is urgent.
    pub urgent: f64,
    /// The order in which the jobs are tried that are neither wide nor owed.
    pub scan: Order,
}

impl FairRules {
    /// The rules of backfilling that hold beside these.
    pub fn backfilling(&self) -> Rules {
        Rules { running: Counting::Estimate, scan: self.scan, ..Rules::default() }
    }
}

/// The rules for a machine of a given size.
#[derive(Clone, Copy, Debug)]
pub(super) struct FairOrder {
    scan: Order,
    wide_procs: u32,
    pub urgent_procs: u32,
}

impl FairOrder {
    pub fn new(rules: &FairRules, procs: u32) -> FairOrder {
        let (wide_procs, urgent_procs) = (at_least(rules.wide, procs), at_least(rules.urgent, procs));
        FairOrder { scan: rules.scan, wide_procs, urgent_procs }
    }
}

/// The guide of one pass: the virtual schedule decides who starts first, who is protected and in which order jobs are tried. These
/// are wide jobs, the widest first; owed jobs by their virtual starts; all others in the order of the scan. Equal jobs are in order
/// of arrival.
pub(super) struct FairGuide<'a> {
    pub order: FairOrder,
    pub schedule: &'a VirtualSchedule,
}

impl Guide for FairGuide<'_> {
    const CLASSES: u8 = 2;

    fn is_protected(&self, job: &Waiting, _is_first: bool, _arrivals: &Arrivals, now: Time) -> bool {
        self.schedule.is_protected(job.id, now)
    }

    fn precedence(&self, job: &Waiting, arrivals: &Arrivals, now: Time) -> Precedence {
        if job.procs >= self.order.wide_procs {
            (0, Order::Widest.rank(job, arrivals, now))
        } else if self.schedule.is_owed(job.id, now) {
            (1, Rank::new(self.schedule.start_of(job.id).into(), job.arrival))
        } else {
            (2, self.order.scan.rank(job, arrivals, now))
        }
    }

    fn list_class(
        &self,
        class: u8,
        longest: impl Fn(i64) -> Option<Seconds>,
        machine: &Machine,
        jobs: &mut Vec<Waiting>,
    ) {
        let wide_procs = self.order.wide_procs;
        let has_room = |procs: u32, length| longest(procs.into()).is_some_and(|longest| length <= longest);
        if class > 0 {
            jobs.extend(self.schedule.owed_of(machine.now, |job| has_room(job.procs, job.length)));
        } else if longest(wide_procs.into()).is_some() {
            let wide = machine.waiting.iter().filter(|job| job.procs >= wide_procs);
            jobs.extend(wide.filter(|job| has_room(job.procs, job.length)));
            jobs.sort_by_key(|job| std::cmp::Reverse(job.procs));
        }
    }

    fn width_that_starts_first(&self, head: &Waiting, now: Time) -> Option<u32> {
        (!self.schedule.is_protected(head.id, now)).then_some(self.order.urgent_procs)
    }
}

/// The smallest number of processors that is at least this share of all.
fn at_least(share: f64, procs: u32) -> u32 {
    // The share is a decimal number, and its product with a whole number may be too large by a rounding error.
    const ROUNDING: f64 = 1e-9;
    (share * f64::from(procs) * (1.0 - ROUNDING)).ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::at_least;

    #[test]
    fn shares_are_decimal_numbers() {
        assert_eq!(
            [(0.5, 100), (0.5, 101), (0.55, 20), (0.75, 338)].map(|(share, procs)| at_least(share, procs)),
            [50, 51, 11, 254]
        );
        assert_eq!((at_least(0.0, 10), at_least(1.0, 10), at_least(1.5, 10)), (0, 10, 15));
    }
}
