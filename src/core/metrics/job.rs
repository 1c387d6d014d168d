//! The metrics of one job.

use crate::engine::Finished;
use crate::time::{Seconds, Time};

/// A job that has run, with its metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JobMetrics {
    /// The job's number in the log.
    pub number: i64,
    /// The index of its record in the log, counted from 0.
    pub record: u32,
    /// The code of the user's number, as a job has it; -1 if unknown.
    pub user: i32,
    /// When it was submitted.
    pub submit: Time,
    /// When it joined the queue: at its submission, or when its conditions were met.
    pub eligible: Time,
    /// When it started.
    pub start: Time,
    /// When it ended.
    pub end: Time,
    /// Seconds from there to its start.
    pub wait: Seconds,
    /// Processors.
    pub procs: u32,
    /// Seconds from start to end.
    pub runtime: Seconds,
    /// The user's estimate, in seconds.
    pub estimate: Seconds,
    /// The prediction at arrival, in seconds.
    pub prediction: Seconds,
    /// The prediction in force at the start, in seconds.
    pub prediction_at_start: Seconds,
    /// The prediction in force at the end, in seconds.
    pub prediction_last: Seconds,
    /// The number of missed deadlines.
    pub misses: u32,
    /// The bounded slowdown.
    pub bsld: f64,
    /// The absolute inaccuracy, in seconds.
    pub ai: f64,
    /// The relative accuracy, 0 to 1.
    pub ra: f64,
    /// Whether a job that arrived earlier still waited when this one started.
    pub backfilled: bool,
    /// Seconds from the time when it joined the queue to its start in the virtual schedule of the scheduler. None if it has none.
    pub virtual_wait: Option<Seconds>,
}

impl JobMetrics {
    /// Computes the metrics of a job; the threshold is that of [`bounded_slowdown`]. Panics if the job has not started.
    pub fn of(finished: &Finished<'_>, bsld_threshold: Seconds) -> JobMetrics {
        let &Finished { job, submitted: submit, outcome, virtual_start } = finished;
        let wait = finished.wait();
        // Talby et al., Equation 2: the mean over [submit, end], each prediction weighted by the time it was in force.
        let turnaround = (wait + job.runtime) as f64;
        JobMetrics {
            number: job.number,
            record: job.record,
            user: job.submission.user,
            submit,
            eligible: job.submission.submit,
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
            virtual_wait: virtual_start.map(|start| start - job.submission.submit),
        }
    }
}

/// max(1, (wait + runtime) / max(runtime, threshold)), all in seconds: the slowdown, in which jobs shorter than the
/// threshold count as that long (Feitelson and Rudolph; Mu'alem and Feitelson, 2001).
pub fn bounded_slowdown(wait: Seconds, runtime: Seconds, threshold: Seconds) -> f64 {
    ((wait + runtime) as f64 / runtime.max(threshold) as f64).max(1.0)
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
