//! The free processors of the future: what running jobs and reservations leave.

use super::blocks::Blocks;
use super::limits::Limits;
use super::policy::View;
use crate::time::{Seconds, Time};

/// Free processors over time: each step lasts until the next one. A search through few steps looks at all of them; many steps
/// are in blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Profile {
    steps: Vec<Step>,
    /// All steps, if there are many. The list is empty then.
    blocks: Blocks,
    are_many: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub from: Time,
    pub free: i64,
}

/// More steps than this are in blocks.
const FEW: usize = 160;

impl Profile {
    /// Resets the profile to the running jobs.
    pub fn reset(&mut self, view: &View<'_>) {
        self.are_many = false;
        self.steps.clear();
        self.steps.push(Step { from: view.now, free: view.free });
        for job in view.running.iter() {
            let last = self.steps[self.steps.len() - 1];
            let free = last.free + i64::from(job.procs);
            if last.from == job.end {
                self.steps.last_mut().expect("the step just looked at").free = free;
            } else {
                self.steps.push(Step { from: job.end, free });
            }
        }
        self.count_steps();
    }

    /// Moves the steps into blocks if there are many.
    fn count_steps(&mut self) {
        if self.steps.len() > FEW {
            self.blocks.fill(&self.steps);
            self.steps.clear();
            self.are_many = true;
        }
    }

    pub fn free_now(&self) -> i64 {
        if self.are_many { self.blocks.free_now() } else { self.steps[0].free }
    }

    /// Reserves `procs` processors for `length` seconds. Returns the earliest instant at which they are free all that time.
    pub fn reserve(&mut self, procs: i64, length: Seconds) -> Time {
        if self.are_many {
            return self.blocks.reserve(procs, length);
        }
        // None only for a job wider than the machine, which a workload does not contain.
        let Some((first, at)) = self.place(procs, length) else { return Time::MAX };
        let start = self.steps[first].from;
        let end = start + length;
        if self.steps.get(at).is_none_or(|step| step.from > end) {
            self.steps.insert(at, Step { from: end, free: self.steps[at - 1].free });
        }
        for step in &mut self.steps[first..at] {
            step.free -= procs;
        }
        self.count_steps();
        start
    }

    /// The instant at which [`Profile::reserve`] would begin.
    pub fn earliest(&mut self, procs: i64, length: Seconds) -> Time {
        if self.are_many {
            return self.blocks.earliest(procs, length);
        }
        self.place(procs, length).map_or(Time::MAX, |(first, _)| self.steps[first].from)
    }

    /// The first of the steps during which a reservation finds room, and the first step after its end.
    fn place(&self, procs: i64, length: Seconds) -> Option<(usize, usize)> {
        let (mut first, mut at) = (0, 0);
        // Steps [first, at) have enough free processors. The range grows until it is long enough, and restarts after every
        // step with too few.
        while at < self.steps.len() && (at == first || self.steps[at].from < self.steps[first].from + length) {
            if self.steps[at].free < procs {
                first = at + 1;
            }
            at += 1;
        }
        (first < self.steps.len()).then_some((first, at))
    }

    /// Whether `procs` processors are free from now on for `length` seconds.
    pub fn has_room_now(&mut self, procs: i64, length: Seconds) -> bool {
        if self.are_many {
            return self.blocks.has_room_now(procs, length);
        }
        let end = self.steps[0].from + length;
        self.steps.iter().take_while(|step| step.from < end).all(|step| step.free >= procs)
    }

    /// Whether a reservation of `procs` processors for `length` seconds could begin before an instant.
    pub fn has_room_before(&mut self, before: Time, procs: i64, length: Seconds) -> bool {
        if self.are_many {
            return self.blocks.has_room_before(before, procs, length);
        }
        self.place(procs, length).is_some_and(|(first, _)| self.steps[first].from < before)
    }

    /// Adds processors from `start`, or from now if that is later, to `end`; a negative number takes them.
    pub fn add(&mut self, start: Time, end: Time, procs: i64) {
        if self.are_many {
            return self.blocks.add(start, end, procs);
        }
        let start = start.max(self.steps[0].from);
        if start >= end {
            return;
        }
        let (first, after) = (self.cut(start), self.cut(end));
        self.steps[first..after].iter_mut().for_each(|step| step.free += procs);
        // Steps that are not needed any more are removed.
        for at in [after, first] {
            if at > 0 && self.steps[at - 1].free == self.steps[at].free {
                self.steps.remove(at);
            }
        }
        self.count_steps();
    }

    /// Lets a step begin at this instant, which is not before now. Returns its index.
    fn cut(&mut self, time: Time) -> usize {
        let at = self.steps.partition_point(|step| step.from < time);
        if self.steps.get(at).is_none_or(|step| step.from > time) {
            self.steps.insert(at, Step { from: time, free: self.steps[at - 1].free });
        }
        at
    }

    /// Time passes: removes what was before `now`.
    pub fn advance(&mut self, now: Time) {
        if self.are_many {
            return self.blocks.advance(now);
        }
        let past = self.steps.partition_point(|step| step.from <= now).saturating_sub(1);
        self.steps.drain(..past);
        self.steps[0].from = now;
    }

    /// Computes the limits for jobs that start now.
    pub fn limits(&self, limits: &mut Limits) {
        if self.are_many {
            return self.blocks.limits(limits);
        }
        let mut lowest = self.free_now();
        limits.reset(lowest);
        for step in &self.steps[1..] {
            if step.free < lowest {
                lowest = step.free;
                limits.drop_to(lowest, step.from - self.steps[0].from);
            }
        }
    }
}
