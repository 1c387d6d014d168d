//! Notes and warnings about logs and estimates, on standard error.

use std::collections::BTreeMap;

use super::quiet::is_quiet;
use super::stderr::{note, warning};
use crate::fidelity::RecordedFit;
use crate::model::EstimateModel;
use crate::predict::catalog::table;
use crate::report::{counted, counted_as, dropped_in_words, filling_in_words, grouped, percent, reading_in_words};
use crate::spec::Spec;
use crate::text::printable;
use crate::time::readable_duration;
use crate::trace::{ConditionSurvey, Log, PartitionMap, TimeUnit, Unit, UnitDoubt, Workload, beyond_a_pool};

/// Prints to standard error what cleaning dropped from a log or changed.
pub fn report_cleaning(log: &Log, workload: &Workload) {
    let cleaning = &workload.cleaning;
    report_reading(log);
    report_unit(log, || UnitDoubt::of(workload));
    if cleaning.machine_is_peak {
        warn_of_peak(&log.name);
    }
    if let Some(dropped) = dropped_in_words(cleaning) {
        // With more than 5% dropped, results may differ much from those of the whole log.
        if cleaning.dropped() as f64 > 0.05 * cleaning.records as f64 {
            warning(format_args!("{}: {dropped}", log.name));
        } else {
            note(format_args!("{}: {dropped}", log.name));
        }
    }
    warn_of_unplaceable(&log.name, workload);
    if cleaning.never_eligible.count() > 0 {
        let (causes, first) = (cleaning.never_eligible.in_words(), cleaning.never_eligible.first);
        warning(format_args!(
            "{}: jobs that can never start because of their conditions are dropped, the first is job {first}: {causes}",
            log.name
        ));
    }
    let missing = log.conditions.unknown + cleaning.missing_dependencies;
    if missing > 0 {
        let jobs = counted_as(
            missing,
            "dependency is on a job that is not there",
            "dependencies are on jobs that are not there",
        );
        note(format_args!("{}: {jobs}, or dropped: such a dependency counts as met", log.name));
    }
    if cleaning.filled > 0 {
        let share = cleaning.filled as f64 / cleaning.jobs() as f64;
        let have = if cleaning.filled == 1 { "has" } else { "have" };
        let text = format!(
            "{}: {} ({}) {have} no estimate; used instead: {} (see --missing-estimate and --estimates)",
            log.name,
            counted(cleaning.filled, "job"),
            percent(share),
            filling_in_words(cleaning)
        );
        // Nobody has said these estimates, so no scheduler could have planned with them.
        let text =
            if share < 1.0 { text } else { format!("{text}; results with the predictor `estimate` are artificial") };
        // With more than 1% filled in, results may depend on the choice of `--missing-estimate`.
        if share > 0.01 {
            warning(text);
        } else {
            note(text);
        }
    }
    if cleaning.modelled > 0 {
        note(format_args!(
            "{}: the estimates of all {} were made by the model",
            log.name,
            counted(cleaning.modelled, "job")
        ));
    }
    report_short_estimates(&log.name, cleaning.modelled_cut, cleaning.modelled_short);
    if cleaning.out_of_order > 0 {
        let jobs = counted_as(cleaning.out_of_order, "job was", "jobs were");
        warning(format_args!("{}: {jobs} submitted earlier than the job on the line above: sorted by time", log.name));
    }
}

/// Warns of partitions of `--partition-map` in which the log has no job. For a log that is not yet cleaned.
pub fn warn_of_partition_map(log: &Log, map: &PartitionMap) {
    let unknown: Vec<_> = map.keys().filter(|name| !log.has_partition(name)).map(|name| printable(name)).collect();
    if !unknown.is_empty() {
        let names = unknown.join(", ");
        warning(format_args!("{}: --partition-map has no effect for {names}: no job of the log is there", log.name));
    }
}

/// Warns of jobs that can never run on the machine.
pub fn warn_of_unplaceable(name: &str, workload: &Workload) {
    let unplaceable = &workload.cleaning.unplaceable;
    if unplaceable.count() > 0 {
        let (causes, first) = (unplaceable.in_words(), unplaceable.first);
        warning(format_args!(
            "{name}: jobs that can never run on the machine are dropped, the first is job {first}: {causes}"
        ));
    }
}

/// Warns if the durations of a table are probably not in seconds. Other logs, and tables whose unit is stated, are not checked.
pub fn report_unit(log: &Log, doubt: impl FnOnce() -> Option<UnitDoubt>) {
    let Some(column) = log.source.run_column.as_ref().filter(|_| !is_quiet()) else { return };
    let Some(doubt) = doubt() else { return };
    let (name, unit, written) = (&log.name, doubt.likely.words(), doubt.likely.written());
    let longest = readable_duration(doubt.longest as f64);
    let share = match doubt.utilization {
        ..0.001 => "less than 0.1%".to_string(),
        share => percent(share),
    };
    if doubt.likely == TimeUnit::Seconds {
        return warning(format_args!(
            "{name}: the jobs use {share} of the machine, and their run times look like seconds: is the machine of the right \
             size (--procs), and are all times in seconds? {column}{{s}} says so"
        ));
    }
    let others = match doubt.is_by_utilization() {
        true => "wait= and estimate= if they are too",
        false => "submit= and all other times and durations",
    };
    warning(format_args!(
        "{name}: read in seconds, the longest run time is {longest} and the jobs use {share} of the machine: the run times \
         are probably in {unit}. If so, write {column}{{{written}}} in --log-format, and {{{written}}} behind {others}; \
         {column}{{s}} says that they are seconds"
    ));
}

