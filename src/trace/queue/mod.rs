//! The present queue of a site: the jobs that run, wait or are held now, read from a file. [`read_queue`] says which commands
//! make such files.

mod array;
mod collect;
mod json;
mod squeue;
mod stage;
mod swf;

use std::sync::Arc;

use super::accounting::Unit;
use super::clean::ProcsField;
use super::error::TraceError;
use super::format::format_of_line;
use super::header::Header;
use super::lines::{RawLines, shorten};
use super::read::Skipped;
use super::record::is_blank_line;
use super::source::Source;
use crate::time::{Seconds, Time};
use collect::Collector;

/// The command that makes the text form, for messages.
const SQUEUE: &str = "TZ=UTC squeue -r -a --format='%i|%u|%a|%P|%q|%C|%l|%M|%T|%V|%S|%r|%j'";

/// The jobs of a site at one moment.
#[derive(Clone, Debug)]
pub struct PresentQueue {
    /// The name of its source in error messages.
    pub name: String,
    /// The format of the file.
    pub format: QueueFormat,
    /// The jobs that run, wait or are held, in the order of the file.
    pub jobs: Vec<PresentJob>,
    /// The number of rows, and why some of them are not jobs of the queue.
    pub report: QueueReport,
    /// Faulty lines that were skipped; none unless [`QueueReading::skip_bad_lines`] is set.
    pub skipped: Skipped,
    /// The latest time that the file shows. None if it has no jobs.
    ///
    /// It is the latest submission, or the latest start plus the time that the job has run since, if that is later. JSON does
    /// not have the time that a job has run, but may have the times of Slurm's last update and of its last look at each job.
    pub now: Option<Time>,
    /// The header of an SWF log: its `UnixStartTime` says when its time 0 is. Empty for Slurm.
    pub header: Header,
}

/// A job that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresentJob {
    /// The id as Slurm prints it: `123`, `123_4` for a task of an array, `123+0` for a part of a heterogeneous job. Of SWF the
    /// job number.
    pub name: String,
    /// Whether it runs, waits or is held.
    pub stage: PresentStage,
    /// Whether it is a task between the first and the last of an array that the file has in one row, with more than 100 tasks. The
    /// two are enough for an answer.
    pub is_inner_task: bool,
    /// When it was submitted: Unix seconds, of SWF seconds of the log.
    pub submit: Time,
    /// Since when nothing but the scheduler holds it, if the file says so.
    pub eligible: Option<Time>,
    /// When Slurm expects a waiting or held job to start, if it has computed that.
    pub expected_start: Option<Time>,
    /// The processors that it has or needs, in the unit that was asked for.
    pub procs: u32,
    /// Its time limit. None if it has no limit, or if the limit is not known.
    pub estimate: Option<Seconds>,
    /// The user. As all names here: None if it is unknown, and of SWF the number as text.
    pub user: Option<Arc<str>>,
    /// The account, of SWF the group.
    pub group: Option<Arc<str>>,
    /// The job name, of SWF the executable.
    pub executable: Option<Arc<str>>,
    /// The quality of service, of SWF the queue.
    pub queue: Option<Arc<str>>,
    /// The partition. A job that waits for one of several partitions has a list of them: `main,long`.
    pub partition: Option<Arc<str>>,
}

/// What a job of the queue does now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PresentStage {
    /// It has its processors.
    Running {
        /// When it started.
        start: Time,
    },
    /// It waits for processors.
    Waiting,
    /// It would not start even if processors were free: it is held, or waits for another job, a date or a limit.
    Held {
        /// Slurm's reason, or its state if that is the reason.
        reason: Arc<str>,
    },
}

/// The format of a file with a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueFormat {
    /// The text of `squeue`.
    Squeue,
    /// `squeue --json`.
    SqueueJson,
    /// The Standard Workload Format.
    Swf,
}

impl QueueFormat {
    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            QueueFormat::Squeue => "squeue",
            QueueFormat::SqueueJson => "squeue --json",
            QueueFormat::Swf => "SWF",
        }
    }
}

/// How a queue is read. It should be read as the log beside it.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueReading {
    /// What a processor is. Only for Slurm; the text needs the column NODES (`%D`) for nodes, and only JSON says the GPUs.
    pub unit: Unit,
    /// The field with the processors of a job. Only for SWF.
    pub procs_field: ProcsField,
    /// Skip and count faulty lines instead of stopping at the first. JSON has no lines that could be skipped.
    pub skip_bad_lines: bool,
}

/// What reading did to the rows of a file: the causes for which a row is not a job of the queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueReport {
    /// Rows, faulty ones not included. A row can be a whole array.
    pub rows: u64,
    /// Jobs that have ended.
    pub ended: u64,
    /// Jobs that have just ended, while their nodes are cleaned up or files are copied (COMPLETING, STAGE_OUT).
    pub ending: u64,
    /// Records of SWF with a runtime of -1 that were cancelled before they started.
    pub cancelled: u64,
    /// Records of SWF that would still run more than a day after their estimate: their runtime is missing for another reason.
    pub overdue: u64,
    /// Rows of a job that an earlier row describes.
    pub repeated: u64,
    /// Jobs without a number of processors above 0.
    pub without_procs: u64,
    /// Jobs without GPUs where GPUs are the unit.
    pub without_gpus: u64,
    /// Records of SWF with a negative submit time.
    pub without_submit: u64,
    /// Running jobs without a start time.
    pub without_start: u64,
    /// Jobs in a state that is not known.
    pub unknown_states: u64,
    /// The first of these states.
    pub first_unknown_state: Option<String>,
    /// Arrays whose list of tasks was shortened by Slurm, so that tasks are missing here. `squeue -r` prints all of them, and
    /// `squeue --json` does if SLURM_BITSTR_LEN=0 is set.
    pub cut_arrays: u64,
    /// The id of the first of these arrays.
    pub first_cut_array: Option<String>,
    /// Tasks of arrays beyond the first million of the file, which are left out.
    pub tasks_left_out: u64,
}

