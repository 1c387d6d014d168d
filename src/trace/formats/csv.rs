//! Tables with a header, of which the user names the columns: `csv:submit=COLUMN,wait=COLUMN,run=COLUMN,procs=COLUMN`.

use std::fmt;

use super::FormatEntry;
use crate::request::{Request, RequestId};
use crate::time::{Seconds, Time};
use crate::trace::error::{FaultKind, LineFault, TraceError};
use crate::trace::lines::{LONGEST_LINE, RawLines, after_returns, outline};
use crate::trace::number;
use crate::trace::requests::{REQUEST_FIELDS, set_field};
use crate::trace::rows::{Bad, Collector, JobRow, TableColumns, any_time, count, duration};
use crate::trace::time_unit::TimeUnit;

pub const FORMAT: FormatEntry = FormatEntry {
    name: "csv",
    about: "a table with a header: --log-format csv:... names its columns, as below",
    // `is_line`: a table is not told by its content, because what its columns hold must be said.
    hint: |line| {
        let advice = "if it is a table, name its columns with --log-format csv:submit=COLUMN,... (see `sim help logs`)";
        is_csv_like(line).then_some(advice)
    },
    read,
    ..FormatEntry::ACCOUNTING
};

/// What a column can hold, in the order in which the format is printed.
const ROLES: [&str; 26] = [
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
    "nodes",
    "tasks",
    "tasks_per_node",
    "cpus_per_task",
    "memory",
    "memory_per_cpu",
    "gpus",
    "gpus_per_node",
    "constraint",
    "exclusive",
    "qos",
    "account",
];

/// The columns of a record. Those after them say what the job asks for, as the partition does.
const OF_RECORD: usize = 14;

/// The places of [`REQUEST_FIELDS`].
const ASKED: [usize; REQUEST_FIELDS.len()] = [14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 11, 24, 25];

/// The places of the first name, of the runtime and of the end.
const NAMES: usize = 7;
const RUN: usize = 3;
const END: usize = 4;

/// Which columns hold times or durations, so that they can have a unit.
fn has_unit(role: usize) -> bool {
    ROLES[role] == "estimate" || role <= END
}

/// The delimiters that are tried, in this order.
const DELIMITERS: &[u8] = b",;\t|^~!: ";

/// The columns of a table: what each holds, and replacements for its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvColumns {
    columns: [Option<NamedColumn>; ROLES.len()],
}

/// A column: its name, the values that are replaced by others, and the unit of its numbers if that is stated.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NamedColumn {
    name: String,
    words: Vec<(String, String)>,
    unit: Option<TimeUnit>,
}

impl CsvColumns {
    /// Reads `submit=COLUMN,wait=COLUMN,...`, where a column may be followed by `{word:value,word:value}`, and that of a time or
    /// a duration by a unit, `{min}`.
    ///
    /// # Errors
    /// If a column is unknown, missing or given twice.
    pub fn parse(text: &str) -> Result<CsvColumns, String> {
        let mut columns: [Option<NamedColumn>; ROLES.len()] = Default::default();
        for item in split_outside_braces(text) {
            let (role, column) = item.split_once('=').ok_or_else(|| format!("'{item}' is not KEY=COLUMN; {FORM}"))?;
            let at = ROLES.iter().position(|other| *other == role.trim());
            let at = at.ok_or_else(|| format!("no key '{}'; the keys are {}", role.trim(), ROLES.join(", ")))?;
            let column = NamedColumn::parse(column)?;
            if column.unit.is_some() && !has_unit(at) {
                return Err(format!("{role} is not a time or a duration: it has no unit"));
            }
            if columns[at].replace(column).is_some() {
                return Err(format!("'{role}' is given twice"));
            }
        }
        let has = |role: &str| ROLES.iter().zip(&columns).any(|(other, column)| *other == role && column.is_some());
        for (one, other) in [("submit", ""), ("start", "wait"), ("run", "end"), ("procs", "")] {
            match (has(one), has(other)) {
                (false, false) if other.is_empty() => return Err(format!("{one} is missing; {FORM}")),
                (false, false) => return Err(format!("{one} or {other} is missing; {FORM}")),
                (true, true) => return Err(format!("{one} and {other} are both given; {FORM}")),
                _ => {}
            }
        }
        Ok(CsvColumns { columns })
    }
}

