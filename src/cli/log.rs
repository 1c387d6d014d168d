//! The log that a command is about: read with a progress bar, cleaned, and what that changed told.

use super::notes::tell_what_changed;
use super::progress::Progress;
use super::stderr::note;
use crate::experiment::Options;
use crate::trace::{Log, ReadOptions, Source, TraceError, Workload, demo, read};

/// The log that was asked for, or the embedded one, which is told.
pub fn log_or_demo(trace: Option<&str>, quiet: bool) -> Source {
    if trace.is_none() && !quiet {
        note("no --trace was given: this is the log embedded in the program (see --help)");
    }
    trace.map_or_else(demo, Source::from_argument)
}

pub fn read_log(source: &Source, how: ReadOptions, quiet: bool) -> Result<Log, TraceError> {
    let progress = Progress::counting("reading", "records", None, quiet);
    read(source, how, &mut |records| progress.at(records))
}

/// The jobs of a log as the options want them.
pub fn read_workload(source: &Source, options: &Options, quiet: bool) -> Result<Workload, TraceError> {
    let mut log = read_log(source, options.read_options(), quiet)?;
    let workload = options.clean_out(&mut log)?;
    tell_what_changed(&log, &workload.cleaning, quiet);
    options.shape(workload)
}