impl QueueReport {
    /// Rows that are not jobs of the queue although they may be: they ran or waited, but something needed is not known.
    pub fn unusable(&self) -> u64 {
        self.without_procs + self.without_submit + self.without_start + self.unknown_states
    }
}

/// Reads the present queue of a site from a file: the jobs that run, wait or are held now.
///
/// Three kinds of files are read. The content tells which one it is. Each may be plain, gzip, zstd or standard input.
///
/// - The text of Slurm's `squeue`, best made with this command. Its times have no zone: they are taken as UTC.
///
///   ```text
///   TZ=UTC squeue -r -a --format='%i|%u|%a|%P|%q|%C|%l|%M|%T|%V|%S|%r|%j' > queue.txt
///   ```
///
///   With a header the columns may have any order, and there may be more of them. Without one (`-h`) they are as above. If the
///   job name is the last column, it may contain the delimiter and line ends.
/// - `squeue --json`, of any version of Slurm that has it (21.08 and later). It does not list the tasks of a waiting array one by
///   one, and shortens long lists of tasks unless it is asked for all of them:
///
///   ```text
///   SLURM_BITSTR_LEN=0 squeue -a --json > queue.json
///   ```
///
/// - SWF. A record with a runtime of -1 is a job of the queue: it runs if its wait is known, and waits if its wait is -1. All
///   other records are jobs that have ended, and so are records that were cancelled before they started, and records whose
///   estimate ended more than a day ago. So a log that was cut at a moment is a history and a queue in one.
///
/// The parts of a heterogeneous job of Slurm are jobs of their own, although they start together.
///
/// ```
/// use shadowtime::trace::{PresentStage, QueueReading, Source, read_queue};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = "JOBID|CPUS|TIME_LIMIT|TIME|STATE|SUBMIT_TIME|START_TIME|REASON\n\
///             7|64|2:00:00|30:00|RUNNING|2026-01-31T11:00:00|2026-01-31T12:00:00|None\n\
///             8_[1-3]|16|30:00|0:00|PENDING|2026-01-31T12:10:00|N/A|Priority\n";
/// let source = Source::Bytes { name: "queue", bytes: text.as_bytes().into() };
/// let queue = read_queue(&source, &QueueReading::default())?;
/// let waiting: Vec<_> = queue.jobs.iter().filter(|job| job.stage == PresentStage::Waiting).collect();
/// assert_eq!((waiting.len(), waiting[2].name.as_str(), waiting[2].procs), (3, "8_3", 16));
/// // The running job started half an hour ago, at 12:00.
/// assert_eq!(queue.now, Some(1_769_862_600));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If the file cannot be read, is in none of the formats, does not have what is needed, or has a faulty line and
/// [`QueueReading::skip_bad_lines`] is not set.
pub fn read_queue(source: &Source, reading: &QueueReading) -> Result<PresentQueue, TraceError> {
    let mut raw = RawLines::new(source.open()?, source.name());
    let mut collector = Collector::new(source.name(), *reading);
    if raw.head().is_empty() {
        // Either a read failed before the first byte, or there is none.
        raw.cut()?;
    }
    let format = detect(raw.head());
    let format = format.map_err(|why| TraceError::Format { name: source.name(), why })?;
    let header = match format {
        QueueFormat::Squeue => squeue::read(&mut raw, &mut collector).map(|()| Header::default())?,
        QueueFormat::SqueueJson => json::read(raw, &mut collector).map(|()| Header::default())?,
        QueueFormat::Swf => swf::read(raw, &mut collector)?,
    };
    Ok(collector.finish(format, header))
}

const EMPTY: &str = "it is empty; if the queue is empty, export it with its header, without the option -h of squeue";

/// Tells the format by the first bytes.
fn detect(head: &[u8]) -> Result<QueueFormat, String> {
    let first = head.split(|&byte| byte == b'\n').find(|line| !is_blank_line(line));
    let Some(first) = first.map(<[u8]>::trim_ascii) else { return Err(EMPTY.to_string()) };
    if first.starts_with(b"{") || first.starts_with(b"[") {
        return Ok(QueueFormat::SqueueJson);
    }
    if squeue::is_header(first) || squeue::is_row(first) {
        return Ok(QueueFormat::Squeue);
    }
    let hint = match format_of_line(first) {
        Some("swf") => return Ok(QueueFormat::Swf),
        Some(log) => format!("; it looks like a log in the format {log}, which has jobs that have ended"),
        None if first.starts_with(b"%YAML") => "; it looks like YAML: use --json".to_string(),
        None if squeue::is_table(first) => "; it looks like squeue's table, which lacks what is needed".to_string(),
        None => String::new(),
    };
    if memchr::memchr(0, head).is_some() {
        return Err(format!("it is not text, so it is not a queue; it begins with \"{}\"", shorten(first)));
    }
    Err(format!(
        "its first line, \"{}\", is not of a queue{hint}: export it with `{SQUEUE}`, or with `squeue --json`",
        shorten(first)
    ))
}
