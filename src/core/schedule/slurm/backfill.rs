//! One backfill pass: every job of the queue that does not start gets a reservation of processors.

use super::nodes::SlurmParameters;
use super::processors::{ProcessorSet, Share};
use super::releases::{EndGrouping, Release, Releases};
use super::space::Space;
use crate::job::JobId;
use crate::time::{Seconds, Time};

/// A waiting job as the pass sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PendingJob {
    pub id: JobId,
    pub procs: u32,
    /// How long it may run, in seconds.
    pub limit: Seconds,
}

/// Where a job gets its processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JobPlan {
    /// It starts now.
    Start(Share),
    /// It has a reservation that begins then.
    Reserved(Time),
    /// It has neither: it cannot start within the window.
    Nothing,
}

/// Attempts that need not be made again: a job that needs at least as many processors for at least as long fails in all of them
/// too, and is tried from `from`.
#[derive(Clone, Copy)]
struct FailedAttempt {
    procs: u32,
    limit: Seconds,
    from: Time,
}

/// The state of a backfill pass. Times are Unix times, because Slurm aligns some of them to the clock.
pub(super) struct Backfill<'a> {
    now: Time,
    window: Seconds,
    grouping: EndGrouping,
    releases: &'a mut Releases,
    space: &'a mut Space,
    /// The first instant at which a pass may decide otherwise even if no job arrives, starts or ends before.
    revisit: Time,
    /// Scratch: the processors that a job may use.
    allowed: ProcessorSet,
    /// When reservations take idle processors: each instant at which fewer are left, with their number.
    falls: Vec<(Time, u32)>,
    /// The processors and limits of jobs that got nothing since a job last started or got a reservation. Until then another such
    /// job gets nothing either.
    hopeless: Vec<(u32, Seconds)>,
    failures: Vec<FailedAttempt>,
}

impl<'a> Backfill<'a> {
    /// A pass at `now` on this machine.
    pub fn new(
        now: Time,
        parameters: &SlurmParameters,
        releases: &'a mut Releases,
        space: &'a mut Space,
    ) -> Backfill<'a> {
        let SlurmParameters { window, growth, kill_wait, .. } = *parameters;
        releases.choose_kind();
        space.reset(now, window, releases.idle().is_bits());
        let allowed = releases.idle().clone();
        let revisit = releases.first_end_after(now).unwrap_or(Time::MAX);
        Backfill {
            now,
            window,
            grouping: EndGrouping { growth, kill_wait },
            releases,
            space,
            revisit,
            allowed,
            falls: Vec::new(),
            hopeless: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Starts those of these jobs that can start, in their order, and calls `start` for each. All others get reservations, up to
    /// the last job that starts: later reservations have no effect.
    pub fn start_jobs(&mut self, jobs: &[PendingJob], mut start: impl FnMut(&PendingJob)) {
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
            if let JobPlan::Start(_) = self.plan(job) {
                start(job);
            }
        }
    }

