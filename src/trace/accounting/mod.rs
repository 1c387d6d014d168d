//! Accounting files of real sites: one file per format, each of which makes an [`AccountingJob`] of a row. The collector
//! makes records of them, by the same rules for all formats.

mod collect;
mod csv;
mod lsf;
mod names;
mod pbs;
mod reading;
mod sacct;
mod sge;
mod values;

use std::io::Read;

pub use collect::{Collector, SourceReport};
pub use csv::CsvColumns;
pub use names::LogNames;
pub use reading::{EstimateField, LogReading, SubmitTime, Unit};

use super::error::TraceError;
use super::format::LogFormat;
use super::lines::RawLines;
use crate::time::{Seconds, Time};

pub(super) use csv::is_csv_like;
pub(super) use lsf::is_lsf;
pub(super) use pbs::is_pbs;
pub(super) use sacct::{gpus_of_tres, has_sacct_header, is_sacct_row};
pub(super) use sge::is_sge;
pub(super) use values::{Bad, clock, count, iso_time, leading_number};

/// A job as an accounting file describes it. Names are as written; an empty one is unknown.
#[derive(Clone, Copy, Debug)]
struct AccountingJob<'a> {
    id: &'a [u8],
    /// The number of the task if `id` is that of a whole job array.
    task: &'a [u8],
    submit: Time,
    /// When nothing but the scheduler held it any more.
    eligible: Option<Time>,
    /// None: it never started.
    start: Option<Time>,
    end: Option<Time>,
    /// Whether the time from submission to start is known; if not, `start` is the submission.
    wait_known: bool,
    /// The format's own run time. None if it has none that can be trusted.
    elapsed: Option<Seconds>,
    /// In the unit that was asked for.
    allocated: i64,
    requested: i64,
    estimate: Option<Seconds>,
    /// User, group, executable, queue, partition.
    names: [&'a [u8]; 5],
    status: i32,
    /// The state in the words of the format, for counts.
    state: &'a [u8],
}

impl AccountingJob<'_> {
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

/// Reads all rows of a file that is not SWF.
pub fn read_rows<R: Read>(
    format: &LogFormat,
    raw: &mut RawLines<R>,
    reading: &LogReading,
    collector: &mut Collector<'_>,
) -> Result<(), TraceError> {
    reading.check(format, raw.name())?;
    match format {
        LogFormat::Swf => unreachable!("SWF has its own reader"),
        LogFormat::Sacct => sacct::read(raw, reading, collector),
        LogFormat::Pbs => pbs::read(raw, reading, collector),
        LogFormat::Lsf => lsf::read(raw, reading, collector),
        LogFormat::Sge => sge::read(raw, collector),
        LogFormat::Csv(columns) => csv::read(columns, raw, collector),
    }
}
