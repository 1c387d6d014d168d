//! Reads and cleans the log of a command, with a progress bar and with notes on what was changed.

use super::failure::UsageError;
use super::notes::report_cleaning;
use super::progress::Progress;
use super::stderr::note;
use crate::experiment::Options;
use crate::report::{Output, write_names};
use crate::trace::{Log, ReadOptions, Source, TraceError, Workload, demo, read};

/// The log of `--trace`, or the embedded log, with a note.
pub fn log_or_demo(trace: Option<&str>, quiet: bool) -> Source {
    if trace.is_none() && !quiet {
        note("no --trace was given: using the log embedded in the program (see --help)");
    }
    trace.map_or_else(demo, Source::from_argument)
}

pub fn read_log(source: &Source, how: ReadOptions, quiet: bool) -> Result<Log, TraceError> {
    let progress = Progress::counting("reading", "records", None, quiet);
    read(source, how, &mut |records| progress.set(records))
}

/// Writes the names of a log. An SWF log has none.
pub fn write_names_of(log: &Log, out: Output) -> anyhow::Result<()> {
    if log.source.format == "swf" {
        return Err(UsageError(format!("{} is an SWF log: it has no names for --names-out", log.name)).into());
    }
    Ok(out.fill(|out| write_names(out, &log.names))?)
}

/// Reads a log, then cleans and shapes its jobs by the options.
pub fn read_workload(source: &Source, options: &Options, quiet: bool) -> Result<Workload, TraceError> {
    let mut log = read_log(source, options.read_options(), quiet)?;
    let workload = options.clean_out(&mut log)?;
    report_cleaning(&log, &workload.cleaning, quiet);
    options.shape(workload)
}