    /// Whether a job would start now. [`Backfill::plan`] decides the same.
    fn can_start(&self, job: &PendingJob) -> bool {
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
    pub fn plan(&mut self, job: &PendingJob) -> JobPlan {
        let shape = (job.procs, job.limit);
        if self.hopeless.contains(&shape) {
            return JobPlan::Nothing;
        }
        let plan = self.search(job);
        match plan {
            JobPlan::Nothing => self.hopeless.push(shape),
            _ => self.hopeless.clear(),
        }
        plan
    }

    /// [`Backfill::plan`] without looking at other jobs of the same shape.
    fn search(&mut self, job: &PendingJob) -> JobPlan {
        let PendingJob { id, procs, limit } = *job;
        let earliest = self.releases.earliest(procs, self.now);
        let mut from = self.first_attempt(job);
        // Whether only the number of processors made attempts fail. With fewer of them free, other reasons may vanish.
        let mut is_short = true;
        // The same job may be planned otherwise as soon as its first interval, from now to its limit, meets another reservation.
        if let Some(change) = self.space.next_change(self.now + limit) {
            self.revisit = self.revisit.min(change - limit);
        }
        loop {
            if from > self.space.end() {
                self.look_again(from);
                return JobPlan::Nothing;
            }
            let later = self.space.next_release(from, from + limit);
            // If the job cannot start before the next release of reserved processors, it is tried from there.
            if let Some(later) = later.filter(|&later| earliest > later) {
                from = later;
                self.fails_before(job, from, is_short);
                continue;
            }
            let mut opening = None;
            if self.space.free_in(from, from + limit, procs, &mut self.allowed) {
                // What begins after the next release is not used.
                let until = later.unwrap_or(Time::MAX);
                opening = self.releases.opening(procs, &self.allowed, self.now, until, self.grouping);
            }
            let Some(opening) = opening else {
                let Some(later) = later else { return JobPlan::Nothing };
                from = later;
                self.fails_before(job, from, is_short);
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
                return JobPlan::Start(share);
            }
            if let Some(later) = later.filter(|&later| start > later) {
                (from, is_short) = (later, false);
                continue;
            }
            if start > self.now + self.window {
                self.look_again(start);
                return JobPlan::Nothing;
            }
            let (begin, end) = (self.space.round_down(start), self.space.round_down(start + limit));
            let share = self.releases.share(opening.ended, procs, &self.allowed);
            if !self.space.is_free(begin, end, &share) {
                (from, is_short) = (start, false);
                continue;
            }
            if end >= self.space.end() {
                self.look_again(end);
            }
            self.space.reserve(begin, end, &share);
            // Nothing has changed before the reservation. At its begin there may be no release any more.
            let is_release = self.space.next_release(begin - 1, begin - 1) == Some(begin);
            self.failures.retain(|failure| failure.from < begin || failure.from == begin && is_release);
            if self.releases.idle().meets(&share) {
                self.space.falls(self.now, self.releases.idle(), &mut self.falls);
            }
            return JobPlan::Reserved(start);
        }
    }

    /// When a job is to be tried first.
    fn first_attempt(&self, job: &PendingJob) -> Time {
        let known = self.failures.iter().filter(|failure| failure.procs <= job.procs && failure.limit <= job.limit);
        known.map(|failure| failure.from).max().unwrap_or(self.now)
    }

    /// All attempts of a job before `from` have failed.
    fn fails_before(&mut self, job: &PendingJob, from: Time, is_short: bool) {
        let PendingJob { procs, limit, .. } = *job;
        if is_short {
            self.failures.retain(|failure| (failure.procs, failure.limit) != (procs, limit));
            self.failures.push(FailedAttempt { procs, limit, from });
        }
    }

    /// A later pass may decide otherwise as soon as `time` is inside its window.
    fn look_again(&mut self, time: Time) {
        self.revisit = self.revisit.min(time - self.window);
    }
}

/// Passes of a real Slurm, made again from the state that was recorded before each of them. `tests/slurm/README.md` says how the
/// records were made.
#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::{Path, PathBuf};

    use serde::Deserialize;
    use serde::de::IgnoredAny;

    use super::*;
    use crate::schedule::catalog;
    use crate::schedule::slurm::conf::SlurmConf;
    use crate::schedule::slurm::runs::Run;
    use crate::schedule::slurm::settings::Settings;

    #[derive(Deserialize)]
    struct SlurmRecord {
        t0: Time,
        conf: Vec<String>,
        jobs: Vec<RecordedJob>,
        events: Vec<RecordedEvent>,
    }

    #[derive(Deserialize)]
    struct RecordedJob {
        id: u32,
        nodes: u32,
        limit: Seconds,
    }

    /// `[seconds, kind]`, `[seconds, kind, job]` or `[seconds, kind, job, nodes]`.
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum RecordedEvent {
        Pass(f64, String),
        Job(IgnoredAny, String, u32),
        Start(f64, String, u32, Vec<u32>),
    }

