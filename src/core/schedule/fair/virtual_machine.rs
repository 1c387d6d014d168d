//! The machine of the virtual schedule: EASY with the users' estimates, on a machine of its own.

use rustc_hash::FxHashMap;

use crate::job::{InLog, JobId, Submission, increment};
use crate::machine::{Nodes, ShapeId};
use crate::request::RequestId;
use crate::schedule::machine::Machine;
use crate::schedule::policy::{Decisions, Facts, Policy, PolicyEvent, Scheduler};
use crate::schedule::running::{Move, Running};
use crate::time::Time;

/// `easy/estimate`: who waits and who runs. When jobs end is decided elsewhere.
pub(super) struct VirtualMachine {
    policy: Box<dyn Policy>,
    machine: Machine,
    /// The jobs that have outlived their estimates: how often the end that is counted with has passed, and that end.
    outlived: FxHashMap<JobId, (u32, Time)>,
    is_pass_due: bool,
    decisions: Decisions,
}

impl VirtualMachine {
    /// An idle machine with this scheduler, which must be EASY.
    pub fn new(easy: Scheduler) -> VirtualMachine {
        VirtualMachine {
            machine: Machine::new(0, 1.0, easy.shapes.clone(), easy.by_estimates),
            policy: easy.policy,
            outlived: FxHashMap::default(),
            is_pass_due: false,
            decisions: Decisions::default(),
        }
    }

    /// The simulation begins. The real machine is idle.
    pub fn begin(&mut self, facts: &Facts, real: &Machine) {
        self.machine.capacity = real.capacity;
        self.policy.on(&PolicyEvent::Begin(facts), &self.machine);
    }

    /// The first of the waiting jobs.
    pub fn first_waiting(&self) -> Option<JobId> {
        self.machine.waiting.first().map(|job| job.id)
    }

    pub fn arrive(&mut self, id: JobId, job: &Submission, request: Option<RequestId>) {
        self.machine.enqueue(id, job.procs, request.unwrap_or(RequestId::NONE));
        self.policy.on(&PolicyEvent::Arrival { id, job, in_log: InLog::default() }, &self.machine);
        self.machine.predict_waiting(id, 0, job.estimate);
        self.is_pass_due = true;
    }

    /// A job runs that has not arrived here, as in a present queue.
    pub fn adopt(&mut self, job: Running, nodes: Option<&Nodes>) {
        if let (Some(mine), Some(nodes)) = (&mut self.machine.nodes, nodes) {
            mine.arrive(job.id, nodes.request(job.id));
            let given = mine.start(job.id, nodes.grant(job.id).to_vec());
            debug_assert_eq!(given, Ok(()), "the running jobs fit the machine");
        }
        self.machine.capacity.take(ShapeId::of_procs(job.procs()));
        self.machine.running.insert(job);
    }

    /// A waiting job leaves without having run.
    pub fn withdraw(&mut self, id: JobId) {
        let Some(job) = self.machine.withdraw(id) else { return };
        self.policy.on(&PolicyEvent::Cancellation(&job), &self.machine);
        self.machine.forget(id);
        self.is_pass_due = true;
    }

    /// A running job ends. Its end was counted at `planned`, its start plus its estimate, unless it has outlived that.
    pub fn end(&mut self, id: JobId, planned: Time) {
        let counted = if self.outlived.is_empty() { None } else { self.outlived.remove(&id) };
        self.machine.release(id, counted.map_or(planned, |(_, end)| end));
        self.is_pass_due = true;
    }

    /// What a running job has of the nodes, if there are any.
    #[cfg(test)]
    pub fn grant(&self, id: JobId) -> Option<crate::machine::NodeGrant> {
        self.machine.nodes().map(|nodes| nodes.grant(id).to_vec())
    }

    /// One pass, if a job has arrived, ended or left. Returns the jobs that start.
    pub fn pass(&mut self, now: Time) -> &[JobId] {
        self.decisions.starts.clear();
        self.decisions.grants.clear();
        if !std::mem::take(&mut self.is_pass_due) {
            return &self.decisions.starts;
        }
        self.raise_outlived(now);
        let VirtualMachine { policy, machine, decisions, .. } = self;
        machine.now = now;
        policy.decide(machine, decisions);
        for (at, &id) in decisions.starts.iter().enumerate() {
            let job = machine.withdraw(id).expect("a job that starts waits");
            if let Some(nodes) = &mut machine.nodes {
                let grant = std::mem::take(&mut decisions.grants[at]);
                nodes.start(id, grant).expect("a job that starts fits the nodes");
            }
            machine.start(job, now, job.length);
        }
        machine.only_arrivals = true;
        &self.decisions.starts
    }

    /// Jobs that have outlived the ends they are counted with are counted with later ones, as the predictor `estimate` does at
    /// missed deadlines. A missed deadline starts no pass, so it is enough to do this before the next one.
    fn raise_outlived(&mut self, now: Time) {
        let Machine { running, moves, only_arrivals, .. } = &mut self.machine;
        for job in running.iter().take_while(|job| job.end <= now) {
            let (misses, end) = self.outlived.entry(job.id).or_insert((0, job.end));
            while *end <= now {
                *misses += 1;
                *end += increment(*misses);
            }
            moves.push(Move { id: job.id, from: job.end, to: *end });
        }
        if !moves.is_empty() {
            *only_arrivals = false;
            running.change(moves);
        }
    }
}