const FORM: &str = "the form is csv:submit=COLUMN,start=COLUMN,run=COLUMN,procs=COLUMN, with wait= instead of start=, \
                    end= instead of run=, and estimate=, user=, group=, executable=, queue=, partition=, status=, id= if \
                    the table has them; `sim help logs` has the columns of what jobs ask for";

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

impl NamedColumn {
    fn parse(text: &str) -> Result<NamedColumn, String> {
        let Some((name, words)) = text.split_once('{') else {
            return Ok(NamedColumn { name: text.trim().to_string(), words: Vec::new(), unit: None });
        };
        let words = words.strip_suffix('}').ok_or_else(|| format!("the brace in '{text}' is not closed at the end"))?;
        let mut column = NamedColumn { name: name.trim().to_string(), words: Vec::new(), unit: None };
        for item in words.split(',') {
            match (item.rsplit_once(':'), TimeUnit::parse(item.trim())) {
                (Some((word, value)), _) => column.words.push((word.to_string(), value.to_string())),
                (None, Some(unit)) => column.unit = Some(unit),
                (None, None) => return Err(format!("'{item}' is not WORD:VALUE or a unit ({})", TimeUnit::all())),
            }
        }
        Ok(column)
    }

    /// The unit of its numbers, unless that is seconds.
    fn other_unit(&self) -> Option<TimeUnit> {
        self.unit.filter(|&unit| unit != TimeUnit::Seconds)
    }

    /// The value that replaces this one. None if it stays.
    fn replacement(&self, value: &[u8]) -> Option<&str> {
        self.words.iter().find(|(word, _)| word.as_bytes() == value).map(|(_, value)| value.as_str())
    }
}

impl CsvColumns {
    /// An instant in a column, by the unit of the column.
    fn time<'a>(&self, role: usize, value: &'a [u8]) -> Result<Option<Time>, Bad<'a>> {
        match self.in_other_unit(role, value)? {
            Some(..0) => Err(Bad::value(value, ROLES[role], "is before 1970")),
            Some(time) => Ok(Some(time)),
            None => any_time(value, ROLES[role]),
        }
    }

    /// A duration in a column, likewise. A negative one is none.
    fn duration<'a>(&self, role: usize, value: &'a [u8]) -> Result<Option<Seconds>, Bad<'a>> {
        match self.in_other_unit(role, value)? {
            Some(seconds) => Ok(Some(seconds).filter(|&seconds| seconds >= 0)),
            None => duration(value, ROLES[role]),
        }
    }

    /// A number in a column whose unit is not seconds. None if it is, or if the value is not a number: a date or a clock.
    fn in_other_unit<'a>(&self, role: usize, value: &'a [u8]) -> Result<Option<Seconds>, Bad<'a>> {
        match self.columns[role].as_ref().and_then(NamedColumn::other_unit) {
            Some(unit) if number::parse(value).is_ok() => match unit.seconds(value) {
                Some(seconds) => Ok(Some(seconds)),
                None => Err(Bad::value(value, ROLES[role], "is too large for its unit")),
            },
            _ => Ok(None),
        }
    }

    /// Keeps the column of runtimes, or else of ends, when its first number is found, if no unit is stated.
    fn note_plain_numbers(&self, values: [&[u8]; 2], kept: &mut Option<String>) {
        for (role, value) in [RUN, END].into_iter().zip(values) {
            if kept.is_none()
                && let Some(column) = self.columns[role].as_ref().filter(|column| column.unit.is_none())
                && number::parse(value).is_ok_and(|number| number.sign > 0)
            {
                *kept = Some(format!("{}={}", ROLES[role], column.name));
            }
        }
    }
}

