//! Slurm: what `sacct -P` or `sacct -p` prints.

use super::slurm::{count_in, count_in_gres, duration};
use super::{FormatEntry, keys};
use crate::time::{FOREVER, MINUTE, Seconds};
use crate::trace::conditions::array_limit_in;
use crate::trace::error::TraceError;
use crate::trace::lines::RawLines;
use crate::trace::record::CANCELLED;
use crate::trace::requests::{SlurmAsked, SubmitLine};
use crate::trace::rows::{
    Bad, Collector, JobInRow, LogReading, RowCause, TableColumns, Unit, count, count_delimiters, first_line, iso_time,
    leading_number, read_table,
};

pub const FORMAT: FormatEntry = FormatEntry {
    name: "sacct",
    about: "Slurm: sacct -P or -p, any delimiter; with a header, or with the key columns, or the 26 columns of Open XDMoD's export",
    is_line: |line| header(line).is_some() || is_xdmod_row(line),
    hint,
    read,
    keys: &[keys::UNIT, keys::SUBMIT_TIME, keys::PARTITION_LIMIT, keys::COLUMNS, keys::CLUSTER],
    ..FormatEntry::ACCOUNTING
};

/// The columns of Open XDMoD's export, which has no header.
const XDMOD: &str = "jobid,jobidraw,cluster,partition,qos,account,group,gid,user,uid,submit,eligible,start,end,elapsed,\
                     exitcode,state,nnodes,ncpus,reqcpus,reqmem,reqtres,alloctres,timelimit,nodelist,jobname";

/// The columns that are read, in the order in which [`row`] gets them.
const COLUMNS: &str = "jobid jobidraw submit start end cluster eligible elapsed elapsedraw timelimit timelimitraw user|uid \
                       account group jobname partition qos state nodelist alloccpus|ncpus ncpus reqcpus \
                       nnodes|allocnodes reqnodes alloctres reqtres reqgres \
                       reqmem constraints submitline reservation";
const COUNT: usize = 31;

/// The columns that may hold any delimiter.
const FREE_TEXT: [&str; 7] = ["jobname", "comment", "admincomment", "systemcomment", "submitline", "workdir", "wckey"];

/// What constraints are written with, beside the names of features.
const IN_CONSTRAINTS: &[u8] = b"|&,*[]()!";

/// Parts of the names of the columns whose lists hold commas.
const LISTS: [&str; 6] = ["nodelist", "tres", "gres", "partition", "licenses", "flags"];

/// The delimiters that are looked for in a file without a header.
const DELIMITERS: &[u8] = b"|;\t^~!,";

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

/// Whether a line is a row of Open XDMoD's export.
fn is_xdmod_row(line: &[u8]) -> bool {
    row_delimiter(line, 26).is_some_and(|delimiter| {
        let time = line.split(|&byte| byte == delimiter).nth(10);
        time.is_some_and(|time| matches!(iso_time(time, "Submit"), Ok(Some(_))))
    })
}

/// The delimiter of a row with at least this many columns.
fn row_delimiter(line: &[u8], columns: usize) -> Option<u8> {
    DELIMITERS.iter().copied().find(|&delimiter| count_delimiters(line, delimiter) + 1 >= columns)
}

fn hint(line: &[u8]) -> Option<&'static str> {
    if memchr::memmem::find(line, b"JobID").is_some() {
        return Some("if it is made by sacct, export it with `sacct -P` (see `sim help logs`)");
    }
    let is_like_row = line.first().is_some_and(u8::is_ascii_digit) && memchr::memchr_iter(b'|', line).count() >= 3;
    is_like_row
        .then_some("if it is an sacct log without a header, name its columns with --log-format sacct:columns=\"...\" (see `sim help logs`)")
}

