//! The passes that are due at an instant.

use rustc_hash::FxHashMap;

use super::Slurm;
use crate::job::JobId;
use crate::machine::PreemptMode;
use crate::schedule::machine::Machine;
use crate::schedule::policy::Stop;
use crate::schedule::rules::Counting;
use crate::schedule::slurm::clock::rest;
use crate::schedule::slurm::last_passes::{LastKind, TriedIdle};
use crate::schedule::slurm::nodes::{NodeSet, Reserved, RunningJob, SlurmNodes, SlurmPass, Started};
use crate::time::Time;

/// What kind of pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PassKind {
    Main {
        is_full: bool,
    },
    Backfill,
    /// A backfill pass that makes all reservations.
    Plan,
}

struct PassResult {
    started: Vec<Started>,
    reserved: Vec<Reserved>,
    is_cut_off: bool,
}

impl Slurm {
    pub(super) fn pass(&mut self, view: &Machine, starts: &mut Vec<JobId>) {
        let now = view.now;
        self.note_running(view);
        self.close(view);
        self.rank(now);
        self.line_up(view);
        self.complete(now);
        let is_by_predictions = self.settings.counting == Counting::Prediction;
        let has_event = self.times.begin(now, !view.waiting.is_empty());
        if has_event || is_by_predictions && !view.only_arrivals {
            self.revisit = now;
            self.last.forget();
        }
        let main = self.times.main.due(now);
        if is_by_predictions && (main.is_some() || self.times.backfill.is_due(now) && self.revisit <= now) {
            let ends = || view.running.iter().map(|job| (job.end, job.id));
            // Most passes come when no prediction has changed.
            if !self.state.in_use.has_ends(ends()) {
                let ends: FxHashMap<u64, Time> = ends().map(|(end, id)| (id.0.into(), end)).collect();
                self.state.in_use.set_ends(|id| ends.get(&id).copied());
            }
        }
        if self.site.has_grace() && self.times.main.limit_check(now) == Some(now) {
            for running in self.state.take_graced(now, &self.site) {
                self.make_way(running, now);
            }
        }
        self.stop_overdue(now);
        if let Some(is_full) = main {
            self.needs_full = self.start_jobs(now, PassKind::Main { is_full }, starts);
            self.times.main.on_pass(now);
        }
        let mut has_backfill = false;
        if self.times.backfill.is_due(now) && starts.len() < view.waiting.len() {
            has_backfill = self.backfill(view, starts);
            self.times.backfill.on_pass(now);
        }
        if !self.stops.is_empty() {
            // It is the end of a run.
            self.times.main.on_event(now);
        }
        // Time alone may let a job preempt others. It is no event: the pass that comes each minute sees it.
        self.needs_full |= self.site.preempts() && self.state.may_preempt_later(now, &self.site);
        let is_idle = self.state.in_use.is_idle() && self.completing.is_empty();
        match has_event || !is_idle || !self.stops.is_empty() || self.returning.next().is_some() {
            true => self.tried = TriedIdle::default(),
            false => self.note_tried(main.is_some(), has_backfill),
        }
        self.times.end(now, starts.len() < view.waiting.len() || !self.stops.is_empty());
    }

    pub(super) fn reservations(&mut self, view: &Machine, most: usize, reserved: &mut Vec<(JobId, Time)>) {
        // Reservations are made by backfill passes alone.
        if self.times.last_backfill == Some(view.now) && !view.waiting.is_empty() {
            let (state, standing) = (self.state.clone(), self.standing.clone());
            let most_tried = self.site.parameters.most_tried;
            if self.site.pool.is_some() {
                self.site.parameters.most_tried = most_tried.min(most);
            }
            if let Some(ranked) = &mut self.ranked {
                ranked.get_mut().begin(view.now);
            }
            let mut made = self.make(view.now, PassKind::Plan);
            // Those for tasks beyond the limit of an array are of no job of the queue.
            made.reserved.dedup_by_key(|plan| (plan.id, plan.partition));
            (self.state, self.standing, self.site.parameters.most_tried) = (state, standing, most_tried);
            reserved.extend(made.reserved.iter().take(most).map(|plan| (JobId(plan.id as u32), plan.start)));
        }
    }

    /// Running jobs that others have started, as in a present queue.
    fn note_running(&mut self, view: &Machine) {
        let is_missing = self.site.pool.is_none() && self.state.in_use.running.len() != view.running.len();
        let Some(nodes) = view.nodes().filter(|_| is_missing) else { return };
        let missing: Vec<_> = view.running.iter().filter(|job| !self.state.in_use.has(job.id.0.into())).collect();
        for job in missing {
            let place = nodes.shape(job.id).places.first();
            let running = RunningJob {
                start: view.now,
                end: job.end,
                id: job.id.0.into(),
                partition: place.map_or(0, |place| place.partition as usize),
                grant: nodes.grant(job.id).to_vec(),
                is_whole: place.is_some_and(|place| place.whole),
                ..RunningJob::default()
            };
            self.state.in_use.start(running, &self.site);
        }
    }

    /// Priorities are brought up to date, and the queue is ordered anew.
    fn rank(&mut self, now: Time) {
        self.standing.recalculate_until(now, &self.state.in_use);
        let Some(last) = self.standing.take_change() else { return };
        self.returning.recalculate(last);
        let standing = &mut self.standing;
        if self.line.rank(|job, partition| standing.priority(job, partition, last)) {
            self.last.forget();
        }
        (self.revisit, self.needs_full) = (now, true);
    }

