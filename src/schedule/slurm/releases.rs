//! When running jobs release their processors, by their limits.

use std::collections::HashMap;

use super::processors::Processors;
use crate::job::JobId;
use crate::schedule::running::RunningJobs;
use crate::time::{Seconds, Time};

/// A running job in a backfill pass.
#[derive(Clone, Debug)]
pub(super) struct Release<S> {
    pub id: JobId,
    /// The planned end. It is in the past if the job has outlived its limit.
    pub end: Time,
    pub procs: u32,
    pub share: S,
}

/// How the ends of running jobs are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grouping {
    /// By how much the groups grow, in seconds; 0 if they double.
    pub growth: Seconds,
    /// How long after its limit a job is expected to end, in seconds.
    pub kill_wait: Seconds,
}

/// The start of a job, and the processors that it then gets.
#[derive(Clone, Debug)]
pub(super) struct Opening<S> {
    pub start: Time,
    pub share: S,
    /// Whether the start depends on the end of a job that has outlived its limit. Such an end is a guess that changes with
    /// time.
    pub is_guess: bool,
}

/// The running jobs in order of planned end.
#[derive(Clone, Debug)]
pub(super) struct Releases<P: Processors> {
    jobs: Vec<Release<P::Share>>,
    /// Where to find a job: its planned end.
    ends: HashMap<JobId, Time>,
    idle: P,
    /// The number of processors in `idle`.
    idle_count: u32,
    /// The number of processors that are idle after the first 0, 1, 2, ... jobs have ended. Empty if the jobs have changed.
    totals: Vec<u32>,
    /// The idle processors after each [`Releases::LANDMARK`] more jobs have ended, to begin with.
    landmarks: Vec<P>,
}

impl<P: Processors> Releases<P> {
    /// The first group reaches this number of seconds beyond the next multiple of it after the first end.
    const FIRST_GROUP: Seconds = 30;
    const LANDMARK: usize = 64;

    /// An idle machine of `procs` processors.
    pub fn new(procs: u32) -> Self {
        Releases {
            jobs: Vec::new(),
            ends: HashMap::new(),
            idle: P::all(procs),
            idle_count: procs,
            totals: Vec::new(),
            landmarks: Vec::new(),
        }
    }

    /// The idle processors.
    pub fn idle(&self) -> &P {
        &self.idle
    }

    /// The number of idle processors.
    pub fn idle_count(&self) -> u32 {
        self.idle_count
    }

    /// A job starts.
    pub fn start(&mut self, job: Release<P::Share>) {
        self.idle.remove(&job.share);
        self.idle_count -= job.procs;
        self.ends.insert(job.id, job.end);
        let at = self.jobs.partition_point(|other| (other.end, other.id) < (job.end, job.id));
        self.jobs.insert(at, job);
        self.totals.clear();
    }

    /// A job ends.
    pub fn end(&mut self, id: JobId) {
        let Some(end) = self.ends.remove(&id) else { return };
        let at = self.jobs.partition_point(|other| (other.end, other.id) < (end, id));
        let job = self.jobs.remove(at);
        self.idle.add(&job.share);
        self.idle_count += job.procs;
        self.totals.clear();
    }

    /// Sets the planned ends of all running jobs to those of `running`, in Unix time.
    pub fn set_ends(&mut self, running: &RunningJobs, unix_start: Time) {
        let ends = running.iter().map(|job| (job.id, job.end + unix_start));
        self.ends.clear();
        self.ends.extend(ends);
        self.jobs.iter_mut().for_each(|job| job.end = self.ends[&job.id]);
        self.jobs.sort_by_key(|job| (job.end, job.id));
        self.totals.clear();
    }

    /// A time before which `procs` processors cannot be idle together. The planned ends decide it, whichever processors they
    /// release.
    pub fn earliest(&mut self, procs: u32, now: Time) -> Time {
        if self.idle_count >= procs {
            return now;
        }
        self.build_landmarks();
        let count = self.totals.partition_point(|&total| total < procs);
        self.jobs.get(count - 1).map_or(Time::MAX, |job| job.end)
    }

