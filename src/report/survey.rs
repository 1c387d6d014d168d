//! Writes the survey of a log and the findings of its validation.

use std::io::{self, Write};

use super::requests::{given_in_words, requests_in_words};
use super::shown::percent;
use super::table::Table;
use super::wrap::{Width, write_wrapped};
use crate::metrics::{Cell, Column, Shown, column_list};
use crate::text::{counted, counted_as, grouped, printable};
use crate::time::{date, readable_duration};
use crate::trace::{
    CleaningCause, CleaningReport, DeviceSurvey, FIELD_NAMES, Findings, LineFault, Log, SourceReport, Survey,
};
use shadowtime_core::counts::CauseWords;
use shadowtime_core::output::write_rows;
use shadowtime_core::tres::{Resource, ResourceColumns};

/// The causes for which cleaning drops records, or those of its notes, with how often each applied.
fn cleaned(cleaning: &CleaningReport, is_drop: bool) -> Vec<(&'static str, u64)> {
    let all = CleaningCause::ALL.iter().filter(|(_, words)| words.is_drop == is_drop && !words.listed.is_empty());
    all.map(|(cause, words)| (words.listed, cleaning.count(*cause))).collect()
}

/// The same of reading.
fn read(source: &SourceReport, is_drop: bool) -> Vec<(&'static str, u64)> {
    let all = source.counts().filter(|(words, _)| words.is_drop == is_drop && !words.listed.is_empty());
    all.map(|(words, count)| (words.listed, count)).collect()
}

/// A cause in words for one, or for several.
fn noted(words: &CauseWords, count: u64) -> String {
    counted_as(count, words.noted[0], words.noted[1])
}

/// What reading did to the rows of a log, one sentence each. Empty if there is nothing to say.
pub fn reading_in_words(source: &SourceReport) -> Vec<String> {
    let mut words = Vec::new();
    if source.dropped() > 0 {
        let causes = source.counts().filter(|(words, count)| words.is_drop && *count > 0);
        let causes: Vec<_> = causes.map(|(words, count)| noted(words, count)).collect();
        let (dropped, rows) = (grouped(source.dropped()), counted(source.rows, "row"));
        let verbs =
            if source.dropped() == 1 { "is no job of its own and was" } else { "are no jobs of their own and were" };
        words.push(format!("{dropped} of {rows} {verbs} dropped: {}", causes.join(", ")));
    }
    let notes = source.counts().filter(|(words, count)| !words.is_drop && !words.noted[0].is_empty() && *count > 0);
    words.extend(notes.map(|(words, count)| noted(words, count)));
    words
}

/// What cleaning did to the estimates of jobs because of their partitions, one sentence each.
pub fn cleaning_in_words(cleaning: &CleaningReport) -> Vec<String> {
    let notes = CleaningCause::ALL.iter().map(|(cause, words)| (words, cleaning.count(*cause)));
    let notes = notes.filter(|(words, count)| !words.noted[0].is_empty() && *count > 0);
    notes.map(|(words, count)| noted(words, count)).collect()
}

/// A name of a log: its kind, its number and the name.
pub type NameRow<'a> = (&'static str, i64, &'a [u8]);

/// The columns of `--names-out`.
pub fn name_columns<'a>() -> [Column<NameRow<'a>>; 3] {
    column_list! {
        |row: NameRow<'a>|
        key "kind" "user, group, executable, queue, partition or job" row.0;
        key "number" "the number in results" row.1;
        text "name" "the name in the log" String::from_utf8_lossy(row.2).into_owned();
    }
}

/// Writes the names behind the numbers of a log as CSV, then the ids of its jobs.
pub fn write_names(out: &mut dyn Write, log: &Log) -> io::Result<()> {
    let ids = log.ids.texts().zip(&log.records).map(|(id, record)| ("job", record.number, id));
    write_rows(out, [], &name_columns(), log.names.rows().chain(ids).map(|row| ([""; 0], row)))
}

/// What cleaning dropped, in one line. None if it dropped nothing.
pub fn dropped_in_words(cleaning: &CleaningReport) -> Option<String> {
    let causes = cleaned(cleaning, true).into_iter().filter(|(_, count)| *count > 0);
    let causes: Vec<_> = causes.map(|(what, count)| format!("{} {what}", grouped(count))).collect();
    let (dropped, records) = (cleaning.dropped(), cleaning.records);
    let share = percent(dropped as f64 / records as f64);
    (dropped > 0).then(|| {
        let records = counted(records, "record");
        format!("{} of {records} dropped ({share}): {}", grouped(dropped), causes.join(", "))
    })
}

