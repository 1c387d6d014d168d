//! What is told on standard error beside the results.

use crate::report::{dropped_in_words, grouped, percent};
use crate::time::humane;
use crate::trace::{CleaningReport, Log};

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
