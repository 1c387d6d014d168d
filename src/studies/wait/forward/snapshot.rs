//! The present queue, from which a simulation goes on.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::draws::{PastRatios, RatioHistory};
use super::{ForwardPlans, ForwardSetting};
use crate::engine::{EngineError, EngineOptions, Named, Simulation};
use crate::job::{Job, JobId, Submission};
use crate::machine::{NodeGrant, OutagePlan, Outages, Placement, Shapes, Tres, take};
use crate::predict;
use crate::request::RequestId;
use crate::schedule::{self, Accounts, Asked, Decisions, LogFacts, Machine, Policy, PolicyEvent, Scheduler};
use crate::time::{Seconds, Time};
use crate::trace::TaskArrays;
use crate::wait::schedule::SiteSchedule;

/// The running and the waiting jobs of a site at one instant.
#[derive(Clone, Debug)]
pub struct QueueSnapshot {
    /// The instant.
    pub now: Time,
    /// The submission of the first job of the log, from which orders of the queue may count.
    pub first_submission: Time,
    /// The Unix time of the log's time 0. None if it is not known.
    pub unix_start: Option<Time>,
    /// The users and groups of the log, who may have shares.
    pub accounts: Arc<Accounts>,
    /// The processors of the machine.
    pub procs: u32,
    /// The nodes of the machine. None: it is a pool of processors.
    pub shapes: Option<Arc<Shapes>>,
    /// The outages that are known. None: it is whole.
    pub outages: Option<Arc<Outages>>,
    /// In order of their starts.
    pub running: Vec<SnapshotJob>,
    /// In order of arrival. A job that is submitted after `now` may start only from then on.
    pub waiting: Vec<SnapshotJob>,
}

/// A job in a [`QueueSnapshot`].
#[derive(Clone, Debug)]
pub struct SnapshotJob {
    /// As it was submitted.
    pub submission: Submission,
    /// What it asks of the nodes.
    pub request: RequestId,
    /// The nodes on which it runs, if that is known: places in [`Cluster::nodes`](crate::machine::Cluster::nodes).
    pub on: Option<Arc<[u32]>>,
    /// A number for its array, if it is the task of one.
    pub array: Option<u32>,
    /// For how long it has run; 0 if it waits.
    pub elapsed: Seconds,
    /// The runtime that is predicted for it. It is longer than `elapsed`.
    pub predicted: Seconds,
    /// The ratios from which its runtime can be drawn.
    pub ratios: PastRatios,
}

impl QueueSnapshot {
    /// The state of a simulation. Of the waiting jobs those up to `last`.
    pub(super) fn of(
        past: &mut Simulation<RatioHistory>,
        last: JobId,
        schedule: &SiteSchedule<'_>,
        (accounts, arrays): (&Arc<Accounts>, &TaskArrays),
    ) -> QueueSnapshot {
        let now = past.now();
        let (machine, board, history) = past.state();
        let job = |id: JobId, elapsed| {
            let submission = *board.job(id);
            let ratios = history.ratios(submission.user);
            let (request, predicted) = (board.request(id), board.prediction(id));
            let array = arrays.of_job(id.index());
            SnapshotJob { submission, request, on: None, array, elapsed, predicted, ratios }
        };
        let mut running: Vec<(JobId, Seconds)> =
            machine.running.iter().map(|running| (running.id, board.elapsed(running.id))).collect();
        running.sort_by_key(|&(id, elapsed)| (std::cmp::Reverse(elapsed), id));
        let waiting = machine.waiting.iter().take_while(|waiting| waiting.id <= last);
        QueueSnapshot {
            now,
            first_submission: schedule.workload.jobs[0].submission.submit,
            unix_start: schedule.workload.unix_start,
            accounts: accounts.clone(),
            procs: schedule.workload.procs,
            shapes: schedule.workload.shapes.clone(),
            outages: schedule.workload.outages.as_ref().map(|outages| Arc::new(outages.known_at(now))),
            running: running.into_iter().map(|(id, elapsed)| job(id, elapsed)).collect(),
            waiting: waiting.map(|waiting| job(waiting.id, 0)).collect(),
        }
    }

    /// The number of jobs.
    pub fn len(&self) -> usize {
        self.running.len() + self.waiting.len()
    }

    /// Whether no job runs or waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Simulates the queue. Jobs have these runtimes, which are longer than they have run, and no other jobs arrive. `each` is
    /// called with the place of each waiting job and how long it waits from now on, in order of the starts, until it returns
    /// false. Running jobs that an outage stops do not wait again. It is called last with the jobs that can never start: they wait at least until the last event.
    ///
    /// # Errors
    /// If the scheduler breaks its contract.
    pub fn simulate(
        &self,
        forward: &ForwardSetting,
        runtime: &mut dyn FnMut(&SnapshotJob) -> Seconds,
        each: &mut dyn FnMut(usize, Seconds) -> bool,
    ) -> Result<(), EngineError> {
        self.simulate_all(forward, runtime, each).map(|_| ())
    }

