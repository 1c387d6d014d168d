//! The text of `squeue`: columns with a delimiter between them.

use std::io::Read;

use super::SQUEUE;
use super::array::JobId;
use super::collect::{Collector, SlurmJob};
use super::stage::State;
use crate::time::Seconds;
use crate::trace::accounting::{Bad, Unit, clock, count, iso_time};
use crate::trace::error::{FaultKind, LineFault, TraceError};
use crate::trace::lines::{LONGEST_LINE, RawLines, shorten};
use crate::trace::record::is_blank_line;

/// The columns of the command that the documentation names, for a file without a header.
const COLUMNS: &str = "JOBID|USER|ACCOUNT|PARTITION|QOS|CPUS|TIME_LIMIT|TIME|STATE|SUBMIT_TIME|START_TIME|REASON|NAME";

/// The columns that may contain the delimiter.
const FREE_TEXT: [&str; 4] = ["NAME", "COMMENT", "COMMAND", "WORK_DIR"];

/// The index of a column that the file does not have.
const NONE: usize = usize::MAX;

/// Where the columns are.
struct Layout {
    delimiter: u8,
    count: usize,
    /// The only column of free text; [`NONE`] if there is none or more than one.
    free: usize,
    job_id: usize,
    user: usize,
    account: usize,
    partition: usize,
    qos: usize,
    cpus: usize,
    nodes: usize,
    limit: usize,
    elapsed: usize,
    state: usize,
    submit: usize,
    eligible: usize,
    start: usize,
    reason: usize,
    name: usize,
}

/// The names of a header in capitals, and its delimiter. None if the line is not a header.
fn header(line: &[u8]) -> Option<(Vec<String>, u8)> {
    let line = std::str::from_utf8(line).ok()?.trim_end();
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '(' | ')');
    // Columns may be padded with blanks.
    let delimiter = line.chars().find(|&c| !is_word(c) && c != ' ')?;
    let names: Vec<_> = line.split(delimiter).map(|name| name.trim().to_ascii_uppercase()).collect();
    let has = |name: &str| names.iter().any(|other| other == name);
    // The header of `sacct` has a column JobID too, but names like these have no underscores there.
    let is_header = names.iter().all(|name| name.chars().all(is_word))
        && has("JOBID")
        && ["SUBMIT_TIME", "START_TIME", "TIME_LIMIT"].into_iter().any(has);
    is_header.then_some((names, u8::try_from(delimiter).ok()?))
}

/// Whether a line is a header of `squeue` with a delimiter.
pub fn is_header(line: &[u8]) -> bool {
    header(line).is_some()
}

/// Whether a line is a row without a header: a job id first, and a state where it should be.
pub fn is_row(line: &[u8]) -> bool {
    let mut fields = line.split(|&byte| byte == b'|').map(<[u8]>::trim_ascii);
    let is_job = fields.next().is_some_and(|id| JobId::parse(id).is_some());
    is_job && fields.nth(7).is_some_and(|state| State::of(&[state]) != State::Unknown) && fields.count() >= 4
}

/// Whether a line is the header of the table that `squeue` prints without `--format`.
pub fn is_table(line: &[u8]) -> bool {
    let names: Vec<_> = line.split(u8::is_ascii_whitespace).collect();
    names.contains(&&b"JOBID"[..]) && names.len() > 2
}

