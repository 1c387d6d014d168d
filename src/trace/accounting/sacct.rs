//! Slurm: what `sacct -P` or `sacct -p` prints.

use std::io::Read;

use super::collect::Collector;
use super::reading::{LogReading, Unit};
use super::values::{Bad, clock, count, iso_time, leading_number};
use super::{AccountingJob, SourceReport};
use crate::time::{FOREVER, MINUTE, Seconds};
use crate::trace::error::{FaultKind, TraceError};
use crate::trace::lines::{LONGEST_LINE, RawLines};
use crate::trace::record::{CANCELLED, is_blank_line};

/// The columns of Open XDMoD's export, which has no header.
const XDMOD: &str = "jobid,jobidraw,cluster,partition,qos,account,group,gid,user,uid,submit,eligible,start,end,elapsed,\
                     exitcode,state,nnodes,ncpus,reqcpus,reqmem,reqtres,alloctres,timelimit,nodelist,jobname";

/// The columns that may hold the delimiter.
const FREE_TEXT: [&str; 8] =
    ["jobname", "comment", "admincomment", "systemcomment", "constraints", "submitline", "workdir", "wckey"];

/// The delimiters that are looked for in a file without a header.
const DELIMITERS: &[u8] = b"|;\t^~!,";

/// The index of a column that the file does not have.
const NONE: usize = usize::MAX;

/// Where the columns are in a row.
struct Layout {
    delimiter: u8,
    /// The number of columns.
    count: usize,
    /// Rows end with a delimiter.
    trailing: bool,
    /// The only free-text column; [`NONE`] if there is none or more than one.
    free: usize,
    job_id: usize,
    job_id_raw: usize,
    cluster: usize,
    submit: usize,
    eligible: usize,
    start: usize,
    end: usize,
    elapsed: usize,
    elapsed_raw: usize,
    limit: usize,
    limit_raw: usize,
    user: usize,
    group: usize,
    group_else: usize,
    job_name: usize,
    partition: usize,
    qos: usize,
    state: usize,
    cpus: usize,
    cpus_else: usize,
    req_cpus: usize,
    nodes: usize,
    req_nodes: usize,
    node_list: usize,
    alloc_tres: usize,
    req_tres: usize,
    req_gres: usize,
}

impl Layout {
    fn new(names: &[String], delimiter: u8, trailing: bool) -> Layout {
        let find = |name: &str| names.iter().position(|other| other == name).unwrap_or(NONE);
        let first = |one: &str, other: &str| if find(one) != NONE { find(one) } else { find(other) };
        let mut free = names.iter().enumerate().filter(|(_, name)| FREE_TEXT.contains(&name.as_str()));
        let free = match (free.next(), free.next()) {
            (Some((at, _)), None) => at,
            _ => NONE,
        };
        Layout {
            delimiter,
            count: names.len(),
            trailing,
            free,
            job_id: find("jobid"),
            job_id_raw: find("jobidraw"),
            cluster: find("cluster"),
            submit: find("submit"),
            eligible: find("eligible"),
            start: find("start"),
            end: find("end"),
            elapsed: find("elapsed"),
            elapsed_raw: find("elapsedraw"),
            limit: find("timelimit"),
            limit_raw: find("timelimitraw"),
            user: first("user", "uid"),
            group: first("account", "group"),
            group_else: find("group"),
            job_name: find("jobname"),
            partition: find("partition"),
            qos: find("qos"),
            state: find("state"),
            cpus: first("alloccpus", "ncpus"),
            cpus_else: find("ncpus"),
            req_cpus: find("reqcpus"),
            nodes: first("nnodes", "allocnodes"),
            req_nodes: find("reqnodes"),
            node_list: find("nodelist"),
            alloc_tres: find("alloctres"),
            req_tres: find("reqtres"),
            req_gres: find("reqgres"),
        }
    }