impl fmt::Display for CsvColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = ROLES.iter().zip(&self.columns).filter_map(|(role, column)| Some((role, column.as_ref()?)));
        for (at, (role, column)) in given.enumerate() {
            write!(f, "{}{role}={}", if at > 0 { "," } else { "" }, column.name)?;
            let unit = column.unit.map(|unit| unit.written().to_string());
            let words = column.words.iter().map(|(word, value)| format!("{word}:{value}"));
            let inside: Vec<String> = unit.into_iter().chain(words).collect();
            if !inside.is_empty() {
                write!(f, "{{{}}}", inside.join(","))?;
            }
        }
        Ok(())
    }
}

/// Whether a line looks like the header of a table.
fn is_csv_like(line: &[u8]) -> bool {
    let has_letters = line.iter().any(u8::is_ascii_alphabetic);
    has_letters && DELIMITERS[..4].iter().any(|&delimiter| memchr::memchr_iter(delimiter, line).count() >= 3)
}

/// The names of a header line.
fn header_names(line: &[u8], delimiter: u8) -> Vec<String> {
    let mut row = CsvRow::default();
    row.add(line, delimiter, 1);
    row.ends.push(row.text.len());
    let begins = std::iter::once(0).chain(row.ends.iter().map(|end| end + 1));
    let names = begins.zip(&row.ends).map(|(from, &to)| String::from_utf8_lossy(&row.text[from..to]));
    names.map(|name| name.trim().to_string()).collect()
}

/// Finds the columns in the header, by the first delimiter with which it has all of them.
fn columns(wanted: &CsvColumns, first: &[u8]) -> Result<TableColumns<{ ROLES.len() }>, String> {
    let find = |names: &[String], column: &NamedColumn| {
        let exact = names.iter().position(|name| *name == column.name);
        exact.or_else(|| names.iter().position(|name| name.eq_ignore_ascii_case(&column.name)))
    };
    for &delimiter in DELIMITERS {
        let names = header_names(first, delimiter);
        let places = wanted.columns.each_ref().map(|column| find(&names, column.as_ref()?));
        if places.iter().flatten().count() < wanted.columns.iter().flatten().count() {
            continue;
        }
        let is_twice = |&&at: &&usize| names.iter().filter(|name| **name == names[at]).count() > 1;
        if let Some(&twice) = places.iter().flatten().find(is_twice) {
            let name = &names[twice];
            return Err(format!("its first line names the column '{name}' twice: give the two different names"));
        }
        return Ok(TableColumns::with_places(names, places, delimiter, false));
    }
    // The delimiter that makes most columns is the likely one.
    let likely = DELIMITERS.iter().max_by_key(|&&delimiter| header_names(first, delimiter).len()).copied();
    let names = header_names(first, likely.unwrap_or(b','));
    let missing = wanted.columns.iter().flatten().find(|column| find(&names, column).is_none());
    let missing = missing.map_or("", |column| column.name.as_str());
    Err(format!("there is no column '{missing}'; its first line names the columns {}", names.join(", ")))
}

