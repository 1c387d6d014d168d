//! The scheduler of Slurm on a machine of nodes: the passes of [`nodes`](super::nodes) at the times of `clock`.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::clock::{PassTimes, in_whole_minutes, rest};
use super::last_passes::{LastKind, LastPasses};
use super::nodes::{
    NodeSet, NodesState, Reserved, RunningJob, SlurmJob, SlurmNodes, SlurmPass, SlurmQueue, SlurmSite, Started,
};
use super::returning::Returning;
use super::settings::Settings;
use super::standing::Standings;
use crate::job::{JobId, Submission};
use crate::machine::{NodeGrant, Nodes, PreemptMode, Shapes};
use crate::schedule::accounts::LogFacts;
use crate::schedule::machine::Machine;
use crate::schedule::policy::{Asked, Decisions, NeverStarts, Policy, PolicyEvent, Stop};
use crate::schedule::rules::Counting;
use crate::time::Time;

/// The scheduler.
pub struct SlurmOnNodes {
    settings: Settings,
    pub(super) site: SlurmSite,
    shapes: Arc<Shapes>,
    /// The Unix time of the instant 0.
    unix_start: Time,
    /// By request: a job that asks for this.
    kinds: Vec<Option<SlurmJob>>,
    state: NodesState,
    /// The nodes without any job, to find out which jobs can never start. A test leaves traces in the state.
    pub(super) idle: NodesState,
    line: SlurmQueue,
    /// By waiting job: its place in the line.
    line_places: FxHashMap<JobId, u32>,
    pub(super) standing: Standings,
    /// Jobs that have arrived since the last pass.
    newcomers: Vec<(JobId, Submission)>,
    /// Jobs that were refused when they were submitted. Their users submit them again when a job has left the system.
    refused: Vec<(JobId, Submission)>,
    /// Jobs that were stopped and may not start yet.
    returning: Returning,
    /// The running jobs that the last call of `pass` stops.
    stops: Vec<Stop>,
    /// Nodes of jobs that have ended, and until when these are completing.
    completing: VecDeque<(Time, NodeGrant)>,
    times: PassTimes,
    /// Something has changed since the last backfill pass. Without a change the daemon makes none.
    has_changed: bool,
    /// A main pass without limit may start more jobs: the last one stopped at its depth, or priorities have changed since.
    needs_full: bool,
    /// What the last passes found.
    last: LastPasses,
    /// What has been tried on idle nodes since the last event, without a start.
    tried: TriedIdle,
    /// What the jobs get that the last pass has started.
    grants: Vec<NodeGrant>,
}

impl SlurmOnNodes {
    /// For jobs with these shapes.
    pub fn new(settings: Settings, shapes: &Arc<Shapes>, log: &LogFacts<'_>) -> SlurmOnNodes {
        let site = SlurmSite::new(Arc::clone(shapes.cluster()), settings.parameters.clone());
        SlurmOnNodes {
            shapes: Arc::clone(shapes),
            unix_start: 0,
            kinds: Vec::new(),
            state: NodesState::new(&site),
            idle: NodesState::new(&site),
            line: SlurmQueue::default(),
            line_places: FxHashMap::default(),
            standing: Standings::new(&settings, &site, shapes, log),
            newcomers: Vec::new(),
            refused: Vec::new(),
            returning: Returning::new(settings.requeue_delay),
            stops: Vec::new(),
            completing: VecDeque::new(),
            times: PassTimes::new(&settings),
            has_changed: false,
            needs_full: false,
            last: LastPasses::default(),
            tried: TriedIdle::default(),
            grants: Vec::new(),
            site,
            settings,
        }
    }

    /// The job that asks for this, without what is its own.
    fn kind(&mut self, id: JobId, nodes: &Nodes) -> SlurmJob {
        let request = nodes.request(id);
        let number = request.index().unwrap_or(0);
        if self.kinds.len() <= number {
            self.kinds.resize(number + 1, None);
        }
        let (shapes, site) = (&self.shapes, &self.site);
        let kind = self.kinds[number].get_or_insert_with(|| {
            let places = &shapes.get(request).places;
            let mut partitions: Vec<usize> = places.iter().map(|place| place.partition as usize).collect();
            // Each kind of nodes of its constraint is a place.
            partitions.dedup();
            SlurmJob { kind: number, ..SlurmJob::of(shapes.asked(request), partitions, &site.cluster) }
        });
        kind.clone()
    }

