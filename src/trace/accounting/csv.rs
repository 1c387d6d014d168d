//! Tables with a header, of which the user names the columns: `csv:submit=COLUMN,wait=COLUMN,run=COLUMN,procs=COLUMN`.

use std::fmt;
use std::io::{self, Read};

use csv::{ByteRecord, ErrorKind, ReaderBuilder};

use super::AccountingJob;
use super::collect::Collector;
use super::values::{Bad, any_time, count, duration};
use crate::trace::error::{FaultKind, LineFault, TraceError};
use crate::trace::lines::{RawLines, shorten};
use crate::trace::number;

/// What a column can hold, in the order in which the format is printed.
const ROLES: [&str; 14] = [
    "submit",
    "start",
    "wait",
    "run",
    "end",
    "procs",
    "estimate",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "status",
    "id",
];
const SUBMIT: usize = 0;
const START: usize = 1;
const WAIT: usize = 2;
const RUN: usize = 3;
const END: usize = 4;
const PROCS: usize = 5;
const ESTIMATE: usize = 6;
const USER: usize = 7;
const STATUS: usize = 12;
const ID: usize = 13;

/// The delimiters that are tried, in this order.
const DELIMITERS: &[u8] = b",;\t|^~!: ";

/// The columns of a table: what each holds, and replacements for its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvColumns {
    columns: [Option<Column>; ROLES.len()],
}

/// A column: its name, and the values that are replaced by others.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Column {
    name: String,
    words: Vec<(String, String)>,
}

impl CsvColumns {
    /// Reads `submit=COLUMN,wait=COLUMN,...`, where a column may be followed by `{word:value,word:value}`.
    ///
    /// # Errors
    /// If a column is unknown, missing or given twice.
    pub fn parse(text: &str) -> Result<CsvColumns, String> {
        let mut columns: [Option<Column>; ROLES.len()] = Default::default();
        for item in split_outside_braces(text) {
            let (role, column) =
                item.split_once('=').ok_or_else(|| format!("'{item}' is not KEY=COLUMN; {}", form()))?;
            let at = ROLES.iter().position(|other| *other == role.trim());
            let at = at.ok_or_else(|| format!("no key '{}'; the keys are {}", role.trim(), ROLES.join(", ")))?;
            if columns[at].replace(Column::parse(column)?).is_some() {
                return Err(format!("'{role}' is given twice"));
            }
        }
        let has = |at: usize| columns[at].is_some();
        for (needed, what) in [
            (has(SUBMIT), "submit"),
            (has(START) || has(WAIT), "start or wait"),
            (has(RUN) || has(END), "run or end"),
            (has(PROCS), "procs"),
        ] {
            if !needed {
                return Err(format!("{what} is missing; {}", form()));
            }
        }
        for (one, other) in [(START, WAIT), (RUN, END)] {
            if has(one) && has(other) {
                return Err(format!("{} and {} are both given; {}", ROLES[one], ROLES[other], form()));
            }
        }
        Ok(CsvColumns { columns })
    }
}

fn form() -> String {
    "the form is csv:submit=COLUMN,start=COLUMN,run=COLUMN,procs=COLUMN, with wait= instead of start=, end= instead of \
     run=, and estimate=, user=, group=, executable=, queue=, partition=, status=, id= if the table has them"
        .to_string()
}

/// The parts between commas that are not within braces.
fn split_outside_braces(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0u32);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

impl Column {
    fn parse(text: &str) -> Result<Column, String> {
        let Some((name, words)) = text.split_once('{') else {
            return Ok(Column { name: text.trim().to_string(), words: Vec::new() });
        };
        let words = words.strip_suffix('}').ok_or_else(|| format!("the brace in '{text}' is not closed at the end"))?;
        let word = |pair: &str| match pair.rsplit_once(':') {
            Some((word, value)) => Ok((word.to_string(), value.to_string())),
            None => Err(format!("'{pair}' is not WORD:VALUE")),
        };
        let words = words.split(',').map(word).collect::<Result<_, _>>()?;
        Ok(Column { name: name.trim().to_string(), words })
    }

    /// The value that replaces this one. None if it stays.
    fn replacement(&self, value: &[u8]) -> Option<&str> {
        self.words.iter().find(|(word, _)| word.as_bytes() == value).map(|(_, value)| value.as_str())
    }
}

