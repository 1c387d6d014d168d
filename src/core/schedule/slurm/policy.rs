//! The scheduler of Slurm: the passes of [`nodes`](super::nodes) at the times of `clock`.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::clock::{PassTimes, in_whole_minutes, rest};
use super::last_passes::{LastKind, LastPasses};
use super::nodes::{
    NodeSet, NodesState, Reserved, RunningJob, SlurmJob, SlurmNodes, SlurmPass, SlurmQueue, SlurmSite, Started,
};
use super::ranking::RankedJobs;
use super::returning::Returning;
use super::settings::Settings;
use super::standing::Standings;
use crate::job::{JobId, Submission};
use crate::machine::{NodeGrant, Nodes, PreemptMode, Shapes};
use crate::request::Requests;
use crate::schedule::accounts::LogFacts;
use crate::schedule::machine::Machine;
use crate::schedule::policy::{Asked, Decisions, NeverStarts, Policy, PolicyEvent, Stop};
use crate::schedule::rules::Counting;
use crate::time::Time;

/// The scheduler.
pub(super) struct Slurm {
    settings: Settings,
    pub(super) site: SlurmSite,
    shapes: Arc<Shapes>,
    /// The Unix time of the instant 0.
    unix_start: Time,
    /// By request, or by number of processors: a job that asks for this.
    kinds: FxHashMap<usize, SlurmJob>,
    state: NodesState,
    /// The nodes without any job, to find out which jobs can never start. A test leaves traces in the state.
    pub(super) idle: NodesState,
    line: SlurmQueue,
    /// By waiting job: its place in the line.
    line_places: FxHashMap<JobId, u32>,
    pub(super) standing: Standings,
    /// The order of the queue of a pool by priorities, which change with time. None: the line has the order.
    ranked: Option<RefCell<RankedJobs>>,
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
    /// The first instant at which a backfill pass may decide otherwise than the last one. `Time::MAX` if only an event can change
    /// that. On nodes nothing else can: without a change the daemon makes no pass.
    revisit: Time,
    /// A main pass without limit may start more jobs: the last one stopped at its depth, or priorities have changed since.
    needs_full: bool,
    /// What the last passes found.
    last: LastPasses,
    /// What has been tried on idle nodes since the last event, without a start.
    tried: TriedIdle,
    /// What the jobs get that the last pass has started.
    grants: Vec<NodeGrant>,
}

impl Slurm {
    /// On a machine of nodes, for jobs with these shapes.
    pub fn on_nodes(settings: Settings, shapes: &Arc<Shapes>, log: &LogFacts<'_>) -> Slurm {
        let site = SlurmSite::new(Arc::clone(shapes.cluster()), settings.parameters.clone());
        let standing = Standings::new(&settings, &site, shapes, log);
        Slurm::new(settings, site, standing, shapes)
    }

    /// On a pool of processors.
    pub fn on_pool(settings: Settings, log: &LogFacts<'_>) -> Slurm {
        // Made for the machine when the simulation begins.
        let site = SlurmSite::of_pool(0, settings.parameters.clone());
        let shapes = Arc::new(Shapes::new(Arc::clone(&site.cluster), &Requests::default()));
        let ranked = settings.weights.clone().map(|weights| RefCell::new(RankedJobs::new(weights, &log.accounts())));
        let standing = Standings::of_nobody(&site, &shapes);
        Slurm { ranked, ..Slurm::new(settings, site, standing, &shapes) }
    }

