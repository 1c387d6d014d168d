//! The metrics of one job.

use super::cell::Cell;
use super::column::{Column, column_list};
use crate::engine::{Finished, PredictionMade};
use crate::job::Job;
use crate::time::{Seconds, Time};
use crate::trace::{LogIds, NameKind, ShownNames, WideNumbers};

/// A job that has run, with its metrics.
#[derive(Clone, Copy, Debug, PartialEq)]
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

/// A job as a row of an output.
#[derive(Clone, Debug)]
pub struct JobRow {
    /// Its metrics.
    pub job: JobMetrics,
    /// Its user: a number, or a name.
    pub user: Cell,
    /// Its id in the log.
    pub log_id: Cell,
}

impl JobRow {
    /// The row of a job of a log with these wide numbers, names and ids.
    pub fn of(job: JobMetrics, wide: &WideNumbers, names: &ShownNames, ids: &LogIds) -> JobRow {
        let user = Cell::of_name(names, NameKind::User, wide.number(job.user));
        JobRow { job, user, log_id: ids.of(job.record, job.number).into() }
    }
}

/// The columns of `--jobs-out` ([`job_columns`]).
pub static JOB_COLUMNS: &[Column<JobRow>] = &column_list! {
    |row: JobRow|
    key "job" "the number of the job; an accounting file's jobs are numbered from 1 in order of submission" row.job.number;
    label "user" "the user's number, or with --names the name; -1 if unknown" row.user.clone();
    label "submit" "when it was submitted, in seconds of the log" row.job.submit;
    count "start" "when it started" row.job.start;
    count "end" "when it ended" row.job.end;
    duration "wait" "seconds from submission to start" row.job.wait, lower;
    label "procs" "processors" row.job.procs;
    label "runtime" "seconds from start to end" row.job.runtime;
    label "estimate" "the user's estimate in seconds" row.job.estimate;
    label "prediction" "the prediction at arrival, in seconds" row.job.prediction;
    label "prediction_last" "the prediction at the end" row.job.prediction_last;
    count "misses" "missed deadlines" row.job.misses;
    real "bsld" "bounded slowdown" row.job.bsld, lower;
    duration "ai" "absolute inaccuracy in seconds" Cell::Seconds(row.job.ai), lower;
    fraction "ra" "relative accuracy, a fraction" row.job.ra, higher;
    count "backfilled" "1 if it started before a job that had waited longer" row.job.backfilled;
    duration "virtual_wait" "seconds to its start in the virtual schedule; empty if the scheduler has none"
        row.job.virtual_wait, only("with the scheduler fair");
    label "eligible" "when it joined the queue, from where its wait counts" row.job.eligible,
        only("if jobs wait for other jobs or for a time");
    label "log_id" "the id of the job in the log, such as JobIDRaw; that of a requeued job repeats" row.log_id.clone();
};

/// The columns of `--jobs-out` for a log whose jobs have conditions, or have none, and for schedulers with a virtual schedule, or
/// without.
pub fn job_columns(has_conditions: bool, has_virtual_schedule: bool) -> Vec<Column<JobRow>> {
    let is_there = |column: &&Column<JobRow>| match column.name {
        "eligible" => has_conditions,
        "virtual_wait" => has_virtual_schedule,
        _ => true,
    };
    JOB_COLUMNS.iter().filter(is_there).cloned().collect()
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

/// One row of the history of predictions. Jobs are given by their numbers in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictionRow {
    /// The job that is predicted.
    pub job: i64,
    /// When the prediction was made.
    pub time: Time,
    /// The predicted runtime, in seconds.
    pub prediction: Seconds,
    /// The name of the event at which it was made.
    pub event: &'static str,
    /// The job of that event.
    pub cause: i64,
}

/// The columns of `--predictions-out`.
pub static PREDICTION_COLUMNS: &[Column<PredictionRow>] = &column_list! {
    |row: PredictionRow|
    key "job" "the number of the job that is predicted" row.job;
    key "time" "when the prediction was made, in seconds of the log" row.time;
    duration "prediction" "the predicted runtime in seconds" row.prediction;
    key "event" "the event at which it was made" row.event;
    key "cause" "the job of that event" row.cause;
};

impl PredictionRow {
    /// The row of a prediction in the simulation of `jobs`.
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
