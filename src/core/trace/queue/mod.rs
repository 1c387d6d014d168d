//! The present queue of a site: the jobs that run, wait or are held now, read from a file. [`read_queue`] says which commands
//! make such files.

mod array;
mod collect;
mod job;
pub mod present_rows;
mod stage;

pub use array::{SlurmId, SlurmTasks};
pub use collect::PresentRow;
pub use job::{PresentJob, PresentStage};
pub use stage::SlurmState;

use super::clean::ProcsField;
use super::error::TraceError;
use super::header::Header;
use super::log::{ReadOptions, Skipped};
use super::read::open;
use super::rows::{Collector, LogReading, SourceReport, Unit};
use super::source::Source;
use crate::time::Time;

/// The jobs of a site at one moment.
#[derive(Clone, Debug)]
pub struct PresentQueue {
    /// The name of its source in error messages.
    pub name: String,
    /// The jobs that run, wait or are held, in the order of the file.
    pub jobs: Vec<PresentJob>,
    /// The format of the file, the number of its rows, and why some of them are not jobs of the queue.
    pub report: SourceReport,
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

/// How a queue is read. It should be read as the log beside it.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueReading {
    /// What a processor is. Only for Slurm; the text needs the column NODES (`%D`) for nodes, and only JSON says the devices.
    pub unit: Unit,
    /// The field with the processors of a job. Only for SWF.
    pub procs_field: ProcsField,
    /// Skip and count faulty lines instead of stopping at the first. JSON has no lines that could be skipped.
    pub skip_bad_lines: bool,
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
/// # extern crate shadowtime_core as shadowtime;
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
    let QueueReading { unit, procs_field, skip_bad_lines } = *reading;
    let reading = LogReading { unit, ..LogReading::default() };
    let options = ReadOptions { skip_bad_lines, reading, ..ReadOptions::default() };
    let (format, mut raw) = open(source, &options, true)?;
    let mut progress = |_| ();
    let mut collector = Collector::new(source, format, &options, None, &mut progress);
    collector.read(&mut raw)?;
    Ok(collector.into_queue(procs_field))
}
