//! The scheduler of Slurm: a main pass that starts jobs in the order of the queue, and a backfill pass, less often, that
//! reserves processors for jobs and starts those that delay no reservation.
//!
//! It does what version 22.05 of the daemon does on one partition of nodes with one processor each: `processors` is how
//! nodes are chosen, `releases` how the end of running jobs is expected, `space` what reservations leave, `backfill` one
//! backfill pass, `clock` when passes come.
//!
#![doc = include_str!("../../cli/help/slurm.md")]

mod backfill;
mod bits;
mod clock;
pub mod conf;
mod priority;
mod processors;
mod releases;
mod runs;
mod settings;
mod shares;
mod space;

#[cfg(test)]
mod recorded;

use std::collections::BTreeMap;

use super::accounts::LogFacts;
use super::arrivals::ById;
use super::policy::{Policy, View};
use super::queue::Waiting;
use super::rules::Counting;
use crate::job::{JobId, Submission};
use crate::spec::Spec;
use crate::time::{MINUTE, Seconds, Time};

use backfill::{Backfill, Candidate, Plan};
use clock::{BackfillClock, MainClock, rest};
use priority::Priorities;
use processors::{Numbered, Pooled, Processors};
use releases::{Release, Releases};
use settings::Settings;
use space::Space;

pub(super) use settings::FORM;

/// The policy of a spec. The users or groups of the log have shares.
pub(super) fn build(spec: &Spec, log: &LogFacts<'_>) -> Box<dyn Policy> {
    match Settings::is_pool(spec) {
        true => Box::new(Slurm::<Pooled>::new(Settings::of(spec), log)),
        false => Box::new(Slurm::<Numbered>::new(Settings::of(spec), log)),
    }
}

/// Slurm's limits are whole minutes.
fn in_whole_minutes(estimate: Seconds) -> Seconds {
    (estimate + MINUTE - 1).div_euclid(MINUTE) * MINUTE
}

/// The scheduler on processors of type `P`.
struct Slurm<P: Processors> {
    settings: Settings,
    /// The Unix time of the instant 0.
    unix_start: Time,
    /// The machine. None before the first pass.
    machine: Option<Machine<P>>,
    /// None if the queue is in order of arrival.
    priorities: Option<Priorities>,
    submissions: ById<Submission>,
    main: MainClock,
    backfill: BackfillClock,
    /// The instant of the last call of `pass`, and whether jobs waited after it.
    now: Time,
    is_waiting: bool,
    /// A job arrived, ended or was cancelled since the last call of `pass`.
    has_event: bool,
    /// When a job last arrived, started, ended or was cancelled.
    last_event: Time,
    /// The last main pass stopped at its depth: a pass without limit may start more jobs.
    is_cut_off: bool,
    /// The first instant at which a backfill pass may start a job. `Time::MAX` if only an event can change that.
    revisit: Time,
    /// The last backfill pass that was not skipped.
    last_backfill: Option<Time>,
    /// Scratch: the waiting jobs in the order of the queue.
    queue: Vec<Waiting>,
    /// Scratch: the jobs that a backfill pass looks at.
    candidates: Vec<Candidate>,
}

/// The processors and what runs on them.
#[derive(Clone)]
struct Machine<P: Processors> {
    releases: Releases<P>,
    /// Memory for the reservations of a pass.
    space: Space<P>,
}

impl<P: Processors> Slurm<P> {
    fn new(settings: Settings, log: &LogFacts<'_>) -> Slurm<P> {
        Slurm {
            unix_start: 0,
            machine: None,
            priorities: settings.weights.clone().map(|weights| Priorities::new(weights, &log.accounts())),
            submissions: ById::default(),
            main: MainClock::new(settings.main_delay, settings.main_interval),
            backfill: BackfillClock::new(settings.interval),
            now: Time::MIN,
            is_waiting: false,
            has_event: false,
            last_event: Time::MIN,
            is_cut_off: false,
            revisit: Time::MAX,
            last_backfill: None,
            queue: Vec::new(),
            candidates: Vec::new(),
            settings,
        }
    }

