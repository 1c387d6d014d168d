//! `sim trace convert --estimates`: replaces the estimates of a log by those of a model.

use super::log::read_log;
use super::notes::{made_by, report_reading, report_short_estimates};
use super::output_options::PrintOptions;
use super::stderr::note;
use crate::experiment::Options;
use crate::model::{EstimateModel, replace_estimates};
use crate::report::{Cell, Output, counted_as, grouped, write_with_estimates};
use crate::trace::{Cleaning, CleaningCause, ReadOptions, Source, TraceError, clean};

/// Writes the log with other estimates to `out`, the file of this name. Nothing else of it changes.
pub fn write_log_with_estimates(
    source: &Source,
    model: &EstimateModel,
    options: &Options,
    (out, name_of_out): (Output, &str),
    print: &PrintOptions,
) -> anyhow::Result<()> {
    let seed = options.estimates_seed;
    let how = ReadOptions { keep_text: true, ..options.read_options() };
    let log = read_log(source, how)?;
    report_reading(&log);
    // No job is dropped because it needs too many processors: estimates do not depend on the machine.
    let mut jobs = clean(&log, &Cleaning { procs: Some(u32::MAX), ..Cleaning::default() })?;
    let unchanged =
        replace_estimates(&mut jobs, &log, model, seed).map_err(|why| TraceError::unusable(&log.name, why))?;
    let count = |cause| jobs.cleaning.count(cause);
    let modelled = count(CleaningCause::Modelled);
    let mut estimates = vec![None; log.records.len()];
    for job in &jobs.jobs {
        estimates[job.record as usize] = Some(job.submission.estimate);
    }
    let text = log.text.as_ref().expect("keep_text is set");
    let maker = made_by(model, seed);
    out.fill(|out| write_with_estimates(out, &log.header, text, &maker, &estimates))?;
    let others = log.records.len() as u64 - modelled;
    let row = [
        ("trace", Cell::Text(source.label())),
        ("estimates", Cell::Text(model.to_string())),
        ("jobs", Cell::Count(modelled)),
        ("unchanged", Cell::Count(unchanged)),
        ("not_jobs", Cell::Count(others)),
        ("runtimes_cut", Cell::Count(count(CleaningCause::ModelledCut))),
        ("over_estimate", Cell::Count(count(CleaningCause::ModelledShort))),
        ("seed", if model.is_random() { Cell::Count(seed) } else { Cell::None }),
    ];
    Ok(print.report(name_of_out, &row, || {
        let name = &log.name;
        let made = counted_as(modelled, "job has an estimate", "jobs have estimates");
        note(format_args!("{name}: {made} made by {maker}"));
        note(format_args!("{name}: jobs whose estimate did not change: {}", grouped(unchanged)));
        if others > 0 {
            note(format_args!("{name}: records that are not jobs and were copied unchanged: {}", grouped(others)));
        }
        report_short_estimates(name, &jobs.cleaning);
    })?)
}