impl fmt::Display for CsvColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = ROLES.iter().zip(&self.columns).filter_map(|(role, column)| Some((role, column.as_ref()?)));
        for (at, (role, column)) in given.enumerate() {
            write!(f, "{}{role}={}", if at > 0 { "," } else { "" }, column.name)?;
            if !column.words.is_empty() {
                let words: Vec<_> = column.words.iter().map(|(word, value)| format!("{word}:{value}")).collect();
                write!(f, "{{{}}}", words.join(","))?;
            }
        }
        Ok(())
    }
}

/// Whether a line looks like the header of a table.
pub fn is_csv_like(line: &[u8]) -> bool {
    let has_letters = line.iter().any(u8::is_ascii_alphabetic);
    has_letters && DELIMITERS[..4].iter().any(|&delimiter| memchr::memchr_iter(delimiter, line).count() >= 3)
}

/// The names of a header line.
fn header_names(line: &[u8], delimiter: u8) -> Vec<String> {
    let mut reader = ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(line);
    let mut record = ByteRecord::new();
    let _ = reader.read_byte_record(&mut record);
    record.iter().map(|name| String::from_utf8_lossy(name).trim().to_string()).collect()
}

/// Where the columns of a table are, and its delimiter.
struct Layout {
    delimiter: u8,
    places: [Option<usize>; ROLES.len()],
    count: usize,
}

fn layout(columns: &CsvColumns, first: &[u8]) -> Result<Layout, String> {
    let place = |names: &[String], column: &Column| {
        let exact = names.iter().position(|name| *name == column.name);
        exact.or_else(|| names.iter().position(|name| name.eq_ignore_ascii_case(&column.name)))
    };
    for &delimiter in DELIMITERS {
        let names = header_names(first, delimiter);
        let found = |column: &Option<Column>| column.as_ref().is_none_or(|column| place(&names, column).is_some());
        if columns.columns.iter().all(found) {
            let is_twice = |name: &&String| names.iter().filter(|other| other == name).count() > 1;
            let wanted = columns.columns.iter().flatten().filter_map(|column| names.get(place(&names, column)?));
            if let Some(twice) = wanted.into_iter().find(is_twice) {
                return Err(format!("its first line names the column '{twice}' twice: give the two different names"));
            }
            let places = columns.columns.each_ref().map(|column| place(&names, column.as_ref()?));
            return Ok(Layout { delimiter, places, count: names.len() });
        }
    }
    // The delimiter that makes most columns is the likely one.
    let likely = DELIMITERS.iter().max_by_key(|&&delimiter| header_names(first, delimiter).len()).copied();
    let names = header_names(first, likely.unwrap_or(b','));
    let missing = columns.columns.iter().flatten().find(|column| place(&names, column).is_none());
    let missing = missing.map_or("", |column| column.name.as_str());
    Err(format!("there is no column '{missing}'; its first line names the columns {}", names.join(", ")))
}

