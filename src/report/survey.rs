//! Writes the survey of a log and the findings of its validation.

use std::io::{self, Write};

use super::data::csv_cell;
use super::table::{Table, percent};
use super::wrap::write_wrapped;
use crate::metrics::Cell;
use crate::text::{counted, counted_as, grouped, printable};
use crate::time::{date, readable_duration};
use crate::trace::{CleaningReport, FIELD_NAMES, Findings, LineFault, LogNames, SourceReport, Survey};

/// The rules of cleaning that drop records, with their counts.
fn drops(cleaning: &CleaningReport) -> [(&'static str, u64); 7] {
    [
        ("without processors", cleaning.without_procs),
        ("with a negative run time", cleaning.negative_runtime),
        ("with a negative submit time", cleaning.negative_submit),
        ("cancelled before they had processors", cleaning.never_ran),
        ("wider than the machine", cleaning.too_wide),
        ("without an estimate", cleaning.without_estimate),
        ("without a recorded wait", cleaning.without_wait),
    ]
}

/// The rows that reading dropped, with their counts: the words for one, and for several.
fn source_drops(source: &SourceReport) -> [(&'static str, &'static str, u64); 8] {
    [
        ("step of a job", "steps of jobs", source.steps),
        ("range of a job array", "ranges of job arrays", source.array_ranges),
        ("parent of a job array", "parents of job arrays", source.array_parents),
        ("row that repeats another", "rows that repeat others", source.repeated),
        ("job that had not ended", "jobs that had not ended", source.not_ended),
        ("row that does not report the end of a job", "rows that do not report the end of a job", source.other_events),
        ("job without GPUs", "jobs without GPUs", source.without_gpus),
        ("job of another cluster", "jobs of other clusters", source.other_clusters),
    ]
}

/// What reading did to the rows of a log, one sentence each. Empty if there is nothing to say.
pub fn reading_in_words(source: &SourceReport) -> Vec<String> {
    let mut words = Vec::new();
    if source.dropped() > 0 {
        let causes = source_drops(source).into_iter().filter(|(_, _, count)| *count > 0);
        let causes: Vec<_> = causes.map(|(one, many, count)| counted_as(count, one, many)).collect();
        let (dropped, rows) = (grouped(source.dropped()), counted(source.rows, "row"));
        let verbs =
            if source.dropped() == 1 { "is no job of its own and was" } else { "are no jobs of their own and were" };
        words.push(format!("{dropped} of {rows} {verbs} dropped: {}", causes.join(", ")));
    }
    for (count, one, many) in [
        (
            source.held,
            "job was held; it counts as submitted when it became eligible (see --submit-time)",
            "jobs were held; they count as submitted when they became eligible (see --submit-time)",
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
            source.extra_fields,
            "record has fields after the 18th, which are ignored",
            "records have fields after the 18th, which are ignored",
        ),
    ] {
        if count > 0 {
            words.push(counted_as(count, one, many));
        }
    }
    words
}

/// Writes the names behind the numbers of a log as CSV: kind, number, name.
pub fn write_names(out: &mut dyn Write, names: &LogNames) -> io::Result<()> {
    writeln!(out, "kind,number,name")?;
    for (kind, number, name) in names.rows() {
        writeln!(out, "{kind},{number},{}", csv_cell(&String::from_utf8_lossy(name)))?;
    }
    Ok(())
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
pub fn write_survey(out: &mut dyn Write, width: usize, survey: &Survey) -> io::Result<()> {
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

    let source = &survey.source;
    if source.dropped() > 0 {
        writeln!(
            out,
            "\nReading dropped {}",
            counted_as(source.dropped(), "row that is no job of its own", "rows that are no jobs of their own")
        )?;
        write_counts(out, width, &source_drops(source).map(|(_, many, count)| (many, count)), source.rows)?;
    }
    let changes = [
        ("that never started", source.never_started),
        ("held, submitted when they became eligible", source.held),
        ("started before they were submitted", source.waits_cut),
        ("with the run time of the format, not of their times", source.clock_changes),
        ("with an unknown state", source.unknown_states),
        ("with fields after the 18th, ignored", source.extra_fields),
    ];
    if changes.iter().any(|(_, count)| *count > 0) {
        writeln!(out, "\nReading notes of the {}", counted(cleaning.records, "record"))?;
        write_counts(out, width, &changes, cleaning.records)?;
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
fn write_counts(out: &mut dyn Write, width: usize, counts: &[(&str, u64)], all: u64) -> io::Result<()> {
    let mut table = Table::default();
    for (what, count) in counts.iter().filter(|(_, count)| *count > 0) {
        table.push(vec![format!("  {what}"), grouped(*count), percent(*count as f64 / all as f64)]);
    }
    if counts.iter().all(|(_, count)| *count == 0) {
        table.line(["  nothing"]);
    }
    table.write(out, width)
}

/// A survey as a row of CSV or JSON.
pub fn survey_row(survey: &Survey) -> Vec<(&'static str, Cell)> {
    let cleaning = &survey.cleaning;
    let text = |text: &Option<String>| text.clone().map_or(Cell::None, Cell::Text);
    let count = |number: usize| Cell::Count(number as u64);
    let states: Vec<_> = survey.states.iter().map(|(state, count)| format!("{}:{count}", printable(state))).collect();
    let mut row = vec![
        ("trace", Cell::Text(survey.label.clone())),
        ("computer", text(&survey.computer)),
        ("installation", text(&survey.installation)),
        ("procs", survey.procs.map_or(Cell::None, |procs| Cell::Count(procs.into()))),
        ("records", Cell::Count(cleaning.records)),
        ("skipped_lines", Cell::Count(survey.skipped.count)),
        ("jobs", count(survey.jobs)),
        ("users", count(survey.users)),
        ("groups", count(survey.groups)),
        ("executables", count(survey.executables)),
        ("queues", count(survey.queues)),
        ("partitions", count(survey.partitions)),
        ("first_submit", Cell::Seconds(survey.first_submit as f64)),
        ("last_submit", Cell::Seconds(survey.last_submit as f64)),
        ("offered_load", survey.offered_load.map_or(Cell::None, Cell::Real)),
        ("procs_mean", Cell::Real(survey.procs_mean)),
        ("procs_max", Cell::Count(survey.procs_max.into())),
        ("runtime_mean", Cell::Seconds(survey.runtime_mean)),
        ("runtime_max", Cell::Seconds(survey.runtime_max as f64)),
        ("estimate_mean", Cell::Seconds(survey.estimate_mean)),
        ("dropped", Cell::Count(cleaning.dropped())),
        ("without_procs", Cell::Count(cleaning.without_procs)),
        ("negative_runtime", Cell::Count(cleaning.negative_runtime)),
        ("negative_submit", Cell::Count(cleaning.negative_submit)),
        ("never_ran", Cell::Count(cleaning.never_ran)),
        ("too_wide", Cell::Count(cleaning.too_wide)),
        ("without_estimate", Cell::Count(cleaning.without_estimate)),
        ("without_wait", Cell::Count(cleaning.without_wait)),
        ("estimates_filled", Cell::Count(cleaning.filled)),
        ("zero_runtime", Cell::Count(cleaning.zero_runtime)),
        ("overruns", Cell::Count(cleaning.overruns)),
        ("out_of_order", Cell::Count(cleaning.out_of_order)),
        ("format", Cell::Text(survey.source.format.to_string())),
        ("peak", survey.peak.map_or(Cell::None, |peak| Cell::Count(peak.into()))),
        ("rows", Cell::Count(survey.source.rows)),
        ("steps", Cell::Count(survey.source.steps)),
        ("array_ranges", Cell::Count(survey.source.array_ranges)),
        ("array_parents", Cell::Count(survey.source.array_parents)),
        ("repeated", Cell::Count(survey.source.repeated)),
        ("not_ended", Cell::Count(survey.source.not_ended)),
        ("other_events", Cell::Count(survey.source.other_events)),
        ("without_gpus", Cell::Count(survey.source.without_gpus)),
        ("other_clusters", Cell::Count(survey.source.other_clusters)),
        ("never_started", Cell::Count(survey.source.never_started)),
        ("held", Cell::Count(survey.source.held)),
        ("waits_cut", Cell::Count(survey.source.waits_cut)),
        ("clock_changes", Cell::Count(survey.source.clock_changes)),
        ("unknown_states", Cell::Count(survey.source.unknown_states)),
        ("extra_fields", Cell::Count(survey.source.extra_fields)),
        ("states", Cell::Text(states.join(" "))),
        ("wait_mean", survey.wait_mean.map_or(Cell::None, Cell::Seconds)),
        ("estimate_max", Cell::Seconds(survey.estimate_max as f64)),
    ];
    const UNKNOWN: [&str; 18] = [
        "unknown_job",
        "unknown_submit",
        "unknown_wait",
        "unknown_runtime",
        "unknown_allocated",
        "unknown_cpu_time",
        "unknown_memory",
        "unknown_requested",
        "unknown_estimate",
        "unknown_requested_memory",
        "unknown_status",
        "unknown_user",
        "unknown_group",
        "unknown_executable",
        "unknown_queue",
        "unknown_partition",
        "unknown_preceding",
        "unknown_think_time",
    ];
    row.extend(UNKNOWN.into_iter().zip(survey.unknown.map(Cell::Real)));
    row
}

/// What [`write_findings`] writes, as rows: `trace,finding,line,count,text`. The last row is the verdict, `sound` or
/// `not sound`, with the number of records.
pub fn finding_rows(trace: &str, findings: &Findings) -> Vec<Vec<(&'static str, Cell)>> {
    let row = |finding: &str, line: u64, count: u64, text: String| {
        vec![
            ("trace", Cell::Text(trace.to_string())),
            ("finding", Cell::Text(finding.to_string())),
            ("line", if line > 0 { Cell::Count(line) } else { Cell::None }),
            ("count", Cell::Count(count)),
            ("text", Cell::Text(text)),
        ]
    };
    let fault = |fault: &LineFault| row("fault", fault.line, 1, format!("{}: \"{}\"", fault.kind, fault.text));
    let mut rows: Vec<_> = findings.faults.iter().map(fault).collect();
    let more = findings.fault_count - findings.faults.len() as u64;
    if more > 0 {
        rows.push(row("fault", 0, more, "more faulty lines".to_string()));
    }
    if findings.no_machine {
        rows.push(row(
            "machine",
            0,
            1,
            "no MaxProcs, no MaxNodes and no waits: simulating it needs --procs N".to_string(),
        ));
    }
    rows.extend(
        findings.remarks.iter().map(|remark| row("remark", remark.first_line, remark.count, remark.what.clone())),
    );
    let verdict = if findings.is_sound() { "sound" } else { "not sound" };
    rows.push(row(verdict, 0, findings.records, format!("{} faulty lines", findings.fault_count)));
    rows
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
        writeln!(out, "{name}: no MaxProcs, no MaxNodes and no waits: simulating it needs --procs N")?;
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
    let verdict = if findings.is_sound() { "sound" } else { "not sound" };
    let (records, faults) = (counted(findings.records, "record"), counted(findings.fault_count, "faulty line"));
    writeln!(out, "{name}: {verdict}: {records}, {faults}")
}
