//! What reading did to the rows of a file.

use std::collections::BTreeSet;

use litemap::LiteMap;

use crate::tres::Tres;

/// What reading did to the rows of a log. The rows are the records of the log and the rows that were dropped. Of a present
/// queue they are its jobs and the rows that are none, and a row can be a whole array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceReport {
    /// The format of the log; empty if it was made by the program.
    pub format: &'static str,
    /// All rows that are not faulty.
    pub rows: u64,
    /// Dropped: steps of jobs (`123.batch`), and tasks of SGE's parallel jobs.
    pub steps: u64,
    /// Dropped: ranges of job arrays (`123_[1-3]`) that stand for tasks which were never started.
    pub array_ranges: u64,
    /// Dropped: the parents of PBS job arrays (`123[]`), whose tasks have rows of their own.
    pub array_parents: u64,
    /// Dropped: rows that repeat an earlier one. In accounting files these have the same job id, submission, start, end and
    /// processors: exports of two months share the jobs at their border. In SWF logs that are joined, all fields that a
    /// [`Record`](crate::trace::Record) has are the same and the files differ: job numbers may begin anew in each file, and one file is taken as
    /// it is.
    pub repeated: u64,
    /// Dropped: jobs that had not ended.
    pub not_ended: u64,
    /// Dropped: rows that do not report the end of a job.
    pub other_events: u64,
    /// Dropped: jobs without the device that is the unit.
    pub without_device: Tres,
    /// Dropped: jobs of other clusters.
    pub other_clusters: u64,
    /// Records of jobs that never started. They have no run time, so that cleaning drops them.
    pub never_started: u64,
    /// Jobs that were held, and count as submitted when they became eligible.
    pub held: u64,
    /// Jobs that started before they were submitted: their wait is 0.
    pub waits_cut: u64,
    /// Jobs whose run time is the format's own, because their times differ from it by an hour or more.
    pub clock_changes: u64,
    /// Jobs that ran in a reservation of the administrator.
    pub reserved: u64,
    /// Jobs with a state that is not known: their status is 0, or -1 in CSV.
    pub unknown_states: u64,
    /// The first of these states.
    pub first_unknown_state: Option<String>,
    /// Records with fields after the 18th, which are ignored. Only in SWF.
    pub extra_fields: u64,
    /// Of a table whose runtimes are plain numbers without a stated unit: their column, as `--log-format` names it.
    pub run_column: Option<String>,
    /// Rows of a file of requests (`--requests`) whose job is not in the log.
    pub unmatched_requests: u64,
    /// The partitions of the key `partition-limit` in which no job is without a limit of its own.
    pub unused_limits: BTreeSet<String>,
    /// The number of jobs in each state, as the log names it. Empty for SWF.
    pub states: LiteMap<String, u64>,
    /// Of a present queue, as all that follows: jobs that have ended.
    pub ended: u64,
    /// Jobs that have just ended, while their nodes are cleaned up or files are copied (COMPLETING, STAGE_OUT).
    pub ending: u64,
    /// Records of SWF with a runtime of -1 that were cancelled before they started.
    pub cancelled: u64,
    /// Records of SWF that would still run more than a day after their estimate: their runtime is missing for another reason.
    pub overdue: u64,
    /// Jobs without a number of processors above 0.
    pub without_procs: u64,
    /// Records of SWF with a negative submit time.
    pub without_submit: u64,
    /// Running jobs without a start time.
    pub without_start: u64,
    /// Arrays whose list of tasks was shortened by Slurm, so that tasks are missing here. `squeue -r` prints all of them, and
    /// `squeue --json` does if SLURM_BITSTR_LEN=0 is set.
    pub cut_arrays: u64,
    /// The id of the first of these arrays.
    pub first_cut_array: Option<String>,
    /// Tasks of arrays beyond the first million of the file, which are left out.
    pub tasks_left_out: u64,
}

impl SourceReport {
    /// All rows that did not become records.
    pub fn dropped(&self) -> u64 {
        let arrays = self.array_ranges + self.array_parents;
        let others = self.other_events + self.without_devices() + self.other_clusters;
        self.steps + arrays + self.repeated + self.not_ended + others
    }

    /// Jobs without the device that is the unit, whichever it is.
    pub fn without_devices(&self) -> u64 {
        self.without_device.iter().map(|(_, count)| count).sum()
    }

    /// Rows that are not jobs of the queue although they may be: they ran or waited, but something needed is not known.
    pub fn unusable(&self) -> u64 {
        self.without_procs + self.without_submit + self.without_start + self.unknown_states
    }
}
