//! Reads a [`Log`]: all records as written, before cleaning.

use std::io::{ErrorKind, Read};
use std::ops::Range;

use super::error::{FaultKind, LineFault, TraceError};
use super::header::Header;
use super::record::{
    FaultAt, Fields, QUICK_WINDOW, Record, UNKNOWN, field_offset, is_blank_line, parse_fields, parse_quickly,
};
use super::source::{BUFFER, Digesting, Source};

/// The most bytes of a line. Lines of logs are far shorter, but a binary file may be one "line" of any length.
const LONGEST_LINE: usize = 1 << 20;

/// The number of records between two calls of `progress`.
const PROGRESS_EVERY: usize = 1 << 16;

/// A log as it was recorded.
#[derive(Clone, Debug)]
pub struct Log {
    /// The name of its source in error messages.
    pub name: String,
    /// Its name in results.
    pub label: String,
    /// The comment lines before the first record.
    pub header: Header,
    /// One per data line, in the order of the file.
    pub records: Vec<Record>,
    /// For each field, the number of records with an unknown (negative) value.
    pub unknown: [u64; 18],
    /// Faulty lines that were skipped; none unless [`ReadOptions::skip_bad_lines`] is set.
    pub skipped: Skipped,
    /// The hash of its decompressed content (see [`crate::trace::digest`]). None unless [`ReadOptions::digest`] is set.
    pub digest: Option<u128>,
    /// The data lines as written. None unless [`ReadOptions::keep_text`] is set.
    pub text: Option<LogText>,
}

/// Faulty lines that were skipped.
#[derive(Clone, Debug, Default)]
pub struct Skipped {
    /// The number of such lines.
    pub count: u64,
    /// The fault of the first of them.
    pub first: Option<LineFault>,
}

/// Options of [`read`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// Skip and count faulty lines instead of stopping at the first.
    pub skip_bad_lines: bool,
    /// Keep the data lines as written, to write them again.
    pub keep_text: bool,
    /// Compute the hash of the content.
    pub digest: bool,
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

    /// The line of a record. Records are counted from 0; panics if there is no such record.
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

/// Reads a log line by line, faulty lines included. Used by [`read`] and by validation.
pub struct Lines<R> {
    input: R,
    name: String,
    /// The bytes read last, and space after them. Lines are parsed in it without a copy.
    buffer: Vec<u8>,
    /// The part of the buffer that is not yet split into lines.
    rest: Range<usize>,
    /// The input has no more bytes.
    ended: bool,
    fields: Fields,
    number: u64,
}

impl<R: Read> Lines<R> {
    pub fn new(input: R, name: String) -> Self {
        Lines { input, name, buffer: Vec::new(), rest: 0..0, ended: false, fields: [UNKNOWN; 18], number: 0 }
    }

