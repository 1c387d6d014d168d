//! Reads a [`Log`]: all records as written, before cleaning.

use std::io::{BufRead, Read};

use super::accounting::{Collector, LogNames, LogReading, SourceReport, read_rows};
use super::error::{FaultKind, LineFault, TraceError};
use super::format::{LogFormat, detect, format_of_line};
use super::header::Header;
use super::join::join;
use super::lines::{RawLines, after_returns, shorten};
use super::record::{FaultAt, Fields, Record, UNKNOWN, field_offset, is_blank_line, parse_fields, parse_quickly};
use super::source::{Digesting, Source};
use super::wide::WideNumbers;
use super::write::write_record;

/// The number of records between two calls of `progress`.
pub const PROGRESS_EVERY: usize = 1 << 16;

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
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Skip and count faulty lines instead of stopping at the first.
    pub skip_bad_lines: bool,
    /// Keep the data lines as written, to write them again.
    pub keep_text: bool,
    /// Compute the hash of the content.
    pub digest: bool,
    /// Keep the ids of jobs, to write them with the names. Only of formats other than SWF.
    pub keep_names: bool,
    /// The format, and what formats other than SWF leave open.
    pub reading: LogReading,
}

/// The data lines of a log, as written.
#[derive(Clone, Debug, Default)]
pub struct LogText {
    pub(super) bytes: Vec<u8>,
    pub(super) ends: Vec<usize>,
}

impl LogText {
    pub(super) fn push(&mut self, line: &[u8]) {
        self.bytes.extend_from_slice(line);
        self.ends.push(self.bytes.len());
    }

    fn push_record(&mut self, fields: &Fields) {
        write_record(&mut self.bytes, fields).expect("memory can be written");
        // Lines are kept without their ends.
        self.bytes.pop();
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
    /// `extra` says whether there are fields after the 18th.
    Record {
        fields: &'a Fields,
        record: Record,
        text: &'a [u8],
        extra: bool,
    },
    Fault(LineFault),
}

/// Reads an SWF log line by line, faulty lines included. Used by [`read`] and by validation.
pub struct Lines<R> {
    raw: RawLines<R>,
    fields: Fields,
    wide: WideNumbers,
}

impl<R: Read> Lines<R> {
    pub fn new(raw: RawLines<R>) -> Self {
        Lines { raw, fields: [UNKNOWN; 18], wide: WideNumbers::default() }
    }

    /// The number of the line read last, counted from 1.
    pub fn number(&self) -> u64 {
        self.raw.number()
    }

    /// The next line that is not blank.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>, TraceError> {
        let (place, quick) = loop {
            let Some(place) = self.raw.cut()? else { return Ok(None) };
            let text = &self.raw.buffer()[place.clone()];
            let quick = parse_quickly(&self.raw.buffer()[place.start..], text.len(), &mut self.fields);
            if quick || !is_blank_line(text) {
                break (place, quick);
            }
        };
        let text = &self.raw.buffer()[place];
        if quick && let Ok(record) = Record::from_fields(&self.fields, &mut self.wide) {
            return Ok(Some(Line::Record { fields: &self.fields, record, text, extra: false }));
        }
        if text.trim_ascii_start().first() == Some(&b';') {
            let is_line = |rest: &&[u8]| rest.first() == Some(&b';') || parse_fields(rest).is_ok();
            return Ok(Some(match after_returns(text).find(is_line) {
                None => Line::Comment(text.trim_ascii_end()),
                Some(rest) => Line::Fault(line_fault(text, self.raw.number(), mixed_ends(text, rest))),
            }));
        }
        Ok(Some(match parse_carefully(text, &mut self.fields, &mut self.wide) {
            Ok((record, extra)) => Line::Record { fields: &self.fields, record, text, extra },
            Err(fault) => Line::Fault(line_fault(text, self.raw.number(), fault)),
        }))
    }
}

/// The fault of a line of which `rest`, after a carriage return, is another line.
fn mixed_ends(line: &[u8], rest: &[u8]) -> FaultAt {
    FaultAt { kind: FaultKind::MixedLineEnds, offset: line.len() - rest.len() }
}

