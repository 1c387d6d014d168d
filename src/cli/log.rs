//! Reads and cleans the log of a command, with a progress bar and with notes on what was changed.

use clap::Args;

use super::failure::refuse;
use super::notes::{
    report_cleaning, report_feedback, report_missing_predictions, report_requests, warn_of_partition_map,
};
use super::places::OptionFile;
use super::progress::Progress;
use super::stderr::note;
use crate::experiment::Options;
use crate::report::{Output, write_names};
use crate::trace::{Log, ReadOptions, Source, TraceError, Workload, demo, read};

/// The log that a command reads: `sim wait ctc.swf` and `sim wait --trace ctc.swf` are the same.
#[derive(Clone, Debug, Args)]
pub struct LogArgs {
    /// The log, plain, .gz or .zst; - for standard input [default: the embedded log]
    #[arg(value_name = "LOG", conflicts_with = "trace", display_order = 0)]
    log: Option<String>,
    /// The same as LOG
    #[arg(long, value_name = "FILE", display_order = 0)]
    trace: Option<String>,
}

impl LogArgs {
    /// The log that was given, in either way.
    pub fn given(&self) -> Option<&str> {
        self.log.as_deref().or(self.trace.as_deref())
    }

    /// The log with the word for it in messages, for the check that no output overwrites it.
    pub fn files(&self) -> Vec<OptionFile<'_>> {
        let log = self.log.as_deref().map(|log| ("LOG", log));
        log.or(self.trace.as_deref().map(|trace| ("--trace", trace))).into_iter().collect()
    }

    /// The log that was given, or the embedded log, with a note.
    pub fn source(&self) -> Source {
        if self.given().is_none() {
            note("no log was given: using the log embedded in the program (see --help)");
        }
        self.source_without_note()
    }

    /// As [`LogArgs::source`], without a note: for commands whose result names the log.
    pub fn source_without_note(&self) -> Source {
        self.given().map_or_else(demo, Source::from_argument)
    }
}

pub fn read_log(source: &Source, how: ReadOptions) -> Result<Log, TraceError> {
    let progress = Progress::counting("reading", "records", None);
    read(source, how, &mut |records| progress.set(records))
}

/// Writes the names of a log. An SWF log has none.
pub fn write_names_of(log: &Log, out: Output) -> anyhow::Result<()> {
    if log.source.format == "swf" {
        return refuse(format!("{} is an SWF log: it has no names for --names-out", log.name));
    }
    Ok(out.fill(|out| write_names(out, log))?)
}

/// Reads a log, then cleans and shapes its jobs by the options.
pub fn read_workload(source: &Source, options: &Options) -> Result<Workload, TraceError> {
    let (workload, log) = read_and_clean(source, options)?;
    report_cleaning(&log, &workload);
    report_requests(&log.name, &workload, options.reading.unit);
    report_missing_predictions(&log.name, &workload, options.predictors());
    let workload = options.shape(workload)?;
    report_feedback(&log.name, &workload);
    Ok(workload)
}

/// Reads a log and cleans its jobs by the options. Its records are taken out of it; nothing is reported.
pub fn read_and_clean(source: &Source, options: &Options) -> Result<(Workload, Log), TraceError> {
    let mut log = read_log(source, options.read_options())?;
    warn_of_partition_map(&log, &options.partition_map);
    let workload = options.clean_out(&mut log)?;
    Ok((workload, log))
}
