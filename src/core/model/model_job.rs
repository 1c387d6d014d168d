//! Jobs of models, and the header of a log of such jobs.

use crate::time::{FOREVER, Seconds, Time};
use crate::trace::{Fields, Header};

/// A job of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelJob {
    /// Seconds since the first midnight.
    pub submit: Time,
    /// Processors.
    pub procs: u32,
    /// In seconds, at least 1.
    pub runtime: Seconds,
    /// The user's number; -1 if the model has no users.
    pub user: i32,
    /// The executable's number; -1 if the model has no users.
    pub executable: i32,
    /// The queue's number; -1 if the model has no queues.
    pub queue: i32,
}

impl ModelJob {
    /// The job as a record of a log, with this estimate in seconds; None: unknown. The wait is unknown.
    pub fn fields(&self, number: i64, estimate: Option<Seconds>) -> Fields {
        let mut fields = [-1; 18];
        fields[0] = number;
        fields[1] = self.submit;
        fields[3] = self.runtime;
        fields[4] = i64::from(self.procs);
        fields[7] = i64::from(self.procs);
        fields[8] = estimate.unwrap_or(-1);
        fields[10] = 1;
        fields[11] = i64::from(self.user);
        fields[13] = i64::from(self.executable);
        fields[14] = i64::from(self.queue);
        fields
    }

    /// Whether the submit time is too large for a log.
    pub fn is_beyond_time(&self) -> bool {
        self.submit > FOREVER
    }
}

/// The size and the runtime of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Processors.
    pub procs: u32,
    /// In real seconds, as drawn.
    pub runtime: f64,
}

/// What the headers of generated logs differ in.
pub struct Origin<'a> {
    /// The model in a few words.
    pub model: &'a str,
    /// The number of jobs.
    pub jobs: usize,
    /// The processors of the machine.
    pub procs: u32,
    /// The longest runtime that the model can generate, in seconds.
    pub longest_runtime: Seconds,
    /// Further header lines, without the semicolon.
    pub more: &'a [&'a str],
    /// The command that generates the same log, in one line or several.
    pub command: &'a str,
}

/// The header of a generated log. Its time 0 is midnight UTC, so that the hours of a daily cycle are hours of the day.
pub fn header(origin: &Origin) -> Header {
    let Origin { model, jobs, procs, longest_runtime, more, command } = origin;
    let mut header = Header::default();
    let mut push = |line: String| header.push(line.as_bytes());
    push("; Version: 2.2".to_string());
    push("; Computer: none, a model".to_string());
    push(format!("; Installation: shadowtime, {model}"));
    push(format!("; MaxJobs: {jobs}"));
    push(format!("; MaxRecords: {jobs}"));
    push("; UnixStartTime: 1767225600".to_string());
    push("; TimeZoneString: UTC".to_string());
    push(format!("; MaxNodes: {procs}"));
    push(format!("; MaxProcs: {procs}"));
    push(format!("; MaxRuntime: {longest_runtime}"));
    more.iter().for_each(|line| push(format!("; {line}")));
    let note = format!("; Note: made by `{}`", command.replace('\n', "\n;       "));
    note.lines().for_each(|line| push(line.to_string()));
    header
}
