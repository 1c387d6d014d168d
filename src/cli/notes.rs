//! What is told on standard error beside the results.

use super::stderr::{note, warning};
use crate::model::EstimateModel;
use crate::report::{dropped_in_words, grouped, percent};
use crate::time::readable_duration;
use crate::trace::{CleaningReport, Log};

/// Tells on standard error what was left out of a log or changed. Warnings are told even if notes are not wanted.
pub fn tell_what_changed(log: &Log, cleaning: &CleaningReport, quiet: bool) {
    if let Some(first) = &log.skipped.first {
        let count = grouped(log.skipped.count);
        warning(format_args!("{}: {count} faulty lines skipped, the first of them {first}", log.name));
    }
    if let Some(dropped) = dropped_in_words(cleaning).filter(|_| !quiet) {
        note(format_args!("{}: {dropped}", log.name));
    }
    if cleaning.filled > 0 {
        let share = cleaning.filled as f64 / cleaning.jobs() as f64;
        let given = match cleaning.filled_with {
            0 => "their runtime".to_string(),
            seconds => format!("{}, the log's largest or longest", readable_duration(seconds as f64)),
        };
        let text = format!(
            "{}: {} jobs ({}) have no estimate and were given {given} (see --missing-estimate and --estimates)",
            log.name,
            grouped(cleaning.filled),
            percent(share)
        );
        // Over 1% the estimates are more ours than the users'.
        if share > 0.01 {
            warning(text);
        } else if !quiet {
            note(text);
        }
    }
    if cleaning.modelled > 0 && !quiet {
        note(format_args!("{}: the estimates of all {} jobs are the model's", log.name, grouped(cleaning.modelled)));
    }
    tell_what_estimates_lack(&log.name, cleaning.modelled_cut, cleaning.modelled_short, quiet);
    if cleaning.out_of_order > 0 {
        let count = grouped(cleaning.out_of_order);
        warning(format_args!("{}: {count} jobs were submitted before the job above them: sorted", log.name));
    }
}

/// Which model made estimates, as notes and headers of logs say it.
pub fn made_by(model: &EstimateModel, seed: u64) -> String {
    if model.is_random() { format!("{model}, seed {seed}") } else { model.to_string() }
}

/// Tells for how many jobs a model's estimates are too short.
pub fn tell_what_estimates_lack(name: &str, cut: u64, short: u64, quiet: bool) {
    if cut > 0 && !quiet {
        note(format_args!("{name}: runtimes over the longest estimate, counted as that long: {}", grouped(cut)));
    }
    if short > 0 && !quiet {
        note(format_args!("{name}: jobs for which no estimate was as long as they run: {}", grouped(short)));
    }
}
