//! The interface of scheduling policies: from what happens and the state of the machine to the jobs that start.

use std::sync::Arc;

use super::machine::Machine;
use super::queue::Waiting;
use crate::job::{InLog, JobId, Submission};
use crate::machine::associations::LimitName;
use crate::machine::{NodeGrant, Shapes};
use crate::time::{Seconds, Time};

/// A scheduling policy. It decides which jobs start; only the engine changes the state.
pub trait Policy: Send {
    /// One scheduling pass: adds the waiting jobs that start now to the decisions. The engine checks that they wait and fit;
    /// otherwise the simulation ends with an error. Other questions than passes ([`Decisions::asked`]) come only if
    /// [`Scheduler::answers`].
    fn decide(&mut self, machine: &Machine, out: &mut Decisions);

    /// Something has happened. For policies that remember something from pass to pass; most need only the machine.
    fn on(&mut self, _event: &PolicyEvent<'_>, _machine: &Machine) {}

    /// The next instant at which a pass is required even if no job arrives or ends then. None if there is no such instant.
    fn wake(&self) -> Option<Time> {
        None
    }
}

/// What happens in a simulation, as policies are told of it: directly after it, and before the pass of that instant.
#[derive(Clone, Copy, Debug)]
pub enum PolicyEvent<'a> {
    /// The simulation begins, before the first arrival. The machine is idle.
    Begin(&'a Facts),
    /// A job arrives.
    Arrival {
        /// The job.
        id: JobId,
        /// What is known of it.
        job: &'a Submission,
        /// What the log says of it. Only programs read it.
        in_log: InLog,
    },
    /// How long the job that arrives next waited in the log. It comes only if the policy replays the log
    /// ([`Scheduler::replays`]) and arrivals depend on ends, so that their order was not known before.
    RecordedWait(JobId, Seconds),
    /// A waiting or running job has this prediction from now on, its first one included. It comes only if the policy is outside
    /// of this process ([`Scheduler::is_outside`]).
    Prediction(JobId, Seconds),
    /// The prediction with which a waiting job counts has changed since its arrival. It comes before the next pass.
    Change(&'a Waiting),
    /// A running job has ended.
    End(JobId),
    /// A waiting job was cancelled.
    Cancellation(&'a Waiting),
    /// A running job that a pass has stopped waits again, with its first submission. One that is cancelled instead ends.
    Requeue(JobId, &'a Submission),
    /// The clock moves to this instant. It comes before the events of that instant, when the policy knows all predictions that
    /// hold until then, and only if [`Scheduler::follows_clock`].
    Clock(Time),
    /// From now on these jobs are the first of the queue, each once. The others follow in order of arrival.
    Order(&'a [JobId]),
}

/// What is asked of a policy, and what it answers.
#[derive(Debug, Default)]
pub struct Decisions {
    /// What is asked.
    pub asked: Asked,
    /// The waiting jobs that start now, in the order decided.
    pub starts: Vec<JobId>,
    /// On nodes: what each of these jobs gets of them, in order of nodes.
    pub grants: Vec<NodeGrant>,
    /// The running jobs that make way, in the order decided. They have started before this instant.
    pub stops: Vec<Stop>,
    /// Why the policy cannot decide any more, in a whole sentence.
    pub failure: Option<String>,
    /// See [`Asked::Reservations`].
    pub reserved: Vec<(JobId, Time)>,
    /// See [`Asked::Held`].
    pub held: Vec<(JobId, LimitName)>,
    /// See [`Asked::Never`].
    pub never: Option<NeverStarts>,
    /// See [`Asked::VirtualStarts`].
    pub virtual_starts: Option<Vec<Time>>,
}

/// What is asked of a policy. Only a pass may change what later passes decide.
#[derive(Clone, Copy, Debug, Default)]
pub enum Asked {
    /// A pass: which jobs start, and which make way.
    #[default]
    Pass,
    /// After a pass and its starts: which waiting jobs have a reservation, and the starts reserved for them. The first so many in
    /// the order of the queue.
    Reservations(usize),
    /// After a pass and its starts: the waiting jobs that a limit of their owner or of their quality of service holds.
    Held,
    /// Why a waiting job can never start, however long it waits and whatever else leaves. It is asked on nodes when the job
    /// arrives, and of all jobs when no event is left that could start one.
    Never {
        /// The job.
        id: JobId,
        /// What is known of it.
        job: Submission,
        /// Whether no event is left.
        is_end: bool,
    },
    /// After the last event: when each job starts in a virtual schedule that the policy keeps beside the real one, by id. It is
    /// continued to its end.
    VirtualStarts,
}

/// A policy, and what the engine must know of it before the first event.
pub struct Scheduler {
    /// The name in error messages; usually the spec.
    pub name: String,
    /// The policy itself.
    pub policy: Box<dyn Policy>,
    /// What jobs ask of the nodes of a cluster, if the policy places them there. None: the machine is a pool of processors.
    pub shapes: Option<Arc<Shapes>>,
    /// Whether the ends of running jobs in [`MachineState::running`](super::MachineState::running) are counted by the users' estimates.
    pub by_estimates: bool,
    /// Whether something happens in the policy between the passes: it is told of [`PolicyEvent::Clock`].
    pub follows_clock: bool,
    /// Whether passes may stop running jobs.
    pub preempts: bool,
    /// Whether its passes stop the jobs that run where outages begin, and others than an outage says.
    pub stops_at_outages: bool,
    /// Whether it replays the log's own schedule, in which jobs may start that need more than the free processors.
    pub replays: bool,
    /// Whether it decides outside of this process, in another program: one that may want passes for ever.
    pub is_outside: bool,
    /// Whether it answers more than passes.
    pub answers: bool,
}

impl Scheduler {
    /// A policy that only makes passes, on a pool of processors.
    pub fn new(policy: impl Policy + 'static) -> Scheduler {
        Scheduler {
            name: String::new(),
            policy: Box::new(policy),
            shapes: None,
            by_estimates: false,
            follows_clock: false,
            preempts: false,
            stops_at_outages: false,
            replays: false,
            is_outside: false,
            answers: false,
        }
    }

    /// With this name.
    pub fn named(self, name: impl Into<String>) -> Scheduler {
        Scheduler { name: name.into(), ..self }
    }
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
    /// The submission time of the first job of the log, if the simulation begins with a later job. Orders of the queue may
    /// count from it.
    pub first_submission: Option<Time>,
    /// The Unix time of the instant 0, or 0 if it is not known. For policies that round times as the clock shows them.
    pub unix_start: Time,
    /// The factor by which predictions are multiplied in [`Waiting::length`] and in the ends of running jobs.
    pub inflate: f64,
    /// Whether running jobs can be stopped: [`Scheduler::preempts`].
    pub can_stop: bool,
}