/// Reads all rows.
pub fn read<R: Read>(
    columns: &CsvColumns,
    raw: &mut RawLines<R>,
    collector: &mut Collector<'_>,
) -> Result<(), TraceError> {
    let name = raw.name().to_string();
    // Empty lines are skipped, as the reader of rows does.
    let mut lines = raw.head().split(|&byte| byte == b'\n');
    let first = lines.find(|line| !matches!(*line, b"" | b"\r")).unwrap_or(b"").to_vec();
    let first = first.strip_suffix(b"\r").unwrap_or(&first);
    if first.is_empty() {
        return Ok(());
    }
    let layout = layout(columns, first).map_err(|why| TraceError::Format { name: name.clone(), why })?;
    let watched = Quotes::new(raw, &layout);
    let mut reader =
        ReaderBuilder::new().delimiter(layout.delimiter).has_headers(false).flexible(true).from_reader(watched);
    let mut record = ByteRecord::new();
    let mut is_header = true;
    loop {
        let read = reader.read_byte_record(&mut record);
        // The input is read ahead of the rows: the quote may be in a later one.
        let open = reader.get_ref().open.filter(|&line| reader.is_done() || line < reader.position().line());
        if let (Some(line), Ok(_)) = (open, &read) {
            let field = record.iter().find(|field| field.contains(&b'\n')).or(record.iter().next_back());
            let text = shorten(field.unwrap_or(b""));
            // Skipping the row would lose those after it.
            let fault = LineFault { line, column: 1, kind: FaultKind::OpenQuote, text };
            return Err(TraceError::Line { name, fault });
        }
        match read {
            Ok(true) if std::mem::replace(&mut is_header, false) => continue,
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(error) => {
                let lines = error.position().map_or(0, csv::Position::line);
                let error = match error.into_kind() {
                    ErrorKind::Io(error) => error,
                    other => io::Error::other(format!("{other:?}")),
                };
                return Err(TraceError::Read { name, lines, error });
            }
        }
        if let Err(bad) = row(columns, &layout, &record, collector) {
            let line = record.position().map_or(0, csv::Position::line);
            // The row again, to show where it is wrong: a record has no delimiters.
            let offset = (bad.at.as_ptr() as usize).wrapping_sub(record.as_slice().as_ptr() as usize);
            let mut text = Vec::new();
            let mut place = None;
            for (at, field) in record.iter().enumerate() {
                if at > 0 {
                    text.push(layout.delimiter);
                }
                if offset == field.as_ptr() as usize - record.as_slice().as_ptr() as usize
                    && field.len() == bad.at.len()
                {
                    place.get_or_insert(text.len());
                }
                text.extend_from_slice(field);
            }
            let length = bad.at.len();
            let at = place.map_or(&text[..], |place| &text[place..place + length]);
            collector.bad_row(line, &text, &Bad { kind: bad.kind, at })?;
        }
    }
}

/// Passes a table on to the reader of rows, which takes everything up to the next quote as one value, and looks for quotes
/// that are not closed: at the end of the table, or where a quote that was opened lines before is closed by one of another
/// row. That is one after which the value goes on, or one before which a line has all columns of a row.
struct Quotes<R> {
    input: R,
    delimiter: u8,
    columns: usize,
    place: Place,
    /// The present line, counted from 1, and its delimiters so far.
    line: u64,
    delimiters: usize,
    /// The line of the last quote that opened a value.
    opened: u64,
    /// The line of the first quote that is not closed.
    open: Option<u64>,
}

/// Where a byte of a table is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Beginning,
    Plain,
    Quoted,
    /// After a quote in a quoted value: a second one means a quote.
    Closed,
}

impl<R> Quotes<R> {
    fn new(input: R, layout: &Layout) -> Self {
        let Layout { delimiter, count: columns, .. } = *layout;
        Quotes { input, delimiter, columns, place: Place::Beginning, line: 1, delimiters: 0, opened: 0, open: None }
    }

    fn look_at(&mut self, bytes: &[u8]) {
        let delimiter = self.delimiter;
        let is_end = |byte: u8| byte == delimiter || matches!(byte, b'\n' | b'\r');
        // Most tables have no quotes.
        if matches!(self.place, Place::Beginning | Place::Plain) && memchr::memchr(b'"', bytes).is_none() {
            self.line += memchr::memchr_iter(b'\n', bytes).count() as u64;
            let Some(&last) = bytes.last() else { return };
            self.place = if is_end(last) { Place::Beginning } else { Place::Plain };
            return;
        }
        for &byte in bytes {
            let is_later = self.line > self.opened;
            let has_row = byte == b'\n' && self.delimiters + 1 >= self.columns;
            let (place, is_open) = match (self.place, byte) {
                (Place::Beginning, b'"') => (Place::Quoted, false),
                (Place::Quoted, b'"') => (Place::Closed, false),
                (Place::Quoted, _) => (Place::Quoted, is_later && has_row),
                (Place::Closed, b'"') => (Place::Quoted, false),
                (_, _) if is_end(byte) => (Place::Beginning, false),
                (Place::Closed, _) => (Place::Plain, is_later),
                (Place::Beginning | Place::Plain, _) => (Place::Plain, false),
            };
            if self.place == Place::Beginning && place == Place::Quoted {
                self.opened = self.line;
            }
            if is_open {
                self.open.get_or_insert(self.opened);
            }
            self.place = place;
            self.delimiters += usize::from(byte == delimiter);
            if byte == b'\n' {
                (self.line, self.delimiters) = (self.line + 1, 0);
            }
        }
    }
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(out)?;
        if count == 0 && self.place == Place::Quoted {
            self.open.get_or_insert(self.opened);
        }
        self.look_at(&out[..count]);
        Ok(count)
    }
}