/// The columns of a file with this first line, and whether that line is a header.
///
/// # Errors
/// If columns are named that the header names, or one is missing that is needed.
fn columns(first: &[u8], reading: &LogReading) -> Result<(TableColumns<COUNT>, bool), String> {
    let header = header(first);
    if header.is_some() && reading.columns.is_some() {
        return Err("it has a header with the names of its columns: leave out the key columns".to_string());
    }
    let has_header = header.is_some();
    let (names, delimiter, trailing) = header.unwrap_or_else(|| {
        let names: Vec<String> = match &reading.columns {
            Some(names) => names.iter().map(|name| name.to_ascii_lowercase()).collect(),
            None => XDMOD.split(',').map(str::to_string).collect(),
        };
        let delimiter = row_delimiter(first, names.len()).unwrap_or(b'|');
        let trailing = first.last() == Some(&delimiter) && count_delimiters(first, delimiter) >= names.len();
        (names, delimiter, trailing)
    });
    let may_hold_delimiter = |name: &str| match delimiter {
        b',' => LISTS.iter().any(|list| name.contains(list)),
        // `CANCELLED by 1000` and `None assigned`.
        b' ' => matches!(name, "state" | "nodelist"),
        _ => false,
    };
    let is_text =
        |name: &str| FREE_TEXT.contains(&name) || (name == "constraints" && IN_CONSTRAINTS.contains(&delimiter));
    let columns = TableColumns::new(names, COLUMNS, delimiter, trailing).with_text(
        is_text,
        may_hold_delimiter,
        &["jobid", "jobidraw"],
        "submit",
    );
    let of_unit = format!("AllocTRES (or ReqTRES or ReqGRES), for unit={}", reading.unit.name());
    let procs: (_, &[&str]) = match reading.unit {
        Unit::Cpus => ("NCPUS (or AllocCPUS or ReqCPUS)", &["alloccpus", "ncpus", "reqcpus"]),
        Unit::Nodes => ("NNodes, for unit=nodes", &["nnodes", "allocnodes"]),
        _ => (&of_unit, &["alloctres", "reqtres", "reqgres"]),
    };
    let id: (_, &[&str]) = ("JobIDRaw (or JobID)", &["jobid", "jobidraw"]);
    let needed = [id, ("Submit", &["submit"]), ("Start", &["start"]), ("End", &["end"]), procs];
    if let Some(lacking) = columns.lacks(&needed) {
        return Err(format!(
            "an sacct log needs the column {lacking}; see `sim help logs` for the command that exports it"
        ));
    }
    if reading.cluster.is_some() && !columns.has("cluster") {
        return Err("it has no column Cluster: leave out the key cluster".to_string());
    }
    Ok((columns, has_header))
}

fn read(raw: &mut RawLines, collector: &mut Collector<'_>) -> Result<(), TraceError> {
    let (first, reading) = (first_line(raw), &collector.options.reading);
    let failed = |why| TraceError::unusable(raw.name(), why);
    let (columns, has_header) = columns(&first, reading).map_err(failed)?;
    let header = has_header.then_some(&first[..]);
    read_table(raw, collector, columns, header, |fields, line, collector| row(fields, line, reading, collector))
}

