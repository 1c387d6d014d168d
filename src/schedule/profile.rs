//! The free processors of the future: what running jobs and reservations leave.

use super::policy::View;
use crate::time::{Seconds, Time};

/// Free processors over time: each step lasts until the next one.
#[derive(Clone, Debug, Default)]
pub(super) struct Profile {
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    from: Time,
    free: i64,
}

impl Profile {
    /// Resets the profile to the running jobs.
    pub fn reset(&mut self, view: &View<'_>) {
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
    }

    pub fn free_now(&self) -> i64 {
        self.steps[0].free
    }

    /// Reserves `procs` processors for `length` seconds. Returns the earliest instant at which they are free all that time.
    pub fn reserve(&mut self, procs: i64, length: Seconds) -> Time {
        let mut first = 0;
        let mut at = 0;
        // Steps [first, at) have enough free processors. The range grows until it is long enough, and restarts after every
        // step with too few.
        while at < self.steps.len() && (at == first || self.steps[at].from < self.steps[first].from + length) {
            if self.steps[at].free < procs {
                first = at + 1;
            }
            at += 1;
        }
        // Only for a job wider than the machine, which a workload does not contain.
        let Some(&Step { from: start, .. }) = self.steps.get(first) else { return Time::MAX };
        let end = start + length;
        if self.steps.get(at).is_none_or(|step| step.from > end) {
            self.steps.insert(at, Step { from: end, free: self.steps[at - 1].free });
        }
        for step in &mut self.steps[first..at] {
            step.free -= procs;
        }
        start
    }

    /// Computes the limits for jobs that start now.
    pub fn limits(&self, limits: &mut Limits) {
        limits.drops.clear();
        limits.free = self.free_now();
        let mut least = self.free_now();
        for step in &self.steps[1..] {
            if step.free < least {
                least = step.free;
                limits.drops.push((least, step.from - self.steps[0].from));
            }
        }
    }
}

/// How long a job may run that starts now, by its number of processors.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    free: i64,
    /// Each drop of the free processors below all earlier numbers: the new number, and after how many seconds.
    drops: Vec<(i64, Seconds)>,
}

impl Limits {
    /// The length of the longest job of this width that can start now. None if no such job can.
    pub fn longest(&self, procs: i64) -> Option<Seconds> {
        if procs > self.free {
            return None;
        }
        let at = self.drops.partition_point(|(free, _)| *free >= procs);
        Some(self.drops.get(at).map_or(Seconds::MAX - 1, |(_, after)| *after))
    }

    /// Whether a job can start now.
    pub fn allow(&self, procs: u32, length: Seconds) -> bool {
        self.longest(i64::from(procs)).is_some_and(|longest| length <= longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(steps: &[(Time, i64)]) -> Profile {
        Profile { steps: steps.iter().map(|&(from, free)| Step { from, free }).collect() }
    }

    #[test]
    fn reservations_fill_the_earliest_hole_that_is_long_enough() {
        let mut profile = profile(&[(0, 2), (10, 5), (20, 3), (30, 8)]);
        // Two processors are free at all times.
        assert_eq!(profile.reserve(2, 25), 0);
        let free: Vec<_> = profile.steps.iter().map(|step| (step.from, step.free)).collect();
        assert_eq!(free, [(0, 0), (10, 3), (20, 1), (25, 3), (30, 8)]);
        // Half-open: [10, 20) is just long enough for 10 seconds.
        assert_eq!(profile.reserve(3, 10), 10);
        assert_eq!(profile.reserve(3, 10), 25);
        assert_eq!(profile.reserve(9, 1), Time::MAX);
    }

    #[test]
    fn a_job_may_run_until_too_few_processors_are_left() {
        let mut limits = Limits::default();
        profile(&[(100, 5), (110, 7), (120, 3), (130, 4), (140, 1)]).limits(&mut limits);
        let longest: Vec<_> = (1..=6).map(|procs| limits.longest(procs)).collect();
        let forever = Some(Seconds::MAX - 1);
        assert_eq!(longest, [forever, Some(40), Some(40), Some(20), Some(20), None]);
        assert!(limits.allow(3, 40) && !limits.allow(3, 41) && !limits.allow(6, 1));
    }
}
