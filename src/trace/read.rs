//! From bytes to a [`Log`]: the whole log as recorded, nothing dropped yet.

use std::io::{BufRead, Read};

use super::error::{FaultKind, LineFault, TraceError};
use super::header::Header;
use super::record::{FaultAt, Fields, Record, UNKNOWN, field_offset, is_blank_line, parse_fields};
use super::source::{Digesting, Source};

/// No line of a log comes near a megabyte; a binary file may be one "line" of any length.
const LONGEST_LINE: u64 = 1 << 20;

/// How often the watcher hears of progress, in records.
const WATCH_EVERY: usize = 1 << 16;

/// A log as it was recorded.
#[derive(Clone, Debug)]
pub struct Log {
    /// Where it came from, for messages.
    pub name: String,
    /// Its name in results.
    pub label: String,
    pub header: Header,
    pub records: Vec<Record>,
    /// For each field, how many records do not know it (a negative value).
    pub unknown: [u64; 18],
    /// Lines that were skipped because they are faulty, where that was asked for.
    pub skipped: Skipped,
    /// The fingerprint of its content, unpacked: see [`crate::trace::digest`].
    pub digest: u128,
    /// The data lines as written, if they were asked for.
    pub text: Option<LogText>,
}

#[derive(Clone, Debug, Default)]
pub struct Skipped {
    pub count: u64,
    pub first: Option<LineFault>,
}

/// How to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// Skip and count faulty lines instead of stopping at the first.
    pub skip_bad_lines: bool,
    /// Keep the data lines as written, to write them again.
    pub keep_text: bool,
}

/// The data lines of a log, as written.
#[derive(Clone, Debug, Default)]
pub struct LogText {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl LogText {
    fn push(&mut self, line: &[u8]) {
        self.bytes.extend_from_slice(line);
        self.ends.push(self.bytes.len());
    }

    /// The line of a record, counted from 0.
    pub fn line(&self, record: usize) -> &[u8] {
        let from = if record == 0 { 0 } else { self.ends[record - 1] };
        &self.bytes[from..self.ends[record]]
    }
}

/// One line of a log.
#[derive(Debug)]
pub enum Line<'a> {
    Comment(&'a [u8]),
    Record { fields: &'a Fields, record: Record, text: &'a [u8] },
    Fault(LineFault),
}

/// Reads a log line by line, whatever its lines are: what [`read`] and validation share.
pub struct Lines<R> {
    input: R,
    name: String,
    buffer: Vec<u8>,
    fields: Fields,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub fn new(input: R, name: String) -> Self {
        Lines { input, name, buffer: Vec::new(), fields: [UNKNOWN; 18], number: 0 }
    }

    /// The number of the line read last, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line that is not blank.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>, TraceError> {
        loop {
            self.buffer.clear();
            let read = self.input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut self.buffer);
            match read {
                Err(error) => return Err(TraceError::Read { name: self.name.clone(), lines: self.number, error }),
                Ok(0) => return Ok(None),
                Ok(_) => self.number += 1,
            }
            if self.buffer.last() == Some(&b'\n') {
                self.buffer.pop();
            } else if self.buffer.len() as u64 == LONGEST_LINE {
                let fault = FaultAt { kind: FaultKind::TooLong, offset: 0 };
                return Err(TraceError::Line { name: self.name.clone(), fault: self.fault(fault) });
            }
            if !is_blank_line(&self.buffer) {
                break;
            }
        }
        if self.buffer.trim_ascii_start().first() == Some(&b';') {
            return Ok(Some(Line::Comment(self.buffer.trim_ascii_end())));
        }
        let parsed = parse_fields(&self.buffer).and_then(|fields| match Record::from_fields(&fields) {
            Ok(record) => Ok((fields, record)),
            Err(field) => {
                let kind = FaultKind::OutOfRange { field };
                Err(FaultAt { kind, offset: field_offset(&self.buffer, field) })
            }
        });
        match parsed {
            Ok((fields, record)) => {
                self.fields = fields;
                Ok(Some(Line::Record { fields: &self.fields, record, text: &self.buffer }))
            }
            Err(fault) => {
                let fault = match self.buffer.iter().position(|&b| b == 0) {
                    Some(offset) => FaultAt { kind: FaultKind::Binary, offset },
                    None => fault,
                };
                Ok(Some(Line::Fault(self.fault(fault))))
            }
        }
    }

    fn fault(&self, FaultAt { kind, offset }: FaultAt) -> LineFault {
        // A missing field has no text of its own: the line stands for it.
        let from = if matches!(kind, FaultKind::FieldCount { found } if found < 18) { 0 } else { offset };
        let rest = &self.buffer[from..];
        let text = match kind {
            FaultKind::NotANumber { .. } | FaultKind::OutOfRange { .. } => {
                rest.split(u8::is_ascii_whitespace).next().unwrap_or(rest)
            }
            _ => rest.trim_ascii(),
        };
        LineFault { line: self.number, column: offset + 1, kind, text: shorten(text) }
    }
}

/// A piece of a line that can be printed: escaped where it is not plain text, and not long.
fn shorten(text: &[u8]) -> String {
    const LONGEST: usize = 60;
    let cut = &text[..text.len().min(LONGEST)];
    let plain = match std::str::from_utf8(cut) {
        Ok(text) => text.escape_debug().to_string(),
        Err(_) => cut.escape_ascii().to_string(),
    };
    if text.len() > LONGEST { format!("{plain}...") } else { plain }
}

/// Reads a whole log. The watcher is told now and then how many records there are so far.
pub fn read(source: &Source, options: ReadOptions, watch: &mut dyn FnMut(usize)) -> Result<Log, TraceError> {
    let mut log = Log {
        name: source.name(),
        label: source.label(),
        header: Header::default(),
        records: Vec::new(),
        unknown: [0; 18],
        skipped: Skipped::default(),
        digest: 0,
        text: options.keep_text.then(LogText::default),
    };
    let mut lines = Lines::new(Digesting::new(source.open()?), source.name());
    while let Some(line) = lines.next_line()? {
        match line {
            // Comments further down are remarks, not the header.
            Line::Comment(text) if log.records.is_empty() => log.header.push(text),
            Line::Comment(_) => {}
            Line::Record { fields, record, text } => {
                for (unknown, &value) in log.unknown.iter_mut().zip(fields.iter()) {
                    *unknown += u64::from(value <= UNKNOWN);
                }
                log.records.push(record);
                if let Some(kept) = &mut log.text {
                    kept.push(text);
                }
                if log.records.len().is_multiple_of(WATCH_EVERY) {
                    watch(log.records.len());
                }
            }
            Line::Fault(fault) if options.skip_bad_lines => {
                log.skipped.count += 1;
                log.skipped.first.get_or_insert(fault);
            }
            Line::Fault(fault) => return Err(TraceError::Line { name: log.name, fault }),
        }
    }
    log.digest = lines.input.digest();
    if u32::try_from(log.records.len()).is_err() {
        return Err(TraceError::TooManyJobs { name: log.name });
    }
    Ok(log)
}