    /// A waiting job as the daemon has it.
    fn job(&mut self, id: JobId, submission: &Submission, view: &Machine, nodes: &Nodes) -> Option<SlurmJob> {
        let waiting = view.waiting.get(id)?;
        let mut job = self.kind(id, nodes);
        (job.id, job.user, job.submit) = (id.0.into(), submission.user.into(), submission.submit);
        job.limit = in_whole_minutes(submission.estimate);
        job.planned = (self.settings.counting == Counting::Prediction).then_some(waiting.length);
        self.standing.identify(&mut job, submission.user, nodes.request(id), view.now);
        Some(job)
    }

    /// Newcomers join the line.
    fn line_up(&mut self, view: &Machine, nodes: &Nodes) {
        let returned = self.returning.take_until(view.now);
        // The daemon sees such a job when a pass looks at it.
        self.needs_full |= !returned.is_empty();
        let newcomers = std::mem::take(&mut self.newcomers).into_iter().map(|newcomer| (newcomer, false));
        for ((id, submission), is_back) in newcomers.chain(returned.into_iter().map(|returned| (returned, true))) {
            let Some(job) = self.job(id, &submission, view, nodes) else { continue };
            if !self.standing.accepts(&job, is_back) {
                self.refused.push((id, submission));
                continue;
            }
            let standing = &mut self.standing;
            let priority = |job: &SlurmJob, partition: usize| standing.priority(job, partition, view.now);
            let place = self.line.push(job, &self.site, priority);
            self.line_places.insert(id, place);
        }
    }

    /// Running jobs that others have started, as in a present queue.
    fn note_running(&mut self, view: &Machine, nodes: &Nodes) {
        if self.state.in_use.running.len() == view.running.len() {
            return;
        }
        let missing: Vec<_> = view.running.iter().filter(|job| !self.state.in_use.has(job.id.0.into())).collect();
        for job in missing {
            let place = nodes.shape(job.id).places.first();
            let running = RunningJob {
                start: view.now,
                end: job.end,
                id: (job.id.0.into(), 0),
                partition: place.map_or(0, |place| place.partition as usize),
                grant: nodes.grant(job.id).to_vec(),
                is_whole: place.is_some_and(|place| place.whole),
            };
            self.state.in_use.start(running, &self.site);
        }
    }

    /// Priorities are brought up to date, and the queue is ordered anew.
    fn rank(&mut self, now: Time) {
        self.standing.recalculate_until(now, &self.state.in_use);
        let Some(last) = self.standing.take_change() else { return };
        let standing = &mut self.standing;
        if self.line.rank(|job, partition| standing.priority(job, partition, last)) {
            self.last.forget();
        }
        (self.has_changed, self.needs_full) = (true, true);
    }