fn row<'r>(
    fields: [&'r [u8]; COUNT],
    line: &'r [u8],
    reading: &LogReading,
    collector: &mut Collector<'_>,
) -> Result<(), Bad<'r>> {
    let [fields @ .., req_mem, constraints, submit_line, reservation] = fields;
    let [job_id, raw_id, submit, start, end, cluster, eligible, elapsed, elapsed_raw, limit, limit_raw, ..] = fields;
    let [.., user, account, group, job_name, partition, qos, state, nodes, _, _, _, _, _, _, _, _] = fields;
    let [.., alloc_cpus, cpus, req_cpus, node_count, req_nodes, alloc_tres, req_tres, req_gres] = fields;
    let has = |byte: u8| memchr::memchr(byte, job_id).or_else(|| memchr::memchr(byte, raw_id)).is_some();
    if has(b'.') {
        return collector.drop_row(RowCause::Step);
    }
    if has(b'[') {
        // Tasks that never started; the range may have the limit of the array: `123_[4-9%2]`.
        if let Some((array, limit)) = array_of(job_id).zip(array_limit_in(job_id)) {
            collector.conditions.limit(array, limit);
        }
        return collector.drop_row(RowCause::ArrayRange);
    }
    let id = if raw_id.is_empty() { job_id } else { raw_id };
    if !id.first().is_some_and(u8::is_ascii_digit) {
        return Err(Bad::value(id, if raw_id.is_empty() { "JobID" } else { "JobIDRaw" }, "is not a job number"));
    }
    if !collector.is_own_cluster(cluster) {
        return collector.drop_row(RowCause::OtherCluster);
    }

    let (start, end) = (iso_time(start, "Start")?, iso_time(end, "End")?);
    // `CANCELLED by 1234`, and `CANCELLED+` where the column was too narrow.
    let state = state.split(|byte| matches!(byte, b' ' | b'+')).next().unwrap_or(state);
    let meaning = State::of(state);
    if meaning == State::NotEnded || (meaning == State::Again && (start.is_none() || end.is_none())) {
        return collector.drop_row(RowCause::NotEnded);
    }
    // Slurm fills in a start, processors and even AllocTRES for jobs that never started.
    let placed = match nodes {
        b"None assigned" => false,
        b"" => !(meaning == State::Cancelled && start == end),
        _ => true,
    };

    let (allocated, requested) = match reading.unit {
        Unit::Cpus => {
            let allocated = match count(alloc_cpus, "AllocCPUS")? {
                Some(cpus) if cpus > 0 => cpus,
                _ => count(cpus, "NCPUS")?.unwrap_or(-1),
            };
            (allocated, count(req_cpus, "ReqCPUS")?.unwrap_or(-1))
        }
        Unit::Nodes => (count(node_count, "NNodes")?.unwrap_or(-1), leading_number(req_nodes).unwrap_or(-1)),
        kind => {
            let nodes = leading_number(node_count).unwrap_or(1).max(1);
            let requested = count_in(req_tres, kind).or_else(|| Some(count_in_gres(req_gres, kind)? * nodes));
            let devices = (count_in(alloc_tres, kind).unwrap_or(-1), requested.unwrap_or(-1));
            if devices.0 <= 0 && devices.1 <= 0 {
                return collector.drop_without_device(kind);
            }
            devices
        }
    };

    let estimate = time_limit(limit, limit_raw)?.or_else(|| collector.limit_of_partition(partition));
    let elapsed = match elapsed_raw {
        b"" => duration(elapsed, "Elapsed")?,
        raw => Some(count(raw, "ElapsedRaw")?.unwrap_or(0)).filter(|&elapsed| elapsed >= 0),
    };
    let submit_line = SubmitLine::of(submit_line);
    let reservation = if matches!(reservation.trim_ascii(), b"None" | b"Unknown") { b"" } else { reservation };
    let asked = SlurmAsked {
        req_tres,
        req_cpus,
        alloc_cpus: if alloc_cpus.is_empty() { cpus } else { alloc_cpus },
        req_mem,
        req_gres,
        req_nodes,
        nnodes: node_count,
        partition,
        qos,
        account,
        constraints,
        reservation,
        submit_line,
    };
    let array = array_of(job_id);
    if let Some((array, limit)) = array.zip(array_limit_in(submit_line.array)) {
        // The limit can be changed later; that of the first row counts.
        collector.conditions.limit(array, limit);
    }
    let job = JobInRow {
        id,
        array,
        submit: iso_time(submit, "Submit")?.ok_or(Bad::missing(submit, "Submit"))?,
        eligible: iso_time(eligible, "Eligible")?,
        start: start.filter(|_| placed),
        end,
        elapsed,
        allocated,
        requested,
        estimate,
        names: [user, if account.is_empty() { group } else { account }, job_name, qos, partition],
        status: meaning.status(),
        state,
        is_unknown_state: meaning == State::Unknown,
        request: asked.number(&mut collector.requests)?,
        ..JobInRow::default()
    };
    collector.is_reserved = !reservation.trim_ascii().is_empty();
    collector.job(line, &job)
}

/// The array of a task `123_4` or of tasks `123_[4-9]`.
fn array_of(job_id: &[u8]) -> Option<&[u8]> {
    memchr::memchr(b'_', job_id).map(|at| &job_id[..at]).filter(|array| !array.is_empty())
}

/// The limit of a job. None if it is unlimited, that of the partition, or unknown.
fn time_limit<'a>(text: &'a [u8], raw: &'a [u8]) -> Result<Option<Seconds>, Bad<'a>> {
    if let Some(limit) = duration(text, "Timelimit")? {
        return Ok(Some(limit));
    }
    // In minutes, or a word as for `Timelimit`.
    if duration(raw, "TimelimitRaw") == Ok(None) {
        return Ok(None);
    }
    match count(raw, "TimelimitRaw")?.map(|minutes| minutes * MINUTE) {
        Some(limit) if limit > FOREVER => Err(Bad::value(raw, "TimelimitRaw", "is not a limit in minutes")),
        limit => Ok(limit),
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

#[cfg(test)]
mod tests {
    use super::*;

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
