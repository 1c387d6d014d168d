//! The text of `squeue`: columns with a delimiter between them.

use super::FormatEntry;
use super::slurm::duration;
use crate::trace::error::TraceError;
use crate::trace::lines::RawLines;
use crate::trace::queue::{PresentRow, SlurmId, SlurmState};
use crate::trace::requests::SlurmAsked;
use crate::trace::rows::{Bad, Collector, JobInRow, TableColumns, Unit, count, first_line, iso_time, read_table};

pub const FORMAT: FormatEntry = FormatEntry {
    name: "squeue",
    about: "Slurm: the text of squeue with a delimiter",
    is_line: |line| header(line).is_some() || is_row(line),
    hint: |line| is_table(line).then_some("it looks like squeue's table, which lacks what is needed"),
    read,
    ..FormatEntry::QUEUE
};

/// The command that makes such a file, for messages.
pub const COMMAND: &str = "TZ=UTC squeue -r -a --format='%i|%u|%a|%P|%q|%C|%l|%M|%T|%V|%S|%r|%j'";

/// The columns of this command, for a file without a header.
const WITHOUT_HEADER: &str =
    "JOBID|USER|ACCOUNT|PARTITION|QOS|CPUS|TIME_LIMIT|TIME|STATE|SUBMIT_TIME|START_TIME|REASON|NAME";

/// The columns that are read, in the order in which [`row`] gets them.
const COLUMNS: &str = "JOBID USER ACCOUNT|GROUP NAME QOS PARTITION CPUS NODES TIME_LIMIT TIME STATE|ST SUBMIT_TIME \
                       ELIGIBLE_TIME START_TIME REASON|NODELIST(REASON) MIN_MEMORY TRES_PER_NODE|GRES FEATURES NODELIST";
const COUNT: usize = 19;

/// The columns that may contain the delimiter.
const FREE_TEXT: [&str; 4] = ["NAME", "COMMENT", "COMMAND", "WORK_DIR"];

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

/// Whether a line is a row without a header: a job id first, and a state where it should be.
fn is_row(line: &[u8]) -> bool {
    let mut fields = line.split(|&byte| byte == b'|').map(<[u8]>::trim_ascii);
    let is_job = fields.next().is_some_and(|id| SlurmId::parse(id).is_some());
    is_job && fields.nth(7).is_some_and(|state| SlurmState::of(&[state]) != SlurmState::Unknown) && fields.count() >= 4
}

/// Whether a line is the header of the table that `squeue` prints without `--format`.
fn is_table(line: &[u8]) -> bool {
    let names: Vec<_> = line.split(u8::is_ascii_whitespace).collect();
    names.contains(&&b"JOBID"[..]) && names.len() > 2
}

/// The columns of a file with these names.
///
/// # Errors
/// If one is missing that is needed.
fn columns(names: Vec<String>, delimiter: u8, unit: Unit) -> Result<TableColumns<COUNT>, String> {
    let columns = TableColumns::new(names, COLUMNS, delimiter, false);
    let columns = columns.with_text(|name| FREE_TEXT.contains(&name), |_| false, &["JOBID"], "SUBMIT_TIME");
    let procs: (_, &[&str]) = match unit {
        Unit::Cpus => ("CPUS (%C)", &["CPUS"]),
        Unit::Nodes => ("NODES (%D), for unit=nodes", &["NODES"]),
        _ => return Err(format!("it does not say the {} of jobs: export it with `squeue --json`", unit.name())),
    };
    let needed = [
        procs,
        ("TIME_LIMIT (%l)", &["TIME_LIMIT"]),
        ("STATE (%T)", &["STATE", "ST"]),
        ("SUBMIT_TIME (%V)", &["SUBMIT_TIME"]),
        ("START_TIME (%S)", &["START_TIME"]),
        ("REASON (%r)", &["REASON", "NODELIST(REASON)"]),
    ];
    match columns.lacks(&needed) {
        None => Ok(columns.with_long_text()),
        Some(lacking) => Err(format!("it lacks the column {lacking}: export it with `{COMMAND}`")),
    }
}

fn read(raw: &mut RawLines, collector: &mut Collector<'_>) -> Result<(), TraceError> {
    let (first, unit) = (first_line(raw), collector.options.reading.unit);
    let header = header(&first);
    let line = header.is_some().then_some(&first[..]);
    let (names, delimiter) = header.unwrap_or_else(|| (WITHOUT_HEADER.split('|').map(str::to_string).collect(), b'|'));
    let columns = columns(names, delimiter, unit).map_err(|why| TraceError::unusable(raw.name(), why))?;
    read_table(raw, collector, columns, line, |fields, _, collector| row(fields, unit, collector))
}

fn row<'r>(fields: [&'r [u8]; COUNT], unit: Unit, collector: &mut Collector<'_>) -> Result<(), Bad<'r>> {
    // Columns may be padded with blanks.
    let [id, user, account, name, qos, partition, cpus, nodes, limit, times @ ..] = fields.map(<[u8]>::trim_ascii);
    let [elapsed, state, submit, eligible, start, reason, memory, gres, features, node_list] = times;
    let (procs, column) = if unit == Unit::Nodes { (nodes, "NODES") } else { (cpus, "CPUS") };
    let wrong_id = Bad::value(id, "JOBID", "is not a job id such as 123, 123_4, 123+0 or 123_[1-5,7]");
    let known = |text: &'r [u8]| if matches!(text, b"(null)" | b"N/A") { b"" } else { text };
    // The column does not say whether it is for each node or for each CPU.
    let per_node = [memory, b"n"].concat();
    let asked = SlurmAsked {
        req_cpus: cpus,
        req_mem: if memory.is_empty() { b"" } else { &per_node },
        req_gres: known(gres),
        nnodes: nodes,
        partition: known(partition),
        qos: known(qos),
        account: known(account),
        constraints: known(features),
        ..SlurmAsked::default()
    };
    let wrong_memory = Bad::value(memory, "MIN_MEMORY", "is not a size of memory such as 4G");
    let row = PresentRow {
        request: asked.request().map_err(|_| wrong_memory)?,
        nodes: known(node_list),
        id: SlurmId::parse(id).ok_or(wrong_id)?,
        state: SlurmState::of(&[state]),
        // `%R` has the reason in parentheses.
        reason: reason.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")")).unwrap_or(reason),
        on_hold: false,
        job: JobInRow {
            submit: iso_time(submit, "SUBMIT_TIME")?.ok_or(Bad::missing(submit, "SUBMIT_TIME"))?,
            eligible: iso_time(eligible, "ELIGIBLE_TIME")?,
            start: iso_time(start, "START_TIME")?,
            elapsed: duration(elapsed, "TIME")?,
            requested: count(procs, column)?.unwrap_or(0),
            estimate: duration(limit, "TIME_LIMIT")?,
            names: [user, account, name, qos, partition],
            state,
            ..JobInRow::default()
        },
    };
    collector.present_job(&row);
    Ok(())
}