    fn new(settings: Settings, site: SlurmSite, standing: Standings, shapes: &Arc<Shapes>) -> Slurm {
        Slurm {
            shapes: Arc::clone(shapes),
            unix_start: 0,
            kinds: FxHashMap::default(),
            state: NodesState::new(&site),
            idle: NodesState::new(&site),
            line: SlurmQueue::default(),
            line_places: FxHashMap::default(),
            standing,
            ranked: None,
            newcomers: Vec::new(),
            refused: Vec::new(),
            returning: Returning::new(settings.requeue_delay),
            stops: Vec::new(),
            completing: VecDeque::new(),
            times: PassTimes::new(&settings),
            revisit: Time::MAX,
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
        let (shapes, site) = (&self.shapes, &self.site);
        let kind = self.kinds.entry(number).or_insert_with(|| {
            let places = &shapes.get(request).places;
            let mut partitions: Vec<usize> = places.iter().map(|place| place.partition as usize).collect();
            // Each kind of nodes of its constraint is a place.
            partitions.dedup();
            SlurmJob { kind: number, ..SlurmJob::of(shapes.asked(request), partitions, &site.cluster) }
        });
        kind.clone()
    }

    fn kind_on_pool(&mut self, procs: u32) -> SlurmJob {
        let cluster = &self.site.cluster;
        self.kinds.entry(procs as usize).or_insert_with(|| SlurmJob::of_processors(procs, cluster)).clone()
    }

    /// A waiting job as the daemon has it.
    fn job(&mut self, id: JobId, submission: &Submission, view: &Machine) -> Option<SlurmJob> {
        let waiting = view.waiting.get(id)?;
        let nodes = view.nodes().filter(|_| self.site.pool.is_none());
        let mut job = match nodes {
            Some(nodes) => self.kind(id, nodes),
            None => self.kind_on_pool(submission.procs),
        };
        (job.id, job.user, job.limit) = (id.0.into(), submission.user.into(), in_whole_minutes(submission.estimate));
        job.submit = submission.submit;
        job.planned = (self.settings.counting == Counting::Prediction).then_some(waiting.length);
        if let Some(nodes) = nodes {
            self.standing.identify(&mut job, submission.user, nodes.request(id), view.now);
        }
        Some(job)
    }

    /// Newcomers join the line.
    fn line_up(&mut self, view: &Machine) {
        let returned = self.returning.take_until(view.now);
        // The daemon sees such a job when a pass looks at it.
        self.needs_full |= !returned.is_empty();
        let newcomers = std::mem::take(&mut self.newcomers).into_iter().map(|newcomer| (newcomer, false));
        for ((id, submission), is_back) in newcomers.chain(returned.into_iter().map(|returned| (returned, true))) {
            let Some(job) = self.job(id, &submission, view) else { continue };
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
    fn note_running(&mut self, view: &Machine) {
        let is_missing = self.site.pool.is_none() && self.state.in_use.running.len() != view.running.len();
        let Some(nodes) = view.nodes().filter(|_| is_missing) else { return };
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
        (self.revisit, self.needs_full) = (now, true);
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
        let queue = |number| match &self.ranked {
            None => self.line.entry(number),
            Some(ranked) => self.line.only_entry(*self.line_places.get(&ranked.borrow_mut().get(number)?)?),
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
        self.last.begin(&self.state);
        if let Some(ranked) = &mut self.ranked {
            ranked.get_mut().begin(now);
        }
        let PassResult { started, is_cut_off, .. } = self.make(now, kind);
        for started in started {
            let id = JobId(started.id as u32);
            if let Some(job) = self.leave_line(id) {
                self.standing.start(job);
            }
            if let Some(ranked) = &mut self.ranked {
                ranked.get_mut().start(id, now);
            }
            self.grants.push(started.grant);
            starts.push(id);
            (self.times.last_event, self.revisit) = (now, now);
        }
        for running in self.state.take_stopped() {
            self.stop(running, now);
        }
        let depends_on_time =
            self.site.parameters.least_age > 0 || self.standing.limits.counts_times() || self.ranked.is_some();
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

impl Slurm {
    fn pass(&mut self, view: &Machine, starts: &mut Vec<JobId>) {
        let now = view.now;
        self.note_running(view);
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
            let ends: FxHashMap<u64, Time> = view.running.iter().map(|job| (job.id.0.into(), job.end)).collect();
            self.state.in_use.set_ends(|id| ends.get(&id).copied());
        }
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
        if self.site.preempts() && self.state.in_use.has_lost_exemption(self.times.now, now, &self.site) {
            self.needs_full = true;
        }
        let is_idle = self.state.in_use.is_idle() && self.completing.is_empty();
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
            let most_tried = self.site.parameters.most_tried;
            if self.site.pool.is_some() {
                self.site.parameters.most_tried = most_tried.min(most);
            }
            if let Some(ranked) = &mut self.ranked {
                ranked.get_mut().begin(view.now);
            }
            let made = self.make(view.now, PassKind::Plan);
            (self.state, self.standing, self.site.parameters.most_tried) = (state, standing, most_tried);
            reserved.extend(made.reserved.iter().take(most).map(|plan| (JobId(plan.id as u32), plan.start)));
        }
    }

    fn why_never(&mut self, id: JobId, job: &Submission, view: &Machine, is_end: bool) -> Option<NeverStarts> {
        // On a pool the engine drops what is too wide.
        if self.site.pool.is_some() {
            return None;
        }
        let job = self.job(id, job, view)?;
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
        if let Some(ranked) = &mut self.ranked {
            ranked.get_mut().end(id, now);
        }
        let Some(job) = self.state.in_use.end((id.0.into(), 0), &self.site) else { return };
        self.standing.end(&job, now);
        if self.settings.epilog > 0 {
            self.completing.push_back((now + self.settings.epilog, job.grant));
        }
    }
}

impl Policy for Slurm {
    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        match out.asked {
            Asked::Pass => {
                self.pass(machine, &mut out.starts);
                match self.site.pool {
                    // What the processors of a pool are called is known to this policy alone.
                    Some(_) => self.grants.clear(),
                    None => out.grants.append(&mut self.grants),
                }
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
                if self.site.pool.is_some() {
                    let procs = machine.procs();
                    self.site = SlurmSite::of_pool(procs, self.settings.parameters.clone());
                    self.state = NodesState::new(&self.site);
                    self.ranked.iter_mut().for_each(|ranked| ranked.get_mut().set_machine(procs));
                }
                if !facts.can_stop {
                    self.site.parameters.preempt = PreemptMode::Off;
                }
            }
            PolicyEvent::Arrival { id, job, .. } => {
                self.times.has_event = true;
                self.newcomers.push((id, *job));
                if let Some(ranked) = &mut self.ranked {
                    ranked.get_mut().arrive(id, job);
                }
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
                if let Some(ranked) = &mut self.ranked {
                    ranked.get_mut().leave(job.id);
                }
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
        // Without a waiting job no pass has an effect.
        if !self.times.is_waiting {
            return None;
        }
        let &PassTimes { ref main, ref backfill, now, last_event, .. } = &self.times;
        let rest = rest(now, last_event);
        let change = self.standing.next_change();
        let changed = match (self.revisit, self.site.pool) {
            (Time::MAX, _) => change.map(|change| change.max(now + rest)),
            (revisit, Some(_)) => Some(revisit),
            (_, None) => Some(now + rest),
        };
        let backfill = changed.and_then(|from| backfill.first_from(from));
        let later = || change.and_then(|change| main.next(change.max(now + rest) - 1, true, 0));
        let main = main.next(now, self.needs_full || self.ranked.is_some(), rest).or_else(later);
        let completing = self.completing.front().map(|(until, _)| *until);
        let at_rest = self.tried.main && self.tried.backfill;
        let [backfill, main] = [backfill, main].map(|next| next.filter(|_| !at_rest));
        let (returning, exempt) = (self.returning.next(), self.state.in_use.next_exemption(now, &self.site));
        let all = [backfill, main, completing, returning, exempt];
        all.into_iter().flatten().min()
    }
}