    /// The places of the waiting jobs that can never start, with the reasons.
    ///
    /// # Errors
    /// As [`QueueSnapshot::simulate`].
    pub fn never_starting(&self, forward: &ForwardSetting) -> Result<BTreeMap<usize, String>, EngineError> {
        self.simulate_all(forward, &mut |job| job.predicted, &mut |_, _| true)
    }

    /// As [`QueueSnapshot::simulate`]. Returns the places of the jobs that never start, with the reasons.
    fn simulate_all(
        &self,
        forward: &ForwardSetting,
        runtime: &mut dyn FnMut(&SnapshotJob) -> Seconds,
        each: &mut dyn FnMut(usize, Seconds) -> bool,
    ) -> Result<BTreeMap<usize, String>, EngineError> {
        // A running job is submitted when it started, and starts at once: all running jobs fit together, and none waits. So
        // the simulated scheduler has its start, its planned end and the deadlines that it has missed.
        let setting = &forward.setting;
        let on_nodes = self.shapes.as_ref().map(|shapes| self.on_nodes(shapes));
        let running = on_nodes.as_ref().map_or(self.running.len(), |(running, _)| running.len());
        let arrays = std::iter::repeat_n(None, running).chain(self.waiting.iter().map(|job| job.array));
        let arrays = TaskArrays::of_jobs(arrays);
        let outages = self.outages.as_ref().filter(|outages| outages.over_by(self.now) < outages.list.len() as u64);
        let facts = LogFacts::of_accounts(&self.accounts).on(self.shapes.as_ref()).with_arrays(&arrays);
        let facts = facts.amid_outages(outages.is_some());
        let scheduler = schedule::catalog::build(&setting.scheduler, &facts);
        let (running, given) = match (&scheduler.shapes, on_nodes) {
            (Some(_), Some(on_nodes)) => on_nodes,
            _ => (self.running.iter().collect(), Vec::new()),
        };
        let all = || running.iter().copied().chain(&self.waiting);
        let jobs: Vec<Job> = all().map(|job| self.job(job, runtime(job))).collect();
        // The jobs of a log may use more processors than the machine has by its header.
        let in_use: u64 = self.running.iter().map(|job| u64::from(job.submission.procs)).sum();
        let widest = self.waiting.iter().map(|job| u64::from(job.submission.procs)).max().unwrap_or(0);
        let procs = u64::from(self.procs).max(in_use).max(widest).min(u64::from(u32::MAX)) as u32;
        let submits = all().map(|job| job.submission.submit).collect();
        let knowledge = match forward.plans {
            ForwardPlans::Estimate => "estimate",
            ForwardPlans::Prediction => "perfect",
        };
        let predictor = predict::catalog::parse(knowledge).expect("a predictor of the catalog");
        let policy = Box::new(PresentPolicy { policy: scheduler.policy, submits, given });
        // The running jobs have no place in the queue of the policy.
        let scheduler = Scheduler { policy, preempts: false, ..scheduler };
        let predictor = Named { name: knowledge.to_string(), value: predict::catalog::build(&predictor) };
        let first_submission = Some(self.first_submission);
        let options = EngineOptions { unix_start: self.unix_start, first_submission, ..setting.engine };
        let seen =
            |outages: &Arc<Outages>| OutagePlan { outages: Arc::new(outages.seen_from(self.now)), first: self.now };
        let mut future = Simulation::new(procs, scheduler, predictor, options).with_outages(outages.map(seen));
        for job in &jobs {
            future.submit(job)?;
        }
        let mut left = self.waiting.len();
        loop {
            while let Some(next) = future.next_event().filter(|_| left > 0 && !future.is_stuck()) {
                future.settle(next)?;
                for id in future.pass()? {
                    if let Some(place) = id.index().checked_sub(running.len()) {
                        left -= 1;
                        if !each(place, next - self.now) {
                            return Ok(BTreeMap::new());
                        }
                    }
                }
            }
            if left == 0 || !future.drop_stuck()? {
                break;
            }
        }
        let place = |id: JobId| id.index().checked_sub(running.len());
        let never = future.never_started().jobs().filter_map(|(id, why)| Some((place(id)?, why.to_string())));
        let never: BTreeMap<usize, String> = never.collect();
        let end = future.now().max(self.now) - self.now;
        never.keys().all(|&place| each(place, end));
        Ok(never)
    }

    fn job(&self, job: &SnapshotJob, runtime: Seconds) -> Job {
        let submit = if job.elapsed > 0 { self.now - job.elapsed } else { job.submission.submit.max(self.now) };
        let submission = Submission { submit, ..job.submission };
        Job { request: job.request, ..Job::new(submission, runtime) }
    }

