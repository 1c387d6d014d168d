//! The running jobs of a pool of processors: which processors each has, and when it releases them.
//!
//! This is an index for machines on which every job has whole nodes and all nodes are alike: sets of nodes say what a test of each
//! node would find, and groups of ends are not made one after the other. `plain_opening` in the tests makes them all, and
//! `tests/twins/plain_slurm.rs` knows neither sets nor groups.

use rustc_hash::FxHashMap;

use super::node_set::{NodeSet, Share};
use crate::job::JobId;
use crate::time::{Seconds, Time};

/// A running job.
#[derive(Clone, Debug)]
pub(crate) struct Release {
    pub id: JobId,
    /// The planned end. It is in the past if the job has outlived its limit.
    pub end: Time,
    pub procs: u32,
    pub share: Share,
}

/// A running job that leaves its nodes at its planned end.
pub(crate) trait Releasing {
    fn end(&self) -> Time;
    /// Whether it has one of these nodes.
    fn meets(&self, nodes: &NodeSet) -> bool;
}

impl Releasing for Release {
    fn end(&self) -> Time {
        self.end
    }

    fn meets(&self, nodes: &NodeSet) -> bool {
        nodes.meets_share(&self.share)
    }
}

/// How the ends of running jobs are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndGrouping {
    /// By how much the groups grow, in seconds; 0 if they double.
    pub growth: Seconds,
    /// How long after its limit a job is expected to end, in seconds.
    pub kill_wait: Seconds,
    /// The Unix time of the instant 0: groups are aligned to the clock.
    pub unix_start: Time,
}

impl EndGrouping {
    /// When a job can start that waits for this end. A job that has outlived its limit ends later and later.
    pub fn start(&self, end: Time, now: Time) -> Time {
        if end <= now { (end + self.kill_wait).max(now + 1) } else { end }
    }

    /// The last job of the group that contains the job `wanted`, which has allowed nodes, as `first` is the first that has. The groups
    /// before that one are not made.
    ///
    /// Jobs on other nodes do not count: a group has at least one that does, and if the last one inside is not one of them, the group
    /// goes on to the next.
    pub fn last_of_group<J: Releasing>(&self, jobs: &[J], allowed: &NodeSet, first: usize, wanted: usize) -> usize {
        let first_end = jobs[first].end();
        // Groups are aligned to the clock so that they stay the same from pass to pass.
        let base = first_end - (first_end + self.unix_start).rem_euclid(FIRST_GROUP) + FIRST_GROUP;
        let (shorter, length) = lengths(jobs[wanted].end() - base, self.growth);
        let begin = shorter.map_or(0, |shorter| jobs.partition_point(|job| job.end() <= base + shorter));
        let goes_on = begin > 0 && !jobs[begin - 1].meets(allowed);
        if goes_on && next_on(jobs, allowed, begin) == Some(wanted) {
            return wanted;
        }
        let outside = jobs.partition_point(|job| job.end() <= base + length);
        let last = (wanted..outside).rev().find(|&at| jobs[at].meets(allowed)).unwrap_or(wanted);
        match last + 1 == outside {
            true => last,
            false => next_on(jobs, allowed, outside).unwrap_or(last),
        }
    }
}

/// The first job at or after this place that has one of the allowed nodes.
pub(crate) fn next_on<J: Releasing>(jobs: &[J], allowed: &NodeSet, from: usize) -> Option<usize> {
    (from..jobs.len()).find(|&at| jobs[at].meets(allowed))
}

/// The first group reaches this number of seconds beyond the next multiple of it after the first end.
const FIRST_GROUP: Seconds = 30;

/// The running jobs in order of planned end.
#[derive(Clone, Debug)]
pub(crate) struct Releases {
    jobs: Vec<Release>,
    /// Where to find a job: its planned end.
    ends: FxHashMap<JobId, Time>,
    procs: u32,
    /// The number of runs in the shares of all jobs.
    runs: usize,
    idle: NodeSet,
    /// The number of processors in `idle`.
    idle_count: u32,
    /// The number of processors that are idle after the first 0, 1, 2, ... jobs have ended. Empty if the jobs have changed.
    totals: Vec<u32>,
    /// The idle processors after every `spacing` more jobs have ended, to begin with. There may be old ones behind. CTC takes 1.2 times
    /// as long without, and the first 20,000 jobs of RICC 1.6 times; `plain_opening` in the tests does not know them.
    landmarks: Vec<NodeSet>,
    spacing: usize,
    /// Scratch: the idle processors after some jobs have ended.
    idle_then: NodeSet,
}

