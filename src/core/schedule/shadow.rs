//! The reservation of the first job that does not fit, and the room that it leaves for others.

use super::machine::Machine;
use super::queue::{QueuePlace, Waiting};
use super::room::Room;
use crate::machine::Capacity;
use crate::time::{Seconds, Time};

/// Whether any job in this slice needs no more processors than are free. Without a branch per job, see [`super::easy`].
pub(super) fn any_is_narrow_enough(part: &[QueuePlace], capacity: &Capacity) -> bool {
    let room = Room { free: capacity.free(), extra: 0, longest: Seconds::MAX };
    part.iter().fold(false, |any, place| any | place.fits(&room))
}

/// The reservation of the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shadow {
    /// When the head will fit, by the ends of running jobs as they are counted.
    pub time: Time,
    /// The processors that the head leaves free at that time.
    pub extra: i64,
}

impl Shadow {
    /// No reservation: every job that fits the free processors may start.
    const NONE: Shadow = Shadow { time: Time::MAX, extra: 0 };

    /// The limits for a backfilled job, so that it does not delay the head.
    pub fn room(&self, now: Time, capacity: &Capacity) -> Room {
        Room { free: capacity.free(), extra: self.extra, longest: self.time.saturating_sub(now) }
    }

    /// A backfilled job starts. It uses extra processors if it is predicted to end after the shadow time. Returns whether
    /// the reservation is the same from the next pass on, when the job has the length `counted`: both its ends must be on
    /// the same side of the shadow time.
    pub fn admit(&mut self, procs: i64, length: Seconds, counted: Seconds, now: Time) -> bool {
        let ends_later = now + length > self.time;
        if ends_later {
            self.extra -= procs;
        }
        ends_later == (now + counted > self.time)
    }

    /// Adds up the processors of running jobs in order of their ends, jobs with equal ends together, until the head fits.
    /// The jobs that `started` in this pass count as running. Both lists are in order of ends.
    pub fn of_head(machine: &Machine, started: &[(Time, u32)], capacity: &Capacity, head: &Waiting) -> Shadow {
        let missing = i64::from(head.procs) - capacity.free();
        if started.is_empty() {
            // A faster way for most passes.
            let frees = machine.running.end_that_frees(missing);
            return frees.map_or(Shadow::NONE, |(time, freed)| Shadow { time, extra: freed - missing });
        }
        let mut running = machine.running.iter().map(|job| (job.end, job.procs)).peekable();
        let mut started = started.iter().copied().peekable();
        let mut freed = 0;
        // There is always a next end: every job of a workload fits the empty machine.
        while let Some(time) = [running.peek(), started.peek()].into_iter().flatten().map(|job| job.0).min() {
            let ending = std::iter::from_fn(|| running.next_if(|job| job.0 == time));
            freed += ending.map(|job| i64::from(job.1)).sum::<i64>();
            let ending = std::iter::from_fn(|| started.next_if(|job| job.0 == time));
            freed += ending.map(|job| i64::from(job.1)).sum::<i64>();
            if freed >= missing {
                return Shadow { time, extra: freed - missing };
            }
        }
        Shadow::NONE
    }
}