    /// The columns that are needed and missing, in words. None if there are none.
    fn lacks(&self, unit: Unit) -> Option<String> {
        let units: (&str, &[usize]) = match unit {
            Unit::Cpus => ("NCPUS (or AllocCPUS or ReqCPUS)", &[self.cpus, self.req_cpus]),
            Unit::Nodes => ("NNodes, for --unit nodes", &[self.nodes]),
            Unit::Gpus => {
                ("AllocTRES (or ReqTRES or ReqGRES), for --unit gpus", &[self.alloc_tres, self.req_tres, self.req_gres])
            }
        };
        let needed = [
            ("JobIDRaw (or JobID)", &[self.job_id, self.job_id_raw][..]),
            ("Submit", &[self.submit]),
            ("Start", &[self.start]),
            ("End", &[self.end]),
            units,
        ];
        let lacking: Vec<_> =
            needed.iter().filter(|(_, at)| at.iter().all(|&at| at == NONE)).map(|(name, _)| *name).collect();
        (!lacking.is_empty()).then(|| lacking.join(", "))
    }

    /// The delimiters of a complete row.
    fn delimiters(&self) -> usize {
        self.count - 1 + usize::from(self.trailing)
    }
}

/// The names of a header in lower case, its delimiter, and whether it ends with one. None if the line is not a header.
fn header(line: &[u8]) -> Option<(Vec<String>, u8, bool)> {
    let line = line.trim_ascii_end();
    let delimiter = *line.iter().find(|byte| !byte.is_ascii_alphanumeric() && **byte != b'_')?;
    let trailing = line.last() == Some(&delimiter);
    let line = if trailing { &line[..line.len() - 1] } else { line };
    let names: Vec<String> =
        line.split(|&byte| byte == delimiter).map(|name| String::from_utf8_lossy(name).to_ascii_lowercase()).collect();
    let is_name =
        |name: &String| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let has = |name: &str| names.iter().any(|other| other == name);
    (names.iter().all(is_name) && (has("jobid") || has("jobidraw")) && names.len() > 2)
        .then_some((names, delimiter, trailing))
}

/// Whether a line is the header of an sacct file.
pub fn has_sacct_header(line: &[u8]) -> bool {
    header(line).is_some()
}

/// Whether a line is a row of Open XDMoD's export.
pub fn is_sacct_row(line: &[u8]) -> bool {
    row_delimiter(line, 26).is_some_and(|delimiter| {
        let time = line.split(|&byte| byte == delimiter).nth(10);
        time.is_some_and(|time| matches!(iso_time(time, "Submit"), Ok(Some(_))))
    })
}

/// The delimiter of a row with at least this many columns.
fn row_delimiter(line: &[u8], columns: usize) -> Option<u8> {
    DELIMITERS.iter().copied().find(|&delimiter| memchr::memchr_iter(delimiter, line).count() + 1 >= columns)
}

/// Reads all rows.
pub fn read<R: Read>(
    raw: &mut RawLines<R>,
    reading: &LogReading,
    collector: &mut Collector<'_>,
) -> Result<(), TraceError> {
    let first =
        raw.head().split(|&byte| byte == b'\n').find(|line| !is_blank_line(line)).unwrap_or(b"").trim_ascii_end();
    let first = first.to_vec();
    let (layout, has_header) = match (&reading.columns, header(&first)) {
        (Some(_), Some(_)) => {
            let why = "it has a header with the names of its columns: leave out --columns".to_string();
            return Err(TraceError::Format { name: raw.name().to_string(), why });
        }
        (None, Some((names, delimiter, trailing))) => (Layout::new(&names, delimiter, trailing), true),
        (columns, None) => {
            let names: Vec<String> = match columns {
                Some(names) => names.iter().map(|name| name.to_ascii_lowercase()).collect(),
                None => XDMOD.split(',').map(str::to_string).collect(),
            };
            let delimiter = row_delimiter(&first, names.len()).unwrap_or(b'|');
            let delimiters = memchr::memchr_iter(delimiter, &first).count();
            let trailing = first.last() == Some(&delimiter) && delimiters >= names.len();
            (Layout::new(&names, delimiter, trailing), false)
        }
    };
    if let Some(lacking) = layout.lacks(reading.unit) {
        let why =
            format!("an sacct log needs the column {lacking}; see `sim help logs` for the command that exports it");
        return Err(TraceError::Format { name: raw.name().to_string(), why });
    }
    if reading.cluster.is_some() && layout.cluster == NONE {
        let why = "it has no column Cluster: leave out --cluster".to_string();
        return Err(TraceError::Format { name: raw.name().to_string(), why });
    }
    let mut rows = Rows { layout, reading, collector, ends: Vec::new() };
    let needed = rows.layout.delimiters();
    let delimiter = rows.layout.delimiter;
    // A row over several lines, and the number of its first line.
    let mut joined: Vec<u8> = Vec::new();
    let mut joined_at = 0;
    while let Some(place) = raw.cut()? {
        let line = &raw.buffer()[place];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        rows.find_ends(line);
        if rows.ends.len() >= needed {
            // The lines before are not the beginning of this row, which is complete.
            rows.too_short(joined_at, &mut joined)?;
            if !(has_header && line == first) {
                rows.row(raw.number(), line)?;
            }
            continue;
        }
        if joined.is_empty() {
            if is_blank_line(line) {
                continue;
            }
            joined_at = raw.number();
        } else {
            joined.push(b'\n');
        }
        joined.extend_from_slice(line);
        if memchr::memchr_iter(delimiter, &joined).count() >= needed {
            let row = std::mem::take(&mut joined);
            rows.find_ends(&row);
            rows.row(joined_at, &row)?;
        } else if joined.len() > LONGEST_LINE {
            rows.too_short(joined_at, &mut joined)?;
        }
    }
    rows.too_short(joined_at, &mut joined)
}