/// What the jobs without an estimate got.
pub fn filling_in_words(cleaning: &CleaningReport) -> String {
    let from = match cleaning.filled_from_runtime {
        true => "the longest run time of the log, rounded up to whole hours",
        false => "the largest estimate of the log",
    };
    match cleaning.filled_with {
        0 => "their run time".to_string(),
        seconds => format!("{}, {from}", readable_duration(seconds as f64)),
    }
}

/// Writes a survey as text.
pub fn write_survey(out: &mut dyn Write, width: Width, survey: &Survey) -> io::Result<()> {
    let cleaning = &survey.cleaning;
    let unknown = || "-".to_string();
    let count = |number: usize| grouped(number as u64);
    let day = |time: i64| survey.unix_start.map_or(String::new(), |start| format!("  {}", date(start + time)));
    let mut line = |name: &str, value: String| write_wrapped(out, &format!("{name:<18} "), &printable(&value), width);
    line("log", survey.label.clone())?;
    line("format", survey.source.format.to_string())?;
    line("computer", survey.computer.clone().unwrap_or_else(unknown))?;
    line("installation", survey.installation.clone().unwrap_or_else(unknown))?;
    match survey.procs {
        Some(procs) if cleaning.machine_is_peak => {
            line("processors", format!("{}, the peak: the log does not say; use --procs N", grouped(procs.into())))?;
        }
        Some(procs) => line("processors", grouped(u64::from(procs)))?,
        None => line("processors", "unknown: the header has neither MaxProcs nor MaxNodes; use --procs N".into())?,
    }
    let share = |peak: u32| survey.procs.map_or(String::new(), |procs| percent(f64::from(peak) / f64::from(procs)));
    let peak = |peak: u32| format!("{}  {}", grouped(peak.into()), share(peak));
    line("peak in use", survey.peak.map_or_else(unknown, peak))?;
    if survey.source.rows != cleaning.records {
        line("rows", grouped(survey.source.rows))?;
    }
    line("records", grouped(cleaning.records))?;
    line("jobs", count(survey.jobs))?;
    if survey.skipped.count > 0 {
        line("skipped lines", grouped(survey.skipped.count))?;
    }
    line("users", count(survey.users))?;
    line("groups", count(survey.groups))?;
    line("executables", count(survey.executables))?;
    line("queues", count(survey.queues))?;
    line("partitions", count(survey.partitions))?;
    line("first submit", format!("{} s{}", survey.first_submit, day(survey.first_submit)))?;
    line("last submit", format!("{} s{}", survey.last_submit, day(survey.last_submit)))?;
    line("span", readable_duration((survey.last_submit - survey.first_submit) as f64))?;
    line("offered load", survey.offered_load.map_or_else(unknown, percent))?;
    line("processors per job", format!("mean {:.1}, most {}", survey.procs_mean, grouped(survey.procs_max.into())))?;
    let longest = readable_duration(survey.runtime_max as f64);
    line("run time", format!("mean {}, longest {longest}", readable_duration(survey.runtime_mean)))?;
    line("wait", survey.wait_mean.map_or_else(unknown, |mean| format!("mean {}", readable_duration(mean))))?;
    let largest = readable_duration(survey.estimate_max as f64);
    line("estimate", format!("mean {}, largest {largest}", readable_duration(survey.estimate_mean)))?;
    if let Some(words) = survey.conditions.in_words() {
        line("conditions", words)?;
    }

    let source = &survey.source;
    if source.dropped() > 0 {
        writeln!(
            out,
            "\nReading dropped {}",
            counted_as(source.dropped(), "row that is no job of its own", "rows that are no jobs of their own")
        )?;
        write_counts(out, width, &read(source, true), source.rows)?;
    }
    let missing = survey.conditions.unknown + cleaning.count(CleaningCause::MissingDependency);
    let mut changes = read(source, false);
    changes.push(("dependencies on jobs that are not there, met", missing));
    if changes.iter().any(|(_, count)| *count > 0) {
        writeln!(out, "\nReading notes of the {}", counted(cleaning.records, "record"))?;
        write_counts(out, width, &changes, cleaning.records)?;
    }
    if survey.requests.jobs > 0 {
        writeln!(out, "\nAsked for by the {}", counted(survey.jobs as u64, "job"))?;
        let given = survey.given.map(|given| ("CPUs given", given_in_words(&given)));
        for (what, words) in requests_in_words(&survey.requests).into_iter().chain(given) {
            write_wrapped(out, &format!("  {what:<16} "), &words, width)?;
        }
    }
    writeln!(out, "\nRecords by state")?;
    let states: Vec<(String, u64)> =
        survey.states.iter().map(|(state, count)| (printable(state).into_owned(), *count)).collect();
    let states: Vec<(&str, u64)> = states.iter().map(|(state, count)| (state.as_str(), *count)).collect();
    write_counts(out, width, &states, cleaning.records)?;

    let filled_with = format!("estimates filled in, with {}", filling_in_words(cleaning));
    let mut noted = vec![(filled_with.as_str(), cleaning.count(CleaningCause::Filled))];
    noted.extend(cleaned(cleaning, false));
    writeln!(out, "\nCleaning would drop {}", counted(cleaning.dropped(), "record"))?;
    write_counts(out, width, &cleaned(cleaning, true), cleaning.records)?;
    writeln!(out, "and of the {} left it notes", counted(survey.jobs as u64, "job"))?;
    write_counts(out, width, &noted, survey.jobs as u64)?;

    writeln!(out, "\nShare of records with an unknown value, by field")?;
    let mut table = Table::default();
    for (at, (name, unknown)) in FIELD_NAMES.iter().zip(survey.unknown).enumerate() {
        table.push(vec![format!("  {:>2} {name}", at + 1), percent(unknown)]);
    }
    table.write(out, width)
}

