//! Writes the survey of a log and the findings of its validation.

use std::io::{self, Write};

use super::requests::{given_in_words, requests_in_words};
use super::shown::percent;
use super::table::Table;
use super::wrap::{Width, write_wrapped};
use crate::metrics::{Cell, Column, Shown, column_list};
use crate::text::{counted, counted_as, grouped, printable};
use crate::time::{date, readable_duration};
use crate::trace::{CleaningReport, FIELD_NAMES, Findings, LineFault, Log, SourceReport, Survey};
use shadowtime_core::output::write_rows;
use shadowtime_core::tres::{Resource, ResourceColumns};

/// The rules of cleaning that drop records, with their counts.
fn drops(cleaning: &CleaningReport) -> [(&'static str, u64); 9] {
    [
        ("without processors", cleaning.without_procs),
        ("with a negative run time", cleaning.negative_runtime),
        ("with a negative submit time", cleaning.negative_submit),
        ("cancelled before they had processors", cleaning.never_ran),
        ("wider than the machine", cleaning.too_wide),
        ("never able to run on its nodes", cleaning.unplaceable.count()),
        ("never able to start because of their conditions", cleaning.never_eligible.count()),
        ("without an estimate", cleaning.without_estimate),
        ("without a recorded wait", cleaning.without_wait),
    ]
}

/// The rows that reading dropped, with their counts: the words for one, and for several.
fn source_drops(source: &SourceReport) -> Vec<(String, String, u64)> {
    let before = [
        ("step of a job", "steps of jobs", source.steps),
        ("range of a job array", "ranges of job arrays", source.array_ranges),
        ("parent of a job array", "parents of job arrays", source.array_parents),
        ("row that repeats another", "rows that repeat others", source.repeated),
        ("job that had not ended", "jobs that had not ended", source.not_ended),
        ("row that does not report the end of a job", "rows that do not report the end of a job", source.other_events),
    ];
    let devices = Resource::DEVICES.into_iter().map(|kind| {
        let [one, many] = ["job", "jobs"].map(|jobs| format!("{jobs} without {}", kind.many()));
        (one, many, source.without_device[kind])
    });
    let behind = [("job of another cluster", "jobs of other clusters", source.other_clusters)];
    let owned = |(one, many, count): (&str, &str, u64)| (one.to_string(), many.to_string(), count);
    before.into_iter().map(owned).chain(devices).chain(behind.map(owned)).collect()
}

/// What reading did to the rows of a log, one sentence each. Empty if there is nothing to say.
pub fn reading_in_words(source: &SourceReport) -> Vec<String> {
    let mut words = Vec::new();
    if source.dropped() > 0 {
        let causes = source_drops(source).into_iter().filter(|(_, _, count)| *count > 0);
        let causes: Vec<_> = causes.map(|(one, many, count)| counted_as(count, &one, &many)).collect();
        let (dropped, rows) = (grouped(source.dropped()), counted(source.rows, "row"));
        let verbs =
            if source.dropped() == 1 { "is no job of its own and was" } else { "are no jobs of their own and were" };
        words.push(format!("{dropped} of {rows} {verbs} dropped: {}", causes.join(", ")));
    }
    for (count, one, many) in [
        (
            source.held,
            "job was held; it counts as submitted when it became eligible (see the key submit-time of --log-format)",
            "jobs were held; they count as submitted when they became eligible (see the key submit-time of --log-format)",
        ),
        (
            source.waits_cut,
            "job started before it was submitted; its wait is 0",
            "jobs started before they were submitted; their wait is 0",
        ),
        (
            source.clock_changes,
            "job has a start and an end that differ from its run time by an hour or more; the run time is used",
            "jobs have a start and an end that differ from their run time by an hour or more; the run time is used",
        ),
        (
            source.reserved,
            "job ran in a reservation of the administrator, which is not simulated",
            "jobs ran in reservations of the administrator, which are not simulated",
        ),
        (
            source.extra_fields,
            "record has fields after the 18th, which are ignored",
            "records have fields after the 18th, which are ignored",
        ),
        (
            source.unmatched_requests,
            "row of --requests is of a job that is not in the log",
            "rows of --requests are of jobs that are not in the log",
        ),
    ] {
        if count > 0 {
            words.push(counted_as(count, one, many));
        }
    }
    words
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
    let causes = drops(cleaning).into_iter().filter(|(_, count)| *count > 0);
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
        let drops = source_drops(source);
        let drops: Vec<_> = drops.iter().map(|(_, many, count)| (many.as_str(), *count)).collect();
        write_counts(out, width, &drops, source.rows)?;
    }
    let changes = [
        ("that never started", source.never_started),
        ("held, submitted when they became eligible", source.held),
        ("started before they were submitted", source.waits_cut),
        ("with the run time of the format, not of their times", source.clock_changes),
        ("with an unknown state", source.unknown_states),
        ("with fields after the 18th, ignored", source.extra_fields),
        ("rows of --requests without a record", source.unmatched_requests),
        ("dependencies on jobs that are not there, met", survey.conditions.unknown + cleaning.missing_dependencies),
    ];
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
    let noted = [
        (filled_with.as_str(), cleaning.filled),
        ("run times of 0, simulated as 1 second", cleaning.zero_runtime),
        ("run times over the estimate", cleaning.overruns),
        ("submitted before the record above, sorted", cleaning.out_of_order),
    ];
    writeln!(out, "\nCleaning would drop {}", counted(cleaning.dropped(), "record"))?;
    write_counts(out, width, &drops(cleaning), cleaning.records)?;
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
        count "without_procs" "records without processors" log.cleaning.without_procs;
        count "negative_runtime" "records with a negative run time" log.cleaning.negative_runtime;
        count "negative_submit" "records with a negative submit time" log.cleaning.negative_submit;
        count "never_ran" "jobs that were cancelled before they had processors" log.cleaning.never_ran;
        count "too_wide" "jobs wider than the machine" log.cleaning.too_wide;
        count "without_estimate" "jobs without an estimate" log.cleaning.without_estimate;
        count "without_wait" "jobs without a recorded wait" log.cleaning.without_wait;
        count "estimates_filled" "jobs whose missing estimate is filled in" log.cleaning.filled;
        count "zero_runtime" "jobs with a run time of 0, simulated as 1 second" log.cleaning.zero_runtime;
        count "overruns" "jobs that run longer than their estimate" log.cleaning.overruns;
        count "out_of_order" "jobs submitted before the record above" log.cleaning.out_of_order;
        label "format" "the format of the log" log.source.format.to_string();
        count "peak" "most processors in use at once; empty if the log has no waits" log.peak;
        count "rows" "rows that were read: the next eight counts and the records" log.source.rows;
        count "steps" "rows that are steps of jobs" log.source.steps;
        count "array_ranges" "rows that are ranges of job arrays" log.source.array_ranges;
        count "array_parents" "rows that are parents of job arrays" log.source.array_parents;
        count "repeated" "rows that repeat others" log.source.repeated;
        count "not_ended" "jobs that had not ended" log.source.not_ended;
        count "other_events" "rows that do not report the end of a job" log.source.other_events;
    };
    let without = |kind: Resource| {
        let value = |log: &Survey, kind| log.source.without_device[kind].into();
        Column::of(kind, kind.columns().jobs_without, Shown::Count, value)
    };
    let of_records = column_list! {
        |log: Survey|
        count "other_clusters" "jobs of other clusters" log.source.other_clusters;
        count "never_started" "records of jobs that never started" log.source.never_started;
        count "held" "jobs that were held, submitted when they became eligible" log.source.held;
        count "waits_cut" "jobs that started before they were submitted" log.source.waits_cut;
        count "clock_changes" "jobs whose times differ from their run time by an hour or more" log.source.clock_changes;
        count "unknown_states" "records with an unknown state" log.source.unknown_states;
        count "extra_fields" "records with fields after the 18th" log.source.extra_fields;
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
    let asked = |kind: Resource| {
        let ResourceColumns { asking_jobs, asked_by_all, asked_at_most, .. } = kind.columns();
        [
            Column::of(kind, *asking_jobs, Shown::Count, |log: &Survey, kind| log.requests.devices[kind].jobs.into()),
            Column::of(kind, *asked_by_all, Shown::Count, |log: &Survey, kind| log.requests.devices[kind].all.into()),
            Column::of(kind, *asked_at_most, Shown::Count, |log: &Survey, kind| {
                log.requests.devices[kind].largest.into()
            }),
        ]
    };
    let of_requests = column_list! {
        |log: Survey|
        count "constraint_jobs" "jobs whose nodes must have features" log.requests.constraint_jobs;
        count "constraints" "different constraints" log.requests.constraints;
        count "exclusive_jobs" "jobs that share their nodes with no other job" log.requests.exclusive_jobs;
        count "all_memory_jobs" "jobs that ask for all memory of their nodes" log.requests.all_memory_jobs;
    };
    let devices = Resource::DEVICES.into_iter();
    let before = of_log.into_iter().chain(devices.clone().map(without)).chain(of_records);
    before.chain(devices.flat_map(asked)).chain(of_requests).collect()
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
