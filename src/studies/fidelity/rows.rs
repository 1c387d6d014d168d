//! What the rows of outputs are made from.

use super::moving::MovingJob;
use super::recorded::RecordedComparison;
use crate::metrics::Cell;
use crate::time::Seconds;
use crate::trace::{NameKind, Workload};

/// What all schedules are compared with.
#[derive(Clone, Copy, Debug)]
pub struct FidelityHeading<'a> {
    /// The simulated jobs.
    pub workload: &'a Workload,
    /// The options that differ from the defaults, as in the column `options`.
    pub options: &'a str,
    /// The number of jobs that are not compared because they have no recorded wait.
    pub without_wait: u64,
    /// The length of the windows of the moving mean, in seconds.
    pub window: Seconds,
}

/// A schedule as a row: what was run.
pub struct FidelityRow<'a> {
    /// What all schedules have in common.
    pub heading: &'a FidelityHeading<'a>,
    /// The scheduler's spec.
    pub scheduler: String,
    /// The predictor's spec.
    pub predictor: String,
    /// Records that did not become jobs, and jobs that can never start.
    pub dropped: u64,
}

/// A compared job as a row.
pub struct ComparedJob {
    /// The job's number in the log.
    pub number: i64,
    /// Its user: a number, or a name.
    pub user: Cell,
    /// Its queue, likewise.
    pub queue: Cell,
    /// Processors.
    pub procs: u32,
    /// The two waits.
    pub waits: MovingJob,
    /// Its id in the log.
    pub log_id: Cell,
}

/// The compared jobs, in order of submission. `jobs` are their indexes in the workload.
pub fn compared_jobs<'a>(
    workload: &'a Workload,
    jobs: &'a [u32],
    comparison: &'a RecordedComparison,
) -> impl Iterator<Item = ComparedJob> + 'a {
    let started = jobs.iter().zip(&comparison.waits).filter_map(|(index, waits)| Some((*index, (*waits)?)));
    started.map(|(index, waits)| {
        let job = &workload.jobs[index as usize];
        let cell = |kind, code| Cell::of_name(&workload.names, kind, workload.wide.number(code));
        let user = cell(NameKind::User, job.submission.user);
        let queue = cell(NameKind::Queue, job.submission.queue);
        let log_id = workload.log_id(job).into();
        ComparedJob { number: job.number, user, queue, procs: job.submission.procs, waits, log_id }
    })
}
