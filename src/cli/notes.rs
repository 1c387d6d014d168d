//! Notes and warnings about logs and estimates, on standard error.

use std::collections::{BTreeMap, BTreeSet};

use super::quiet::is_quiet;
use super::stderr::{note, warning};
use crate::fidelity::RecordedFit;
use crate::job::Job;
use crate::machine::{Constraint, Outages, Shapes};
use crate::metrics::columns::WAIT_MEAN;
use crate::metrics::{Replicates, RunRow};
use crate::model::EstimateModel;
use crate::predict::catalog::{needs_users, table};
use crate::report::{
    cleaning_in_words, counted, counted_as, dropped_in_words, filling_in_words, grouped, percent, reading_in_words,
};
use crate::runs::{NeverBySetting, RunRemarks};
use crate::spec::Spec;
use crate::text::{joined_with_and, printable, shortened};
use crate::time::readable_duration;
use crate::trace::{
    CleaningCause, CleaningReport, ConditionSurvey, Log, PartitionMap, RowCause, TimeUnit, Unit, UnitDoubt, Workload,
    beyond_a_pool,
};

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
    if let Some(outages) = &workload.outages {
        note_outages(log, workload, outages);
    }
    if cleaning.never_eligible.count() > 0 {
        let (causes, first) = (cleaning.never_eligible.in_words(), cleaning.never_eligible.first);
        warning(format_args!(
            "{}: jobs that can never start because of their conditions are dropped, the first is job {first}: {causes}",
            log.name
        ));
    }
    let missing = log.conditions.unknown + cleaning.count(CleaningCause::MissingDependency);
    if missing > 0 {
        let jobs = counted_as(
            missing,
            "dependency is on a job that is not there",
            "dependencies are on jobs that are not there",
        );
        note(format_args!("{}: {jobs}, or dropped: such a dependency counts as met", log.name));
    }
    for words in cleaning_in_words(cleaning) {
        note(format_args!("{}: {words}", log.name));
    }
    let filled = cleaning.count(CleaningCause::Filled);
    if filled > 0 {
        let share = filled as f64 / cleaning.jobs() as f64;
        let have = if filled == 1 { "has" } else { "have" };
        let text = format!(
            "{}: {} ({}) {have} no estimate; used instead: {} (see --missing-estimate and --estimates)",
            log.name,
            counted(filled, "job"),
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
    let modelled = cleaning.count(CleaningCause::Modelled);
    if modelled > 0 {
        note(format_args!("{}: the estimates of all {} were made by the model", log.name, counted(modelled, "job")));
    }
    report_short_estimates(&log.name, cleaning);
    let out_of_order = cleaning.count(CleaningCause::OutOfOrder);
    if out_of_order > 0 {
        let jobs = counted_as(out_of_order, "job was", "jobs were");
        warning(format_args!("{}: {jobs} submitted earlier than the job on the line above: sorted by time", log.name));
    }
}

/// The constraints that are not simulated, as far as they are few: `; the constraints are "a*2&b*1"`.
fn bad_constraints(workload: &Workload) -> String {
    const MOST: usize = 3;
    let all = workload.requests.all().iter().map(|request| request.constraint.as_str());
    let bad: BTreeSet<&str> = all.filter(|text| Constraint::parse(text).is_err()).collect();
    let shown: Vec<String> = bad.iter().take(MOST).map(|text| format!("\"{}\"", shortened(text))).collect();
    match bad.len() {
        0 => String::new(),
        1..=MOST => format!("; constraints: {}", shown.join(", ")),
        more => format!("; constraints: {}, and {} more", shown.join(", "), more - MOST),
    }
}

/// Says what of outages has no effect, and what the log has of them already.
fn note_outages(log: &Log, workload: &Workload, outages: &Outages) {
    outages.notes.iter().for_each(note);
    let over = outages.over_by(workload.first_submit());
    if over > 0 {
        note(format_args!("{} before the first submission", counted_as(over, "outage is over", "outages are over")));
    }
    let failed = log.records.iter().filter(|record| record.status == 0).count() as u64;
    if failed > 0 {
        let jobs = counted_as(failed, "job of the log has failed", "jobs of the log have failed");
        note(format_args!("{}: {jobs} or waited again: their runtimes are cut already", log.name));
    }
}

/// Says how many outages had no effect, because all jobs had ended when they were announced.
pub fn note_late_outages<'a>(workload: &Workload, rows: impl Iterator<Item = &'a RunRow>) {
    let (Some(outages), Some(longest)) = (&workload.outages, rows.map(|row| row.summary.makespan).max()) else {
        return;
    };
    let late = outages.announced_after(workload.first_submit() + longest);
    if late > 0 {
        note(format_args!("{} after the last end", counted_as(late, "outage is announced", "outages are announced")));
    }
}