impl Layout {
    fn new(names: &[String], delimiter: u8, unit: Unit) -> Result<Layout, String> {
        let find = |name: &str| names.iter().position(|other| other == name).unwrap_or(NONE);
        let first = |one: &str, other: &str| if find(one) != NONE { find(one) } else { find(other) };
        let mut free = names.iter().enumerate().filter(|(_, name)| FREE_TEXT.contains(&name.as_str()));
        let free = match (free.next(), free.next()) {
            (Some((at, _)), None) => at,
            _ => NONE,
        };
        let layout = Layout {
            delimiter,
            count: names.len(),
            free,
            job_id: find("JOBID"),
            user: find("USER"),
            account: first("ACCOUNT", "GROUP"),
            partition: find("PARTITION"),
            qos: find("QOS"),
            cpus: find("CPUS"),
            nodes: find("NODES"),
            limit: find("TIME_LIMIT"),
            elapsed: find("TIME"),
            state: first("STATE", "ST"),
            submit: find("SUBMIT_TIME"),
            eligible: find("ELIGIBLE_TIME"),
            start: find("START_TIME"),
            reason: first("REASON", "NODELIST(REASON)"),
            name: find("NAME"),
        };
        let procs = match unit {
            Unit::Cpus => ("CPUS (%C)", layout.cpus),
            Unit::Nodes => ("NODES (%D), for --unit nodes", layout.nodes),
            Unit::Gpus => return Err("it does not say the gpus of jobs: export it with `squeue --json`".to_string()),
        };
        let needed = [
            procs,
            ("TIME_LIMIT (%l)", layout.limit),
            ("STATE (%T)", layout.state),
            ("SUBMIT_TIME (%V)", layout.submit),
            ("START_TIME (%S)", layout.start),
            ("REASON (%r)", layout.reason),
        ];
        let lacking: Vec<_> = needed.iter().filter(|(_, at)| *at == NONE).map(|(name, _)| *name).collect();
        match lacking[..] {
            [] => Ok(layout),
            _ => Err(format!("it lacks the column {}: export it with `{SQUEUE}`", lacking.join(", "))),
        }
    }
}

/// Reads all rows.
pub fn read<R: Read>(raw: &mut RawLines<R>, collector: &mut Collector) -> Result<(), TraceError> {
    let first = raw.head().split(|&byte| byte == b'\n').find(|line| !is_blank_line(line)).unwrap_or(b"");
    let first = first.trim_ascii().to_vec();
    let header = header(&first);
    let has_header = header.is_some();
    let (names, delimiter) = header.unwrap_or_else(|| (COLUMNS.split('|').map(str::to_string).collect(), b'|'));
    let failed = |why| TraceError::Format { name: collector.name().to_string(), why };
    let layout = Layout::new(&names, delimiter, collector.reading.unit).map_err(failed)?;
    let mut rows = Rows { layout, collector, ends: Vec::new(), row: Vec::new(), number: 0 };
    while let Some(place) = raw.cut()? {
        let line = &raw.buffer()[place];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // The header comes again where several outputs are in one file.
        let is_header = has_header && line.trim_ascii() == first;
        if !is_header && !is_blank_line(line) {
            rows.line(raw.number(), line)?;
        }
    }
    rows.end_row()
}

struct Rows<'a> {
    layout: Layout,
    collector: &'a mut Collector,
    /// The positions of the delimiters of the present row.
    ends: Vec<usize>,
    /// The present row: a line, and the next ones if its job name has line ends. Empty if there is none.
    row: Vec<u8>,
    /// The number of its first line.
    number: u64,
}

