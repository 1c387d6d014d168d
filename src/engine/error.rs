//! What can go wrong while time moves: always somebody's broken contract.

use std::fmt;

use crate::predict::BreachKind;
use crate::time::{Seconds, Time};

/// A simulation that cannot go on. Jobs are called by the log's numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineError {
    /// The predictor did not predict a job where it must.
    NoPrediction { predictor: String, job: i64, time: Time, event: &'static str },
    /// The predictor wrote a prediction that the contract forbids.
    BadPrediction { predictor: String, job: i64, time: Time, prediction: Seconds, why: BreachKind },
    /// The policy started a job that does not wait or does not fit.
    BadStart { scheduler: String, job: i64, time: Time, why: &'static str },
    /// Nothing happens any more, and jobs still wait.
    Starved { scheduler: String, job: i64, time: Time, waiting: usize },
    /// A job was handed in that can never start.
    TooWide { job: i64, wants: u32, procs: u32 },
    /// A job was handed in with a submit time before the present or before that of the job handed in last.
    OutOfOrder { job: i64, submit: Time, earliest: Time },
    /// A job that does not wait cannot be cancelled.
    NotWaiting { time: Time },
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::NoPrediction { predictor, job, time, event } => {
                write!(f, "predictor '{predictor}' made no prediction for job {job} at its {event} at time {time}")
            }
            EngineError::BadPrediction { predictor, job, time, prediction, why } => {
                write!(f, "predictor '{predictor}' predicted {prediction} s for job {job} at time {time}, but ")?;
                match why {
                    BreachKind::TooShort => write!(f, "a prediction is at least 1 s"),
                    BreachKind::NotAboveElapsed { elapsed } => write!(f, "it has already run for {elapsed} s"),
                    BreachKind::NotInTheSystem => write!(f, "it is neither waiting nor running"),
                }
            }
            EngineError::BadStart { scheduler, job, time, why } => {
                write!(f, "scheduler '{scheduler}' started job {job} at time {time}, but {why}")
            }
            EngineError::Starved { scheduler, job, time, waiting } => write!(
                f,
                "scheduler '{scheduler}' leaves {waiting} jobs waiting for ever, job {job} first, after time {time}"
            ),
            EngineError::TooWide { job, wants, procs } => {
                write!(f, "job {job} wants {wants} processors of a machine that has {procs}")
            }
            EngineError::OutOfOrder { job, submit, earliest } => {
                write!(f, "job {job} was handed in for time {submit}, but no earlier time than {earliest} is left")
            }
            EngineError::NotWaiting { time } => {
                write!(f, "only a waiting job can be cancelled, and at time {time} this one does not wait")
            }
        }
    }
}

impl std::error::Error for EngineError {}