/// Says that the default is not what it is for a short log.
pub fn note_other_years() {
    note("replications are resamples of the users of the log: another year; --resample none shakes the same year");
}

/// Warns if the log is no year like its resamples, by the mean wait of the baseline, or without one of the setting itself.
pub fn warn_of_other_years(runs: &Replicates<'_>) {
    const LEAST: f64 = 60.0;
    let base = runs.baseline().and_then(|name| Some((name.to_string(), runs.base_spread(&WAIT_MEAN)?)));
    let own = || Some((runs.name(), runs.spread(&WAIT_MEAN)?));
    if let Some((name, spread)) = base.or_else(own).filter(|(_, spread)| spread.is_far(LEAST)) {
        let here = if spread.log < spread.low { "submit when the machine is free" } else { "submit together" };
        let [log, low, high] = [spread.log, spread.low, spread.high].map(readable_duration);
        warning(format_args!(
            "the log is not like its resamples: under {name} its jobs wait {log} on the mean, those of most resamples {low} to \
             {high}. Each user is moved alone, and here users {here}: what is said of another year may be wrong"
        ));
    }
}

/// How many lines there are at most about settings that can never start some jobs: a sweep may have many.
const MOST_NEVER: usize = 8;

/// Prints what runs have that is not in their rows.
pub fn report_remarks(remarks: &RunRemarks) {
    warn_of_never(&remarks.never);
    remarks.resamples.iter().for_each(|(log, _, words)| note(format_args!("{log}: {words}")));
}

/// Warns of jobs that settings can never start.
pub fn warn_of_never(never: &NeverBySetting) {
    for (setting, words) in never.iter().take(MOST_NEVER) {
        warning(format_args!("{setting} can never start some jobs, which are dropped: {words}"));
    }
    if never.len() > MOST_NEVER {
        let others = grouped((never.len() - MOST_NEVER) as u64);
        warning(format_args!("{others} others can never start some jobs either: see the column dropped"));
    }
}