impl Rows<'_> {
    fn line(&mut self, number: u64, line: &[u8]) -> Result<(), TraceError> {
        let Layout { delimiter, count, free, job_id, .. } = self.layout;
        let found = memchr::memchr_iter(delimiter, line).count() + 1;
        // A line with too few columns is the rest of a job name, unless it begins with a job id: then it is a row that was cut.
        let begins_a_row = || {
            let first = line.split(|&byte| byte == delimiter).next().unwrap_or(line);
            found > 1 && job_id == 0 && JobId::parse(first.trim_ascii()).is_some()
        };
        if found < count && !self.row.is_empty() && free == count - 1 && !begins_a_row() {
            if self.row.len() + line.len() < LONGEST_LINE {
                self.row.push(b'\n');
                self.row.extend_from_slice(line);
                return Ok(());
            }
            let fault = LineFault { line: number, column: 1, kind: FaultKind::TooLong, text: shorten(line) };
            return Err(TraceError::Line { name: self.collector.name().to_string(), fault });
        }
        self.end_row()?;
        self.number = number;
        self.row.extend_from_slice(line);
        Ok(())
    }

    /// Makes a job of the present row.
    fn end_row(&mut self) -> Result<(), TraceError> {
        if self.row.is_empty() {
            return Ok(());
        }
        let row = std::mem::take(&mut self.row);
        self.ends.clear();
        self.ends.extend(memchr::memchr_iter(self.layout.delimiter, &row));
        match self.parse(&row) {
            Ok(job) => self.collector.slurm_job(&job),
            Err(bad) => self.collector.skip(fault(self.number, &row, &bad))?,
        }
        // Its memory is used again.
        self.row = row;
        self.row.clear();
        Ok(())
    }

    fn parse<'r>(&self, row: &'r [u8]) -> Result<SlurmJob<'r>, Bad<'r>> {
        let layout = &self.layout;
        let found = self.ends.len() + 1;
        if found < layout.count {
            return Err(Bad { kind: FaultKind::TooFewColumns { found, expected: layout.count }, at: row });
        }
        let surplus = found - layout.count;
        if surplus > 0 && layout.free == NONE {
            return Err(Bad { kind: FaultKind::TooManyColumns { found, expected: layout.count }, at: row });
        }
        let field = |column: usize| -> &'r [u8] {
            if column == NONE {
                return b"";
            }
            // The free text has the surplus delimiters.
            let first = if layout.free < column { column + surplus } else { column };
            let last = if layout.free <= column { column + surplus } else { column };
            let from = first.checked_sub(1).map_or(0, |before| self.ends[before] + 1);
            let to = self.ends.get(last).copied().unwrap_or(row.len());
            row[from..to].trim_ascii()
        };
        let id = field(layout.job_id);
        let state_text = field(layout.state);
        let submit = field(layout.submit);
        let (procs, column) = match self.collector.reading.unit {
            Unit::Nodes => (field(layout.nodes), "NODES"),
            Unit::Cpus | Unit::Gpus => (field(layout.cpus), "CPUS"),
        };
        // `%R` has the reason in parentheses.
        let reason = field(layout.reason);
        let reason = reason.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")")).unwrap_or(reason);
        Ok(SlurmJob {
            id: JobId::parse(id).ok_or(Bad::value(id, "JOBID", "a job id such as 123, 123_4, 123+0 or 123_[1-5,7]"))?,
            state: State::of(&[state_text]),
            state_text,
            reason,
            on_hold: false,
            submit: iso_time(submit, "SUBMIT_TIME")?.ok_or(Bad::missing(submit, "SUBMIT_TIME"))?,
            eligible: iso_time(field(layout.eligible), "ELIGIBLE_TIME")?,
            start: iso_time(field(layout.start), "START_TIME")?,
            elapsed: duration(field(layout.elapsed), "TIME")?,
            procs: count(procs, column)?.unwrap_or(0),
            estimate: duration(field(layout.limit), "TIME_LIMIT")?,
            names: [layout.user, layout.account, layout.name, layout.qos, layout.partition].map(field),
        })
    }
}

/// A duration. None if there is none that is known.
fn duration<'a>(text: &'a [u8], column: &'static str) -> Result<Option<Seconds>, Bad<'a>> {
    let words = [&b"UNLIMITED"[..], b"Partition_Limit", b"NOT_SET", b"INVALID", b"N/A", b"Unknown", b"None"];
    match clock(text) {
        None if !text.is_empty() && !words.iter().any(|word| text.eq_ignore_ascii_case(word)) => {
            Err(Bad::value(text, column, "a duration such as 1-02:03:04"))
        }
        seconds => Ok(seconds),
    }
}

/// The fault of a row, which may have several lines.
fn fault(number: u64, row: &[u8], bad: &Bad<'_>) -> LineFault {
    if let Some(at) = memchr::memchr(0, row) {
        return LineFault { line: number, column: at + 1, kind: FaultKind::Binary, text: shorten(&row[at..]) };
    }
    let column = (bad.at.as_ptr() as usize).checked_sub(row.as_ptr() as usize).filter(|&at| at <= row.len());
    LineFault { line: number, column: column.unwrap_or(0) + 1, kind: bad.kind, text: shorten(bad.at) }
}
