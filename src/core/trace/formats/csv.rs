//! Tables with a header, of which the user names the columns: `csv:submit=COLUMN,wait=COLUMN,run=COLUMN,procs=COLUMN`.

use super::FormatEntry;
use super::csv_columns::{ASKED, CONDITIONS, CsvColumns, END, NAMES, NamedColumn, ROLES, RUN, of_record};
use crate::request::{Request, RequestId};
use crate::trace::conditions::{CONDITION_FIELDS, WrittenConditions, set_condition};
use crate::trace::error::{FaultKind, LineFault, TraceError};
use crate::trace::lines::{LONGEST_LINE, RawLines, after_returns, outline};
use crate::trace::number;
use crate::trace::requests::REQUEST_FIELDS;
use crate::trace::rows::{Bad, Collector, JobInRow, TableColumns, count};

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

/// The delimiters that are tried, in this order.
const DELIMITERS: &[u8] = b",;\t|^~!: ";

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

/// Whether a line outside a row is empty or a comment.
fn is_no_row(line: &[u8]) -> bool {
    line.is_empty() || line[0] == b'#'
}

fn read(raw: &mut RawLines, collector: &mut Collector<'_>) -> Result<(), TraceError> {
    let name = raw.name().to_string();
    let wanted = collector.format.columns.clone().expect("a table has columns");
    let mut lines = raw.head().split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let Some(first) = lines.find(|line| !is_no_row(line)) else { return Ok(()) };
    let columns = columns(&wanted, first).map_err(|why| TraceError::unusable(&name, why))?;
    let (delimiter, count) = (columns.delimiter, columns.count());
    collector.conditions.needs_ids = wanted.has_dependencies();
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
        } else if is_no_row(line) {
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
    place: QuotePlace,
    /// The line of the last quote that opened a value.
    opened: u64,
    /// A quote that was opened lines before is closed by one after which the value goes on.
    is_closed_inside: bool,
}

/// Where a byte of a table is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum QuotePlace {
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
        self.place == QuotePlace::Quoted
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
                (QuotePlace::Beginning, b'"') => {
                    self.opened = number;
                    QuotePlace::Quoted
                }
                (QuotePlace::Quoted, b'"') => QuotePlace::Closed,
                (QuotePlace::Quoted, _) | (QuotePlace::Closed, b'"') => {
                    self.text.push(byte);
                    QuotePlace::Quoted
                }
                (_, byte) if byte == delimiter => {
                    self.ends.push(self.text.len());
                    self.text.push(byte);
                    QuotePlace::Beginning
                }
                (place, _) => {
                    self.is_closed_inside |= place == QuotePlace::Closed && number > self.opened;
                    self.text.push(byte);
                    QuotePlace::Plain
                }
            };
        }
        if !self.is_open() {
            self.place = QuotePlace::Beginning;
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
    let (start, wait_unknown) = match (start_column, span(2, wait)?) {
        (Some(_), _) => (time(1, start)?, false),
        (None, Some(wait)) => (Some(submit + wait), false),
        (None, None) => (run.map(|_| submit), run.is_some()),
    };
    let end = time(END, end)?;
    let status = if state_column.is_some() { self::status(state_column, status, state) } else { Some(-1) };
    let procs = count(procs, "procs")?.unwrap_or(-1);
    let job = JobInRow {
        id,
        submit,
        start,
        end: run.and_then(|run| Some(start? + run)).or(end),
        wait_unknown,
        allocated: procs,
        requested: procs,
        estimate: span(6, estimate)?,
        // A replacement by -1 makes a name unknown.
        names: std::array::from_fn(|kind| if replacement(NAMES + kind) == Some("-1") { b"" } else { names[kind] }),
        status: status.unwrap_or(-1),
        state,
        is_unknown_state: status.is_none(),
        request: request(columns, values, procs, collector)?,
        ..JobInRow::default()
    };
    read_conditions(columns, values, collector)?;
    collector.job(row, &job)
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
            field.set(&mut request, &text).map_err(|wrong| Bad::value(values[role], field.name, wrong))?;
        }
        Ok((request != plain).then_some(request))
    })
}

/// Reads what a job waits for. `values` has one per role.
fn read_conditions<'a>(
    columns: &CsvColumns,
    values: [&'a [u8]; ROLES.len()],
    collector: &mut Collector<'_>,
) -> Result<(), Bad<'a>> {
    collector.conditions.of_row = None;
    if CONDITIONS.iter().all(|&role| values[role].is_empty()) {
        return Ok(());
    }
    let mut conditions = WrittenConditions::default();
    for (role, field) in CONDITIONS.into_iter().zip(CONDITION_FIELDS) {
        let wrong = |wrong| Bad::value(values[role], field, wrong);
        set_condition(&mut conditions, field, values[role], wrong, |text| columns.time(role, text))?;
    }
    let limits = conditions.array.as_deref().zip(conditions.array_limit);
    if limits.is_some_and(|(array, limit)| !collector.conditions.limit(array, limit)) {
        let [.., limit] = values;
        return Err(Bad::value(limit, "array_limit", "is not that of an earlier row of the array"));
    }
    collector.conditions.of_row = Some(conditions);
    Ok(())
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