/// Reads any data line. Also returns whether it has more than 18 fields. The error says what is wrong with it.
fn parse_carefully(line: &[u8], fields: &mut Fields, wide: &mut WideNumbers) -> Result<(Record, bool), FaultAt> {
    let parsed = parse_fields(line).and_then(|(parsed, extra)| {
        // A carriage return is a blank, but the fields of another record are not the ones after the 18th.
        let other = after_returns(line).find(|rest| extra && !is_blank_line(rest));
        other.map_or(Ok(()), |rest| Err(mixed_ends(line, rest)))?;
        *fields = parsed;
        let out_of_range = |field| FaultAt { kind: FaultKind::OutOfRange { field }, offset: field_offset(line, field) };
        Ok((Record::from_fields(fields, wide).map_err(out_of_range)?, extra))
    });
    parsed.map_err(|fault| match memchr::memchr(0, line) {
        Some(offset) => FaultAt { kind: FaultKind::Binary, offset },
        None => match format_of_line(line) {
            Some(found) if found != "swf" => FaultAt { kind: FaultKind::OtherFormat { own: "swf", found }, offset: 0 },
            _ => fault,
        },
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

/// A log that was opened.
pub type OpenLog = RawLines<Digesting<Box<dyn BufRead>>>;

/// Opens a log and tells its format, unless the options name it.
pub fn open(source: &Source, options: &ReadOptions) -> Result<(LogFormat, OpenLog), TraceError> {
    let mut raw = RawLines::new(Digesting::new(source.open()?, options.digest), source.name());
    let format = match &options.reading.format {
        Some(format) => format.clone(),
        // Only sacct files have columns without a header.
        None if options.reading.columns.is_some() => LogFormat::Sacct,
        None => detect(raw.head()).map_err(|why| TraceError::Format { name: source.name(), why })?,
    };
    Ok((format, raw))
}

/// Reads a whole log of any format. `progress` is called after every 65,536 records with the number of records so far.
///
/// # Errors
/// If the log cannot be read, is of no known format, has 2^32 or more records, or has a faulty line and
/// [`ReadOptions::skip_bad_lines`] is not set.
pub fn read(source: &Source, options: ReadOptions, progress: &mut dyn FnMut(usize)) -> Result<Log, TraceError> {
    let (format, raw) = open(source, &options)?;
    let log = match format {
        LogFormat::Swf => {
            options.reading.check(&format, raw.name())?;
            read_swf(source, raw, &options, progress)?
        }
        format => read_accounting(source, &format, raw, &options, None, progress)?,
    };
    if u32::try_from(log.records.len()).is_err() {
        return Err(TraceError::TooManyJobs { name: log.name });
    }
    Ok(log)
}

/// Reads several files as one log: the rotated files of one accounting. The first gives the log its name. Records are in
/// order of submission. A record that several files have is read once (see [`SourceReport::repeated`]). The data lines of SWF
/// logs are kept, and their times count from the earliest `UnixStartTime`; those of one file stay as they are.
///
/// # Errors
/// As [`read`], or if the files have different formats, or are SWF logs whose times or numbers cannot be compared.
pub fn read_joined(
    sources: &[Source],
    options: &ReadOptions,
    progress: &mut dyn FnMut(usize),
) -> Result<Log, TraceError> {
    let (first, raw) = open(&sources[0], options)?;
    // Standard input can be opened only once.
    let mut opened = Some((first.clone(), raw));
    let other = |name: String, format: &LogFormat| {
        let why = format!("its format is {}, but that of {} is {}", format.name(), sources[0].name(), first.name());
        TraceError::Format { name, why: format!("{why}: logs of one format can be joined") }
    };
    let log = if first == LogFormat::Swf {
        let options = ReadOptions { keep_text: true, ..options.clone() };
        let mut logs = Vec::new();
        for source in sources {
            let (format, raw) = opened.take().map_or_else(|| open(source, &options), Ok)?;
            if format != first {
                return Err(other(source.name(), &format));
            }
            options.reading.check(&format, raw.name())?;
            logs.push(read_swf(source, raw, &options, progress)?);
        }
        join(logs)?
    } else {
        let mut collector = Collector::new(&first, options, None, progress);
        for source in sources {
            let (format, mut raw) = opened.take().map_or_else(|| open(source, options), Ok)?;
            if format != first {
                return Err(other(source.name(), &format));
            }
            collector.begin(raw.name());
            read_rows(&format, &mut raw, &options.reading, &mut collector)?;
        }
        collected(&sources[0], options, collector)?
    };
    if u32::try_from(log.records.len()).is_err() {
        return Err(TraceError::TooManyJobs { name: log.name });
    }
    Ok(log)
}

impl Log {
    fn new(source: &Source, options: &ReadOptions, report: SourceReport) -> Log {
        Log {
            name: source.name(),
            label: source.label(),
            header: Header::default(),
            records: Vec::new(),
            wide: WideNumbers::default(),
            source: report,
            names: LogNames::default(),
            unknown: [0; 18],
            skipped: Skipped::default(),
            digest: None,
            text: options.keep_text.then(LogText::default),
        }
    }

    /// Counts a faulty line, or returns it as an error.
    fn skip(&mut self, fault: LineFault, options: &ReadOptions) -> Result<(), TraceError> {
        if !options.skip_bad_lines {
            return Err(TraceError::Line { name: self.name.clone(), fault });
        }
        self.skipped.count += 1;
        self.skipped.first.get_or_insert(fault);
        Ok(())
    }

    /// Counts the unknown values of a record.
    fn count_unknown(&mut self, fields: &Fields) {
        for (unknown, &value) in self.unknown.iter_mut().zip(fields) {
            *unknown += u64::from(value < 0);
        }
    }
}

fn read_swf<R: Read>(
    source: &Source,
    raw: RawLines<Digesting<R>>,
    options: &ReadOptions,
    progress: &mut dyn FnMut(usize),
) -> Result<Log, TraceError> {
    let mut log = Log::new(source, options, SourceReport { format: "swf", ..SourceReport::default() });
    let mut lines = Lines::new(raw);
    while let Some(line) = lines.next_line()? {
        match line {
            // Comments after the first record are not part of the header.
            Line::Comment(text) if log.records.is_empty() => log.header.push_if_room(text),
            Line::Comment(_) => {}
            Line::Record { fields, record, text, extra } => {
                log.count_unknown(fields);
                log.source.extra_fields += u64::from(extra);
                log.records.push(record);
                if let Some(kept) = &mut log.text {
                    kept.push(text);
                }
                if log.records.len().is_multiple_of(PROGRESS_EVERY) {
                    progress(log.records.len());
                }
            }
            Line::Fault(fault) => log.skip(fault, options)?,
        }
    }
    log.source.rows = log.records.len() as u64;
    log.records.shrink_to_fit();
    log.digest = lines.raw.input().digest();
    log.wide = lines.wide;
    Ok(log)
}

/// Reads an SWF log without keeping its records, as long as `is_wanted` returns true for each. None if it does not.
pub fn scan_swf<R: Read>(
    source: &Source,
    raw: RawLines<Digesting<R>>,
    options: &ReadOptions,
    mut is_wanted: impl FnMut(&Record) -> bool,
    progress: &mut dyn FnMut(usize),
) -> Result<Option<Log>, TraceError> {
    let mut log = Log::new(source, options, SourceReport { format: "swf", ..SourceReport::default() });
    let mut lines = Lines::new(raw);
    while let Some(line) = lines.next_line()? {
        match line {
            Line::Comment(text) if log.source.rows == 0 => log.header.push_if_room(text),
            Line::Comment(_) => {}
            Line::Record { record, extra, .. } => {
                log.source.extra_fields += u64::from(extra);
                log.source.rows += 1;
                if !is_wanted(&record) {
                    return Ok(None);
                }
                if log.source.rows.is_multiple_of(PROGRESS_EVERY as u64) {
                    progress(log.source.rows as usize);
                }
            }
            Line::Fault(fault) => log.skip(fault, options)?,
        }
    }
    Ok(Some(log))
}

/// Reads a log that is not SWF. Faulty rows go to `on_fault` if it is given.
pub fn read_accounting<'a, R: Read>(
    source: &Source,
    format: &LogFormat,
    mut raw: RawLines<Digesting<R>>,
    options: &'a ReadOptions,
    on_fault: Option<&'a mut dyn FnMut(LineFault)>,
    progress: &'a mut dyn FnMut(usize),
) -> Result<Log, TraceError> {
    let mut collector = Collector::new(format, options, on_fault, progress);
    collector.begin(raw.name());
    read_rows(format, &mut raw, &options.reading, &mut collector)?;
    let digest = raw.input().digest();
    Ok(Log { digest, ..collected(source, options, collector)? })
}

/// The log of everything that was collected.
fn collected(source: &Source, options: &ReadOptions, collector: Collector<'_>) -> Result<Log, TraceError> {
    let collected = collector.finish()?;
    let mut log = Log::new(source, options, collected.report);
    (log.names, log.skipped) = (collected.names, collected.skipped);
    log.header.push(b"; Version: 2.2");
    if let Some(start) = collected.unix_start {
        log.header.push(format!("; UnixStartTime: {start}").as_bytes());
    }
    for record in &collected.records {
        let fields = record.to_fields(&log.wide);
        log.count_unknown(&fields);
        if let Some(text) = &mut log.text {
            text.push_record(&fields);
        }
    }
    log.records = collected.records;
    Ok(log)
}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind};

    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::trace::lines::LONGEST_LINE;

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
        let mut lines = Lines::new(RawLines::new(input, "x".to_string()));
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
                let mut only = Lines::new(RawLines::new(line.as_bytes(), String::new()));
                only.raw.set_number(number - 1);
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
