//! An agenda: what will happen to jobs, the earliest first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::job::JobId;
use crate::time::Time;

/// Not in this simulation.
pub(super) const NEVER: Time = Time::MAX;

/// When something happens to a job, then to which, then its place on the board: in one number, because the order of many
/// is asked for at every event, and numbers are compared without a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due(i128);

impl Due {
    pub fn new(time: Time, JobId(id): JobId, place: usize) -> Due {
        Due(i128::from(time) << 64 | i128::from(id) << 32 | place as i128)
    }

    pub fn time(self) -> Time {
        (self.0 >> 64) as Time
    }

    pub fn job(self) -> JobId {
        JobId((self.0 >> 32) as u32)
    }

    pub fn place(self) -> usize {
        self.0 as u32 as usize
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Agenda(BinaryHeap<Reverse<Due>>);

impl Agenda {
    pub fn first(&self) -> Option<Due> {
        self.0.peek().map(|&Reverse(due)| due)
    }

    /// When the first is due.
    pub fn next(&self) -> Time {
        self.first().map_or(NEVER, Due::time)
    }

    // Neither this nor the next is a part of its callers: a simulation's code is as much as a processor keeps at hand.
    #[inline(never)]
    pub fn put(&mut self, due: Due) {
        self.0.push(Reverse(due));
    }

    /// Takes out the first.
    #[inline(never)]
    pub fn take(&mut self) -> Option<Due> {
        self.0.pop().map(|Reverse(due)| due)
    }

    /// Takes out the first if it is due by then.
    pub fn take_by(&mut self, time: Time) -> Option<Due> {
        if self.next() <= time { self.take() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dues_come_by_time_then_by_job() {
        let mut agenda = Agenda::default();
        assert_eq!((agenda.first(), agenda.next(), agenda.take_by(NEVER)), (None, NEVER, None));
        let dues = [(7, 1, 9), (-3, 5, 0), (7, 0, u32::MAX), (-3, 4, 2), (7, u32::MAX, 1)];
        for (time, id, place) in dues {
            agenda.put(Due::new(time, JobId(id), place as usize));
        }
        assert_eq!((agenda.next(), agenda.take_by(-4)), (-3, None));
        let parts = |due: Due| (due.time(), due.job().0, due.place() as u32);
        let early: Vec<_> = std::iter::from_fn(|| agenda.take_by(6)).map(parts).collect();
        assert_eq!(early, [(-3, 4, 2), (-3, 5, 0)]);
        let others: Vec<_> = std::iter::from_fn(|| agenda.take()).map(parts).collect();
        assert_eq!(others, [(7, 0, u32::MAX), (7, 1, 9), (7, u32::MAX, 1)]);
    }
}
