//! A job as a model makes it, and the log of such jobs.

use crate::time::{FOREVER, Seconds, Time};
use crate::trace::{Fields, Header};

/// A job that a model made. Names are -1 where the model knows none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelJob {
    pub submit: Time,
    pub procs: u32,
    /// At least 1 second.
    pub runtime: Seconds,
    pub user: i32,
    pub executable: i32,
    pub queue: i32,
}

impl ModelJob {
    /// As a record of a log, with a user's estimate if there is one. Waits are not known: nobody has run the job yet.
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

    /// Whether the job comes later than any log may say.
    pub fn is_beyond_time(&self) -> bool {
        self.submit > FOREVER
    }
}

/// What a job asks for and how long it runs, before it has a place in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    pub procs: u32,
    /// In real seconds, as drawn.
    pub runtime: f64,
}

/// What the header of a made log says, beside what all of them say.
pub struct Origin<'a> {
    /// The model in a few words.
    pub model: &'a str,
    pub jobs: usize,
    pub procs: u32,
    pub longest_runtime: Seconds,
    /// Further header lines.
    pub more: &'a [&'a str],
    /// The command that makes the same log.
    pub command: &'a str,
}

/// The header of a made log. Its time 0 is midnight, so that the hours of a daily cycle are those of the clock.
pub fn header(origin: &Origin) -> Header {
    let Origin { model, jobs, procs, longest_runtime, more, command } = origin;
    let mut header = Header::default();
    let mut say = |line: String| header.push(line.as_bytes());
    say("; Version: 2.2".to_string());
    say("; Computer: none, a model".to_string());
    say(format!("; Installation: shadowtime, {model}"));
    say(format!("; MaxJobs: {jobs}"));
    say(format!("; MaxRecords: {jobs}"));
    say("; UnixStartTime: 1767225600".to_string());
    say("; TimeZoneString: UTC".to_string());
    say(format!("; MaxNodes: {procs}"));
    say(format!("; MaxProcs: {procs}"));
    say(format!("; MaxRuntime: {longest_runtime}"));
    more.iter().for_each(|line| say(format!("; {line}")));
    say(format!("; Note: made by `{command}`"));
    header
}