fn row<'a>(
    columns: &'a CsvColumns,
    layout: &Layout,
    record: &'a ByteRecord,
    collector: &mut Collector<'_>,
) -> Result<(), Bad<'a>> {
    let (found, expected) = (record.len(), layout.count);
    if found < expected {
        return Err(Bad { kind: FaultKind::TooFewColumns { found, expected }, at: record.as_slice() });
    }
    if record.iter().skip(expected).any(|field| !field.is_empty()) {
        return Err(Bad { kind: FaultKind::TooManyColumns { found, expected }, at: record.as_slice() });
    }
    // The value as written, and what it means.
    let written = |role: usize| layout.places[role].and_then(|at| record.get(at)).unwrap_or(b"").trim_ascii();
    let value = |role: usize| -> &'a [u8] {
        let written = written(role);
        let replacement = columns.columns[role].as_ref().and_then(|column| column.replacement(written));
        replacement.map_or(written, str::as_bytes)
    };
    // A replacement by -1 makes a name unknown.
    let named = |role: usize| -> &'a [u8] {
        let replaced = columns.columns[role].as_ref().and_then(|column| column.replacement(written(role)));
        if replaced == Some("-1") { b"" } else { value(role) }
    };
    let submit = any_time(value(SUBMIT), "submit")?.ok_or(Bad::missing(written(SUBMIT), "submit"))?;
    let run = if layout.places[RUN].is_some() { duration(value(RUN), "run")? } else { None };
    let end = if layout.places[END].is_some() { any_time(value(END), "end")? } else { None };
    let mut wait_known = true;
    let start = match layout.places[START].is_some() {
        true => any_time(value(START), "start")?,
        false => match duration(value(WAIT), "wait")? {
            Some(wait) => Some(submit + wait),
            None if run.is_some() => {
                wait_known = false;
                Some(submit)
            }
            None => None,
        },
    };
    let status = match layout.places[STATUS] {
        None => Some(-1),
        Some(_) => status(columns.columns[STATUS].as_ref(), value(STATUS), written(STATUS)),
    };
    let procs = count(value(PROCS), "procs")?.unwrap_or(-1);
    let job = AccountingJob {
        id: value(ID),
        task: b"",
        submit,
        eligible: None,
        start,
        end: run.and_then(|run| Some(start? + run)).or(end),
        wait_known,
        elapsed: None,
        allocated: procs,
        requested: procs,
        estimate: duration(value(ESTIMATE), "estimate")?,
        names: std::array::from_fn(|kind| named(USER + kind)),
        status: status.unwrap_or(-1),
        state: written(STATUS),
    };
    if collector.job(record.as_slice(), &job)? && status.is_none() {
        collector.unknown_state(written(STATUS));
    }
    Ok(())
}

/// The status of a job. Without words to replace, a number is the status itself. None if it is not known.
fn status(column: Option<&Column>, value: &[u8], written: &[u8]) -> Option<i32> {
    let is_mapped = column.is_some_and(|column| column.words.is_empty() || column.replacement(written).is_some());
    if written.is_empty() {
        return Some(-1);
    }
    let number = number::parse(value).ok().filter(|_| is_mapped)?;
    i32::try_from(number.rounded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_printed_as_they_are_read() {
        for text in [
            "submit=a,start=b,run=c,procs=d",
            "submit=a,wait=b c,end=d,procs=e,estimate=f,user=g{0.0:-1},status=s{Pass:1,Failed:0,Killed:5},id=i",
        ] {
            assert_eq!(CsvColumns::parse(text).unwrap().to_string(), text);
        }
        for (text, message) in [
            ("", "'' is not KEY=COLUMN"),
            ("submit=a,wait=b,run=c", "procs is missing"),
            ("submit=a,wait=b,start=b,run=c,procs=d", "start and wait are both given"),
            ("submit=a,submit=b", "given twice"),
            ("time=a", "no key 'time'; the keys are submit, start"),
            ("status=a{Pass:1", "not closed"),
            ("status=a{Pass}", "'Pass' is not WORD:VALUE"),
        ] {
            let error = CsvColumns::parse(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
