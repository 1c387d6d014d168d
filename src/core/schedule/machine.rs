//! The state of a machine: waiting jobs, running jobs and free processors, in the orders that policies need.

use std::sync::Arc;

use super::queue::{Queue, Waiting};
use super::running::{Move, Running, RunningJobs};
use crate::job::JobId;
use crate::machine::{Capacity, Nodes, Shapes};
use crate::request::RequestId;
use crate::time::{Seconds, Time};

/// The state of a machine: the real one of a simulation, or one beside it. Everyone can read it, only its owner can change it.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The present instant.
    pub now: Time,
    /// Its processors.
    pub capacity: Capacity,
    /// The waiting jobs in order of arrival, which is also the order of their ids.
    pub waiting: Queue,
    /// The running jobs in order of the end that the policy counts with, then of id.
    pub running: RunningJobs,
    /// Whether arrivals are the only events since the last pass: no job has ended or was cancelled, no prediction of an
    /// earlier waiting job has changed, and no running job counts by another end.
    pub only_arrivals: bool,
    /// The nodes, if the policy places jobs on them.
    pub(crate) nodes: Option<Box<Nodes>>,
    /// Running jobs with a new prediction that are not yet sorted into `running` by it.
    pub(super) moves: Vec<Move>,
    pub(super) inflate: f64,
    /// Whether running jobs are counted by estimates until they outlive them.
    pub(crate) by_estimates: bool,
}

impl Machine {
    /// An idle pool of processors.
    pub fn pool(procs: u32) -> Machine {
        Machine {
            now: Time::MIN,
            capacity: Capacity::pool(procs),
            waiting: Queue::default(),
            running: RunningJobs::default(),
            only_arrivals: false,
            nodes: None,
            moves: Vec::new(),
            inflate: 1.0,
            by_estimates: false,
        }
    }

    /// The processors of the machine.
    pub fn procs(&self) -> u32 {
        self.capacity.procs()
    }

    /// The idle processors; negative if a replayed log uses more than the machine has.
    pub fn free(&self) -> i64 {
        self.capacity.free()
    }

    /// The nodes, for a policy that places jobs on them.
    pub fn nodes(&self) -> Option<&Nodes> {
        self.nodes.as_deref()
    }
}

impl Machine {
    /// An idle machine, on nodes if there are shapes.
    pub(crate) fn new(procs: u32, inflate: f64, shapes: Option<Arc<Shapes>>, by_estimates: bool) -> Self {
        let nodes = shapes.map(|shapes| Box::new(Nodes::new(shapes)));
        Machine { nodes, inflate, by_estimates, ..Machine::pool(procs) }
    }

    /// The prediction that the scheduler computes with: multiplied by `inflate` and rounded to the nearest second. The
    /// factor is at least 1, so that the order of predictions does not change.
    #[inline]
    pub(crate) fn length(&self, prediction: Seconds) -> Seconds {
        if self.inflate == 1.0 {
            return prediction;
        }
        ((prediction as f64 * self.inflate + 0.5).floor() as Seconds).max(prediction)
    }

    /// A job arrives. Its prediction is set directly after this call.
    #[inline]
    pub(crate) fn enqueue(&mut self, id: JobId, procs: u32, request: RequestId) {
        if let Some(nodes) = &mut self.nodes {
            nodes.arrive(id, request);
        }
        self.waiting.push(Waiting { id, procs, prediction: 0, length: 0 });
    }

    /// Removes a job from the queue. None if it does not wait.
    #[inline]
    pub(crate) fn withdraw(&mut self, id: JobId) -> Option<Waiting> {
        self.only_arrivals = false;
        self.waiting.remove(id)
    }

    /// Sets the prediction of a waiting job; `old` is 0 for its first prediction. Returns the changed job.
    #[inline]
    pub(crate) fn predict_waiting(&mut self, id: JobId, old: Seconds, new: Seconds) -> Option<&Waiting> {
        self.only_arrivals &= old == 0;
        let length = self.length(new);
        self.waiting.predict(id, new, length)
    }

    /// A job starts. Its end is counted `length` seconds from now.
    #[inline]
    pub(crate) fn start(&mut self, job: Waiting, now: Time, length: Seconds) {
        let grant = self.capacity.take(job.shape());
        self.running.insert(Running { id: job.id, grant, end: now + length });
    }

    /// Notes the new prediction of a running job. [`Machine::move_running`] applies all of them at once.
    pub(crate) fn predict_running(&mut self, id: JobId, start: Time, old: Seconds, new: Seconds) {
        self.only_arrivals = false;
        self.moves.push(Move { id, from: start + self.length(old), to: start + self.length(new) });
    }

    /// Notes that a running job, which was counted by its estimate, is counted by its prediction from now on.
    pub(crate) fn outlive(&mut self, id: JobId, start: Time, estimate: Seconds, prediction: Seconds) {
        self.only_arrivals = false;
        self.moves.push(Move { id, from: start + estimate, to: start + self.length(prediction) });
    }

    /// Sorts the running jobs with new ends into their new positions.
    pub(crate) fn move_running(&mut self) {
        self.running.change(&mut self.moves);
    }

    /// A running job ends. Its end was counted at `counted`.
    #[inline]
    pub(crate) fn release(&mut self, id: JobId, counted: Time) {
        self.only_arrivals = false;
        let job = self.running.remove(counted, id);
        self.capacity.give(job.grant);
        self.forget(id);
    }

    /// A running job is stopped, and waits again with this prediction. Its end was counted `length` seconds after its start.
    pub(crate) fn requeue(&mut self, id: JobId, start: Time, length: Seconds, prediction: Seconds) {
        self.only_arrivals = false;
        let job = self.running.remove(start + length, id);
        let procs = job.procs();
        self.capacity.give(job.grant);
        if let Some(nodes) = &mut self.nodes {
            nodes.stop(id);
        }
        self.waiting.insert(Waiting { id, procs, prediction, length: self.length(prediction) });
    }

    /// A job has left the system. What it had of the nodes is free again.
    pub(crate) fn forget(&mut self, id: JobId) {
        if let Some(nodes) = &mut self.nodes {
            nodes.leave(id);
        }
    }
}