fn read(raw: &mut RawLines, collector: &mut Collector<'_>) -> Result<(), TraceError> {
    let name = raw.name().to_string();
    let wanted = collector.format.columns.clone().expect("a table has columns");
    let mut lines = raw.head().split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let Some(first) = lines.find(|line| !line.is_empty()) else { return Ok(()) };
    let columns = columns(&wanted, first).map_err(|why| TraceError::unusable(&name, why))?;
    let (delimiter, count) = (columns.delimiter, columns.count());
    // Skipping the row would lose those after it.
    let open_quote = |row: &CsvRow| {
        let from = row.ends.last().map_or(0, |end| end + 1);
        let fault =
            LineFault { line: row.opened, column: 1, kind: FaultKind::OPEN_QUOTE, text: outline(&row.text[from..]) };
        Err(TraceError::Line { name: name.clone(), fault })
    };
    let (mut row, mut number, mut is_header) = (CsvRow::default(), 0, true);
    while let Some(place) = raw.cut()? {
        let line = &raw.buffer()[place];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let delimiters = |line: &[u8]| memchr::memchr_iter(delimiter, line).count();
        if row.is_open() {
            row.text.push(b'\n');
        } else if line.is_empty() {
            continue;
        } else {
            (row, number) = (row.cleared(), raw.number());
        }
        row.add(line, delimiter, raw.number());
        // A line of a quoted value that has all columns is a row, and a quote inside a value is the first one of another.
        let is_row = raw.number() > row.opened && delimiters(line) + 1 >= count;
        if row.is_closed_inside || (row.is_open() && (is_row || row.text.len() > LONGEST_LINE)) {
            return open_quote(&row);
        }
        if row.is_open() || std::mem::take(&mut is_header) {
            continue;
        }
        if let Some(rest) = after_returns(line).find(|rest| delimiters(rest) + 1 >= count) {
            collector.bad_row(number, line, &Bad { kind: FaultKind::MIXED_LINE_ENDS, at: rest })?;
            continue;
        }
        // Delimiters after the last column are allowed.
        while row.ends.len() >= count && row.ends.last().is_some_and(|end| end + 1 == row.text.len()) {
            row.text.truncate(row.ends.pop().unwrap_or(0));
        }
        let read = columns.fields(&row.text, &row.ends).and_then(|fields| job(&wanted, fields, &row.text, collector));
        read.or_else(|bad| collector.bad_row(number, &row.text, &bad))?;
    }
    if row.is_open() { open_quote(&row) } else { Ok(()) }
}

/// A row of a table without its quotes.
#[derive(Default)]
struct CsvRow {
    /// The values with delimiters between them.
    text: Vec<u8>,
    /// The places of these delimiters.
    ends: Vec<usize>,
    place: Place,
    /// The line of the last quote that opened a value.
    opened: u64,
    /// A quote that was opened lines before is closed by one after which the value goes on.
    is_closed_inside: bool,
}

/// Where a byte of a table is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Beginning,
    Plain,
    Quoted,
    /// After a quote in a quoted value: a second one means a quote.
    Closed,
}

impl CsvRow {
    /// Whether a quote was opened and not closed.
    fn is_open(&self) -> bool {
        self.place == Place::Quoted
    }

    /// A row without values, in the memory of this one.
    fn cleared(mut self) -> CsvRow {
        self.text.clear();
        self.ends.clear();
        CsvRow { text: self.text, ends: self.ends, ..CsvRow::default() }
    }

    /// Adds a line of the row.
    fn add(&mut self, line: &[u8], delimiter: u8, number: u64) {
        // Most tables have no quotes.
        if !self.is_open() && memchr::memchr(b'"', line).is_none() {
            self.ends.extend(memchr::memchr_iter(delimiter, line).map(|at| self.text.len() + at));
            self.text.extend_from_slice(line);
            return;
        }
        for &byte in line {
            self.place = match (self.place, byte) {
                (Place::Beginning, b'"') => {
                    self.opened = number;
                    Place::Quoted
                }
                (Place::Quoted, b'"') => Place::Closed,
                (Place::Quoted, _) | (Place::Closed, b'"') => {
                    self.text.push(byte);
                    Place::Quoted
                }
                (_, byte) if byte == delimiter => {
                    self.ends.push(self.text.len());
                    self.text.push(byte);
                    Place::Beginning
                }
                (place, _) => {
                    self.is_closed_inside |= place == Place::Closed && number > self.opened;
                    self.text.push(byte);
                    Place::Plain
                }
            };
        }
        if !self.is_open() {
            self.place = Place::Beginning;
        }
    }
}