/// Writes the counts above 0, with their share of `all`.
fn write_counts(out: &mut dyn Write, width: Width, counts: &[(&str, u64)], all: u64) -> io::Result<()> {
    let mut table = Table::default();
    for (what, count) in counts.iter().filter(|(_, count)| *count > 0) {
        table.push(vec![format!("  {what}"), grouped(*count), percent(*count as f64 / all as f64)]);
    }
    if counts.iter().all(|(_, count)| *count == 0) {
        table.line(["  nothing"]);
    }
    table.write(out, width)
}

/// The columns of `sim trace info`.
pub fn survey_columns() -> Vec<Column<Survey>> {
    let of_log = column_list! {
        |log: Survey|
        key "trace" "the label of the log" log.label.clone();
        label "computer" "the header field Computer" log.computer.clone();
        label "installation" "the header field Installation" log.installation.clone();
        label "procs" "processors of the machine; empty if unknown" log.procs;
        count "records" "records of the log" log.cleaning.records;
        count "skipped_lines" "faulty lines that were skipped" log.skipped.count;
        count "jobs" "records that become jobs" log.jobs;
        count "users" "known users" log.users;
        count "groups" "known groups" log.groups;
        count "executables" "known executables" log.executables;
        count "queues" "known queues" log.queues;
        count "partitions" "known partitions" log.partitions;
        duration "first_submit" "first submission of a job, in seconds of the log" Cell::Seconds(log.first_submit as f64);
        duration "last_submit" "last submission of a job" Cell::Seconds(log.last_submit as f64);
        fraction "offered_load" "work of all jobs over what the machine could do, a fraction" log.offered_load;
        real "procs_mean" "mean processors of a job" log.procs_mean;
        count "procs_max" "processors of the widest job" log.procs_max;
        duration "runtime_mean" "mean runtime in seconds" Cell::Seconds(log.runtime_mean);
        duration "runtime_max" "longest runtime in seconds" Cell::Seconds(log.runtime_max as f64);
        duration "estimate_mean" "mean estimate in seconds" Cell::Seconds(log.estimate_mean);
        count "dropped" "records that cleaning drops, for one of the next seven reasons" log.cleaning.dropped();
    };
    let of_source = column_list! {
        |log: Survey|
        label "format" "the format of the log" log.source.format.to_string();
        count "peak" "most processors in use at once; empty if the log has no waits" log.peak;
        count "rows" "rows that were read: the next eight counts and the records" log.source.rows;
    };
    let of_records = column_list! {
        |log: Survey|
        label "states" "how many records have each state: STATE:COUNT, with blanks between them" states(log);
        duration "wait_mean" "mean recorded wait in seconds" log.wait_mean.map(Cell::Seconds);
        duration "estimate_max" "largest estimate in seconds" Cell::Seconds(log.estimate_max as f64);
        fraction "unknown_job" "fraction of the records that do not have this field" log.unknown[0];
        fraction "unknown_submit" "fraction of the records that do not have this field" log.unknown[1];
        fraction "unknown_wait" "fraction of the records that do not have this field" log.unknown[2];
        fraction "unknown_runtime" "fraction of the records that do not have this field" log.unknown[3];
        fraction "unknown_allocated" "fraction of the records that do not have this field" log.unknown[4];
        fraction "unknown_cpu_time" "fraction of the records that do not have this field" log.unknown[5];
        fraction "unknown_memory" "fraction of the records that do not have this field" log.unknown[6];
        fraction "unknown_requested" "fraction of the records that do not have this field" log.unknown[7];
        fraction "unknown_estimate" "fraction of the records that do not have this field" log.unknown[8];
        fraction "unknown_requested_memory" "fraction of the records that do not have this field" log.unknown[9];
        fraction "unknown_status" "fraction of the records that do not have this field" log.unknown[10];
        fraction "unknown_user" "fraction of the records that do not have this field" log.unknown[11];
        fraction "unknown_group" "fraction of the records that do not have this field" log.unknown[12];
        fraction "unknown_executable" "fraction of the records that do not have this field" log.unknown[13];
        fraction "unknown_queue" "fraction of the records that do not have this field" log.unknown[14];
        fraction "unknown_partition" "fraction of the records that do not have this field" log.unknown[15];
        fraction "unknown_preceding" "fraction of the records that do not have this field" log.unknown[16];
        fraction "unknown_think_time" "fraction of the records that do not have this field" log.unknown[17];
        count "asked_jobs" "jobs that ask for more than processors; the next columns are about these" log.requests.jobs;
        count "asked_partitions" "different partitions" log.requests.partitions;
        count "asked_qos" "different qualities of service" log.requests.qos;
        count "asked_accounts" "different accounts" log.requests.accounts;
        count "asked_nodes_max" "most nodes of a job" log.requests.nodes_max;
        count "node_memory_jobs" "jobs that ask for memory on each node" log.requests.memory_per_node.map(|memory| memory.jobs);
        count "node_memory_median" "the median of that memory, in MB" log.requests.memory_per_node.map(|memory| memory.median);
        count "node_memory_max" "the largest, in MB" log.requests.memory_per_node.map(|memory| memory.largest);
        count "cpu_memory_jobs" "jobs that ask for memory for each CPU" log.requests.memory_per_cpu.map(|memory| memory.jobs);
        count "cpu_memory_median" "the median of that memory, in MB" log.requests.memory_per_cpu.map(|memory| memory.median);
        count "cpu_memory_max" "the largest, in MB" log.requests.memory_per_cpu.map(|memory| memory.largest);
    };
    let cleaned = CleaningCause::ALL.iter().enumerate().filter(|(_, (_, words))| !words.column.0.is_empty());
    let cleaned = cleaned.map(|(at, (_, words))| {
        Column::of(at, words.column, Shown::Count, |log: &Survey, at| {
            log.cleaning.count(CleaningCause::ALL[at].0).into()
        })
    });
    let source = SourceReport::default();
    let read = source.counts().enumerate().filter(|(_, (words, _))| !words.column.0.is_empty());
    let read = read.map(|(at, (words, _))| {
        Column::of(at, words.column, Shown::Count, |log: &Survey, at| {
            log.source.counts().nth(at).map(|(_, count)| count).into()
        })
    });
    let asked = |(at, kind): (usize, Resource)| {
        let ResourceColumns { asking_jobs, asked_by_all, asked_at_most, .. } = kind.columns();
        [
            Column::of(at, *asking_jobs, Shown::Count, |log: &Survey, at| device(log, at).jobs.into()),
            Column::of(at, *asked_by_all, Shown::Count, |log: &Survey, at| device(log, at).all.into()),
            Column::of(at, *asked_at_most, Shown::Count, |log: &Survey, at| device(log, at).largest.into()),
        ]
    };
    let of_requests = column_list! {
        |log: Survey|
        count "constraint_jobs" "jobs whose nodes must have features" log.requests.constraint_jobs;
        count "constraints" "different constraints" log.requests.constraints;
        count "exclusive_jobs" "jobs that share their nodes with no other job" log.requests.exclusive_jobs;
        count "all_memory_jobs" "jobs that ask for all memory of their nodes" log.requests.all_memory_jobs;
    };
    let devices = Resource::DEVICES.into_iter().enumerate().flat_map(asked);
    let before = of_log.into_iter().chain(cleaned).chain(of_source).chain(read).chain(of_records);
    before.chain(devices).chain(of_requests).collect()
}