struct Rows<'a, 'c> {
    layout: Layout,
    reading: &'a LogReading,
    collector: &'a mut Collector<'c>,
    /// The positions of the delimiters of the present row.
    ends: Vec<usize>,
}

impl Rows<'_, '_> {
    fn find_ends(&mut self, line: &[u8]) {
        self.ends.clear();
        self.ends.extend(memchr::memchr_iter(self.layout.delimiter, line));
    }

    /// Reports lines that are not a complete row.
    fn too_short(&mut self, number: u64, joined: &mut Vec<u8>) -> Result<(), TraceError> {
        if joined.is_empty() {
            return Ok(());
        }
        let row = std::mem::take(joined);
        let found = memchr::memchr_iter(self.layout.delimiter, &row).count() + 1;
        let kind = FaultKind::TooFewColumns { found, expected: self.layout.count };
        self.collector.bad_row(number, &row, &Bad { kind, at: &row })
    }

    fn row(&mut self, number: u64, row: &[u8]) -> Result<(), TraceError> {
        match self.parse(row) {
            Ok(()) => Ok(()),
            Err(bad) => self.collector.bad_row(number, row, &bad),
        }
    }

    fn parse<'r>(&mut self, row: &'r [u8]) -> Result<(), Bad<'r>> {
        let Layout { count: columns, trailing, free, .. } = self.layout;
        let mut end_of_row = row.len();
        let mut found = self.ends.len() + 1;
        if trailing {
            // The row has at least as many delimiters as columns.
            if self.ends.last() == Some(&(row.len() - 1)) {
                end_of_row -= 1;
            }
            found -= 1;
        }
        let surplus = found - columns;
        if surplus > 0 && free == NONE {
            return Err(Bad { kind: FaultKind::TooManyColumns { found, expected: columns }, at: row });
        }
        let ends = &self.ends;
        let field = |column: usize| -> &'r [u8] {
            if column == NONE {
                return b"";
            }
            let (from, to) = match column.cmp(&free) {
                _ if surplus == 0 => (column, column),
                std::cmp::Ordering::Less => (column, column),
                std::cmp::Ordering::Equal => (column, column + surplus),
                std::cmp::Ordering::Greater => (column + surplus, column + surplus),
            };
            let begin = if from == 0 { 0 } else { ends[from - 1] + 1 };
            let end = ends.get(to).copied().unwrap_or(end_of_row).min(end_of_row);
            &row[begin..end.max(begin)]
        };
        let layout = &self.layout;

        let (job_id, raw_id) = (field(layout.job_id), field(layout.job_id_raw));
        let has = |byte: u8| memchr::memchr(byte, job_id).or_else(|| memchr::memchr(byte, raw_id)).is_some();
        let dropped: Option<fn(&mut SourceReport) -> &mut u64> = match () {
            () if has(b'.') => Some(|report| &mut report.steps),
            () if has(b'[') => Some(|report| &mut report.array_ranges),
            () => None,
        };
        if let Some(cause) = dropped {
            self.collector.drop_row(cause);
            return Ok(());
        }
        let id = if raw_id.is_empty() { job_id } else { raw_id };
        if !id.first().is_some_and(u8::is_ascii_digit) {
            return Err(Bad::value(id, if raw_id.is_empty() { "JobID" } else { "JobIDRaw" }, "a job number"));
        }
        if layout.cluster != NONE && !self.collector.is_own_cluster(field(layout.cluster)) {
            self.collector.drop_row(|report| &mut report.other_clusters);
            return Ok(());
        }

        let start = iso_time(field(layout.start), "Start")?;
        let end = iso_time(field(layout.end), "End")?;
        let state = field(layout.state);
        // `CANCELLED by 1234`, and `CANCELLED+` where the column was too narrow.
        let state = state.split(|byte| matches!(byte, b' ' | b'+')).next().unwrap_or(state);
        let meaning = State::of(state);
        if meaning == State::NotEnded || (meaning == State::Again && (start.is_none() || end.is_none())) {
            self.collector.drop_row(|report| &mut report.not_ended);
            return Ok(());
        }
        let nodes = field(layout.node_list);
        // Slurm fills in a start, processors and even AllocTRES for jobs that never started.
        let placed = match nodes {
            b"None assigned" => false,
            b"" => !(meaning == State::Cancelled && start == end),
            _ => true,
        };
        let start = start.filter(|_| placed);

        let (allocated, requested) = match self.reading.unit {
            Unit::Cpus => {
                let allocated = match count(field(layout.cpus), "AllocCPUS")? {
                    Some(cpus) if cpus > 0 => cpus,
                    _ => count(field(layout.cpus_else), "NCPUS")?.unwrap_or(-1),
                };
                (allocated, count(field(layout.req_cpus), "ReqCPUS")?.unwrap_or(-1))
            }
            Unit::Nodes => {
                let requested = leading_number(field(layout.req_nodes)).unwrap_or(-1);
                (count(field(layout.nodes), "NNodes")?.unwrap_or(-1), requested)
            }
            Unit::Gpus => {
                let allocated = gpus_of_tres(field(layout.alloc_tres)).unwrap_or(-1);
                let nodes = leading_number(field(layout.nodes)).unwrap_or(1).max(1);
                let requested = gpus_of_tres(field(layout.req_tres));
                let requested = requested.or_else(|| Some(gpus_of_gres(field(layout.req_gres))? * nodes)).unwrap_or(-1);
                if allocated <= 0 && requested <= 0 {
                    self.collector.drop_row(|report| &mut report.without_gpus);
                    return Ok(());
                }
                (allocated, requested)
            }
        };

        let partition = field(layout.partition);
        let estimate = match limit(field(layout.limit), field(layout.limit_raw))? {
            Some(limit) => Some(limit),
            None => self
                .reading
                .partition_limits
                .iter()
                .find(|(name, _)| name.as_bytes() == partition)
                .map(|(_, limit)| *limit),
        };
        let elapsed = match field(layout.elapsed_raw) {
            b"" => elapsed(field(layout.elapsed))?,
            raw => Some(count(raw, "ElapsedRaw")?.unwrap_or(0)).filter(|&elapsed| elapsed >= 0),
        };
        let group = match field(layout.group) {
            b"" => field(layout.group_else),
            account => account,
        };
        let submit = field(layout.submit);
        let job = AccountingJob {
            id,
            submit: iso_time(submit, "Submit")?.ok_or(Bad::missing(submit, "Submit"))?,
            eligible: iso_time(field(layout.eligible), "Eligible")?,
            start,
            end,
            wait_known: true,
            elapsed,
            allocated,
            requested,
            estimate,
            names: [field(layout.user), group, field(layout.job_name), field(layout.qos), partition],
            status: meaning.status(),
            state,
        };
        if self.collector.job(row, &job)? && meaning == State::Unknown {
            self.collector.unknown_state(state);
        }
        Ok(())
    }
}

