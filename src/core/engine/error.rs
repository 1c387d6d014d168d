//! Errors of a simulation: a predictor, a policy or a caller broke its contract.

use std::fmt;

use crate::predict::InvalidReason;
use crate::text::counted;
use crate::time::{Seconds, Time};

/// Why a simulation cannot continue. `job` is the job's number in the log, `time` the simulated instant of the error,
/// `predictor` and `scheduler` are the names given in [`Named`](super::Named) and
/// [`Scheduler`](crate::schedule::Scheduler).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineError {
    /// The predictor made no prediction at an event where one is required.
    NoPrediction {
        /// The predictor's name.
        predictor: String,
        /// The job that has no prediction.
        job: i64,
        /// The instant of the event.
        time: Time,
        /// "arrival" or "missed deadline".
        event: &'static str,
    },
    /// The predictor wrote a prediction that the contract forbids.
    BadPrediction {
        /// The predictor's name.
        predictor: String,
        /// The job the prediction is for.
        job: i64,
        /// When it was written.
        time: Time,
        /// The forbidden prediction, in seconds.
        prediction: Seconds,
        /// The rule it breaks.
        why: InvalidReason,
    },
    /// The predictor cannot predict any more.
    PredictorFailed {
        /// The predictor's name.
        predictor: String,
        /// The reason, with the event and the job at which it failed.
        why: String,
    },
    /// The policy started a job that does not wait or does not fit.
    BadStart {
        /// The policy's name.
        scheduler: String,
        /// The job it started.
        job: i64,
        /// The instant of the pass.
        time: Time,
        /// The second half of the message.
        why: &'static str,
        /// The first node that does not have what the job was given.
        node: Option<String>,
    },
    /// The policy cannot decide any more.
    PolicyFailed {
        /// The policy's name.
        scheduler: String,
        /// The reason, with the instant of the pass.
        why: String,
    },
    /// The policy stopped a job that does not run, or that has only just started.
    BadStop {
        /// The policy's name.
        scheduler: String,
        /// The job it stopped.
        job: i64,
        /// The instant of the pass.
        time: Time,
    },
    /// No events are left, or none but passes in which nothing happens, but jobs still wait.
    Starved {
        /// The policy's name.
        scheduler: String,
        /// The first job of the queue.
        job: i64,
        /// The time of the last event.
        time: Time,
        /// The number of jobs that still wait.
        waiting: usize,
    },
    /// The policy can start no job of a workload.
    NoneStarts {
        /// The policy's name.
        scheduler: String,
        /// The causes.
        causes: String,
    },
    /// No events are left, but jobs are still at the gate: their conditions cannot be met.
    Held {
        /// The first of them.
        job: i64,
        /// The time of the last event.
        time: Time,
        /// Their number.
        held: usize,
    },
    /// A submitted job needs more processors than the machine has.
    TooWide {
        /// The job that was submitted.
        job: i64,
        /// The processors it needs.
        needs: u32,
        /// The processors of the machine.
        procs: u32,
    },
    /// A job's submit time is in the past, or before that of the job submitted last.
    OutOfOrder {
        /// The job that was submitted.
        job: i64,
        /// Its submit time.
        submit: Time,
        /// The earliest submit time that is still allowed.
        earliest: Time,
    },
    /// The job to cancel does not wait.
    NotWaiting {
        /// The present instant.
        time: Time,
    },
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::NoPrediction { predictor, job, time, event } => {
                write!(f, "predictor '{predictor}' made no prediction for job {job} at its {event} at time {time}")
            }
            EngineError::BadPrediction { predictor, job, time, prediction, why } => {
                write!(f, "predictor '{predictor}' predicted {prediction} s for job {job} at time {time}, but {why}")
            }
            EngineError::PredictorFailed { predictor, why } => write!(f, "predictor '{predictor}': {why}"),
            EngineError::BadStart { scheduler, job, time, why, node } => {
                let node = node.as_ref().map_or(String::new(), |node| format!(" (node {node})"));
                write!(f, "scheduler '{scheduler}' started job {job} at time {time}, but {why}{node}")
            }
            EngineError::PolicyFailed { scheduler, why } => write!(f, "scheduler '{scheduler}': {why}"),
            EngineError::BadStop { scheduler, job, time } => {
                write!(f, "scheduler '{scheduler}' stopped job {job} at time {time}, which has not run until then")
            }
            EngineError::Starved { scheduler, job, time, waiting } => write!(
                f,
                "scheduler '{scheduler}' never starts job {job}, the first of {} at time {time}",
                counted(*waiting as u64, "waiting job")
            ),
            EngineError::NoneStarts { scheduler, causes } => {
                write!(f, "scheduler '{scheduler}' can start no job: {causes}")
            }
            EngineError::Held { job, time, held } => write!(
                f,
                "job {job}, the first of {} at time {time}, waits for a job that never starts: are its dependencies in a circle?",
                counted(*held as u64, "held job")
            ),
            EngineError::TooWide { job, needs, procs } => {
                write!(f, "job {job} needs {}, but the machine has {procs}", counted((*needs).into(), "processor"))
            }
            EngineError::OutOfOrder { job, submit, earliest } => {
                write!(f, "job {job} was submitted for time {submit}, but the earliest time allowed is {earliest}")
            }
            EngineError::NotWaiting { time } => {
                write!(f, "only a waiting job can be cancelled, but this job does not wait at time {time}")
            }
        }
    }
}

impl std::error::Error for EngineError {}