    /// The first planned end after `now`.
    pub fn first_end_after(&self, now: Time) -> Option<Time> {
        self.jobs.get(self.jobs.partition_point(|job| job.end <= now)).map(|job| job.end)
    }

    /// When a job of `procs` processors can start on `allowed` ones, if nothing else starts: now, or when a group of running
    /// jobs has ended. Slurm does not look at each end alone: jobs are released in groups that become longer and longer, and
    /// the job starts at the last end of the first group that suffices. None if they never suffice.
    pub fn opening(&mut self, procs: u32, allowed: &P, now: Time, grouping: Grouping) -> Option<Opening<P::Share>> {
        let mut idle = self.idle.clone();
        if idle.common(allowed) >= procs {
            idle.keep(allowed);
            return Some(Opening { start: now, share: idle.choose(procs), is_guess: false });
        }
        self.build_landmarks();
        let first = self.next_on(allowed, 0)?;
        let first_end = self.jobs[first].end;
        // Groups are aligned to the clock so that they stay the same from pass to pass.
        let base = first_end - first_end.rem_euclid(Self::FIRST_GROUP) + Self::FIRST_GROUP;
        let mut length = Self::FIRST_GROUP;
        let (mut released, mut next) = (0, 0);
        loop {
            let last = self.last_of_group(allowed, next, base + length)?;
            self.release(released, last + 1, &mut idle);
            (released, next) = (last + 1, last + 1);
            if self.totals[released] >= procs && idle.common(allowed) >= procs {
                idle.keep(allowed);
                let end = self.jobs[last].end;
                let is_guess = end <= now;
                let start = if is_guess { (end + grouping.kill_wait).max(now + 1) } else { end };
                return Some(Opening { start, share: idle.choose(procs), is_guess });
            }
            let next_end = self.jobs.get(next)?.end;
            loop {
                length += if grouping.growth > 0 { grouping.growth } else { length };
                if next_end <= base + length {
                    break;
                }
            }
        }
    }

    /// The first job at or after this place that runs on one of the allowed processors.
    fn next_on(&self, allowed: &P, from: usize) -> Option<usize> {
        (from..self.jobs.len()).find(|&at| allowed.meets(&self.jobs[at].share))
    }

    /// The last job of a group that begins with the job at `from` and reaches to `until`. Jobs on other processors do not
    /// count: a group has at least one that does, and if the last one inside is not one of them, the group goes on to the next.
    /// None if no job counts any more.
    fn last_of_group(&self, allowed: &P, from: usize, until: Time) -> Option<usize> {
        let first = self.next_on(allowed, from)?;
        let outside = self.jobs.partition_point(|job| job.end <= until);
        if first >= outside {
            return Some(first);
        }
        let last = (first..outside).rev().find(|&at| allowed.meets(&self.jobs[at].share)).unwrap_or(first);
        match last + 1 == outside {
            true => Some(last),
            false => Some(self.next_on(allowed, outside).unwrap_or(last)),
        }
    }

    /// Adds the processors of the jobs from `from` to `to` to `idle`, which has those of all jobs before them.
    fn release(&self, from: usize, to: usize, idle: &mut P) {
        let landmark = to / Self::LANDMARK;
        let begin = match landmark > from.div_ceil(Self::LANDMARK) && landmark < self.landmarks.len() {
            true => {
                idle.clone_from(&self.landmarks[landmark]);
                landmark * Self::LANDMARK
            }
            false => from,
        };
        self.jobs[begin..to].iter().for_each(|job| idle.add(&job.share));
    }

    /// Computes the totals and the landmarks, if the jobs have changed.
    fn build_landmarks(&mut self) {
        if !self.totals.is_empty() {
            return;
        }
        let mut idle = self.idle.clone();
        let mut total = self.idle_count;
        self.landmarks.clear();
        self.landmarks.push(idle.clone());
        self.totals.push(total);
        for (at, job) in self.jobs.iter().enumerate() {
            total += job.procs;
            self.totals.push(total);
            // Few jobs are added one by one where they are needed.
            if self.jobs.len() >= 2 * Self::LANDMARK {
                idle.add(&job.share);
                if (at + 1) % Self::LANDMARK == 0 {
                    self.landmarks.push(idle.clone());
                }
            }
        }
    }
}