/// What a state says of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Completed,
    Cancelled,
    Failed,
    NotEnded,
    /// It was put back into the queue, or changed its size: it has ended if it has a start and an end.
    Again,
    /// The log does not say.
    None,
    Unknown,
}

impl State {
    fn of(state: &[u8]) -> State {
        match state {
            b"COMPLETED" => State::Completed,
            b"CANCELLED" | b"REVOKED" => State::Cancelled,
            b"FAILED" | b"TIMEOUT" | b"PREEMPTED" | b"NODE_FAIL" | b"OUT_OF_MEMORY" | b"DEADLINE" | b"BOOT_FAIL" => {
                State::Failed
            }
            b"PENDING" | b"RUNNING" | b"SUSPENDED" => State::NotEnded,
            b"REQUEUED" | b"RESIZING" => State::Again,
            b"" => State::None,
            _ => State::Unknown,
        }
    }

    fn status(self) -> i32 {
        match self {
            State::Completed => 1,
            State::Cancelled => CANCELLED,
            State::None => -1,
            _ => 0,
        }
    }
}

/// The limit of a job. None if it is unlimited, that of the partition, or unknown.
fn limit<'a>(text: &'a [u8], raw: &'a [u8]) -> Result<Option<Seconds>, Bad<'a>> {
    if let Some(limit) = clock(text) {
        return Ok(Some(limit));
    }
    let is_none = |text: &[u8]| {
        let words = [&b"UNLIMITED"[..], b"Partition_Limit", b"INVALID", b"Unknown", b"None"];
        text.is_empty() || words.iter().any(|word| text.eq_ignore_ascii_case(word))
    };
    match (is_none(text), is_none(raw)) {
        (false, _) => Err(Bad::value(text, "Timelimit", "a duration such as 1-02:03:04")),
        (true, true) => Ok(None),
        (true, false) => match count(raw, "TimelimitRaw")?.map(|minutes| minutes * MINUTE) {
            Some(limit) if limit > FOREVER => Err(Bad::value(raw, "TimelimitRaw", "a limit in minutes")),
            limit => Ok(limit),
        },
    }
}

