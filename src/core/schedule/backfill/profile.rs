//! The free processors of the future: what running jobs and reservations leave.

use super::blocks::{Blocks, ProfileStep};
use super::limits::StartLimits;
use crate::schedule::machine::Machine;
use crate::time::{Seconds, Time};

/// Free processors over time: each step lasts until the next one. A search through few steps looks at all of them; many steps
/// are in blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Profile {
    steps: Vec<ProfileStep>,
    /// All steps, if there are many. The list is empty then.
    blocks: Blocks,
    are_many: bool,
}

/// More steps than this are in blocks.
const FEW: usize = 160;

impl Profile {
    /// Resets the profile to the running jobs.
    pub fn reset(&mut self, machine: &Machine) {
        self.are_many = false;
        self.steps.clear();
        self.steps.push(ProfileStep { from: machine.now, free: machine.free() });
        for job in machine.running.iter() {
            let last = self.steps[self.steps.len() - 1];
            let free = last.free + i64::from(job.procs);
            if last.from == job.end {
                self.steps.last_mut().expect("the step just looked at").free = free;
            } else {
                self.steps.push(ProfileStep { from: job.end, free });
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
            self.steps.insert(at, ProfileStep { from: end, free: self.steps[at - 1].free });
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

    /// Computes the limits for jobs that start now.
    pub fn limits(&self, limits: &mut StartLimits) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::JobId;
    use crate::rng::stream;
    use crate::schedule::machine::Change;
    use crate::schedule::running::{Running, RunningJobs};
    use rand::RngExt;

    /// The profile as a plain list of steps. Every search looks at every step.
    #[derive(Clone, Debug, Default)]
    struct PlainProfile {
        steps: Vec<ProfileStep>,
    }

    impl PlainProfile {
        fn of(steps: &[(Time, i64)]) -> PlainProfile {
            PlainProfile { steps: steps.iter().map(|&(from, free)| ProfileStep { from, free }).collect() }
        }

        fn reset(&mut self, machine: &Machine) {
            self.steps.clear();
            self.steps.push(ProfileStep { from: machine.now, free: machine.free() });
            for job in machine.running.iter() {
                let last = self.steps[self.steps.len() - 1];
                let free = last.free + i64::from(job.procs);
                if last.from == job.end {
                    self.steps.last_mut().expect("the step just looked at").free = free;
                } else {
                    self.steps.push(ProfileStep { from: job.end, free });
                }
            }
        }

        /// The first place for a reservation, and the step after its last one, by the definition: each step is tried, with all
        /// that begin before the end.
        fn place(&self, procs: i64, length: Seconds) -> Option<(usize, usize)> {
            (0..self.steps.len()).find_map(|first| {
                let end = self.steps[first].from + length;
                let during = self.steps[first..].iter().take_while(|step| step.from < end).count().max(1);
                let has_room = self.steps[first..first + during].iter().all(|step| step.free >= procs);
                has_room.then_some((first, first + during))
            })
        }

        fn reserve(&mut self, procs: i64, length: Seconds) -> Time {
            let Some((first, at)) = self.place(procs, length) else { return Time::MAX };
            let start = self.steps[first].from;
            let end = start + length;
            if self.steps.get(at).is_none_or(|step| step.from > end) {
                self.steps.insert(at, ProfileStep { from: end, free: self.steps[at - 1].free });
            }
            for step in &mut self.steps[first..at] {
                step.free -= procs;
            }
            start
        }

        fn limits(&self) -> StartLimits {
            let mut limits = StartLimits::default();
            let mut least = self.steps[0].free;
            limits.reset(least);
            for step in &self.steps[1..] {
                if step.free < least {
                    least = step.free;
                    limits.drop_to(least, step.from - self.steps[0].from);
                }
            }
            limits
        }
    }

    /// A machine with these running jobs.
    fn machine(now: Time, free: u32, running: &RunningJobs) -> Machine {
        let mut machine = Machine::pool(free + running.iter().map(|job| job.procs).sum::<u32>());
        machine.change(Change::Clock(now));
        running.iter().for_each(|&job| machine.change(Change::Adopt { job, on_nodes: None }));
        machine
    }

    /// A profile of the same steps. They must rise, as they do while jobs end and nothing is reserved.
    fn profile_of(steps: &[(Time, i64)]) -> Profile {
        let mut running = RunningJobs::default();
        for (pair, id) in steps.windows(2).zip(0..) {
            let procs = u32::try_from(pair[1].1 - pair[0].1).unwrap();
            running.insert(Running { id: JobId(id), procs, end: pair[1].0 });
        }
        let (now, free) = steps[0];
        let mut profile = Profile::default();
        profile.reset(&machine(now, free as u32, &running));
        profile
    }

    #[test]
    fn reservations_fill_the_earliest_hole_that_is_long_enough() {
        let mut plain = PlainProfile::of(&[(0, 2), (10, 5), (30, 8)]);
        let mut profile = profile_of(&[(0, 2), (10, 5), (30, 8)]);
        // Two processors are free at all times.
        assert_eq!((plain.reserve(2, 25), profile.reserve(2, 25)), (0, 0));
        let free: Vec<_> = plain.steps.iter().map(|step| (step.from, step.free)).collect();
        assert_eq!(free, [(0, 0), (10, 3), (25, 5), (30, 8)]);
        assert_eq!((plain.reserve(4, 5), profile.reserve(4, 5)), (25, 25));
        // Half-open: [10, 25) is just long enough for 15 seconds.
        assert_eq!((plain.reserve(3, 16), profile.reserve(3, 16)), (30, 30));
        assert_eq!((plain.reserve(3, 15), profile.reserve(3, 15)), (10, 10));
        assert_eq!((plain.reserve(9, 1), profile.reserve(9, 1)), (Time::MAX, Time::MAX));
    }

    /// Compares the two over long random histories, with up to a thousand steps, many of which begin at the same instants.
    #[test]
    fn the_profile_in_blocks_is_the_plain_one() {
        let mut rng = stream(1, "profile");
        let mut most_steps = 0;
        for history in 0..120 {
            // The smallest profiles have few steps, the largest a thousand.
            let (count, actions) = [(3, 30), (40, 300), (600, 2500)][history % 3];
            let grain = [1, 7, 500][history / 3 % 3];
            let now = rng.random_range(-1000..1000);
            let mut running = RunningJobs::default();
            let mut used = 0;
            for id in 0..rng.random_range(0..=count) {
                let procs = rng.random_range(1..9);
                let job = Running { id: JobId(id), procs, end: now + grain * rng.random_range(1..500) };
                used += i64::from(job.procs);
                running.insert(job);
            }
            let free = rng.random_range(0..20);
            let (mut profile, mut plain) = (Profile::default(), PlainProfile::default());
            // The memory of another profile is used again.
            for other in [1, 0] {
                let machine = machine(now, (free + other) as u32, &running);
                profile.reset(&machine);
                plain.reset(&machine);
                for _ in 0..20 * other {
                    assert_eq!(profile.reserve(1 + other, 10), plain.reserve(1 + other, 10));
                }
            }
            let widest = used + free;
            for action in 0..actions {
                let most = if rng.random_bool(0.5) { widest.clamp(1, 8) } else { widest + 2 };
                let longest = if rng.random_bool(0.2) { 2000 } else { 60 };
                let (procs, length) = (rng.random_range(1..=most), grain * rng.random_range(1..=longest));
                let start = plain.place(procs, length).map(|(first, _)| plain.steps[first].from);
                assert_eq!(profile.earliest(procs, length), start.unwrap_or(Time::MAX), "{history}: {action}");
                assert_eq!(profile.has_room_now(procs, length), start == Some(now), "{history}: {action}");
                if rng.random_bool(0.7) {
                    assert_eq!(profile.reserve(procs, length), plain.reserve(procs, length), "{history}: {action}");
                }
                assert_eq!(profile.free_now(), plain.steps[0].free, "{history}: {action}");
                let (mut limits, plain_limits) = (StartLimits::default(), plain.limits());
                profile.limits(&mut limits);
                for procs in 1..=12 {
                    assert_eq!(limits.longest(procs), plain_limits.longest(procs), "{history}: {action}");
                }
            }
            most_steps = most_steps.max(plain.steps.len());
        }
        assert!(most_steps > 900, "no profile had more than {most_steps} steps");
    }
}