/// Notes what the jobs of a log ask for, if only their processors are simulated. `unit` is what a processor is.
pub fn report_requests(name: &str, workload: &Workload, unit: Unit) {
    let is_pool = workload.shapes.is_none();
    if let Some(words) = beyond_a_pool(&workload.requests, unit).filter(|_| is_pool) {
        note(format_args!("{name}: {words} not simulated: --machine FILE"));
    }
}

/// Notes how many jobs are not in the tables of predictions that some predictors read.
pub fn report_missing_predictions<'a>(name: &str, workload: &Workload, predictors: impl Iterator<Item = &'a Spec>) {
    let tables: BTreeMap<String, _> = predictors.filter_map(|spec| Some((spec.to_string(), table(spec)?))).collect();
    for (spec, table) in tables {
        let missing = workload.jobs.iter().filter(|job| table.raw(job.number).is_none()).count();
        if missing > 0 {
            let jobs = counted_as(missing as u64, "job is not in the table", "jobs are not in the table");
            note(format_args!("{name}: {jobs} of {spec}"));
        }
    }
}

/// Notes how many jobs arrive after the ends of others, and why some do not, if users react.
pub fn report_feedback(name: &str, workload: &Workload) {
    let Some((feedback, links)) = workload.feedback.as_ref().zip(workload.feedback_links()) else { return };
    if links.linked == 0 {
        warning(format_args!("{name}: --feedback has no effect: no job follows another one within the limit"));
    } else {
        let (jobs, all) = (grouped(links.linked), counted(workload.jobs.len() as u64, "job"));
        let think = readable_duration(links.think_mean);
        note(format_args!("{name}: {jobs} of {all} arrive after the ends of others, think time {think} on average"));
    }
    let unusable = "was dropped or is not earlier, or the think time is not known";
    for (count, why) in [(links.cut, "is not simulated"), (feedback.unusable, unusable)] {
        if count > 0 {
            let jobs = counted_as(count, "job arrives at its own time", "jobs arrive at their own times");
            note(format_args!("{name}: {jobs}: the preceding job {why}"));
        }
    }
}

/// Warns if the recorded schedule does not fit the nodes of the machine.
pub fn warn_of_misfits(name: &str, workload: &Workload) {
    if let Some(words) = RecordedFit::of(workload).and_then(|fit| fit.in_words()) {
        warning(format_args!("{name}: {words}"));
    }
}

/// Notes that jobs with conditions arrive when the log's own schedule had met them, which is not simulated.
pub fn note_conditions_of_the_log(name: &str, workload: &Workload) {
    if let Some(words) = ConditionSurvey::of(&workload.conditions).in_words() {
        note(format_args!(
            "{name}: {words}: not simulated here; these jobs arrive when they became eligible in the log"
        ));
    }
}

/// Warns that the size of the machine is a guess.
pub fn warn_of_peak(name: &str) {
    warning(format_args!(
        "{name}: the log does not say how large the machine is: it has as many processors as were in use at once. This \
         is too low if jobs are missing in the log, and too high if its waits are wrong; --procs N sets the size"
    ));
}

/// Prints what reading did to the rows of a log.
pub fn report_reading(log: &Log) {
    let source = &log.source;
    if let Some(first) = &log.skipped.first {
        let lines = counted(log.skipped.count, "faulty line");
        warning(format_args!("{}: {lines} skipped, the first of them {first}", log.name));
    }
    if let Some(state) = &source.first_unknown_state {
        let jobs = counted(source.unknown_states, "job");
        warning(format_args!("{}: {jobs} with an unknown state, the first of them \"{state}\"", log.name));
    }
    if !source.unused_limits.is_empty() {
        let names: Vec<_> = source.unused_limits.iter().map(|name| printable(name)).collect();
        warning(format_args!(
            "{}: --partition-limit has no effect for {}: no job there is without a limit of its own",
            log.name,
            names.join(", ")
        ));
    }
    for words in reading_in_words(source) {
        note(format_args!("{}: {words}", log.name));
    }
}

/// The model of estimates, with its seed if it is random, as written in notes and headers of logs.
pub fn made_by(model: &EstimateModel, seed: u64) -> String {
    if model.is_random() { format!("{model}, seed {seed}") } else { model.to_string() }
}

/// Prints for how many jobs the estimates of a model are too short.
pub fn report_short_estimates(name: &str, cut: u64, short: u64) {
    if cut > 0 {
        note(format_args!(
            "{name}: runtimes longer than the longest estimate, treated as equal to it: {}",
            grouped(cut)
        ));
    }
    if short > 0 {
        note(format_args!("{name}: jobs for which the model had no estimate that is long enough: {}", grouped(short)));
    }
}
