//! From a row of any format to a record of a log, or to a job of a present queue: what all formats share.

mod collect;
mod columns;
mod names;
mod reading;
mod report;
mod values;

pub use collect::Collector;
pub use columns::{TableColumns, count_delimiters, first_line, read_table};
pub use names::{LogNames, NameKind};
pub use reading::{EstimateField, LogReading, SubmitTime, Unit};
pub use report::{RowCause, SourceReport};
pub use values::{Bad, any_time, clock, count, duration, iso_time, leading_number, unix_time};

use crate::request::RequestId;
use crate::time::{Seconds, Time};

/// A job as a row describes it. Names are as written; an empty one is unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct JobInRow<'a> {
    pub id: &'a [u8],
    /// The number of the task if `id` is that of a whole job array.
    pub task: &'a [u8],
    pub submit: Time,
    /// When nothing but the scheduler held it any more.
    pub eligible: Option<Time>,
    /// None: it never started. Of a job that waits now, when it is expected to start.
    pub start: Option<Time>,
    pub end: Option<Time>,
    /// Whether the time from submission to start is not known. Then `start` is the submission.
    pub wait_unknown: bool,
    /// The format's own run time. None if it has none that can be trusted.
    pub elapsed: Option<Seconds>,
    /// In the unit that was asked for, as `requested`. Not above 0 if it is unknown.
    pub allocated: i64,
    pub requested: i64,
    pub estimate: Option<Seconds>,
    /// User, group, executable, queue, partition.
    pub names: [&'a [u8]; 5],
    pub status: i32,
    /// The state in the words of the format, for counts.
    pub state: &'a [u8],
    /// What the state means is not known.
    pub is_unknown_state: bool,
    /// What it asks of a machine of nodes.
    pub request: RequestId,
    /// Its array, if the id says so.
    pub array: Option<&'a [u8]>,
}

impl<'a> JobInRow<'a> {
    /// Its array. The tasks of some formats have the id of their array.
    fn array(&self) -> Option<&'a [u8]> {
        self.array.or_else(|| (!matches!(self.task, b"" | b"0")).then_some(self.id))
    }

    /// Writes what two rows of the same run of a job have in common: its id, submission, start, end and processors.
    fn identity(&self, out: &mut Vec<u8>) {
        out.clear();
        for id in [self.id, self.task] {
            out.extend_from_slice(id);
            out.push(b'\n');
        }
        for time in [Some(self.submit), self.start, self.end] {
            out.extend_from_slice(&time.unwrap_or(-1).to_le_bytes());
        }
        out.extend_from_slice(&self.allocated.to_le_bytes());
    }
}
