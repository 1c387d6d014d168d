//! `sim trace convert --resample`: writes another year of the users of a log.

use super::log::read_log;
use super::notes::report_cleaning;
use super::output_options::PrintOptions;
use super::stderr::note;
use crate::experiment::Options;
use crate::report::{Cell, Output, counted, grouped, write_resample};
use crate::trace::{FeedbackModel, ReadOptions, Resample, Source};

/// Writes a resample of the log to `out`, the file of this name. If the log has preceding jobs, so have the copies.
pub fn write_resampled_log(
    source: &Source,
    how: &Resample,
    feedback: Option<&FeedbackModel>,
    options: &Options,
    (out, name_of_out): (Output, &str),
    print: &PrintOptions,
) -> anyhow::Result<()> {
    let log = read_log(source, ReadOptions { keep_text: true, ..options.read_options() })?;
    let of_log = FeedbackModel::parse("swf").ok().filter(|_| !log.preceding.is_empty());
    let options = Options { feedback: feedback.cloned().or(of_log), ..options.clone() };
    let cleaned = options.clean(&log)?;
    report_cleaning(&log, &cleaned);
    let workload = options.shape(cleaned)?;
    let resampled = workload.resampled().expect("it is asked for");
    let links = options.feedback.iter().zip(&workload.feedback);
    let fields = links.map(|(model, links)| model.fields_of(&workload, links)).collect::<Result<Vec<_>, _>>()?.concat();
    let text = log.text.as_ref().expect("keep_text is set");
    let seed = options.shaping.seed;
    let maker = format!("{how}, seed {seed}");
    out.fill(|out| write_resample(out, (&log.header, text), &workload, resampled, &maker, &fields))?;
    let row = [
        ("trace", Cell::Text(source.label())),
        ("resample", Cell::Text(how.to_string())),
        ("seed", Cell::Count(seed)),
        ("jobs", Cell::Count(workload.jobs.len() as u64)),
        ("copies", Cell::Count(resampled.users.len() as u64)),
        ("weeks", Cell::Count(resampled.weeks as u64)),
        ("load", Cell::Real(resampled.load)),
        ("load_log", Cell::Real(resampled.load_of_log)),
        ("draws", Cell::Count(u64::from(resampled.draws))),
    ];
    Ok(print.report(name_of_out, &row, || {
        let (jobs, copies) = (counted(workload.jobs.len() as u64, "job"), grouped(resampled.users.len() as u64));
        let weeks = counted(resampled.weeks as u64, "week");
        note(format_args!("{}: {jobs} of {copies} copies of users in {weeks}, by {maker}", log.name));
        resampled.notes(seed).for_each(|(_, line)| note(format_args!("{}: {line}", log.name)));
    })?)
}
