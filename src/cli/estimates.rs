//! `sim estimates`: replaces the estimates of a log by those of a model.

use clap::{ArgMatches, Args};

use super::log::{log_or_demo, read_log};
use super::notes::{made_by, report_reading, report_short_estimates};
use super::options;
use super::places::{given_files, refuse_collisions};
use super::stderr::note;
use crate::model::{EstimateModel, replace_estimates};
use crate::report::{Output, grouped, write_with_estimates};
use crate::trace::{Cleaning, ReadOptions, TraceError, clean};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim estimates --trace CTC.swf.gz --model tsafrir:tmax=18h,at-tmax=23.8 --seed 1 --out made.swf
  sim estimates --trace NASA.swf --model tsafrir --out with-estimates.swf      a log that has none
  sim estimates --trace KTH.swf --model shuffle --seed 2 | sim --trace - --scheduler easy --predictor estimate
  sim --trace KTH.swf --estimates f:f=3 --estimates-seed 2                     the same without a file in between
  sim list estimates                                                          the models, with their keys")]
pub struct EstimatesArgs {
    /// The log, plain, .gz or .zst; - for standard input [default: the embedded log]
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
    /// The model that makes the estimates: name or name:key=value,...; see `sim list estimates`
    #[arg(long, value_name = "MODEL", value_parser = EstimateModel::parse)]
    model: EstimateModel,
    /// The seed of all random numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The file to write the log to; - for standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: String,
    /// Skip and count faulty lines instead of stopping at the first one
    #[arg(long)]
    skip_bad_lines: bool,
}

pub fn execute(args: &EstimatesArgs, matches: &ArgMatches, quiet: bool) -> anyhow::Result<()> {
    let EstimatesArgs { model, seed, .. } = args;
    refuse_collisions(&[("--out", &args.out)], &given_files([("--trace", &args.trace)]), false)?;
    let out = Output::create(&args.out)?;
    let source = log_or_demo(args.trace.as_deref(), quiet);
    let reading = options::read(matches)?.reading;
    let skip_bad_lines = args.skip_bad_lines;
    let how = ReadOptions { skip_bad_lines, keep_text: true, reading, ..ReadOptions::default() };
    let log = read_log(&source, how, quiet)?;
    report_reading(&log, quiet);
    // No job is dropped because it needs too many processors: estimates do not depend on the machine.
    let mut jobs = clean(&log, &Cleaning { procs: Some(u32::MAX), ..Cleaning::default() })?;
    let replaced = replace_estimates(&mut jobs, &log, model, *seed)
        .map_err(|why| TraceError::Estimates { name: log.name.clone(), why })?;
    let mut estimates = vec![None; log.records.len()];
    for job in &jobs.jobs {
        estimates[job.record as usize] = Some(job.submission.estimate);
    }
    let text = log.text.as_ref().expect("keep_text is set");
    let maker = made_by(model, *seed);
    out.fill(|out| write_with_estimates(out, &log.header, text, &maker, &estimates))?;
    if !quiet {
        let name = &log.name;
        note(format_args!("{name}: {} jobs have estimates made by {maker}", grouped(replaced.jobs)));
        note(format_args!("{name}: jobs whose estimate did not change: {}", grouped(replaced.unchanged)));
        let others = log.records.len() as u64 - replaced.jobs;
        if others > 0 {
            note(format_args!("{name}: records that are not jobs and were copied unchanged: {}", grouped(others)));
        }
    }
    report_short_estimates(&log.name, replaced.cut, replaced.short, quiet);
    Ok(())
}
