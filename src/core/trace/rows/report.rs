//! What reading did to the rows of a file.

use std::collections::BTreeSet;

use litemap::LiteMap;

use crate::counts::{CauseWords, Counts, causes};
use crate::tres::{Resource, Tres};

causes! {
    /// What reading does to a row, and why.
    RowCause:
    /// A step of a job (`123.batch`), or a task of SGE's parallel jobs.
    Step drops "steps of jobs", column("steps", "rows that are steps of jobs"),
        noted("step of a job", "steps of jobs"), found("row", "of steps of jobs: dropped");
    /// A range of a job array (`123_[1-3]`) that stands for tasks which were never started.
    ArrayRange drops "ranges of job arrays", column("array_ranges", "rows that are ranges of job arrays"),
        noted("range of a job array", "ranges of job arrays"), found("row", "of ranges of job arrays: dropped");
    /// The parent of a PBS job array (`123[]`), whose tasks have rows of their own.
    ArrayParent drops "parents of job arrays", column("array_parents", "rows that are parents of job arrays"),
        noted("parent of a job array", "parents of job arrays"), found("row", "of parents of job arrays: dropped");
    /// It repeats an earlier row. In accounting files these have the same job id, submission, start, end and processors:
    /// exports of two months share the jobs at their border. In SWF logs that are joined, all fields that a
    /// [`Record`](crate::trace::Record) has are the same and the files differ: job numbers may begin anew in each file, and
    /// one file is taken as it is.
    Repeated drops "rows that repeat others", column("repeated", "rows that repeat others"),
        noted("row that repeats another", "rows that repeat others"),
        found("row", "with the job id, times and processors of an earlier row: dropped");
    /// A job that had not ended.
    NotEnded drops "jobs that had not ended", column("not_ended", "jobs that had not ended"),
        noted("job that had not ended", "jobs that had not ended"), found("job", "that had not ended: dropped");
    /// It does not report the end of a job.
    OtherEvent drops "rows that do not report the end of a job",
        column("other_events", "rows that do not report the end of a job"),
        noted("row that does not report the end of a job", "rows that do not report the end of a job"),
        found("row", "of other events than the end of a job: dropped");
    /// A job of another cluster.
    OtherCluster drops "jobs of other clusters", column("other_clusters", "jobs of other clusters"),
        noted("job of another cluster", "jobs of other clusters"), found("job", "of other clusters: dropped");
    /// A job that never started. It has no run time, so that cleaning drops it.
    NeverStarted notes "that never started", column("never_started", "records of jobs that never started"),
        found("job", "that never started: dropped by cleaning");
    /// A job that was held, and counts as submitted when it became eligible.
    Held notes "held, submitted when they became eligible",
        column("held", "jobs that were held, submitted when they became eligible"),
        noted(
            "job was held; it counts as submitted when it became eligible (see the key submit-time of --log-format)",
            "jobs were held; they count as submitted when they became eligible (see the key submit-time of --log-format)"
        ),
        found("job", "held: submitted on becoming eligible (the key submit-time of --log-format)");
    /// A job that started before it was submitted: its wait is 0.
    WaitCut notes "started before they were submitted",
        column("waits_cut", "jobs that started before they were submitted"),
        noted(
            "job started before it was submitted; its wait is 0",
            "jobs started before they were submitted; their wait is 0"
        ),
        found("job", "with a start before the submission: the wait is 0");
    /// A job whose run time is the format's own, because its times differ from it by an hour or more.
    ClockChange notes "with the run time of the format, not of their times",
        column("clock_changes", "jobs whose times differ from their run time by an hour or more"),
        noted(
            "job has a start and an end that differ from its run time by an hour or more; the run time is used",
            "jobs have a start and an end that differ from their run time by an hour or more; the run time is used"
        ),
        found("job", "with times that differ from the run time by an hour or more: the run time is used");
    /// A job that ran in a reservation of the administrator.
    Reserved notes "", noted(
        "job ran in a reservation of the administrator, which is not simulated",
        "jobs ran in reservations of the administrator, which are not simulated"
    );
    /// A job with a state that is not known: its status is 0, or -1 in CSV.
    UnknownState notes "with an unknown state", column("unknown_states", "records with an unknown state"),
        found("job", "with an unknown state: the status is 0, or -1 in csv");
    /// A record with fields after the 18th, which are ignored. Only in SWF.
    ExtraFields notes "with fields after the 18th, ignored",
        column("extra_fields", "records with fields after the 18th"),
        noted(
            "record has fields after the 18th, which are ignored",
            "records have fields after the 18th, which are ignored"
        ),
        found("record", "with fields after the 18th, which are ignored");
    /// A row of a file of requests (`--requests`) whose job is not in the log.
    UnmatchedRequest notes "rows of --requests without a record",
        noted(
            "row of --requests is of a job that is not in the log",
            "rows of --requests are of jobs that are not in the log"
        ),
        found("row", "of --requests whose job is not in the log");
    /// In a present queue, as all that follows: a job that has ended.
    Ended notes "";
    /// A job that has just ended, while its nodes are cleaned up or files are copied (COMPLETING, STAGE_OUT).
    Ending notes "";
    /// A record of SWF with a runtime of -1 that was cancelled before it started.
    Cancelled notes "";
    /// A record of SWF that would still run more than a day after its estimate: its runtime is missing for another reason.
    Overdue notes "";
    /// A job without a number of processors above 0.
    WithoutProcs notes "";
    /// A record of SWF with a negative submit time.
    WithoutSubmit notes "";
    /// A running job without a start time.
    WithoutStart notes "";
    /// An array whose list of tasks was shortened by Slurm, so that tasks are missing here. `squeue -r` prints all of them, and
    /// `squeue --json` does if SLURM_BITSTR_LEN=0 is set.
    CutArray notes "";
    /// A task of an array beyond the first million of the file, which is left out.
    TaskLeftOut notes "";
}

