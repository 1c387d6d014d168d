//! `sim estimates`: a log with the estimates of a model.

use clap::Args;

use super::log::{log_or_demo, read_log};
use super::notes::{made_by, tell_what_estimates_lack};
use super::places::{given, refuse_collisions};
use super::stderr::{note, warning};
use crate::model::{EstimateModel, replace_estimates};
use crate::report::{Output, grouped, write_with_estimates};
use crate::trace::{Cleaning, ReadOptions, TraceError, clean};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim estimates --trace CTC.swf.gz --model tsafrir:tmax=18h,at-tmax=23.8 --seed 1 --out made.swf
  sim estimates --trace NASA.swf --model tsafrir --out with-estimates.swf      a log that has none
  sim estimates --trace KTH.swf --model shuffle --seed 2 | sim --trace - --scheduler easy --predictor estimate
  sim --trace KTH.swf --estimates f:f=3 --estimates-seed 2                     the same at once, no file between
  sim list estimates                                                          what can stand after --model")]
pub struct EstimatesArgs {
    /// The log, plain, .gz or .zst; - for standard input [default: the embedded log]
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
    /// What makes the estimates, name or name:key=value,...; see `sim list estimates`
    #[arg(long, value_name = "MODEL", value_parser = EstimateModel::parse)]
    model: EstimateModel,
    /// Every random number comes from it
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Where the log goes, - for standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: String,
    /// Skip and count faulty lines instead of stopping at the first
    #[arg(long)]
    skip_bad_lines: bool,
}

pub fn execute(args: &EstimatesArgs, quiet: bool) -> anyhow::Result<()> {
    let EstimatesArgs { model, seed, .. } = args;
    refuse_collisions(&[("--out", &args.out)], &given([("--trace", &args.trace)]), false)?;
    let out = Output::create(&args.out)?;
    let source = log_or_demo(args.trace.as_deref(), quiet);
    let how = ReadOptions { skip_bad_lines: args.skip_bad_lines, keep_text: true, ..ReadOptions::default() };
    let log = read_log(&source, how, quiet)?;
    if let Some(first) = &log.skipped.first {
        let count = grouped(log.skipped.count);
        warning(format_args!("{}: {count} faulty lines skipped, the first of them {first}", log.name));
    }
    // The jobs are those that a machine without bounds would run: a job's width has nothing to do with its estimate.
    let mut jobs = clean(&log, &Cleaning { procs: Some(u32::MAX), ..Cleaning::default() })?;
    let replaced = replace_estimates(&mut jobs, &log, model, *seed)
        .map_err(|why| TraceError::Estimates { name: log.name.clone(), why })?;
    let mut estimates = vec![None; log.records.len()];
    for job in &jobs.jobs {
        estimates[job.record as usize] = Some(job.submission.estimate);
    }
    let text = log.text.as_ref().expect("the lines were asked for");
    let maker = made_by(model, *seed);
    out.fill(|out| write_with_estimates(out, &log.header, text, &maker, &estimates))?;
    if !quiet {
        let name = &log.name;
        note(format_args!("{name}: {} jobs have estimates made by {maker}", grouped(replaced.jobs)));
        note(format_args!("{name}: jobs whose estimate is the one they had: {}", grouped(replaced.unchanged)));
        let others = log.records.len() as u64 - replaced.jobs;
        if others > 0 {
            note(format_args!("{name}: records that are no jobs, and stay as they are: {}", grouped(others)));
        }
    }
    tell_what_estimates_lack(&log.name, replaced.cut, replaced.short, quiet);
    Ok(())
}