    /// Makes a pass.
    fn make(&mut self, now: Time, kind: PassKind) -> PassResult {
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
            arrays: BTreeMap::new(),
            started: Vec::new(),
            reserved: Vec::new(),
        };
        let queue = |number| self.line.entry(number);
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
        self.last.begin(&self.state);
        let PassResult { started, is_cut_off, .. } = self.make(now, kind);
        for started in started {
            let id = JobId(started.id as u32);
            if let Some(job) = self.leave_line(id) {
                self.standing.start(job);
            }
            self.grants.push(started.grant);
            starts.push(id);
            (self.times.last_event, self.has_changed) = (now, true);
        }
        for running in self.state.take_stopped() {
            self.stop(running, now);
        }
        let depends_on_time = self.site.parameters.least_age > 0 || self.standing.limits.counts_times();
        let until = match last {
            _ if is_cut_off || depends_on_time || self.site.preempts() => now,
            LastKind::Main => Time::MAX,
            LastKind::Backfill => self.state.holds_until,
        };
        self.last.end(last, until, &self.state);
        is_cut_off
    }

    /// A job has left the system: those that were refused are submitted again, before others.
    fn submit_again(&mut self, now: Time) {
        self.times.has_event = true;
        let again = self.refused.drain(..).map(|(id, job)| (id, Submission { submit: now, ..job }));
        self.newcomers.splice(0..0, again);
    }

    /// A running job makes way for another one. Its nodes take no job before the next second.
    fn stop(&mut self, running: RunningJob, now: Time) {
        let is_requeued = self.site.preempt_mode(running.partition) == PreemptMode::Requeue;
        self.standing.end(&running, now);
        self.stops.push(Stop { id: JobId(running.id.0 as u32), is_requeued });
        self.completing.push_back((now + self.settings.epilog.max(1), running.grant));
        (self.times.last_event, self.has_changed) = (now, true);
    }

    fn leave_line(&mut self, id: JobId) -> Option<SlurmJob> {
        self.newcomers.retain(|(newcomer, _)| *newcomer != id);
        self.refused.retain(|(refused, _)| *refused != id);
        self.returning.remove(id);
        self.state.forget_preemptor(id.0.into());
        let place = self.line_places.remove(&id)?;
        self.line.remove(place, &self.site)
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

/// Which passes were made on idle nodes and have looked at all jobs. On idle nodes the first job in any order starts, unless its
/// limits or its request forbid it: after both passes only an event can start a job, or the decay of what was used.
#[derive(Clone, Copy, Default)]
struct TriedIdle {
    main: bool,
    backfill: bool,
}

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

impl SlurmOnNodes {
    fn pass(&mut self, view: &Machine, starts: &mut Vec<JobId>) {
        let (now, nodes) = (view.now, view.nodes().expect("the engine has the nodes of this policy"));
        self.note_running(view, nodes);
        self.rank(now);
        self.line_up(view, nodes);
        self.complete(now);
        let is_by_predictions = self.settings.counting == Counting::Prediction;
        let has_event = self.times.begin(now, !view.waiting.is_empty());
        if has_event || is_by_predictions && !view.only_arrivals {
            self.has_changed = true;
            self.last.forget();
        }
        let main = self.times.main.due(now);
        if is_by_predictions && (main.is_some() || self.times.backfill.is_due(now)) {
            let ends: FxHashMap<u64, Time> = view.running.iter().map(|job| (job.id.0.into(), job.end)).collect();
            self.state.in_use.set_ends(|id| ends.get(&id).copied());
        }
        if let Some(is_full) = main {
            self.needs_full = self.start_jobs(now, PassKind::Main { is_full }, starts);
            self.times.main.on_pass(now);
        }
        let mut has_backfill = false;
        if self.times.backfill.is_due(now) && starts.len() < view.waiting.len() {
            has_backfill = std::mem::take(&mut self.has_changed);
            if has_backfill {
                self.start_jobs(now, PassKind::Backfill, starts);
                self.times.last_backfill = Some(now);
            }
            self.times.backfill.on_pass(now);
        }
        if !self.stops.is_empty() {
            // It is the end of a run.
            self.times.main.on_event(now);
        }
        if self.site.preempts() && self.state.in_use.has_lost_exemption(self.times.now, now, &self.site) {
            self.needs_full = true;
        }
        let is_idle = self.state.in_use.running.is_empty() && self.completing.is_empty();
        match has_event || !is_idle || !self.stops.is_empty() || self.returning.next().is_some() {
            true => self.tried = TriedIdle::default(),
            false => self.note_tried(main.is_some(), has_backfill),
        }
        self.times.end(now, starts.len() < view.waiting.len() || !self.stops.is_empty());
    }

    fn reservations(&mut self, view: &Machine, most: usize, reserved: &mut Vec<(JobId, Time)>) {
        // Reservations are made by backfill passes alone.
        if self.times.last_backfill == Some(view.now) && !view.waiting.is_empty() {
            let (state, standing) = (self.state.clone(), self.standing.clone());
            let made = self.make(view.now, PassKind::Plan);
            (self.state, self.standing) = (state, standing);
            reserved.extend(made.reserved.iter().take(most).map(|plan| (JobId(plan.id as u32), plan.start)));
        }
    }

    fn why_never(&mut self, id: JobId, job: &Submission, view: &Machine, is_end: bool) -> Option<NeverStarts> {
        let nodes = view.nodes()?;
        let job = self.job(id, job, view, nodes)?;
        match is_end {
            false => self.never(&job),
            true => Some(self.stuck(&job)),
        }
    }

    fn held_by_limits(&mut self, view: &Machine, held: &mut Vec<JobId>) {
        if self.standing.limits.is_empty() {
            return;
        }
        let is_held = |id: JobId| match self.line_places.get(&id).and_then(|&place| self.line.job(place)) {
            Some(job) => self.standing.limits.over_now(job).is_some(),
            None => self.refused.iter().any(|(refused, _)| *refused == id),
        };
        held.extend(view.waiting.iter().map(|job| job.id).filter(|&id| is_held(id)));
    }

    fn on_end(&mut self, id: JobId, now: Time) {
        self.submit_again(now);
        self.standing.recalculate_until(now, &self.state.in_use);
        let Some(job) = self.state.in_use.end((id.0.into(), 0), &self.site) else { return };
        self.standing.end(&job, now);
        if self.settings.epilog > 0 {
            self.completing.push_back((now + self.settings.epilog, job.grant));
        }
    }
}

impl Policy for SlurmOnNodes {
    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        match out.asked {
            Asked::Pass => {
                self.pass(machine, &mut out.starts);
                out.grants.append(&mut self.grants);
                out.stops.append(&mut self.stops);
            }
            Asked::Reservations(most) => self.reservations(machine, most, &mut out.reserved),
            Asked::Held => self.held_by_limits(machine, &mut out.held),
            Asked::Never { id, job, is_end } => out.never = self.why_never(id, &job, machine, is_end),
            Asked::VirtualStarts => {}
        }
    }

    fn on(&mut self, event: &PolicyEvent<'_>, machine: &Machine) {
        match *event {
            PolicyEvent::Begin(facts) => {
                self.unix_start = facts.unix_start;
                if !facts.can_stop {
                    self.site.parameters.preempt = PreemptMode::Off;
                }
            }
            PolicyEvent::Arrival { id, job, .. } => {
                self.times.has_event = true;
                self.newcomers.push((id, *job));
            }
            PolicyEvent::Change(job) => {
                if self.settings.counting == Counting::Prediction
                    && let Some(place) = self.line_places.get(&job.id)
                    && let Some(waiting) = self.line.job_mut(*place)
                {
                    waiting.planned = Some(job.length);
                }
            }
            PolicyEvent::End(id) => self.on_end(id, machine.now),
            PolicyEvent::Cancellation(job) => {
                self.times.has_event = true;
                // One that was not accepted has left nothing behind.
                if let Some(job) = self.leave_line(job.id) {
                    self.standing.withdraw(&job);
                    self.submit_again(self.times.now);
                }
            }
            PolicyEvent::Requeue(id, job) => self.returning.push(id, job, machine.now),
            _ => {}
        }
    }

    fn wake(&self) -> Option<Time> {
        let &PassTimes { ref main, ref backfill, now, last_event, is_waiting, .. } = &self.times;
        let rest = rest(now, last_event);
        let change = self.standing.next_change();
        let changed = if self.has_changed { Some(now) } else { change };
        let backfill = changed.and_then(|from| backfill.first_from(from.max(now + rest)));
        let later = || change.and_then(|change| main.next(change.max(now + rest) - 1, true, 0));
        let main = main.next(now, self.needs_full, rest).or_else(later);
        let completing = self.completing.front().map(|(until, _)| *until);
        let at_rest = self.tried.main && self.tried.backfill;
        let [backfill, main] = [backfill, main].map(|next| next.filter(|_| !at_rest));
        // Without a waiting job no pass has an effect.
        let (returning, exempt) = (self.returning.next(), self.state.in_use.next_exemption(now, &self.site));
        let all = [backfill, main, completing, returning, exempt];
        all.into_iter().flatten().min().filter(|_| is_waiting)
    }
}