/// What reading did to the rows of a log. The rows are the records of the log and the rows that were dropped. Of a present
/// queue they are its jobs and the rows that are none, and a row can be a whole array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceReport {
    /// The format of the log; empty if it was made by the program.
    pub format: &'static str,
    /// All rows that are not faulty.
    pub rows: u64,
    /// How often each cause applied.
    pub causes: Counts<RowCause>,
    /// Dropped: jobs without the device that is the unit.
    pub without_device: Tres,
    /// The first state that is not known.
    pub first_unknown_state: Option<String>,
    /// Of a table whose runtimes are plain numbers without a stated unit: their column, as `--log-format` names it.
    pub run_column: Option<String>,
    /// The partitions of the key `partition-limit` in which no job is without a limit of its own.
    pub unused_limits: BTreeSet<String>,
    /// The number of jobs in each state, as the log names it. Empty for SWF.
    pub states: LiteMap<String, u64>,
    /// Of a present queue: the id of the first array whose list of tasks was shortened.
    pub first_cut_array: Option<String>,
}

impl SourceReport {
    /// The causes with what outputs say of them and their counts, in the order of outputs.
    pub fn counts(&self) -> impl Iterator<Item = (&'static CauseWords, u64)> {
        let without =
            Resource::DEVICES.into_iter().map(|kind| (&kind.columns().jobs_without, self.without_device[kind]));
        let mut without = Some(without);
        RowCause::ALL.iter().flat_map(move |(cause, words)| {
            let devices = if *cause == RowCause::OtherCluster { without.take() } else { None };
            devices.into_iter().flatten().chain([(words, self.causes[*cause])]).collect::<Vec<_>>()
        })
    }

    /// All rows that did not become records.
    pub fn dropped(&self) -> u64 {
        self.counts().filter(|(words, _)| words.is_drop).map(|(_, count)| count).sum()
    }

    /// Rows that are not jobs of the queue although they may be: they ran or waited, but something needed is not known.
    pub fn unusable(&self) -> u64 {
        self.of(&[RowCause::WithoutProcs, RowCause::WithoutSubmit, RowCause::WithoutStart, RowCause::UnknownState])
    }

    /// Jobs that are left out of a queue for another reason.
    pub fn left_out(&self) -> u64 {
        let without_devices: u64 = self.without_device.iter().map(|(_, count)| count).sum();
        self.of(&[RowCause::TaskLeftOut, RowCause::Overdue]) + without_devices
    }

    fn of(&self, causes: &[RowCause]) -> u64 {
        causes.iter().map(|cause| self.causes[*cause]).sum()
    }
}