    /// The number of the line read last, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line that is not blank.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>, TraceError> {
        let (place, quick) = loop {
            let Some(place) = self.cut_line()? else { return Ok(None) };
            let text = &self.buffer[place.clone()];
            let quick = parse_quickly(&self.buffer[place.start..], text.len(), &mut self.fields);
            if quick || !is_blank_line(text) {
                break (place, quick);
            }
        };
        let text = &self.buffer[place];
        if quick && let Ok(record) = Record::from_fields(&self.fields) {
            return Ok(Some(Line::Record { fields: &self.fields, record, text }));
        }
        if text.trim_ascii_start().first() == Some(&b';') {
            return Ok(Some(Line::Comment(text.trim_ascii_end())));
        }
        Ok(Some(match parse_carefully(text, &mut self.fields) {
            Ok(record) => Line::Record { fields: &self.fields, record, text },
            Err(fault) => Line::Fault(line_fault(text, self.number, fault)),
        }))
    }

    /// Removes the next line from the rest. Returns its range in the buffer, without the line end.
    fn cut_line(&mut self) -> Result<Option<Range<usize>>, TraceError> {
        loop {
            let rest = &self.buffer[self.rest.clone()];
            let rest = &rest[..rest.len().min(LONGEST_LINE)];
            let start = self.rest.start;
            let (length, end) = match memchr::memchr(b'\n', rest) {
                Some(length) => (length, 1),
                None if rest.len() == LONGEST_LINE => {
                    let fault = FaultAt { kind: FaultKind::TooLong, offset: 0 };
                    let fault = line_fault(rest, self.number + 1, fault);
                    return Err(TraceError::Line { name: self.name.clone(), fault });
                }
                None if !self.ended => {
                    self.read_more()?;
                    continue;
                }
                None if rest.is_empty() => return Ok(None),
                None => (rest.len(), 0),
            };
            self.rest.start += length + end;
            self.number += 1;
            return Ok(Some(start..start + length));
        }
    }

    /// Moves the rest to the front of the buffer and reads more bytes after it.
    fn read_more(&mut self) -> Result<(), TraceError> {
        self.buffer.copy_within(self.rest.clone(), 0);
        self.rest = 0..self.rest.len();
        let room = self.rest.end..self.rest.end + BUFFER;
        // `parse_quickly` reads this many bytes, also for the last line.
        self.buffer.resize(self.buffer.len().max(room.end + QUICK_WINDOW), 0);
        match self.input.read(&mut self.buffer[room]) {
            Ok(0) => self.ended = true,
            Ok(count) => self.rest.end += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(TraceError::Read { name: self.name.clone(), lines: self.number, error }),
        }
        Ok(())
    }
}

/// Reads any data line. The error says what is wrong with it.
fn parse_carefully(line: &[u8], fields: &mut Fields) -> Result<Record, FaultAt> {
    let parsed = parse_fields(line).and_then(|parsed| {
        *fields = parsed;
        let out_of_range = |field| FaultAt { kind: FaultKind::OutOfRange { field }, offset: field_offset(line, field) };
        Record::from_fields(fields).map_err(out_of_range)
    });
    parsed.map_err(|fault| match memchr::memchr(0, line) {
        Some(offset) => FaultAt { kind: FaultKind::Binary, offset },
        None => fault,
    })
}

fn line_fault(line: &[u8], number: u64, FaultAt { kind, offset }: FaultAt) -> LineFault {
    // A missing field has no text, so the message shows the whole line.
    let from = if matches!(kind, FaultKind::FieldCount { found } if found < 18) { 0 } else { offset };
    let rest = &line[from..];
    let text = match kind {
        FaultKind::NotANumber { .. } | FaultKind::OutOfRange { .. } => {
            rest.split(u8::is_ascii_whitespace).next().unwrap_or(rest)
        }
        _ => rest.trim_ascii(),
    };
    LineFault { line: number, column: offset + 1, kind, text: shorten(text) }
}

/// A piece of a line for a message: shortened, with escapes for what cannot be printed.
fn shorten(text: &[u8]) -> String {
    const LONGEST: usize = 60;
    let cut = &text[..text.len().min(LONGEST)];
    let plain = match std::str::from_utf8(cut) {
        Ok(text) => text.escape_debug().to_string(),
        Err(_) => cut.escape_ascii().to_string(),
    };
    if text.len() > LONGEST { format!("{plain}...") } else { plain }
}

/// Reads a whole log. `progress` is called after every 65,536 records with the number of records so far.
///
/// # Errors
/// If the log cannot be read, has 2^32 or more records, or has a faulty line and [`ReadOptions::skip_bad_lines`] is not
/// set.
pub fn read(source: &Source, options: ReadOptions, progress: &mut dyn FnMut(usize)) -> Result<Log, TraceError> {
    let mut log = Log {
        name: source.name(),
        label: source.label(),
        header: Header::default(),
        records: Vec::new(),
        unknown: [0; 18],
        skipped: Skipped::default(),
        digest: None,
        text: options.keep_text.then(LogText::default),
    };
    let mut lines = Lines::new(Digesting::new(source.open()?, options.digest), source.name());
    while let Some(line) = lines.next_line()? {
        match line {
            // Comments after the first record are not part of the header.
            Line::Comment(text) if log.records.is_empty() => log.header.push_if_room(text),
            Line::Comment(_) => {}
            Line::Record { fields, record, text } => {
                for (unknown, &value) in log.unknown.iter_mut().zip(fields) {
                    *unknown += u64::from(value < 0);
                }
                log.records.push(record);
                if let Some(kept) = &mut log.text {
                    kept.push(text);
                }
                if log.records.len().is_multiple_of(PROGRESS_EVERY) {
                    progress(log.records.len());
                }
            }
            Line::Fault(fault) if options.skip_bad_lines => {
                log.skipped.count += 1;
                log.skipped.first.get_or_insert(fault);
            }
            Line::Fault(fault) => return Err(TraceError::Line { name: log.name, fault }),
        }
    }
    log.records.shrink_to_fit();
    log.digest = lines.input.digest();
    if u32::try_from(log.records.len()).is_err() {
        return Err(TraceError::TooManyJobs { name: log.name });
    }
    Ok(log)
}