impl Releases {
    /// From one landmark to the next there are at most this many jobs. There are fewer on a smaller machine, of which the sets
    /// are smaller.
    const LARGEST_SPACING: u32 = 16;
    const PROCS_PER_SPACING: u32 = 2048;

    /// An idle machine of `procs` processors.
    pub fn new(procs: u32) -> Self {
        let idle = NodeSet::whole(procs, NodeSet::suits_bits(procs, 0));
        Releases {
            jobs: Vec::new(),
            ends: FxHashMap::default(),
            procs,
            runs: 0,
            idle_then: idle.clone(),
            idle,
            idle_count: procs,
            totals: Vec::new(),
            landmarks: Vec::new(),
            spacing: (procs / Self::PROCS_PER_SPACING).clamp(1, Self::LARGEST_SPACING) as usize,
        }
    }

    /// Makes all sets of the kind that is faster with the jobs that run now. A pass begins with this.
    pub fn choose_kind(&mut self) {
        self.set_kind(NodeSet::suits_bits(self.procs, self.runs));
    }

    /// All processors, in a set of this kind.
    pub fn all(&self) -> NodeSet {
        NodeSet::whole(self.procs, self.idle.is_bits())
    }

    fn set_kind(&mut self, is_bits: bool) {
        if self.idle.is_bits() != is_bits {
            self.idle = self.idle.to_kind(self.procs, is_bits);
            self.idle_then = self.idle.clone();
            self.landmarks.clear();
            self.totals.clear();
        }
    }

    /// The idle processors.
    pub fn idle(&self) -> &NodeSet {
        &self.idle
    }

    /// The processors of jobs that are planned to end at this time or later.
    pub fn in_use_from(&self, time: Time) -> NodeSet {
        let mut in_use = self.all();
        in_use.take_out(&self.idle);
        self.jobs.iter().filter(|job| job.end < time).for_each(|job| in_use.remove_share(&job.share));
        in_use
    }

    /// The number of idle processors.
    pub fn idle_count(&self) -> u32 {
        self.idle_count
    }

