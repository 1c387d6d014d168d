//! The options by which a log becomes a workload, for every command that reads one.

use clap::{Args, ValueEnum};

use super::progress::Progress;
use crate::report::{dropped_in_words, grouped, percent};
use crate::time::humane;
use crate::trace::{
    Cleaning, CleaningReport, Log, MissingEstimate, Overrun, ProcsField, ReadOptions, Source, TraceError, read,
};

#[derive(Debug, Args)]
#[command(next_help_heading = "Log")]
pub struct LogArgs {
    /// Processors of the machine [default: the log's MaxProcs, else MaxNodes]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub procs: Option<u32>,
    /// Which field is a job's processors; the other stands in where it is unknown
    #[arg(long, value_name = "FIELD", value_enum, default_value_t = ProcsFieldArg::Requested)]
    procs_field: ProcsFieldArg,
    /// What a job without an estimate gets: the log's largest, its own runtime, or nothing (it is dropped)
    #[arg(long, value_name = "RULE", value_enum, default_value_t = MissingEstimateArg::Largest)]
    missing_estimate: MissingEstimateArg,
    /// A job that outlives its estimate runs on as recorded, or is ended there
    #[arg(long, value_name = "RULE", value_enum, default_value_t = OverrunArg::Extend)]
    overrun: OverrunArg,
    /// A job wider than the machine is an error, instead of being dropped and counted
    #[arg(long)]
    strict: bool,
    /// Skip and count faulty lines instead of stopping at the first
    #[arg(long)]
    pub skip_bad_lines: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ProcsFieldArg {
    Requested,
    Allocated,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MissingEstimateArg {
    Largest,
    Runtime,
    Drop,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OverrunArg {
    Extend,
    Kill,
}

impl LogArgs {
    /// The rules for runs of which some, or all, replay the log's own schedule.
    pub fn cleaning(&self, some_replay: bool, all_replay: bool) -> Cleaning {
        Cleaning {
            procs: self.procs,
            procs_field: match self.procs_field {
                ProcsFieldArg::Requested => ProcsField::Requested,
                ProcsFieldArg::Allocated => ProcsField::Allocated,
            },
            missing_estimate: match self.missing_estimate {
                MissingEstimateArg::Largest => MissingEstimate::Largest,
                MissingEstimateArg::Runtime => MissingEstimate::Runtime,
                MissingEstimateArg::Drop => MissingEstimate::Drop,
            },
            overrun: match self.overrun {
                OverrunArg::Extend => Overrun::Extend,
                OverrunArg::Kill => Overrun::Kill,
            },
            strict: self.strict,
            need_waits: some_replay,
            keep_wide: all_replay,
        }
    }

    pub fn read(&self, source: &Source, keep_text: bool, quiet: bool) -> Result<Log, TraceError> {
        let progress = Progress::counting("reading", "records", None, quiet);
        let options = ReadOptions { skip_bad_lines: self.skip_bad_lines, keep_text };
        read(source, options, &mut |records| progress.at(records))
    }
}

/// Tells on standard error what was left out of a log or changed. Warnings are told even if notes are not wanted.
pub fn tell_what_changed(log: &Log, cleaning: &CleaningReport, quiet: bool) {
    if let Some(first) = &log.skipped.first {
        let count = grouped(log.skipped.count);
        eprintln!("warning: {}: {count} faulty lines skipped, the first of them {first}", log.name);
    }
    if let Some(dropped) = dropped_in_words(cleaning).filter(|_| !quiet) {
        eprintln!("note: {}: {dropped}", log.name);
    }
    if cleaning.filled > 0 {
        let share = cleaning.filled as f64 / cleaning.jobs() as f64;
        let given = match cleaning.filled_with {
            0 => "their runtime".to_string(),
            seconds => format!("{}, the log's largest or longest", humane(seconds as f64)),
        };
        let text = format!(
            "{}: {} jobs ({}) have no estimate and were given {given} (see --missing-estimate)",
            log.name,
            grouped(cleaning.filled),
            percent(share)
        );
        // Over 1% the estimates are more ours than the users'.
        if share > 0.01 {
            eprintln!("warning: {text}");
        } else if !quiet {
            eprintln!("note: {text}");
        }
    }
    if cleaning.out_of_order > 0 {
        let count = grouped(cleaning.out_of_order);
        eprintln!("warning: {}: {count} jobs were submitted before the job above them: sorted", log.name);
    }
}
