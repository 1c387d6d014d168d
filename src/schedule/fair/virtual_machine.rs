//! The machine of the virtual schedule: EASY with the users' estimates, on a machine of its own.

use rustc_hash::FxHashMap;

use crate::job::{JobId, Submission, increment};
use crate::machine::{Capacity, Nodes, ShapeId};
use crate::request::RequestId;
use crate::schedule::policy::{Facts, Policy, View};
use crate::schedule::queue::{Queue, Waiting};
use crate::schedule::running::{Move, Running, RunningJobs};
use crate::time::Time;

/// `easy/estimate`: who waits and who runs. When jobs end is decided elsewhere.
pub(super) struct VirtualMachine {
    policy: Box<dyn Policy>,
    capacity: Capacity,
    nodes: Option<Nodes>,
    waiting: Queue,
    running: RunningJobs,
    /// The jobs that have outlived their estimates: how often the end that is counted with has passed, and that end.
    outlived: FxHashMap<JobId, (u32, Time)>,
    /// Arrivals are the only events since the last pass.
    only_arrivals: bool,
    is_pass_due: bool,
    started: Vec<JobId>,
    moves: Vec<Move>,
}

impl VirtualMachine {
    /// An idle machine with this scheduler, which must be EASY.
    pub fn new(policy: Box<dyn Policy>) -> VirtualMachine {
        VirtualMachine {
            nodes: policy.shapes().map(Nodes::new),
            policy,
            capacity: Capacity::pool(0),
            waiting: Queue::default(),
            running: RunningJobs::default(),
            outlived: FxHashMap::default(),
            only_arrivals: false,
            is_pass_due: false,
            started: Vec::new(),
            moves: Vec::new(),
        }
    }

    pub fn on_begin(&mut self, facts: &Facts) {
        self.capacity = facts.capacity;
        self.policy.on_begin(facts);
    }

    /// The first of the waiting jobs.
    pub fn first_waiting(&self) -> Option<JobId> {
        self.waiting.first().map(|job| job.id)
    }

    pub fn arrive(&mut self, id: JobId, job: &Submission, request: Option<RequestId>) {
        if let (Some(nodes), Some(request)) = (&mut self.nodes, request) {
            nodes.arrive(id, request);
        }
        self.policy.on_arrival(id, job);
        let (procs, estimate) = (job.procs, job.estimate);
        self.waiting.push(Waiting { id, procs, prediction: estimate, length: estimate });
        self.is_pass_due = true;
    }

    /// A job runs that has not arrived here, as in a present queue.
    pub fn adopt(&mut self, job: Running, nodes: Option<&Nodes>) {
        if let (Some(mine), Some(nodes)) = (&mut self.nodes, nodes) {
            mine.arrive(job.id, nodes.request(job.id));
            let given = mine.start(job.id, nodes.grant(job.id).to_vec());
            debug_assert_eq!(given, Ok(()), "the running jobs fit the machine");
        }
        self.capacity.take(ShapeId::of_procs(job.procs()));
        self.running.insert(job);
    }

    /// A waiting job leaves without having run.
    pub fn withdraw(&mut self, id: JobId) {
        let Some(job) = self.waiting.remove(id) else { return };
        self.policy.on_cancellation(&job);
        self.leave_nodes(id);
        (self.only_arrivals, self.is_pass_due) = (false, true);
    }

    /// A running job ends. Its end was counted at `planned`, its start plus its estimate, unless it has outlived that.
    pub fn end(&mut self, id: JobId, planned: Time) {
        let counted = if self.outlived.is_empty() { None } else { self.outlived.remove(&id) };
        let job = self.running.remove(counted.map_or(planned, |(_, end)| end), id);
        self.capacity.give(job.grant);
        self.leave_nodes(id);
        (self.only_arrivals, self.is_pass_due) = (false, true);
    }

    /// What a running job has of the nodes.
    #[cfg(test)]
    pub fn grant(&self, id: JobId) -> crate::machine::NodeGrant {
        self.nodes.as_ref().map_or_else(Vec::new, |nodes| nodes.grant(id).to_vec())
    }

    fn leave_nodes(&mut self, id: JobId) {
        if let Some(nodes) = &mut self.nodes {
            nodes.leave(id);
        }
    }

    /// One pass, if a job has arrived, ended or left. Returns the jobs that start.
    pub fn pass(&mut self, now: Time) -> &[JobId] {
        self.started.clear();
        if !std::mem::take(&mut self.is_pass_due) {
            return &self.started;
        }
        self.raise_outlived(now);
        let VirtualMachine { policy, capacity, nodes, waiting, running, only_arrivals, started, .. } = self;
        let only_arrivals = std::mem::replace(only_arrivals, true);
        policy.pass(&View { now, capacity, waiting, running, nodes: nodes.as_ref(), only_arrivals }, started);
        for &id in started.iter() {
            let job = waiting.remove(id).expect("a job that starts waits");
            if let Some(nodes) = nodes {
                nodes.start(id, policy.take_grant(id)).expect("a job that starts fits the nodes");
            }
            let grant = capacity.take(job.shape());
            running.insert(Running { id, grant, end: now + job.length });
        }
        &self.started
    }

    /// Jobs that have outlived the ends they are counted with are counted with later ones, as the predictor `estimate` does at
    /// missed deadlines. A missed deadline starts no pass, so it is enough to do this before the next one.
    fn raise_outlived(&mut self, now: Time) {
        for job in self.running.iter().take_while(|job| job.end <= now) {
            let (misses, end) = self.outlived.entry(job.id).or_insert((0, job.end));
            while *end <= now {
                *misses += 1;
                *end += increment(*misses);
            }
            self.moves.push(Move { id: job.id, from: job.end, to: *end });
        }
        if !self.moves.is_empty() {
            self.only_arrivals = false;
            self.running.change(&mut self.moves);
        }
    }
}