    /// Makes a pass.
    fn make(&mut self, now: Time, kind: PassKind) -> PassResult {
        self.line.order(&self.site);
        let mut completing = NodeSet::none(self.site.len());
        for share in self.completing.iter().flat_map(|(_, grant)| grant) {
            completing.insert(share.node);
        }
        let mut pass = SlurmPass {
            nodes: SlurmNodes { site: &self.site, state: &mut self.state, completing },
            limits: &mut self.standing.limits,
            now,
            unix_start: self.unix_start,
            reserves_all: kind == PassKind::Plan,
            started: Vec::new(),
            reserved: Vec::new(),
        };
        let reserved = if self.ranked.is_some() { self.line.reserved() } else { 0 };
        let queue = |number| match &self.ranked {
            Some(ranked) if number >= reserved => self.line.only_entry(ranked.borrow_mut().get(number - reserved)?),
            _ => self.line.entry(number),
        };
        let is_cut_off = match kind {
            PassKind::Main { is_full } => pass.main(queue, is_full),
            PassKind::Backfill | PassKind::Plan => {
                pass.backfill(queue);
                false
            }
        };
        PassResult { started: pass.started, reserved: pass.reserved, is_cut_off }
    }

    /// Makes a pass and starts jobs. Returns whether it stopped at its depth.
    fn start_jobs(&mut self, now: Time, kind: PassKind, starts: &mut Vec<JobId>) -> bool {
        let last = if kind == PassKind::Backfill { LastKind::Backfill } else { LastKind::Main };
        if self.last.would_repeat(last, now, &self.state) {
            return false;
        }
        match &mut self.ranked {
            Some(ranked) => ranked.get_mut().begin(now),
            None => self.last.begin(&self.state),
        }
        let PassResult { started, is_cut_off, .. } = self.make(now, kind);
        for started in started {
            let id = JobId(started.id as u32);
            if let Some((job, priorities)) = self.leave_line(id) {
                self.note_start(id, job.reservation);
                self.standing.start(job, priorities);
            }
            if let Some(ranked) = &mut self.ranked {
                ranked.get_mut().start(id, now);
            }
            self.grants.push(started.grant);
            starts.push(id);
            (self.times.last_event, self.revisit) = (now, now);
        }
        for job in self.state.take_making_way().into_iter().filter(|job| job.is_stopped) {
            self.make_way(job.running, now);
        }
        self.hold_too_large();
        if self.ranked.is_some() {
            // With the time the order changes, so that no pass is the last one again.
            return is_cut_off;
        }
        let depends_on_time = self.site.parameters.least_age > 0
            || self.standing.limits.counts_times()
            || self.site.preempts()
            || !self.state.closed.reservations.is_empty();
        let until = match last {
            _ if is_cut_off || depends_on_time => now,
            LastKind::Main => Time::MAX,
            LastKind::Backfill => self.state.holds_until,
        };
        self.last.end(last, until, &self.state);
        is_cut_off
    }

    /// A running job makes way for another one.
    fn make_way(&mut self, running: RunningJob, now: Time) {
        let is_requeued = self.site.preempt_mode(&running) == PreemptMode::Requeue;
        self.stop(running, is_requeued, now);
    }

    /// A running job is stopped. Its nodes take no job before the next second.
    pub(super) fn stop(&mut self, running: RunningJob, is_requeued: bool, now: Time) {
        self.closing.end(JobId(running.id as u32));
        self.stops.push(Stop { id: JobId(running.id as u32), is_requeued });
        self.completing.push_back((now + self.settings.epilog.max(1), running.grant.clone()));
        self.stopped.push(running);
        (self.times.last_event, self.revisit) = (now, now);
    }

    /// Makes a backfill pass if it may decide otherwise than the last one. Returns whether it was made.
    fn backfill(&mut self, view: &Machine, starts: &mut Vec<JobId>) -> bool {
        let now = view.now;
        if self.revisit > now {
            return false;
        }
        (self.revisit, self.times.last_backfill) = (Time::MAX, Some(now));
        let Some(pool) = &self.state.in_use.pool else {
            self.start_jobs(now, PassKind::Backfill, starts);
            return true;
        };
        let idle = pool.idle_count();
        if view.waiting.iter().all(|job| job.procs > idle) {
            // No job fits the idle processors. Only an event can change that.
            return true;
        }
        self.start_jobs(now, PassKind::Backfill, starts);
        // Priorities change with time, and with them the order of the queue.
        let again = if self.ranked.is_some() { now } else { self.state.holds_until };
        if self.revisit == Time::MAX && again < Time::MAX {
            self.revisit = again.max(now + rest(now, self.times.last_event));
        }
        true
    }

    /// Notes what this instant has tried on idle nodes.
    fn note_tried(&mut self, has_main: bool, has_backfill: bool) {
        self.tried.main |= has_main && !self.needs_full;
        self.tried.backfill |= has_backfill;
        if self.tried.main && self.tried.backfill && self.standing.limits.loosens() {
            // It is tried again as long as use of the past decays for a job.
            let jobs = (0..).map_while(|number| self.line.entry(number)).map(|entry| entry.job);
            let mut over = jobs.filter_map(|job| self.standing.limits.over_now(job));
            if over.any(|over| over.is_of_the_past()) {
                self.tried = TriedIdle::default();
            }
        }
    }

    /// Forgets nodes that are not completing any more, which is an event.
    fn complete(&mut self, now: Time) {
        while self.completing.front().is_some_and(|(until, _)| *until <= now) {
            self.completing.pop_front();
            self.times.has_event = true;
        }
    }
}
