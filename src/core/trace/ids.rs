//! The ids of jobs in the log itself. Accounting files number jobs as their site does, and results number them from 1.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::log_text::LogText;

/// The id of a job as its log has it. It may repeat: each run of a job that was requeued is a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LogId<'a> {
    /// A whole number, such as Slurm's JobIDRaw.
    Number(i64),
    /// Any other text, such as `17.server` of PBS.
    Text(Cow<'a, str>),
}

impl<'a> LogId<'a> {
    /// The id that is written so.
    pub fn of_text(text: &'a str) -> LogId<'a> {
        let text = text.trim();
        text.parse().map_or(LogId::Text(text.into()), LogId::Number)
    }

    /// The same, independent of the log.
    pub fn into_owned(self) -> LogId<'static> {
        match self {
            LogId::Number(number) => LogId::Number(number),
            LogId::Text(text) => LogId::Text(text.into_owned().into()),
        }
    }
}

impl fmt::Display for LogId<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogId::Number(number) => number.fmt(out),
            LogId::Text(text) => text.fmt(out),
        }
    }
}

/// The ids of the jobs of an accounting file, by record. Empty for SWF, where the number of a job is its id.
#[derive(Clone, Debug, Default)]
pub struct LogIds {
    texts: LogText,
    copied: Option<CopiedIds>,
}

/// The ids of a resample are those of the log. They are found when they are asked for: most runs ask for none.
#[derive(Clone, Debug)]
struct CopiedIds {
    of_log: Arc<LogIds>,
    /// By record of the resample: the record and the number in the log.
    jobs: Vec<(u32, i64)>,
}

impl LogIds {
    /// Adds the id of the next record.
    pub fn push(&mut self, id: &[u8]) {
        self.texts.push(id);
    }

    /// The ids of copies of jobs, of which these are the records and the numbers in the log.
    pub(super) fn of_copies(of_log: Arc<LogIds>, jobs: Vec<(u32, i64)>) -> LogIds {
        LogIds { texts: LogText::default(), copied: Some(CopiedIds { of_log, jobs }) }
    }

    /// The ids as they are written.
    pub fn texts(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.texts.len()).map(|record| self.texts.line(record))
    }

    /// The same of records in another order. `places` are their old places.
    pub(super) fn in_order(&self, places: impl Iterator<Item = usize>) -> LogIds {
        let mut ids = LogIds::default();
        places.for_each(|place| ids.push(self.texts.line(place)));
        ids
    }

    /// The id of a job by its record and its number in results. A job without an id of its own has the number.
    pub fn of(&self, record: u32, number: i64) -> LogId<'_> {
        if let Some(CopiedIds { of_log, jobs }) = &self.copied {
            let (record, number) = jobs[record as usize];
            return of_log.of(record, number);
        }
        if record as usize >= self.texts.len() {
            return LogId::Number(number);
        }
        match self.texts.line(record as usize) {
            b"" => LogId::Number(number),
            // Lossy text is an id too: it is compared with text that was read in the same way.
            text => match std::str::from_utf8(text) {
                Ok(text) => LogId::of_text(text),
                Err(_) => LogId::Text(String::from_utf8_lossy(text)),
            },
        }
    }
}
