//! The main command: one log under one or several schedulers and predictors.

mod files;
pub(super) mod runs;

use std::io::Write;
use std::time::Instant;

use clap::{ArgMatches, Args, Command};

use super::failure::UsageError;
use super::log::{LogArgs, read_log, write_names_of};
use super::notes::report_cleaning;
use super::options::{self, SettingList};
use super::output_options::{GroupOptions, OutputOptions};
use super::slurm_conf::{self, SLURM_CONF};
use super::stderr::note;
use crate::experiment::Section::{Engine, Estimates, Log, Metrics, Reading, Run, Shape};
use crate::experiment::{Setting, Settings};
use crate::report::{Cell, counted, write_breakdown, write_comparison};
use crate::time::{Seconds, parse_duration};
use crate::trace::ReadOptions;

use files::Details;
use runs::{Results, Wanted};

/// The default baseline of the embedded log: plain EASY.
pub(super) const PLAIN_EASY: &str = "easy/estimate";

/// Adds the options of a simulation. Those of experiments are first in help.
pub fn with_arguments(command: Command) -> Command {
    let command = options::add(command, &[Run, Log, Reading, Estimates, Shape, Engine, Metrics]);
    let command = slurm_conf::add(options::with_lists(command), SLURM_CONF);
    SimulateArgs::augment_args(command).mut_arg("top", |top| top.requires("by")).mut_arg("log", |log| {
        log.help("The log, plain, .gz or .zst; - for standard input [default: the embedded log, compared with easy/estimate]")
    })
}

#[derive(Debug, Args)]
struct SimulateArgs {
    #[command(flatten)]
    log: LogArgs,
    /// Run each setting on the log as it is and on N - 1 slightly shaken copies (see --replication), and print means with 95%
    /// intervals, and whether each difference from the baseline is more than chance
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000), help_heading = "Output")]
    #[arg(conflicts_with_all = ["replication", "shake", "seed"])]
    #[arg(conflicts_with_all = ["jobs_out", "swf_out", "predictions_out", "series_out"])]
    replications: Option<u32>,
    #[command(flatten)]
    groups: GroupOptions,
    #[command(flatten)]
    output: OutputOptions,

    /// Write a CSV with one line per job; - for standard output (the summary then goes to standard error)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    jobs_out: Option<String>,
    /// Write the simulated schedule as an SWF log; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    swf_out: Option<String>,
    /// Write a CSV with the queue and the machine over time; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    series_out: Option<String>,
    /// The steps of --series-out
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = step, requires = "series_out")]
    #[arg(help_heading = "Output")]
    series_step: Seconds,
    /// Write a CSV with the names behind the numbers of a log that is not SWF; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    names_out: Option<String>,
    /// Write a CSV with every prediction, its time and its reason; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    predictions_out: Option<String>,
}

fn step(text: &str) -> Result<Seconds, String> {
    match parse_duration(text)? {
        0 => Err("a step takes at least a second".to_string()),
        step => Ok(step),
    }
}

pub fn execute(matches: &ArgMatches, quiet: bool) -> anyhow::Result<()> {
    let args: SimulateArgs = super::parsed(matches);
    let SettingList { options: mut settings, swept } = options::read_settings(matches, quiet)?;
    if args.log.given().is_none() && !options::is_given(matches, "baseline") {
        let baseline = Setting::parse_pair(PLAIN_EASY)?;
        settings.iter_mut().for_each(|options| options.baseline = Some(baseline.clone()));
    }
    if settings.len() > 1 && args.swf_out.is_some() {
        let message = "--swf-out writes one schedule: give one scheduler and one predictor";
        return Err(UsageError(message.to_string()).into());
    }
    let print = args.groups.printed(args.output.print)?;
    let (mut details, stdout_taken) = Details::open(&args)?;
    let source = args.log.source(quiet);
    let began = Instant::now();
    let settings = Settings {
        options: settings,
        keep_history: details.predictions.is_some(),
        series_step: details.series.is_some().then_some(args.series_step),
        pictures: false,
    };
    let of_log = settings.of_log();
    let (keep_text, keep_names) = (details.swf.is_some(), details.names.is_some());
    let mut log = read_log(&source, ReadOptions { keep_text, keep_names, ..of_log.read_options() }, quiet)?;
    if let Some(out) = details.names.take() {
        write_names_of(&log, out)?;
    }
    let cleaned = of_log.clean_out(&mut log)?;
    report_cleaning(&log, &cleaned.cleaning, quiet);
    let reading = began.elapsed();
    let wanted = Wanted {
        replications: args.replications.unwrap_or(1),
        keep_records: details.needs_records(),
        table_keys: args.groups.keys(),
        file_keys: args.groups.file_keys(),
        top: args.groups.top,
        threads: args.output.threads(),
    };
    let results = Results::compute(&settings, cleaned, &wanted, &mut |_, _, _| (), quiet)?;
    let workload = &results.workload;
    if !quiet {
        let (jobs, total) = (counted(workload.jobs.len() as u64, "job"), began.elapsed());
        let simulating = (total - reading).as_secs_f64();
        note(format_args!("{jobs} read in {:.3} s, simulated in {simulating:.3} s", reading.as_secs_f64()));
    }
    details.write(&settings, &log, &results)?;

    let options = settings.options[0].in_row();
    let zone = workload.unix_start.map(|_| workload.zone.name());
    let table = |out: &mut dyn Write, width: usize| {
        write_comparison(out, width, &results.runs, &options)?;
        for breakdown in results.tables() {
            writeln!(out)?;
            let zone = zone.filter(|_| breakdown.1.grouping.by.is_of_the_calendar());
            write_breakdown(out, width, breakdown.0, zone, breakdown.1)?;
        }
        Ok(())
    };
    let rows: Vec<_> =
        results.runs.iter().zip(swept).map(|(runs, swept)| with_swept(runs.cells(&options), swept)).collect();
    match &rows[..] {
        [row] => Ok(print.print_row(stdout_taken, row, table)?),
        rows => Ok(print.print_rows(stdout_taken, rows, table)?),
    }
}

/// Adds the columns of swept keys to a row. The column `options` stays the last, as in the results of a sweep.
fn with_swept(mut row: Vec<(String, Cell)>, swept: Vec<(String, Cell)>) -> Vec<(String, Cell)> {
    let options = row.pop();
    row.extend(swept.into_iter().chain(options));
    row
}