    pub fn is_idle(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The processors of a running job.
    #[cfg(test)]
    pub fn share_of(&self, id: JobId) -> &Share {
        &self.jobs.iter().find(|job| job.id == id).expect("a running job").share
    }

    /// A job starts.
    pub fn start(&mut self, job: Release) {
        self.idle.remove_share(&job.share);
        self.idle_count -= job.procs;
        self.runs += job.share.len();
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
        self.idle.add_share(&job.share);
        self.idle_count += job.procs;
        self.runs -= job.share.len();
        self.totals.clear();
    }

    /// Whether these are the planned ends of all running jobs, in their order.
    pub fn has_ends(&self, ends: impl Iterator<Item = (Time, JobId)>) -> bool {
        self.jobs.iter().map(|job| (job.end, job.id)).eq(ends)
    }

    /// Sets the planned ends of running jobs to these. Returns whether one has changed.
    pub fn set_ends(&mut self, end_of: impl Fn(u64) -> Option<Time>) -> bool {
        let mut has_changed = false;
        for job in &mut self.jobs {
            let end = end_of(job.id.0.into()).unwrap_or(job.end);
            has_changed |= std::mem::replace(&mut job.end, end) != end;
        }
        if has_changed {
            self.jobs.sort_by_key(|job| (job.end, job.id));
            self.ends = self.jobs.iter().map(|job| (job.id, job.end)).collect();
            self.totals.clear();
        }
        has_changed
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

    /// Whether the start of an opening depends on the end of a job that has outlived its limit. Such an end is a guess that changes
    /// with time.
    pub fn is_guess(&self, ended: usize, now: Time) -> bool {
        ended > 0 && self.jobs[ended - 1].end <= now
    }

    /// The first planned end after `now`.
    pub fn first_end_after(&self, now: Time) -> Option<Time> {
        self.jobs.get(self.jobs.partition_point(|job| job.end <= now)).map(|job| job.end)
    }

    /// When a job of `procs` processors can start on `allowed` ones, if nothing else starts: now, or when a group of running
    /// jobs has ended. Slurm does not look at each end alone: jobs are released in groups that become longer and longer, and
    /// the job starts at the last end of the first group that suffices. Returns the start, and how many jobs must have ended then:
    /// [`Releases::share`] is what the job gets. None if all jobs that end at or before `until` do not suffice.
    ///
    /// The groups before that one are not made: `plain_opening` in the tests makes them all and finds the same.
    pub fn opening(
        &mut self,
        procs: u32,
        allowed: &NodeSet,
        now: Time,
        until: Time,
        grouping: EndGrouping,
    ) -> Option<(Time, usize)> {
        if self.idle_count >= procs && self.idle.count_common(allowed) >= procs {
            return Some((now, 0));
        }
        self.build_landmarks();
        let wanted = self.first_that_suffices(procs, allowed, until)?;
        let first = next_on(&self.jobs, allowed, 0)?;
        let last = grouping.last_of_group(&self.jobs, allowed, first, wanted);
        let end = self.jobs[last].end;
        Some((grouping.start(end, now), last + 1))
    }

    /// The processors of a job after this number of jobs have ended.
    pub fn share(&mut self, ended: usize, procs: u32, allowed: &NodeSet) -> Share {
        self.build_landmarks();
        let (landmark, others) = (ended / self.spacing, ended % self.spacing);
        self.idle_then.copy_from(&self.landmarks[landmark]);
        self.jobs[ended - others..ended].iter().for_each(|job| self.idle_then.add_share(&job.share));
        self.idle_then.keep(allowed);
        self.idle_then.choose(procs)
    }

    /// The job with whose end `procs` of the allowed processors are idle, if it ends at or before `until`. Before that end
    /// they are not idle.
    fn first_that_suffices(&self, procs: u32, allowed: &NodeSet, until: Time) -> Option<usize> {
        let most = self.jobs.partition_point(|job| job.end <= until);
        // The number of jobs that could suffice, whichever processors they release.
        let least = self.totals.partition_point(|&total| total < procs);
        if least > most {
            return None;
        }
        // No more idle processors than those that are not allowed are missing then.
        let others = self.procs - allowed.count();
        let enough = least + self.totals[least..].partition_point(|&total| total.saturating_sub(others) < procs);
        let first = least.saturating_sub(1) / self.spacing;
        let landmarks = &self.landmarks[first..=most.min(enough) / self.spacing];
        // The last of these with which they are not idle yet.
        let (mut last, mut end, mut known) = (0, landmarks.len(), None);
        // Where they may not be idle at all, the search begins at its end.
        let mut middle = if enough > most { end - 1 } else { end / 2 };
        while end - last > 1 {
            let count = landmarks[middle].count_common(allowed);
            if count < procs {
                (last, known) = (middle, Some(count))
            } else {
                end = middle
            }
            middle = last.midpoint(end);
        }
        let mut count = known.unwrap_or_else(|| landmarks[last].count_common(allowed));
        let from = (first + last) * self.spacing;
        if count + (self.totals[most] - self.totals[from]) < procs {
            return None;
        }
        (from..most).find(|&at| {
            count += allowed.count_of(&self.jobs[at].share);
            count >= procs
        })
    }

    /// Computes the totals and the landmarks, if the jobs have changed.
    fn build_landmarks(&mut self) {
        if !self.totals.is_empty() {
            return;
        }
        self.idle_then.copy_from(&self.idle);
        let mut total = self.idle_count;
        for ended in 0..=self.jobs.len() {
            if let Some(job) = ended.checked_sub(1).map(|last| &self.jobs[last]) {
                total += job.procs;
                self.idle_then.add_share(&job.share);
            }
            self.totals.push(total);
            if ended % self.spacing == 0 {
                match self.landmarks.get_mut(ended / self.spacing) {
                    // The memory is used again.
                    Some(landmark) => landmark.copy_from(&self.idle_then),
                    None => self.landmarks.push(self.idle_then.clone()),
                }
            }
        }
    }
}

/// The length of the group that reaches an end `reach` seconds after the base, and that of the group before it. The first group
/// has none before it. A group is longer than the one before by `growth`, or twice as long if that is 0.
fn lengths(reach: Seconds, growth: Seconds) -> (Option<Seconds>, Seconds) {
    if reach <= FIRST_GROUP {
        return (None, FIRST_GROUP);
    }
    if growth > 0 {
        let shorter = FIRST_GROUP + (reach - FIRST_GROUP - 1) / growth * growth;
        return (Some(shorter), shorter + growth);
    }
    let shorter = FIRST_GROUP << ((reach - 1) / FIRST_GROUP).ilog2();
    (Some(shorter), 2 * shorter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;

    /// The definition of [`Releases::opening`]: group after group is released. Returns the start and the number of jobs that have
    /// ended then.
    fn plain_opening(
        releases: &Releases,
        procs: u32,
        allowed: &NodeSet,
        now: Time,
        grouping: EndGrouping,
    ) -> Option<(Time, usize)> {
        let (mut idle, jobs) = (releases.idle.clone(), &releases.jobs);
        if idle.count_common(allowed) >= procs {
            return Some((now, 0));
        }
        let (mut base, mut length, mut next) = (None, 30, 0);
        while next < jobs.len() {
            let mut last = None;
            while next < jobs.len() {
                let job = &jobs[next];
                idle.add_share(&job.share);
                next += 1;
                if allowed.meets_share(&job.share) {
                    let base = *base.get_or_insert(job.end.div_euclid(30) * 30 + 30);
                    last = Some(next - 1);
                    if jobs.get(next).is_some_and(|job| job.end > base + length) {
                        break;
                    }
                }
            }
            let last = last?;
            if idle.count_common(allowed) >= procs {
                let end = jobs[last].end;
                return Some((if end <= now { (end + grouping.kill_wait).max(now + 1) } else { end }, last + 1));
            }
            let reach = jobs.get(next)?.end - base?;
            loop {
                length += if grouping.growth > 0 { grouping.growth } else { length };
                if reach <= length {
                    break;
                }
            }
        }
        None
    }

    /// Random running jobs on a machine of `procs` processors, and random jobs that are to be planned.
    fn openings_are_those_of_all_groups(procs: u32, cases: usize) {
        let mut rng = stream(u64::from(procs), "openings");
        let mut found = [0; 3];
        for case in 0..cases {
            let mut releases = Releases::new(procs);
            let span = [40, 400, 5000, 100_000][rng.random_range(0..4)];
            for id in 0..rng.random_range(0..80) {
                let wanted = rng.random_range(1..=procs.div_ceil(20));
                if wanted <= releases.idle_count() {
                    let share = releases.idle().choose(wanted);
                    releases.start(Release { id: JobId(id), end: rng.random_range(0..span), procs: wanted, share });
                }
            }
            for _ in 0..10 {
                // Some of the processors are reserved.
                let is_bits = rng.random_bool(0.5);
                releases.set_kind(is_bits);
                let mut allowed = NodeSet::whole(procs, is_bits);
                for _ in 0..rng.random_range(0..12) {
                    let reserved = rng.random_range(1..=allowed.count().min(procs / 6 + 1).max(1));
                    if reserved < allowed.count() {
                        let share = allowed.choose(reserved);
                        allowed.remove_share(&share);
                    }
                }
                let growth = [0, 0, 1, 7, 30, 600][rng.random_range(0..6)];
                let grouping = EndGrouping { growth, kill_wait: rng.random_range(0..50), unix_start: 0 };
                let (wanted, now) = (rng.random_range(1..=procs), rng.random_range(0..=span / 4));
                let until = if rng.random_bool(0.2) { rng.random_range(0..span) } else { Time::MAX };
                let mut idle_then = releases.idle.clone();
                let ended = releases.jobs.iter().filter(|job| job.end <= until);
                ended.for_each(|job| idle_then.add_share(&job.share));
                let suffices = idle_then.count_common(&allowed) >= wanted;
                let fast = releases.opening(wanted, &allowed, now, until, grouping);
                let plain = plain_opening(&releases, wanted, &allowed, now, grouping).filter(|_| suffices);
                assert_eq!(fast, plain, "{procs} processors, case {case}: {wanted}, {growth}");
                found[plain.map_or(0, |(_, ended)| 1 + usize::from(ended > 0))] += 1;
            }
        }
        assert!(found.iter().all(|&count| count > cases / 4), "{found:?}");
    }

    #[test]
    fn an_opening_is_found_without_making_all_groups() {
        openings_are_those_of_all_groups(64, 3000);
        openings_are_those_of_all_groups(1100, 500);
        openings_are_those_of_all_groups(20_000, 100);
    }

    /// The ends do not come in the order of the starts, and three jobs share each of them.
    #[test]
    fn jobs_stay_in_order_of_their_ends_however_many_there_are() {
        let mut releases = Releases::new(300);
        for id in 0..300 {
            let share = releases.idle().choose(1);
            releases.start(Release { id: JobId(id), end: (id * 17 % 100).into(), procs: 1, share });
        }
        assert!((1..=300).all(|procs| releases.earliest(procs, -1) == Time::from((procs - 1) / 3)));
        assert_eq!(releases.first_end_after(41), Some(42));
        (0..300).rev().for_each(|id| releases.end(JobId(id)));
        assert_eq!((releases.idle_count(), releases.idle().count()), (300, 300));
    }

    #[test]
    fn the_length_of_a_group_is_found_by_division() {
        // Steps of one second for millions of years, which nobody could count one by one.
        assert_eq!(lengths(1 << 48, 1), (Some((1 << 48) - 1), 1 << 48));
        assert_eq!([30, 31, 60, 61, 120, 121].map(|reach| lengths(reach, 0).1), [30, 60, 60, 120, 120, 240]);
        assert_eq!(
            [29, 31, 40, 41].map(|reach| lengths(reach, 10)),
            [(None, 30), (Some(30), 40), (Some(30), 40), (Some(40), 50)]
        );
    }
}