fn elapsed(text: &[u8]) -> Result<Option<Seconds>, Bad<'_>> {
    match clock(text) {
        None if !matches!(text, b"" | b"Unknown" | b"INVALID") => {
            Err(Bad::value(text, "Elapsed", "a duration such as 1-02:03:04"))
        }
        elapsed => Ok(elapsed),
    }
}

/// The GPUs of a list such as `cpu=4,gres/gpu=2,gres/gpu:a100=2`: the total, or else the sum of the types.
fn gpus_of_tres(text: &[u8]) -> Option<i64> {
    let mut typed = None;
    for item in text.split(|&byte| byte == b',') {
        let Some(rest) = item.strip_prefix(b"gres/gpu") else { continue };
        match rest {
            [b'=', number @ ..] => return leading_number(number),
            [b':', ..] => {
                let number = rest.iter().position(|&byte| byte == b'=').map(|at| &rest[at + 1..]);
                *typed.get_or_insert(0) += number.and_then(leading_number).unwrap_or(0);
            }
            _ => {}
        }
    }
    typed
}

/// The GPUs per node of a list such as `gpu:tesla:2`.
fn gpus_of_gres(text: &[u8]) -> Option<i64> {
    let gpus = text.split(|&byte| byte == b',').filter(|item| {
        let mut words = item.split(|byte| matches!(byte, b':' | b'/'));
        words.any(|word| word == b"gpu")
    });
    let counts = gpus.map(|item| item.rsplit(|&byte| byte == b':').next().and_then(leading_number).unwrap_or(1));
    Some(counts.sum()).filter(|&sum| sum > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_counted_once() {
        for (text, gpus) in [
            ("billing=12,cpu=12,gres/gpu:a100=4,gres/gpu=4,node=1", Some(4)),
            ("cpu=12,gres/gpu:a100=4,gres/gpu:v100=1", Some(5)),
            ("gres/gpu=2", Some(2)),
            ("cpu=1,gres/gpumem=5", None),
            ("", None),
        ] {
            assert_eq!(gpus_of_tres(text.as_bytes()), gpus, "{text}");
        }
        for (text, gpus) in [
            ("gpu:2", Some(2)),
            ("gpu:tesla:3", Some(3)),
            ("gres:gpu:1", Some(1)),
            ("gpu", Some(1)),
            ("craynetwork:1", None),
        ] {
            assert_eq!(gpus_of_gres(text.as_bytes()), gpus, "{text}");
        }
    }

    #[test]
    fn headers_are_told_from_rows() {
        assert_eq!(
            header(b"JobID|Submit|Start|").map(|(names, by, end)| (names.len(), by, end)),
            Some((3, b'|', true))
        );
        assert_eq!(
            header(b"User;JOBIDRAW;end\r").map(|(names, by, end)| (names.len(), by, end)),
            Some((3, b';', false))
        );
        for line in [&b"123|Submit|Start"[..], b"JobID", b"JobID|Submit|a b", b"; JobID: x", b""] {
            assert!(header(line).is_none(), "{}", line.escape_ascii());
        }
    }
}
