//! An event queue: future events of jobs, the earliest first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::job::JobId;
use crate::time::Time;

/// The time of an event that is not scheduled.
pub(super) const NEVER: Time = Time::MAX;

/// An event of one job: its time, the job's id and the job's place on the board, in this order. They are packed into one
/// number, because the queue compares many events and one number is compared without a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueuedEvent(i128);

impl QueuedEvent {
    pub fn new(time: Time, JobId(id): JobId, place: usize) -> QueuedEvent {
        QueuedEvent(i128::from(time) << 64 | i128::from(id) << 32 | place as i128)
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
pub(super) struct EventQueue(BinaryHeap<Reverse<QueuedEvent>>);

impl EventQueue {
    pub fn first(&self) -> Option<QueuedEvent> {
        self.0.peek().map(|&Reverse(due)| due)
    }

    /// The time of the first event, or [`NEVER`].
    #[inline]
    pub fn next(&self) -> Time {
        self.first().map_or(NEVER, QueuedEvent::time)
    }

    // `push` and `pop` are not inlined: the code of a simulation only just fits the instruction cache.
    #[inline(never)]
    pub fn push(&mut self, due: QueuedEvent) {
        self.0.push(Reverse(due));
    }

    /// Removes the first event.
    #[inline(never)]
    pub fn pop(&mut self) -> Option<QueuedEvent> {
        self.0.pop().map(|Reverse(due)| due)
    }

    /// Removes all events of a job. This takes as long as there are events.
    pub fn remove(&mut self, job: JobId) {
        self.0.retain(|Reverse(due)| due.job() != job);
    }

    /// Removes the first event if its time is at most `time`.
    #[inline]
    pub fn pop_until(&mut self, time: Time) -> Option<QueuedEvent> {
        if self.next() <= time { self.pop() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_ordered_by_time_then_by_job() {
        let mut queue = EventQueue::default();
        assert_eq!((queue.first(), queue.next(), queue.pop_until(NEVER)), (None, NEVER, None));
        let dues = [(7, 1, 9), (-3, 5, 0), (7, 0, u32::MAX), (-3, 4, 2), (7, u32::MAX, 1)];
        for (time, id, place) in dues {
            queue.push(QueuedEvent::new(time, JobId(id), place as usize));
        }
        assert_eq!((queue.next(), queue.pop_until(-4)), (-3, None));
        let parts = |due: QueuedEvent| (due.time(), due.job().0, due.place() as u32);
        let early: Vec<_> = std::iter::from_fn(|| queue.pop_until(6)).map(parts).collect();
        assert_eq!(early, [(-3, 4, 2), (-3, 5, 0)]);
        let others: Vec<_> = std::iter::from_fn(|| queue.pop()).map(parts).collect();
        assert_eq!(others, [(7, 0, u32::MAX), (7, 1, 9), (7, u32::MAX, 1)]);
    }
}
