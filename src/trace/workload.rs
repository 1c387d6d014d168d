//! A workload: the jobs of a log that can be simulated, in order, with the machine they run on.

use super::clean::CleaningReport;
use crate::job::Job;
use crate::time::Time;

/// Jobs in order of submission (equal times keep the log's order), and a machine wide enough for each.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The log's name in results.
    pub label: String,
    /// The machine's processors.
    pub procs: u32,
    pub jobs: Vec<Job>,
    /// What became of the log's records on the way here.
    pub cleaning: CleaningReport,
}

impl Workload {
    /// The first submission. (A workload is never empty.)
    pub fn first_submit(&self) -> Time {
        self.jobs[0].submission.submit
    }

    pub fn last_submit(&self) -> Time {
        self.jobs[self.jobs.len() - 1].submission.submit
    }
}