    /// How long a waiting job may run.
    fn limit(&self, job: &Waiting) -> Seconds {
        match self.settings.counting {
            Counting::Estimate => in_whole_minutes(self.submissions.get(job.id).estimate),
            Counting::Prediction => job.length,
        }
    }

    /// Puts the first `most` waiting jobs into `queue`, in the order of the queue. Jobs of `starts` do not wait any more.
    fn line_up(&mut self, view: &View<'_>, starts: &[JobId], most: usize) {
        self.queue.clear();
        // Few jobs start at one instant, so the list is short.
        let waiting = view.waiting.iter().filter(|job| !starts.contains(&job.id)).copied();
        let Some(priorities) = &mut self.priorities else {
            self.queue.extend(waiting.take(most));
            return;
        };
        priorities.count_until(view.now);
        let of = |job: &Waiting| priorities.of(self.submissions.get(job.id), view.procs, view.now);
        let mut ranked: Vec<(f64, Waiting)> = waiting.map(|job| (of(&job), job)).collect();
        let is_before = |a: &(f64, Waiting), b: &(f64, Waiting)| b.0.total_cmp(&a.0).then(a.1.id.cmp(&b.1.id));
        if most < ranked.len() {
            ranked.select_nth_unstable_by(most, is_before);
            ranked.truncate(most);
        }
        ranked.sort_unstable_by(is_before);
        self.queue.extend(ranked.into_iter().map(|(_, job)| job));
    }

    /// Jobs start in the order of the queue, until one does not fit.
    fn main_pass(&mut self, view: &View<'_>, depth: usize, starts: &mut Vec<JobId>) {
        self.line_up(view, starts, depth);
        self.is_cut_off = self.queue.len() == depth;
        let queue = std::mem::take(&mut self.queue);
        for job in &queue {
            let end = view.now + self.unix_start + self.limit(job);
            let Machine { releases, .. } = self.machine.as_mut().expect("a pass needs a machine");
            if job.procs > releases.idle_count() {
                self.is_cut_off = false;
                break;
            }
            let share = releases.idle().choose(job.procs);
            releases.start(Release { id: job.id, end, procs: job.procs, share });
            self.start(job.id, view.now, starts);
        }
        self.queue = queue;
    }

    fn start(&mut self, id: JobId, now: Time, starts: &mut Vec<JobId>) {
        starts.push(id);
        (self.revisit, self.last_event) = (now, now);
        let job = *self.submissions.get(id);
        if let Some(priorities) = &mut self.priorities {
            priorities.on_start(id, &job, now);
        }
    }

    /// Puts the jobs that a backfill pass looks at into `candidates`.
    fn list_candidates(&mut self, view: &View<'_>, starts: &[JobId]) {
        let Settings { depth, depth_per_user, .. } = self.settings;
        let is_limited = depth_per_user < usize::MAX;
        self.line_up(view, starts, if is_limited { usize::MAX } else { depth });
        let mut per_user: BTreeMap<i32, usize> = BTreeMap::new();
        self.candidates.clear();
        for job in &self.queue {
            if is_limited {
                let count = per_user.entry(self.submissions.get(job.id).user).or_default();
                *count += 1;
                if *count > depth_per_user {
                    continue;
                }
            }
            if self.candidates.len() == depth {
                break;
            }
            self.candidates.push(Candidate { id: job.id, procs: job.procs, limit: self.limit(job) });
        }
    }

    fn backfill_pass(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        self.list_candidates(view, starts);
        self.revisit = Time::MAX;
        let Machine { releases, space } = self.machine.as_mut().expect("a pass needs a machine");
        // Priorities change with time, and with them the order of the queue.
        let is_narrow = |job: &Waiting| job.procs <= releases.idle_count();
        if self.priorities.is_some() && view.waiting.iter().any(is_narrow) {
            self.revisit = view.now;
        }
        let Settings { window, grouping, .. } = self.settings;
        let mut pass = Backfill::new(view.now + self.unix_start, window, grouping, releases, space);
        let mut started = Vec::new();
        pass.start_jobs(&self.candidates, |job| started.push(job.id));
        if pass.revisit() < Time::MAX {
            self.revisit = self.revisit.min(pass.revisit() - self.unix_start);
        }
        if self.revisit < Time::MAX {
            self.revisit = self.revisit.max(view.now + rest(view.now, self.last_event));
        }
        started.into_iter().for_each(|id| self.start(id, view.now, starts));
    }