/// What jobs ask for of the device at this place of [`Resource::DEVICES`].
fn device(survey: &Survey, at: usize) -> DeviceSurvey {
    survey.requests.devices[Resource::DEVICES[at]]
}

fn states(survey: &Survey) -> String {
    let states: Vec<_> = survey.states.iter().map(|(state, count)| format!("{}:{count}", printable(state))).collect();
    states.join(" ")
}

/// A finding of the validation of a log.
pub struct FindingRow {
    trace: String,
    finding: &'static str,
    line: u64,
    count: u64,
    text: String,
}

/// The columns of `sim trace validate`.
pub static FINDING_COLUMNS: &[Column<FindingRow>] = &column_list! {
    |row: FindingRow|
    key "trace" "the label of the log" row.trace.clone();
    key "finding" "fault, machine or remark; in the last row sound or not sound" row.finding;
    key "line" "the first line that has it" (row.line > 0).then_some(row.line);
    count "count" "how many have it; in the last row the records" row.count;
    key "text" "what was found" row.text.clone();
};

/// What [`write_findings`] writes, as rows. The last row is the verdict, `sound` or `not sound`, with the number of records.
pub fn finding_rows(trace: &str, findings: &Findings) -> Vec<FindingRow> {
    let row = |finding, line, count, text| FindingRow { trace: trace.to_string(), finding, line, count, text };
    let fault = |fault: &LineFault| row("fault", fault.line, 1, format!("{}: \"{}\"", fault.kind, fault.text));
    let mut rows: Vec<_> = findings.faults.iter().map(fault).collect();
    let more = findings.fault_count - findings.faults.len() as u64;
    if more > 0 {
        rows.push(row("fault", 0, more, "more faulty lines".to_string()));
    }
    if findings.no_machine {
        rows.push(row("machine", 0, 1, NO_MACHINE.to_string()));
    }
    let remarks = findings.remarks.iter();
    rows.extend(remarks.map(|remark| row("remark", remark.first_line, remark.count, remark.what.clone())));
    rows.push(row(verdict(findings), 0, findings.records, format!("{} faulty lines", findings.fault_count)));
    rows
}