    /// The passes of one kind: how many were made while jobs waited, and in how many of them the same jobs started.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    struct Passes {
        all: u32,
        same: u32,
    }

    impl Passes {
        fn add(&mut self, is_same: bool) {
            self.all += 1;
            self.same += u32::from(is_same);
        }
    }

    /// The runs of consecutive nodes; nodes are numbered from 1 in the record.
    fn share(nodes: &[u32]) -> Share {
        nodes.iter().map(|node| Run { first: node - 1, length: 1 }).collect()
    }

    struct RecordedState {
        releases: Releases,
        waiting: Vec<PendingJob>,
    }

    impl RecordedState {
        /// The jobs that a main pass starts.
        fn main_pass(&self) -> Vec<u32> {
            let mut idle = self.releases.idle_count();
            let mut fits = |job: &&PendingJob| match idle.checked_sub(job.procs) {
                Some(left) => {
                    idle = left;
                    true
                }
                None => false,
            };
            self.waiting.iter().take_while(|job| fits(job)).map(|job| job.id.0).collect()
        }

        /// The jobs that a backfill pass starts, with their nodes.
        fn backfill_pass(&self, now: Time, settings: &Settings, nodes: u32) -> Vec<(u32, ProcessorSet)> {
            let mut releases = self.releases.clone();
            let mut space = Space::new(nodes, settings.parameters.resolution);
            let mut pass = Backfill::new(now, &settings.parameters, &mut releases, &mut space);
            let mut starts = Vec::new();
            for job in self.waiting.iter().take(settings.parameters.most_tried) {
                if let JobPlan::Start(share) = pass.plan(job) {
                    starts.push((job.id.0, set(nodes, &share)));
                }
            }
            starts
        }
    }

    fn set(nodes: u32, share: &Share) -> ProcessorSet {
        let mut set = ProcessorSet::none(nodes, true);
        set.add(share);
        set
    }

    /// Makes all passes of a record again.
    fn replay(record: &SlurmRecord) -> [Passes; 2] {
        const NODES: u32 = 12;
        let conf = SlurmConf::parse(&record.conf.join("\n"), Path::new("")).unwrap();
        let settings = Settings::of(&catalog::parse(&conf.spec()).unwrap());
        let jobs: BTreeMap<u32, &RecordedJob> = record.jobs.iter().map(|job| (job.id, job)).collect();
        let mut state = RecordedState { releases: Releases::new(NODES), waiting: Vec::new() };
        let [mut main, mut backfill] = [Passes::default(); 2];
        // Newer records say how long the nodes of a job that has ended cannot be used. The scheduler has no such time, so
        // passes within it are not judged.
        let is_epilog = |event: &RecordedEvent| matches!(event, RecordedEvent::Job(_, kind, _) if kind == "epi");
        let has_epilogs = record.events.iter().any(is_epilog);
        let mut completing = BTreeSet::new();
        for (at, event) in record.events.iter().enumerate() {
            match event {
                RecordedEvent::Job(_, kind, id) if kind == "epi" => _ = completing.remove(id),
                RecordedEvent::Job(_, kind, id) if kind == "sub" => {
                    let RecordedJob { nodes, limit, .. } = *jobs[id];
                    state.waiting.push(PendingJob { id: JobId(*id), procs: nodes, limit });
                }
                RecordedEvent::Job(_, _, id) => {
                    state.releases.end(JobId(*id));
                    if has_epilogs {
                        completing.insert(*id);
                    }
                }
                RecordedEvent::Start(time, _, id, nodes) => {
                    let end = record.t0 + time.floor() as Time + jobs[id].limit;
                    let procs = nodes.len() as u32;
                    state.releases.start(Release { id: JobId(*id), end, procs, share: share(nodes) });
                    state.waiting.retain(|job| job.id.0 != *id);
                }
                RecordedEvent::Pass(time, kind) if !state.waiting.is_empty() && completing.is_empty() => {
                    let is_main = kind == "main";
                    let wanted = if is_main { "sm" } else { "sb" };
                    let until_next =
                        record.events[at + 1..].iter().take_while(|next| !matches!(next, RecordedEvent::Pass(..)));
                    let starts: Vec<(u32, ProcessorSet)> = until_next
                        .filter_map(|event| match event {
                            RecordedEvent::Start(_, kind, id, nodes) if kind == wanted => {
                                Some((*id, set(NODES, &share(nodes))))
                            }
                            _ => None,
                        })
                        .collect();
                    if is_main {
                        main.add(state.main_pass() == starts.iter().map(|start| start.0).collect::<Vec<_>>());
                    } else {
                        let now = record.t0 + time.floor() as Time;
                        backfill.add(state.backfill_pass(now, &settings, NODES) == starts);
                    }
                }
                RecordedEvent::Pass(..) => {}
            }
        }
        [main, backfill]
    }

    fn records(folder: &PathBuf) -> Vec<SlurmRecord> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        // A record on nodes has another form.
        let is_record =
            |file: &PathBuf| file.extension().is_some_and(|end| end == "json") && !file.ends_with("nodes.json");
        let records = files.iter().filter(|file| is_record(file));
        records.map(|file| serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()).collect()
    }

    fn replay_all(records: &[SlurmRecord]) -> [Passes; 2] {
        let mut total = [Passes::default(); 2];
        for record in records {
            for (total, passes) in total.iter_mut().zip(replay(record)) {
                (total.all, total.same) = (total.all + passes.all, total.same + passes.same);
            }
        }
        total
    }

    /// The jobs and their nodes are the same in all passes but three of 2,891.
    #[test]
    fn passes_of_a_real_slurm_are_made_again() {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/slurm");
        let [main, backfill] = replay_all(&records(&folder));
        assert_eq!(main, Passes { all: 1061, same: 1060 });
        assert_eq!(backfill, Passes { all: 1830, same: 1829 });
    }

    /// The same for records that were made just now, if this variable names their folder. (Another test of these records says if
    /// there are none.)
    #[test]
    fn passes_of_a_fresh_record_are_made_again() {
        let Some(folder) = std::env::var_os("SHADOWTIME_SLURM_RECORDS") else {
            return;
        };
        let records = records(&PathBuf::from(folder));
        if records.is_empty() {
            return;
        }
        for passes in replay_all(&records) {
            // 99 in 100; one of a few passes may come while a job is just ending.
            assert!(passes.all > 20 && passes.all - passes.same <= (passes.all / 100).max(1), "{passes:?}");
        }
    }
}
