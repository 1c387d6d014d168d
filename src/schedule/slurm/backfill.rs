//! One backfill pass: every job of the queue that does not start gets a reservation of processors.

use super::processors::Processors;
use super::releases::{Grouping, Release, Releases};
use super::space::Space;
use crate::job::JobId;
use crate::time::{Seconds, Time};

/// A waiting job as the pass sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub id: JobId,
    pub procs: u32,
    /// How long it may run, in seconds.
    pub limit: Seconds,
}

/// Where a job gets its processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Plan<S> {
    /// It starts now.
    Start(S),
    /// It has a reservation that begins then.
    Reserved(Time),
    /// It has neither: it cannot start within the window.
    Nothing,
}

/// The state of a backfill pass. Times are Unix times, because Slurm aligns some of them to the clock.
pub(super) struct Backfill<'a, P: Processors> {
    now: Time,
    window: Seconds,
    grouping: Grouping,
    releases: &'a mut Releases<P>,
    space: &'a mut Space<P>,
    /// The first instant at which a pass may decide otherwise even if no job arrives, starts or ends before.
    revisit: Time,
    /// Scratch: the processors that a job may use.
    allowed: P,
    /// When reservations take idle processors: each instant at which fewer are left, with their number.
    falls: Vec<(Time, u32)>,
}

impl<'a, P: Processors> Backfill<'a, P> {
    /// A pass at `now` on this machine.
    pub fn new(
        now: Time,
        window: Seconds,
        grouping: Grouping,
        releases: &'a mut Releases<P>,
        space: &'a mut Space<P>,
    ) -> Backfill<'a, P> {
        space.reset(now, window);
        let allowed = releases.idle().clone();
        let revisit = releases.first_end_after(now).unwrap_or(Time::MAX);
        Backfill { now, window, grouping, releases, space, revisit, allowed, falls: Vec::new() }
    }

    /// Starts those of these jobs that can start, in their order, and calls `start` for each. All others get reservations, up to
    /// the last job that starts: later reservations have no effect.
    pub fn start_jobs(&mut self, jobs: &[Candidate], mut start: impl FnMut(&Candidate)) {
        // No reservation is taken back in a pass, so a job that cannot start now cannot start later in the pass.
        let mut next = 0;
        for (at, job) in jobs.iter().enumerate() {
            next = next.max(at);
            while jobs.get(next).is_some_and(|job| !self.can_start(job)) {
                next += 1;
            }
            if next == jobs.len() {
                if at == 0 {
                    // No job fits the idle processors. Only an event can change that.
                    self.revisit = Time::MAX;
                }
                return;
            }
            if let Plan::Start(_) = self.plan(job) {
                start(job);
            }
        }
    }

    /// Whether a job would start now. [`Backfill::plan`] decides the same.
    fn can_start(&self, job: &Candidate) -> bool {
        let taken = self.falls.partition_point(|(from, _)| *from <= self.now + job.limit);
        let idle = if taken > 0 { self.falls[taken - 1].1 } else { self.releases.idle_count() };
        job.procs <= idle
    }

    /// The first instant at which a pass may decide otherwise even if no job arrives, starts or ends before: the planned end of
    /// a running job has come, a time that was beyond the window is inside it, or a job that is tried from now on meets another
    /// reservation before its limit.
    pub fn revisit(&self) -> Time {
        self.revisit
    }

    /// Starts a job or reserves processors for it.
    pub fn plan(&mut self, job: &Candidate) -> Plan<P::Share> {
        let Candidate { id, procs, limit } = *job;
        let earliest = self.releases.earliest(procs, self.now);
        let mut from = self.now;
        // The same job may be planned otherwise as soon as its first interval, from now to its limit, meets another reservation.
        if let Some(change) = self.space.next_change(self.now + limit) {
            self.revisit = self.revisit.min(change - limit);
        }
        loop {
            if from > self.space.end() {
                self.look_again(from);
                return Plan::Nothing;
            }
            let later = self.space.next_release(from, from + limit);
            // If the job cannot start before the next release of reserved processors, it is tried from there.
            if let Some(later) = later.filter(|&later| earliest > later) {
                from = later;
                continue;
            }
            let mut opening = None;
            if self.space.free_in(from, from + limit, procs, &mut self.allowed) {
                opening = self.releases.opening(procs, &self.allowed, self.now, self.grouping);
            }
            let Some(opening) = opening else {
                match later {
                    Some(later) => from = later,
                    None => return Plan::Nothing,
                }
                continue;
            };
            let start = opening.start.max(from);
            if opening.is_guess {
                self.revisit = self.now;
            }
            if start <= self.now {
                let end = self.now + limit;
                let share = self.releases.share(opening.ended, procs, &self.allowed);
                self.releases.start(Release { id, end, procs, share: share.clone() });
                self.revisit = self.revisit.min(end);
                self.space.falls(self.now, self.releases.idle(), &mut self.falls);
                return Plan::Start(share);
            }
            if let Some(later) = later.filter(|&later| start > later) {
                from = later;
                continue;
            }
            if start > self.now + self.window {
                self.look_again(start);
                return Plan::Nothing;
            }
            let (begin, end) = (self.space.round_down(start), self.space.round_down(start + limit));
            let share = self.releases.share(opening.ended, procs, &self.allowed);
            if !self.space.is_free(begin, end, &share) {
                from = start;
                continue;
            }
            if end >= self.space.end() {
                self.look_again(end);
            }
            self.space.reserve(begin, end, &share);
            if self.releases.idle().meets(&share) {
                self.space.falls(self.now, self.releases.idle(), &mut self.falls);
            }
            return Plan::Reserved(start);
        }
    }

    /// A later pass may decide otherwise as soon as `time` is inside its window.
    fn look_again(&mut self, time: Time) {
        self.revisit = self.revisit.min(time - self.window);
    }
}
