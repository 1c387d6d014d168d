//! The machine of the virtual schedule: EASY with the users' estimates, on a machine of its own.

use rustc_hash::FxHashMap;

use crate::job::{InLog, JobId, Submission, increment};
use crate::machine::Nodes;
use crate::request::RequestId;
use crate::schedule::machine::{Change, Machine};
use crate::schedule::policy::{Decisions, Facts, PolicyEvent, Scheduler};
use crate::schedule::running::{Move, Running};
use crate::time::Time;

/// `easy/estimate`: who waits and who runs. When jobs end is decided elsewhere.
pub(super) struct VirtualMachine {
    easy: Scheduler,
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
            machine: Machine::new(0, 1.0, easy.shapes.clone(), false),
            easy,
            outlived: FxHashMap::default(),
            is_pass_due: false,
            decisions: Decisions::default(),
        }
    }

    /// The simulation begins. The real machine is idle.
    pub fn begin(&mut self, facts: &Facts, real: &Machine) {
        self.machine = Machine::new(real.procs(), 1.0, self.easy.shapes.clone(), false);
        self.easy.policy.on(&PolicyEvent::Begin(facts), &self.machine);
    }

    /// The first of the waiting jobs.
    pub fn first_waiting(&self) -> Option<JobId> {
        self.machine.waiting.first().map(|job| job.id)
    }

    pub fn arrive(&mut self, id: JobId, job: &Submission, request: Option<RequestId>) {
        let request = request.unwrap_or(RequestId::NONE);
        self.machine.change(Change::Arrive { id, job, request });
        self.easy.policy.on(&PolicyEvent::Arrival { id, job, in_log: InLog::default() }, &self.machine);
        self.machine.change(Change::Predict { id, prediction: job.estimate, is_first: true });
        self.is_pass_due = true;
    }

    /// A job runs that has not arrived here, as in a present queue.
    pub fn adopt(&mut self, job: Running, nodes: Option<&Nodes>) {
        let on_nodes = nodes.map(|nodes| (nodes.request(job.id), nodes.grant(job.id).to_vec()));
        self.machine.change(Change::Adopt { job, on_nodes });
    }

    /// A waiting job leaves without having run.
    pub fn withdraw(&mut self, id: JobId) {
        let Some(job) = self.machine.waiting.get(id).copied() else { return };
        self.machine.change(Change::Cancel(id));
        self.easy.policy.on(&PolicyEvent::Cancellation(&job), &self.machine);
        self.is_pass_due = true;
    }

    /// A running job ends. Its end was counted at `planned`, its start plus its estimate, unless it has outlived that.
    pub fn end(&mut self, id: JobId, planned: Time) {
        let counted = if self.outlived.is_empty() { None } else { self.outlived.remove(&id) };
        self.machine.change(Change::End { id, counted: counted.map_or(planned, |(_, end)| end) });
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
        let VirtualMachine { easy, machine, decisions, .. } = self;
        machine.change(Change::Clock(now));
        easy.policy.decide(machine, decisions);
        for (at, &id) in decisions.starts.iter().enumerate() {
            let grant = decisions.grants.get_mut(at).map(std::mem::take).unwrap_or_default();
            machine.change(Change::Start { id, grant, counted: None });
        }
        machine.change(Change::PassEnd);
        &self.decisions.starts
    }

    /// Jobs that have outlived the ends they are counted with are counted with later ones, as the predictor `estimate` does at
    /// missed deadlines. A missed deadline starts no pass, so it is enough to do this before the next one.
    fn raise_outlived(&mut self, now: Time) {
        let mut moves = Vec::new();
        for job in self.machine.running.iter().take_while(|job| job.end <= now) {
            let (misses, end) = self.outlived.entry(job.id).or_insert((0, job.end));
            while *end <= now {
                *misses += 1;
                *end += increment(*misses);
            }
            moves.push(Move { id: job.id, from: job.end, to: *end });
        }
        self.machine.change(Change::Recount(&mut moves));
    }
}
