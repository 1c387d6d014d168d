//! Jobs and predictions as rows of outputs.

use super::cell::Cell;
use super::column::{Column, column_list};
use super::job::JobMetrics;
use super::when::When;
use crate::engine::PredictionMade;
use crate::job::Job;
use crate::time::{Seconds, Time};
use crate::trace::{LogIds, NameKind, ShownNames, WideNumbers};

/// A job as a row of an output.
#[derive(Clone, Debug)]
pub struct JobRow {
    /// Its metrics.
    pub job: JobMetrics,
    /// Its user: a number, or a name.
    pub user: Cell,
    /// Its id in the log.
    pub log_id: Cell,
    /// How often an outage has stopped it so that it waited again, and the seconds that it had run until then.
    pub stops: (u32, Seconds),
}

impl JobRow {
    /// The row of a job of a log with these wide numbers, names and ids.
    pub fn of(job: JobMetrics, wide: &WideNumbers, names: &ShownNames, ids: &LogIds) -> JobRow {
        let user = Cell::of_name(names, NameKind::User, wide.number(job.user));
        JobRow { job, user, log_id: ids.of(job.record, job.number).into(), stops: (0, 0) }
    }
}

/// The columns of `--jobs-out`.
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
        row.job.virtual_wait, only(When::Fair);
    label "eligible" "when it joined the queue, from where its wait counts" row.job.eligible,
        only(When::Waits);
    count "requeues" "how often an outage has stopped it so that it waited again" row.stops.0, only(When::Outages);
    real "lost" "the processor-seconds of the runs that were stopped" row.stops.1 as f64 * f64::from(row.job.procs), lower, only(When::Outages);
    label "log_id" "the id of the job in the log, such as JobIDRaw; that of a requeued job repeats" row.log_id.clone();
};

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