/// Adds the job of a row. `written` are its values as written, one per role.
fn job<'a>(
    columns: &'a CsvColumns,
    written: [&'a [u8]; ROLES.len()],
    row: &'a [u8],
    collector: &mut Collector<'_>,
) -> Result<(), Bad<'a>> {
    let written = written.map(<[u8]>::trim_ascii);
    let replacement = |role: usize| columns.columns[role].as_ref()?.replacement(written[role]);
    let values: [&[u8]; ROLES.len()] =
        std::array::from_fn(|role| replacement(role).map_or(written[role], str::as_bytes));
    let [submit, start, wait, run, end, procs, estimate, names @ .., status, id] = of_record(&values);
    let [_, start_column, .., state_column, _] = of_record(&columns.columns.each_ref().map(Option::as_ref));
    let [.., state, _] = of_record(&written);
    let time = |role: usize, value: &'a [u8]| columns.time(role, value);
    let span = |role: usize, value: &'a [u8]| columns.duration(role, value);
    let submit = time(0, submit)?.ok_or(Bad::missing(written[0], "submit"))?;
    columns.note_plain_numbers([run, end], &mut collector.log.source.run_column);
    let run = span(RUN, run)?;
    let (start, wait_known) = match (start_column, span(2, wait)?) {
        (Some(_), _) => (time(1, start)?, true),
        (None, Some(wait)) => (Some(submit + wait), true),
        (None, None) => (run.map(|_| submit), run.is_none()),
    };
    let end = time(END, end)?;
    let status = if state_column.is_some() { self::status(state_column, status, state) } else { Some(-1) };
    let procs = count(procs, "procs")?.unwrap_or(-1);
    let job = JobRow {
        id,
        submit,
        start,
        end: run.and_then(|run| Some(start? + run)).or(end),
        wait_known,
        allocated: procs,
        requested: procs,
        estimate: span(6, estimate)?,
        // A replacement by -1 makes a name unknown.
        names: std::array::from_fn(|kind| if replacement(NAMES + kind) == Some("-1") { b"" } else { names[kind] }),
        status: status.unwrap_or(-1),
        state,
        is_unknown_state: status.is_none(),
        request: request(columns, values, procs, collector)?,
        ..JobRow::default()
    };
    collector.job(row, &job)
}

fn of_record<T: Copy>(all: &[T; ROLES.len()]) -> [T; OF_RECORD] {
    *all.first_chunk().expect("a record has fewer columns than there are")
}

/// What a job asks for beside its processors. `values` has one per role.
fn request<'a>(
    columns: &CsvColumns,
    values: [&'a [u8]; ROLES.len()],
    procs: i64,
    collector: &mut Collector<'_>,
) -> Result<RequestId, Bad<'a>> {
    if ASKED.iter().all(|&role| columns.columns[role].is_none()) {
        return Ok(RequestId::NONE);
    }
    let plain = Request { cpus: procs.max(1) as u32, ..Request::default() };
    let key = procs.to_le_bytes();
    let texts = ASKED.iter().map(|&role| values[role]).chain([&key[..]]);
    collector.requests.of_row(texts, || {
        let mut request = plain.clone();
        for (role, field) in ASKED.into_iter().zip(REQUEST_FIELDS) {
            let text = String::from_utf8_lossy(values[role]);
            set_field(&mut request, field, &text).map_err(|wrong| Bad::value(values[role], field, wrong))?;
        }
        Ok((request != plain).then_some(request))
    })
}

/// The status of a job. Without words to replace, a number is the status itself. None if it is not known.
fn status(column: Option<&NamedColumn>, value: &[u8], written: &[u8]) -> Option<i32> {
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
    fn what_jobs_ask_for_has_its_columns() {
        assert_eq!(ASKED.map(|role| ROLES[role]), REQUEST_FIELDS);
    }

    #[test]
    fn columns_are_printed_as_they_are_read() {
        for text in [
            "submit=a,start=b,run=c,procs=d",
            "submit=a,start=b,run=c,procs=d,partition=p{x:y},id=i,nodes=n,memory=m,gpus=g,qos=q,account=a",
            "submit=a,wait=b c,end=d,procs=e,estimate=f,user=g{0.0:-1},status=s{Pass:1,Failed:0,Killed:5},id=i",
            "submit=a{ms},wait=b{h},run=c{min,none:-1},procs=d,estimate=e{s}",
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
            ("status=a{Pass}", "'Pass' is not WORD:VALUE or a unit (ms, s, min, h, d)"),
            ("procs=a{min}", "procs is not a time or a duration"),
        ] {
            let error = CsvColumns::parse(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
