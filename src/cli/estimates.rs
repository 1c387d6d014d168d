//! `sim estimates`: replaces the estimates of a log by those of a model.

use clap::{ArgMatches, Args};

use super::log::{LogArgs, read_log};
use super::notes::{made_by, report_reading, report_short_estimates};
use super::options;
use super::output_options::{MadeLogOptions, reporting};
use super::stderr::note;
use super::{CommandForm, parsed};
use crate::experiment::Section::Reading;
use crate::model::{EstimateModel, replace_estimates};
use crate::report::{Cell, counted_as, grouped, write_with_estimates};
use crate::trace::{Cleaning, CleaningReport, ReadOptions, TraceError, clean};

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "estimates",
    about: "Replace the estimates of a log by those of a model",
    arguments: |command| {
        let command = options::add(reporting(EstimatesArgs::augment_args(command)), &[Reading]);
        options::add_named(command, &["skip-bad-lines"])
    },
    run: |matches| execute(&parsed(matches), matches),
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim estimates CTC.swf.gz --estimates tsafrir:tmax=18h,at-tmax=23.8 --seed 1 \\
    --out made.swf
  sim estimates NASA.swf --estimates tsafrir --out with-estimates.swf
      a log that has none
  sim estimates KTH.swf --estimates shuffle --seed 2 \\
    | sim - --scheduler easy --predictor estimate
  sim KTH.swf --estimates f:f=3 --estimates-seed 2
      the same without a file in between
  sim list estimates  the models, with their keys")]
struct EstimatesArgs {
    #[command(flatten)]
    log: LogArgs,
    /// The model that makes the estimates: name or name:key=value,...; see `sim list estimates`
    #[arg(long = "estimates", alias = "model", value_name = "MODEL", value_parser = EstimateModel::parse)]
    model: EstimateModel,
    #[command(flatten)]
    made: MadeLogOptions,
}

fn execute(args: &EstimatesArgs, matches: &ArgMatches) -> anyhow::Result<()> {
    let EstimatesArgs { model, made: MadeLogOptions { seed, .. }, .. } = args;
    let out = args.made.open(&args.log.files())?;
    let source = args.log.source();
    let how = ReadOptions { keep_text: true, ..options::read(matches)?.read_options() };
    let log = read_log(&source, how)?;
    report_reading(&log);
    // No job is dropped because it needs too many processors: estimates do not depend on the machine.
    let mut jobs = clean(&log, &Cleaning { procs: Some(u32::MAX), ..Cleaning::default() })?;
    let unchanged =
        replace_estimates(&mut jobs, &log, model, *seed).map_err(|why| TraceError::unusable(&log.name, why))?;
    let CleaningReport { modelled, modelled_cut, modelled_short, .. } = jobs.cleaning;
    let mut estimates = vec![None; log.records.len()];
    for job in &jobs.jobs {
        estimates[job.record as usize] = Some(job.submission.estimate);
    }
    let text = log.text.as_ref().expect("keep_text is set");
    let maker = made_by(model, *seed);
    out.fill(|out| write_with_estimates(out, &log.header, text, &maker, &estimates))?;
    let others = log.records.len() as u64 - modelled;
    let row = [
        ("trace", Cell::Text(source.label())),
        ("estimates", Cell::Text(model.to_string())),
        ("jobs", Cell::Count(modelled)),
        ("unchanged", Cell::Count(unchanged)),
        ("not_jobs", Cell::Count(others)),
        ("runtimes_cut", Cell::Count(modelled_cut)),
        ("over_estimate", Cell::Count(modelled_short)),
        ("seed", if model.is_random() { Cell::Count(*seed) } else { Cell::None }),
    ];
    Ok(args.made.print.report(&args.made.out, &row, || {
        let name = &log.name;
        let jobs = counted_as(modelled, "job has an estimate", "jobs have estimates");
        note(format_args!("{name}: {jobs} made by {maker}"));
        note(format_args!("{name}: jobs whose estimate did not change: {}", grouped(unchanged)));
        if others > 0 {
            note(format_args!("{name}: records that are not jobs and were copied unchanged: {}", grouped(others)));
        }
        report_short_estimates(name, modelled_cut, modelled_short);
    })?)
}
