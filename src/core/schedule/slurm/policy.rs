//! The scheduler of Slurm: the passes of [`nodes`](super::nodes) at the times of `clock`. `waiting` are the jobs of the queue, `arrays`
//! which of them are tasks of the same array, `closing` what outages take, `passes` what is done when passes are due.

mod arrays;
mod closing;
mod passes;
mod waiting;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use arrays::KnownArrays;
use closing::Closing;

use super::clock::{PassTimes, rest};
use super::last_passes::{LastPasses, TriedIdle};
use super::nodes::{NodesState, RunningJob, SlurmJob, SlurmQueue, SlurmSite};
use super::ranking::RankedJobs;
use super::returning::{Returning, ReturningJob};
use super::settings::Settings;
use super::standing::Standings;
use crate::job::{JobId, Submission};
use crate::machine::associations::LimitName;
use crate::machine::{NodeGrant, PreemptMode, Shapes};
use crate::request::Requests;
use crate::schedule::accounts::LogFacts;
use crate::schedule::machine::Machine;
use crate::schedule::policy::{Asked, Decisions, Policy, PolicyEvent, Stop};
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
    arrays: KnownArrays,
    closing: Closing,
    /// The order of the queue of a pool by priorities, which change with time. None: the line has the order.
    ranked: Option<RefCell<RankedJobs>>,
    /// Jobs that have arrived since the last pass.
    newcomers: Vec<(JobId, Submission)>,
    /// Jobs that were refused when they were submitted. Their users submit them again when a job has left the system.
    /// Each with the limit that it is over.
    refused: Vec<(JobId, Submission, LimitName)>,
    /// Jobs that were requeued and may not start yet.
    returning: Returning,
    /// The running jobs that the last call of `pass` stops.
    stops: Vec<Stop>,
    /// The same, until the engine has stopped them.
    stopped: Vec<RunningJob>,
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
        Slurm::new(settings, site, standing, shapes, log)
    }

    /// On a pool of processors.
    pub fn on_pool(settings: Settings, log: &LogFacts<'_>) -> Slurm {
        // Made for the machine when the simulation begins.
        let site = SlurmSite::of_pool(0, settings.parameters.clone());
        let shapes = Arc::new(Shapes::new(Arc::clone(&site.cluster), &Requests::default()));
        let ranked = settings.weights.clone().map(|weights| RefCell::new(RankedJobs::new(weights, &log.accounts())));
        let standing = Standings::of_nobody(&site, &shapes);
        Slurm { ranked, ..Slurm::new(settings, site, standing, &shapes, log) }
    }

    fn new(
        settings: Settings,
        site: SlurmSite,
        standing: Standings,
        shapes: &Arc<Shapes>,
        log: &LogFacts<'_>,
    ) -> Slurm {
        Slurm {
            shapes: Arc::clone(shapes),
            unix_start: 0,
            kinds: FxHashMap::default(),
            state: NodesState::new(&site),
            idle: NodesState::new(&site),
            line: SlurmQueue::default(),
            line_places: FxHashMap::default(),
            standing,
            arrays: KnownArrays::new(log.arrays()),
            closing: Closing::default(),
            ranked: None,
            newcomers: Vec::new(),
            refused: Vec::new(),
            returning: Returning::new(settings.requeue_delay),
            stops: Vec::new(),
            stopped: Vec::new(),
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

    fn on_end(&mut self, id: JobId, now: Time) {
        self.submit_again(now);
        self.leave_nodes(id, now);
    }

    /// A running job ends or is stopped. On nodes it returns the partition in which it ran, and its priorities by partition.
    fn leave_nodes(&mut self, id: JobId, now: Time) -> Option<(usize, Vec<(usize, i64)>)> {
        self.standing.recalculate_until(now, &self.state.in_use);
        if let Some(ranked) = &mut self.ranked {
            ranked.get_mut().end(id, now);
        }
        self.closing.end(id);
        let number = u64::from(id.0);
        if let Some(at) = self.stopped.iter().position(|stopped| stopped.id == number) {
            let stopped = self.stopped.swap_remove(at);
            return Some((stopped.partition, self.standing.end(&stopped, now)));
        }
        // Something else than a pass ends it.
        self.times.has_event = true;
        let job = self.state.in_use.end(number, &self.site)?;
        let priorities = self.standing.end(&job, now);
        if self.settings.epilog > 0 {
            self.completing.push_back((now + self.settings.epilog, job.grant));
        }
        Some((job.partition, priorities))
    }

    /// A running job waits again. Its first submission counts no more, except where the queue is in order of submissions: Slurm's
    /// priority/basic gives each job a number once.
    fn on_requeue(&mut self, id: JobId, submission: &Submission, now: Time) {
        let (partition, priorities) = self.leave_nodes(id, now).unzip();
        let (since, submission) = (now + self.settings.epilog, *submission);
        let priorities = priorities.unwrap_or_default();
        self.returning.push(ReturningJob { since, begin: since, id, submission, partition, priorities });
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
            }
            PolicyEvent::Change(job) => {
                if self.settings.counting == Counting::Prediction
                    && let Some(place) = self.line_places.get(&job.id)
                    && let Some(waiting) = self.line.job_mut(*place, job.id.0.into())
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
                if let Some((job, _)) = self.leave_line(job.id) {
                    self.standing.withdraw(&job);
                    self.submit_again(self.times.now);
                }
            }
            PolicyEvent::Requeue(id, job) => self.on_requeue(id, job, machine.now),
            _ => {}
        }
    }

    fn wake(&self) -> Option<Time> {
        let limit_check = |end: Time| self.times.main.limit_check(end.max(self.times.now + 1));
        let grace = self.state.next_grace_end(&self.site).and_then(limit_check);
        let overdue = self.closing.next_end().and_then(limit_check);
        // Without a waiting job no pass has an effect.
        if !self.times.is_waiting {
            return grace.into_iter().chain(overdue).min();
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
        let all = [backfill, main, completing, self.returning.next(), grace, overdue, self.closing.next()];
        all.into_iter().flatten().min()
    }
}