    /// The running jobs, and what each has of the nodes: of those on which it runs if that is known, else of those that the
    /// placement chooses. Jobs for which there is no room are left out.
    fn on_nodes(&self, shapes: &Shapes) -> (Vec<&SnapshotJob>, Vec<NodeGrant>) {
        let cluster = shapes.cluster();
        let mut free = cluster.resources();
        let mut grants: Vec<Option<NodeGrant>> = vec![None; self.running.len()];
        // First those whose nodes are known: the others have the rest, if possible where no outage is.
        let outages = self.outages.iter().flat_map(|outages| &outages.list);
        let present = outages.filter(|outage| outage.start <= self.now && outage.end > self.now);
        let out: Vec<u32> = present.flat_map(|outage| outage.nodes.iter().copied()).collect();
        for (is_known, closed) in [(true, &[][..]), (false, &out), (false, &[])] {
            for (job, grant) in self.running.iter().zip(&mut grants) {
                if grant.is_some() || job.on.is_some() != is_known {
                    continue;
                }
                let shape = shapes.get(job.request);
                let room = match &job.on {
                    None if closed.is_empty() => Cow::Borrowed(&free),
                    None => {
                        let mut room = free.clone();
                        closed.iter().for_each(|&node| room[node as usize] = Tres::default());
                        Cow::Owned(room)
                    }
                    Some(on) => {
                        let mut room = free.clone();
                        let others = (0..cluster.nodes.len()).filter(|&node| on.binary_search(&(node as u32)).is_err());
                        others.for_each(|node| room[node] = Tres::default());
                        Cow::Owned(room)
                    }
                };
                let mut places = 0..shape.places.len();
                *grant = places.find_map(|at| shape.place(at, Placement::Pack, cluster, &room, |_| false));
                if let Some(grant) = grant {
                    take(&mut free, grant);
                }
            }
        }
        self.running.iter().zip(grants).filter_map(|(job, grant)| Some((job, grant?))).unzip()
    }

    /// How many running jobs are left out, because the nodes have no room for them.
    pub fn without_room(&self) -> usize {
        self.shapes.as_ref().map_or(0, |shapes| self.running.len() - self.on_nodes(shapes).0.len())
    }

    /// How long the last of the waiting jobs waits from now on, with these runtimes.
    ///
    /// # Errors
    /// As [`QueueSnapshot::simulate`].
    pub fn wait_of_last(
        &self,
        forward: &ForwardSetting,
        runtime: &mut dyn FnMut(&SnapshotJob) -> Seconds,
    ) -> Result<Seconds, EngineError> {
        let (last, mut found) = (self.waiting.len() - 1, None);
        self.simulate(forward, runtime, &mut |place, wait| {
            found = (place == last).then_some(wait);
            found.is_none()
        })?;
        Ok(found.expect("every job starts once all before it have ended"))
    }
}

/// A policy that is given the true submission times of jobs, which arrive later in the simulation of the present queue.
/// Orders of the queue may depend on how long jobs have waited.
struct PresentPolicy {
    policy: Box<dyn Policy>,
    /// By id.
    submits: Vec<Time>,
    /// By id: what the running jobs have of the nodes. The policy itself is not asked about these jobs. Empty on a pool.
    given: Vec<NodeGrant>,
}

impl PresentPolicy {
    fn is_given(&self, id: JobId) -> bool {
        id.index() < self.given.len()
    }
}

impl Policy for PresentPolicy {
    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        match &mut out.asked {
            Asked::Pass => {
                // Running jobs have all started before the first other one arrives.
                let waiting = machine.waiting.iter().map(|job| job.id);
                out.starts.extend(waiting.take_while(|&id| self.is_given(id)));
                if !out.starts.is_empty() {
                    out.grants.extend(out.starts.iter().map(|id| std::mem::take(&mut self.given[id.index()])));
                    return;
                }
            }
            Asked::Never { id, .. } if self.is_given(*id) => return,
            Asked::Never { id, job, .. } => job.submit = self.submits[id.index()],
            _ => {}
        }
        self.policy.decide(machine, out);
    }

    fn on(&mut self, event: &PolicyEvent<'_>, machine: &Machine) {
        match *event {
            PolicyEvent::Arrival { id, .. } if self.is_given(id) => {}
            PolicyEvent::Change(job) if self.is_given(job.id) => {}
            PolicyEvent::Arrival { id, job, in_log } => {
                let job = &Submission { submit: self.submits[id.index()], ..*job };
                self.policy.on(&PolicyEvent::Arrival { id, job, in_log }, machine);
            }
            _ => self.policy.on(event, machine),
        }
    }

    fn wake(&self) -> Option<Time> {
        self.policy.wake()
    }
}