/// Warns if compared runs do not have the same jobs, because some can never start in one of them.
pub fn warn_of_other_jobs<'a>(rows: impl Iterator<Item = &'a RunRow>) {
    let counts = |row: &RunRow| [Some(row.summary.jobs), row.baseline.as_ref().map(|base| base.summary.jobs)];
    // Resamples have other jobs by design.
    let rows = rows.filter(|row| !row.label.is_of_resample());
    let counts: BTreeSet<usize> = rows.flat_map(counts).flatten().collect();
    if let (Some(fewest), Some(most)) = (counts.first(), counts.last())
        && fewest < most
    {
        warning(format_args!(
            "the runs do not have the same jobs: from {} to {}, because some can never start in some of them; each figure is of \
             the jobs of its run, so a difference is also one of jobs",
            grouped(*fewest as u64),
            grouped(*most as u64)
        ));
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
            "{name}: jobs that can never run on the machine are dropped, the first is job {first}: {causes}{}",
            bad_constraints(workload)
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

/// Says what jobs have that do not say how much memory they need.
fn report_memory(name: &str, workload: &Workload, shapes: &Shapes) {
    if shapes.is_without_memory() {
        return note(format_args!(
            "{name}: no job says how much memory it needs, and no partition has a default: memory is not simulated"
        ));
    }
    let unsaid = workload.jobs.iter().filter(|job| shapes.has_all_memory_unasked(job.request)).count() as u64;
    if unsaid > 0 {
        let share = unsaid as f64 / workload.jobs.len() as f64;
        let text = format!(
            "{name}: {} ({}) {} not say how much memory {}, and the partition has no default: as in Slurm, all memory of \
             the nodes (DefMemPerCPU in a slurm.conf, or memory_per_cpu, is what such jobs have instead)",
            counted(unsaid, "job"),
            percent(share),
            if unsaid == 1 { "does" } else { "do" },
            if unsaid == 1 { "it needs" } else { "they need" },
        );
        // It can change many waits.
        if share > 0.01 { warning(text) } else { note(text) }
    }
}

/// Notes what the jobs of a log ask for, if only their processors are simulated, and how many ask nodes for another number of CPUs
/// than the log says. `unit` is what a processor is.
pub fn report_requests(name: &str, workload: &Workload, unit: Unit) {
    let is_pool = workload.shapes.is_none();
    if let Some(words) = beyond_a_pool(&workload.requests, unit).filter(|_| is_pool) {
        note(format_args!("{name}: {words} not simulated: --machine FILE"));
    }
    let Some(shapes) = &workload.shapes else { return };
    report_memory(name, workload, shapes);
    if unit != Unit::Cpus {
        return;
    }
    let is_other = |job: &&Job| shapes.get(job.request).cpus != job.submission.procs;
    let others = workload.jobs.iter().filter(is_other).count() as u64;
    if others > 0 {
        let jobs = counted_as(others, "job asks", "jobs ask");
        note(format_args!(
            "{name}: {jobs} for another number of CPUs than the log says: placed with what is asked for; predictors, widths and \
             areas have the number in the log (--procs-field)"
        ));
    }
}

/// Notes how many jobs are not in the tables of predictions that some predictors read.
pub fn report_missing_predictions<'a>(name: &str, workload: &Workload, predictors: impl Iterator<Item = &'a Spec>) {
    let tables: BTreeMap<String, _> = predictors.filter_map(|spec| Some((spec.to_string(), table(spec)?))).collect();
    for (spec, table) in tables {
        let missing = workload.jobs.iter().filter(|job| table.raw(&workload.log_id(job)).is_none()).count();
        if missing == workload.jobs.len() {
            let (first, other) = (workload.log_id(&workload.jobs[0]), &table.first);
            warning(format_args!(
                "{name}: no job is in the table of {spec}: it has ids such as {other}, and the log such as {first}"
            ));
        } else if missing > 0 {
            let jobs = counted_as(missing as u64, "job is not in the table", "jobs are not in the table");
            note(format_args!("{name}: {jobs} of {spec}"));
        }
    }
}

/// Warns if the jobs of a log have no users, but a predictor lives from them.
pub fn warn_of_missing_users<'a>(name: &str, workload: &Workload, predictors: impl Iterator<Item = &'a Spec>) {
    let share = workload.jobs_without_user() as f64 / workload.jobs.len() as f64;
    let names: BTreeSet<&str> = predictors.filter(|spec| needs_users(spec)).map(Spec::name).collect();
    if share >= MANY_UNKNOWN && !names.is_empty() {
        let names: Vec<&str> = names.into_iter().collect();
        let finds = if names.len() == 1 { "finds" } else { "find" };
        warning(format_args!(
            "{name}: {} of the jobs have no user, and {} {finds} similar jobs by users: all these jobs count as those of one \
             user, and predictions are worse than with users (`estimate` and `downey` need none)",
            percent(share),
            joined_with_and(&names)
        ));
    }
}

/// The share of jobs without users from which on predictions by users say little.
const MANY_UNKNOWN: f64 = 0.5;

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
        let jobs = counted(source.causes[RowCause::UnknownState], "job");
        warning(format_args!("{}: {jobs} with an unknown state, the first of them \"{state}\"", log.name));
    }
    if !source.unused_limits.is_empty() {
        let names: Vec<_> = source.unused_limits.iter().map(|name| printable(name)).collect();
        warning(format_args!(
            "{}: partition-limit has no effect for {}: no job there is without a limit of its own",
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
pub fn report_short_estimates(name: &str, cleaning: &CleaningReport) {
    let [cut, short] = [CleaningCause::ModelledCut, CleaningCause::ModelledShort].map(|cause| cleaning.count(cause));
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
