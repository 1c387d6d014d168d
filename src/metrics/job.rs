//! One job in numbers.

use crate::engine::{Finished, PredictionMade};
use crate::job::Job;
use crate::time::{Seconds, Time};

/// Everything there is to say of a job that has run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobMetrics {
    pub number: i64,
    /// The log's record it came from, counted from 0.
    pub record: u32,
    pub user: i32,
    pub submit: Time,
    pub start: Time,
    pub end: Time,
    pub wait: Seconds,
    pub procs: u32,
    pub runtime: Seconds,
    pub estimate: Seconds,
    /// At arrival, at the start and at the end.
    pub prediction: Seconds,
    pub prediction_at_start: Seconds,
    pub prediction_last: Seconds,
    pub misses: u32,
    pub bsld: f64,
    pub ai: f64,
    pub ra: f64,
    pub backfilled: bool,
}

impl JobMetrics {
    pub fn of(finished: &Finished<'_>, bsld_threshold: Seconds) -> JobMetrics {
        let Finished { job, outcome } = finished;
        let wait = finished.wait();
        // Talby et al., Equation 2: each accuracy is the mean over [submit, end], weighted by how long it held.
        let turnaround = (wait + job.runtime) as f64;
        JobMetrics {
            number: job.number,
            record: job.record,
            user: job.submission.user,
            submit: job.submission.submit,
            start: finished.start(),
            end: finished.end(),
            wait,
            procs: job.submission.procs,
            runtime: job.runtime,
            estimate: job.submission.estimate,
            prediction: outcome.prediction,
            prediction_at_start: outcome.prediction_at_start,
            prediction_last: outcome.prediction_last,
            misses: outcome.misses,
            bsld: bounded_slowdown(wait, job.runtime, bsld_threshold),
            ai: outcome.ai_seconds / turnaround,
            ra: outcome.ra_seconds / turnaround,
            backfilled: outcome.backfilled,
        }
    }
}

/// max(1, (wait + runtime) / max(runtime, threshold)): slowdown, with very short jobs counted as if they were longer
/// (Feitelson and Rudolph; Mu'alem and Feitelson, 2001).
pub fn bounded_slowdown(wait: Seconds, runtime: Seconds, threshold: Seconds) -> f64 {
    ((wait + runtime) as f64 / runtime.max(threshold) as f64).max(1.0)
}

/// A prediction that was made, with jobs by the log's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictionRow {
    pub job: i64,
    pub time: Time,
    pub prediction: Seconds,
    pub event: &'static str,
    /// The job at whose event it was made.
    pub cause: i64,
}

impl PredictionRow {
    pub fn of(made: &PredictionMade, jobs: &[Job]) -> PredictionRow {
        let PredictionMade { job, time, prediction, event, cause } = *made;
        let number = |id: crate::job::JobId| jobs[id.index()].number;
        PredictionRow { job: number(job), time, prediction, event: event.name(), cause: number(cause) }
    }
}

#[cfg(test)]
mod tests {
    use super::bounded_slowdown;

    #[test]
    fn short_jobs_are_bounded() {
        assert_eq!(bounded_slowdown(0, 1, 10), 1.0);
        assert_eq!(bounded_slowdown(19, 1, 10), 2.0);
        assert_eq!(bounded_slowdown(100, 50, 10), 3.0);
        assert_eq!(bounded_slowdown(10, 5, 1), 3.0);
    }
}
