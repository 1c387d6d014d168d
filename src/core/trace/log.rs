//! A log as it was recorded: all records as written, before cleaning.

use std::sync::Arc;

use super::conditions::LogConditions;
use super::error::{LineFault, TraceError};
use super::feedback::Preceding;
use super::header::Header;
use super::ids::LogIds;
use super::log_text::LogText;
use super::record::{Fields, Record};
use super::rows::{LogNames, LogReading, SourceReport};
use super::source::Source;
use super::wide::WideNumbers;
use crate::request::LogRequests;

/// A log as it was recorded.
#[derive(Clone, Debug)]
pub struct Log {
    /// The name of its source in error messages.
    pub name: String,
    /// Its name in results.
    pub label: String,
    /// The comment lines before the first record.
    pub header: Header,
    /// One per data line of an SWF log, in the order of the file. Those of other formats are in order of submission.
    pub records: Vec<Record>,
    /// The numbers in the records that do not fit into 32 bits.
    pub wide: WideNumbers,
    /// The format of the log, and what reading did to its rows.
    pub source: SourceReport,
    /// The names behind the numbers. Empty for SWF.
    pub names: LogNames,
    /// The ids of the jobs, by record. Empty for SWF.
    pub ids: Arc<LogIds>,
    /// What the jobs ask of a machine of nodes.
    pub requests: LogRequests,
    /// What jobs wait for before they may join the queue.
    pub conditions: Arc<LogConditions>,
    /// The preceding jobs that an SWF log names, in order of records.
    pub preceding: Vec<Preceding>,
    /// For each field, the number of records with an unknown (negative) value.
    pub unknown: [u64; 18],
    /// Faulty lines that were skipped; none unless [`ReadOptions::skip_bad_lines`] is set.
    pub skipped: Skipped,
    /// The hash of its decompressed content (see [`crate::trace::digest`]). None unless [`ReadOptions::digest`] is set.
    pub digest: Option<u128>,
    /// The data lines as written. None unless [`ReadOptions::keep_text`] is set.
    pub text: Option<LogText>,
}

impl Log {
    /// Whether a job is in the partition of this name; without names, of this number.
    pub fn has_partition(&self, name: &str) -> bool {
        let is_asked =
            || self.requests.requests.all().iter().any(|request| request.partitions.iter().any(|one| one == name));
        let number = name.parse::<i64>().ok();
        let is_number = |record: &Record| Some(self.wide.number(record.partition)) == number;
        is_asked() || (number.is_some() && self.records.iter().any(is_number))
    }
}

/// Why a log or a workload cannot be used.
pub const TOO_MANY: &str = "more jobs, or a longer time, than can be simulated";

/// Faulty lines that were skipped.
#[derive(Clone, Debug, Default)]
pub struct Skipped {
    /// The number of such lines.
    pub count: u64,
    /// The fault of the first of them.
    pub first: Option<LineFault>,
}

/// Options of [`read`](super::read).
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Skip and count faulty lines instead of stopping at the first.
    pub skip_bad_lines: bool,
    /// Keep the data lines as written, to write them again.
    pub keep_text: bool,
    /// Compute the hash of the content.
    pub digest: bool,
    /// The format, and what formats other than SWF leave open.
    pub reading: LogReading,
}

impl Log {
    /// A log without records.
    pub(super) fn new(source: &Source, options: &ReadOptions, format: &'static str) -> Log {
        Log {
            name: source.name(),
            label: source.label(),
            header: Header::default(),
            records: Vec::new(),
            wide: WideNumbers::default(),
            source: SourceReport { format, ..SourceReport::default() },
            names: LogNames::default(),
            ids: Arc::default(),
            requests: LogRequests::default(),
            conditions: Arc::default(),
            preceding: Vec::new(),
            unknown: [0; 18],
            skipped: Skipped::default(),
            digest: None,
            text: options.keep_text.then(LogText::default),
        }
    }

    /// Refuses a log with more records than a workload can have.
    pub(super) fn checked(self) -> Result<Log, TraceError> {
        match u32::try_from(self.records.len()) {
            Ok(_) => Ok(self),
            Err(_) => Err(TraceError::unusable(&self.name, TOO_MANY)),
        }
    }

    /// Counts the unknown values of a record.
    pub(super) fn count_unknown(&mut self, fields: &Fields) {
        for (unknown, &value) in self.unknown.iter_mut().zip(fields) {
            *unknown += u64::from(value < 0);
        }
    }
}