#[cfg(test)]
mod tests {
    use std::io;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// Returns a few bytes per read, each time after an interruption, and may fail at the end.
    struct Drops<'a> {
        bytes: &'a [u8],
        size: usize,
        interrupted: bool,
        fails: bool,
    }

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.interrupted = !self.interrupted;
            if self.interrupted {
                return Err(ErrorKind::Interrupted.into());
            }
            if self.fails && self.bytes.is_empty() {
                return Err(io::Error::other("cut short"));
            }
            let count = self.size.min(buffer.len());
            self.bytes.take(count as u64).read(buffer).inspect(|&read| self.bytes = &self.bytes[read..])
        }
    }

    fn drops(bytes: &[u8], size: usize) -> Drops<'_> {
        Drops { bytes, size, interrupted: false, fails: false }
    }

    /// All lines with their numbers, and the error that ended them.
    fn lines(input: impl Read) -> Vec<String> {
        let mut lines = Lines::new(input, "x".to_string());
        let mut all = Vec::new();
        loop {
            let line = match lines.next_line() {
                Ok(None) => return all,
                Ok(Some(line)) => format!("{line:?}"),
                Err(error) => {
                    all.push(format!("{error}"));
                    return all;
                }
            };
            all.push(format!("{} {line}", lines.number()));
        }
    }

    const RECORD: &str = "7 8 9 10 1 -1 -1 1 99 -1 1 2 3 4 5 6 -1 -1";

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_they_arrive(
            parts in vec(select(&[RECORD, "; a", "\n", "\n", "\r\n", " ", "1 2", "\0", "1e2 0.5\t"][..]), 0..40),
            size in 1usize..300,
        ) {
            let text = parts.concat();
            let all = lines(text.as_bytes());
            prop_assert_eq!(&all, &lines(drops(text.as_bytes(), size)));
            // Each line must be read as if it were the only one.
            let alone = text.split('\n').zip(1..).filter_map(|(line, number)| {
                let mut only = Lines::new(line.as_bytes(), String::new());
                only.number = number - 1;
                only.next_line().unwrap().map(|line| format!("{number} {line:?}"))
            });
            prop_assert_eq!(all, alone.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_line_may_have_a_megabyte_with_its_end() {
        let mut text = vec![b' '; LONGEST_LINE - 1 - RECORD.len()];
        text.extend_from_slice(RECORD.as_bytes());
        text.extend_from_slice(b"\nx");
        let all = lines(&text[..]);
        assert!(all.len() == 2 && all[0].starts_with("1 Record") && all[1].starts_with("2 Fault"), "{}", all.len());
        text.insert(0, b' ');
        for input in [&text[..], &text[..LONGEST_LINE]] {
            assert_eq!(lines(input), lines(drops(input, 5000)));
            assert!(lines(input)[0].starts_with("x:1:1: a line of more than a megabyte"));
        }
    }

    #[test]
    fn a_failure_comes_after_the_whole_lines_before_it() {
        let text = format!("{RECORD}\n{RECORD}\n{RECORD}");
        let all = lines(Drops { fails: true, ..drops(text.as_bytes(), 30) });
        assert_eq!(all.len(), 3);
        assert!(all[2].starts_with("x: cannot be read past line 2: cut short"), "{}", all[2]);
    }
}
