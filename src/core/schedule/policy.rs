//! The interface of scheduling policies: from the state of the machine to the jobs that start.

use std::sync::Arc;

use super::machine::Machine;
use super::queue::Waiting;
use crate::job::{InLog, JobId, Submission};
use crate::machine::{Capacity, NodeGrant, Shapes};
use crate::time::{Seconds, Time};

/// A scheduling policy. It decides which jobs start; only the engine changes the state.
pub trait Policy: Send {
    /// One scheduling pass: adds to `starts` the waiting jobs that start now, in the order decided.
    ///
    /// The engine checks that they wait and fit; otherwise the simulation ends with an error.
    fn pass(&mut self, machine: &Machine, starts: &mut Vec<JobId>);

    /// Adds to `reserved` the waiting jobs that have a reservation after a pass, and the starts reserved for them: the first
    /// `most` of them in the order of the queue. `machine` is the machine after the pass. Called only for observers that want
    /// to see reservations; it must not change later passes.
    fn reservations(&mut self, _machine: &Machine, _most: usize, _reserved: &mut Vec<(JobId, Time)>) {}

    /// A simulation begins. Called once, before the first arrival.
    fn on_begin(&mut self, _facts: &Facts) {}

    /// A job arrives. Called before the pass. Most policies need only the machine and ignore this.
    fn on_arrival(&mut self, _id: JobId, _job: &Submission) {}

    /// How long the job that arrives next waited in the log. Called before its arrival, only if the policy replays the log
    /// ([`Policy::oversubscribes`]) and arrivals depend on ends, so that their order was not known before.
    fn on_recorded_wait(&mut self, _id: JobId, _wait: Seconds) {}

    /// The prediction of a waiting job has changed since its arrival. For policies that keep an index of the queue.
    fn on_prediction(&mut self, _job: &Waiting) {}

    /// A running job ends. Called before the pass. For policies that keep a list of the processors of each job.
    fn on_termination(&mut self, _id: JobId, _now: Time) {}

    /// The clock moves to `now`. Called before the events of that instant, when the policy knows all predictions that hold until
    /// then, and only if [`Policy::follows_clock`].
    fn on_clock(&mut self, _now: Time) {}

    /// Whether [`Policy::on_clock`] is to be called: for policies in which something happens between the passes. The answer must
    /// never change.
    fn follows_clock(&self) -> bool {
        false
    }

    /// When each job starts in a virtual schedule that the policy keeps beside the real one, by id. The virtual schedule is
    /// continued to its end. Called once, after the last event. None: the policy has no virtual schedule.
    fn take_virtual_starts(&mut self) -> Option<Vec<Time>> {
        None
    }

    /// A waiting job was cancelled. For policies that keep an index of the queue.
    fn on_cancellation(&mut self, _job: &Waiting) {}

    /// Whether passes may stop running jobs. The answer must never change after [`Policy::on_begin`].
    fn preempts(&self) -> bool {
        false
    }

    /// The running jobs that the last pass stops, in the order decided. They have started before this instant. Called once after
    /// each pass, before its jobs start, if [`Policy::preempts`].
    fn take_stops(&mut self) -> Vec<Stop> {
        Vec::new()
    }

    /// A running job that a pass has stopped waits again, with its first submission. A job that is cancelled instead ends:
    /// [`Policy::on_termination`].
    fn on_requeue(&mut self, _id: JobId, _job: &Submission, _now: Time) {}

    /// The next instant at which a pass is required even if no job arrives or ends then. None if there is no such instant.
    fn wakes_at(&self) -> Option<Time> {
        None
    }

    /// Whether the ends of running jobs in [`Machine::running`] are counted by the users' estimates. The answer must never
    /// change.
    fn counts_running_by_estimates(&self) -> bool {
        false
    }

    /// What jobs ask of the nodes of a cluster, if the policy places them there. None: the machine is a pool of processors. The
    /// answer must never change.
    fn shapes(&self) -> Option<Arc<Shapes>> {
        None
    }

    /// What a job that the last pass has started gets of the nodes, in order of nodes. Called once for each, if there are nodes.
    fn take_grant(&mut self, _id: JobId) -> NodeGrant {
        NodeGrant::new()
    }

    /// This policy as one that decides outside of this process, if it is one. Whether it is must never change.
    fn as_outside(&mut self) -> Option<&mut dyn OutsidePolicy> {
        None
    }

    /// Why a waiting job can never start, however long it waits and whatever else leaves. Called at its arrival, and again when
    /// no event is left that could start it (`is_end`). None: it may start.
    fn why_never(&mut self, _id: JobId, _job: &Submission, _machine: &Machine, _is_end: bool) -> Option<NeverStarts> {
        None
    }

    /// Adds to `held` the waiting jobs that a limit of their owner or of their quality of service holds now. Called after a pass,
    /// only for observers that want to see them.
    fn held_by_limits(&mut self, _machine: &Machine, _held: &mut Vec<JobId>) {}

    /// Whether jobs may start that need more than the free processors: true only for the replay of a log's own schedule.
    fn oversubscribes(&self) -> bool {
        false
    }
}

/// A policy that decides outside of this process, in another program. It gets more than the others, and it can fail.
pub trait OutsidePolicy {
    /// What the log says of a job that arrives. Called before [`Policy::on_arrival`].
    fn on_job(&mut self, id: JobId, in_log: InLog);

    /// A waiting or running job has this prediction from now on, its first one included.
    fn on_new_prediction(&mut self, id: JobId, prediction: Seconds);

    /// Why the policy cannot decide any more, in a whole sentence. Called after each pass, before its jobs start.
    fn take_failure(&mut self) -> Option<String>;
}

/// A policy that can be given the order of the queue for each pass.
pub(super) trait InGivenOrder: Policy {
    /// From now on these jobs are the first of the queue, each once. The others follow in order of arrival.
    fn give_order(&mut self, jobs: Vec<JobId>);
}

/// Why a job can never start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeverStarts {
    /// What forbids it, such as `QOS normal: MaxTRESPerUser cpu=4`. Jobs are counted by it.
    pub cause: String,
    /// What of this job is too much, such as `it asks for 6`. Empty if the cause says all.
    pub asks: String,
}

/// A running job that makes way for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The job.
    pub id: JobId,
    /// Whether it waits again, and later runs for its whole runtime. If not, it has ended.
    pub is_requeued: bool,
}

/// What a policy knows before the first arrival.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The machine, which is idle.
    pub capacity: Capacity,
    /// The submission time of the first job of the log, if the simulation begins with a later job. Orders of the queue may
    /// count from it.
    pub first_submission: Option<Time>,
    /// The Unix time of the instant 0, or 0 if it is not known. For policies that round times as the clock shows them.
    pub unix_start: Time,
    /// The factor by which predictions are multiplied in [`Waiting::length`] and in the ends of running jobs.
    pub inflate: f64,
    /// Whether running jobs can be stopped. If not, [`Policy::preempts`] must be false.
    pub can_stop: bool,
}