const NO_MACHINE: &str = "no MaxProcs, no MaxNodes and no waits: simulating it needs --procs N";

fn verdict(findings: &Findings) -> &'static str {
    if findings.is_sound() { "sound" } else { "not sound" }
}

/// Writes the findings of validation as text.
pub fn write_findings(out: &mut dyn Write, name: &str, findings: &Findings) -> io::Result<()> {
    let name = printable(name);
    for fault in &findings.faults {
        writeln!(out, "{name}:{fault}")?;
    }
    let more = findings.fault_count - findings.faults.len() as u64;
    if more > 0 {
        writeln!(out, "{name}: and {}", counted(more, "more faulty line"))?;
    }
    if findings.no_machine {
        writeln!(out, "{name}: {NO_MACHINE}")?;
    }
    if findings.records == 0 {
        writeln!(out, "{name}: no records")?;
    }
    for remark in &findings.remarks {
        write!(out, "{name}: {} {}", grouped(remark.count), remark.what)?;
        match remark.first_line {
            0 => writeln!(out)?,
            line => writeln!(out, " (first on line {line})")?,
        }
    }
    let verdict = verdict(findings);
    let (records, faults) = (counted(findings.records, "record"), counted(findings.fault_count, "faulty line"));
    writeln!(out, "{name}: {verdict}: {records}, {faults}")
}