    /// Forgets the jobs before the first one that waits.
    fn forget(&mut self, view: &View<'_>, starts: &[JobId]) {
        let first = view.waiting.iter().find(|job| !starts.contains(&job.id));
        self.submissions.forget_before(first.map(|job| job.id));
    }
}

impl<P: Processors + Send> Policy for Slurm<P>
where
    P::Share: Send,
{
    fn pass(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        let now = view.now;
        let resolution = self.settings.resolution;
        let machine = self.machine.get_or_insert_with(|| Machine {
            releases: Releases::new(view.procs),
            space: Space::new(view.procs, resolution),
        });
        self.main.count_until(now);
        self.backfill.count_until(now);
        self.backfill.set_waiting(!view.waiting.is_empty(), now);
        let is_by_predictions = self.settings.counting == Counting::Prediction;
        if std::mem::take(&mut self.has_event) {
            self.main.on_event(now);
            self.last_event = now;
            self.revisit = now;
        } else if is_by_predictions && !view.only_arrivals {
            self.revisit = now;
        }
        let main = self.main.due(now);
        let backfills = self.backfill.is_due(now) && self.revisit <= now;
        if is_by_predictions && (main.is_some() || backfills) {
            machine.releases.set_ends(view.running, self.unix_start);
        }
        if let Some(is_full) = main {
            self.main_pass(view, if is_full { usize::MAX } else { self.settings.main_depth }, starts);
            self.main.on_pass(now);
        }
        if self.backfill.is_due(now) && starts.len() < view.waiting.len() {
            if self.revisit <= now {
                self.backfill_pass(view, starts);
                self.last_backfill = Some(now);
            }
            self.backfill.on_pass(now);
        }
        self.is_waiting = starts.len() < view.waiting.len();
        self.backfill.set_waiting(self.is_waiting, now);
        self.now = now;
        self.forget(view, starts);
    }

    fn reservations(&mut self, view: &View<'_>, most: usize, reserved: &mut Vec<(JobId, Time)>) {
        // Reservations are made by backfill passes alone.
        if self.last_backfill != Some(view.now) || view.waiting.is_empty() {
            return;
        }
        self.list_candidates(view, &[]);
        let Some(mut machine) = self.machine.clone() else { return };
        if self.settings.counting == Counting::Prediction {
            machine.releases.set_ends(view.running, self.unix_start);
        }
        let Settings { window, grouping, .. } = self.settings;
        let Machine { releases, space } = &mut machine;
        let mut pass = Backfill::new(view.now + self.unix_start, window, grouping, releases, space);
        for job in self.candidates.iter().take(most) {
            if let Plan::Reserved(start) = pass.plan(job) {
                reserved.push((job.id, start - self.unix_start));
            }
        }
    }

    fn set_unix_start(&mut self, unix_start: Time) {
        self.unix_start = unix_start;
    }

    fn on_arrival(&mut self, id: JobId, job: &Submission) {
        self.has_event = true;
        self.submissions.push(id, *job);
        if let Some(priorities) = &mut self.priorities {
            priorities.on_arrival(job);
        }
    }

    fn on_termination(&mut self, id: JobId, now: Time) {
        self.has_event = true;
        if let Some(machine) = &mut self.machine {
            machine.releases.end(id);
        }
        if let Some(priorities) = &mut self.priorities {
            priorities.on_end(id, now);
        }
    }

    fn on_cancellation(&mut self, _job: &Waiting) {
        self.has_event = true;
    }

    fn wakes_at(&self) -> Option<Time> {
        let backfill = if self.revisit == Time::MAX { None } else { self.backfill.first_from(self.revisit) };
        let is_needed = self.is_cut_off || self.priorities.is_some();
        let main = self.main.next(self.now, is_needed, rest(self.now, self.last_event));
        // Without a waiting job no pass has an effect.
        [backfill, main].into_iter().flatten().min().filter(|_| self.is_waiting)
    }
}
