//! A workload: the jobs of a log that can be simulated, in order, with the machine they run on.

use crate::job::Job;
use crate::time::{Seconds, Time};

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

/// What the rules of cleaning did, in numbers of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CleaningReport {
    pub records: u64,
    /// No processors: neither requested nor allocated above 0.
    pub without_procs: u64,
    /// A negative runtime.
    pub negative_runtime: u64,
    /// A negative submit time.
    pub negative_submit: u64,
    /// Wider than the machine.
    pub too_wide: u64,
    /// Without an estimate, where such jobs are dropped.
    pub without_estimate: u64,
    /// Without a recorded wait, where the log's own schedule is wanted.
    pub without_wait: u64,
    /// Jobs that got an estimate filled in, and the one they got (0 where each got its own runtime).
    pub filled: u64,
    pub filled_with: Seconds,
    /// Jobs recorded with a runtime of 0, simulated as 1 second.
    pub zero_runtime: u64,
    /// Jobs that outlive their estimate: ended there or not, as asked.
    pub overruns: u64,
    /// Jobs whose estimate is that of a model, and of those the ones that run longer than its longest estimate, and the
    /// ones for which none long enough was left.
    pub modelled: u64,
    pub modelled_cut: u64,
    pub modelled_short: u64,
    /// Jobs that stood behind one with a later submit time.
    pub out_of_order: u64,
}

impl CleaningReport {
    /// Records that are not sane: no processors, or a time below 0.
    pub fn not_sane(&self) -> u64 {
        self.without_procs + self.negative_runtime + self.negative_submit
    }

    /// All records that became no job.
    pub fn dropped(&self) -> u64 {
        self.not_sane() + self.too_wide + self.without_estimate + self.without_wait
    }

    /// The records that became jobs.
    pub fn jobs(&self) -> u64 {
        self.records - self.dropped()
    }
}
