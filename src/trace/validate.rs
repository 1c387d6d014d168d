//! Checks a log: reports every fault with its position, and unusual records.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::clean::{ProcsField, peak, sane_procs};
use super::error::{LineFault, TraceError};
use super::format::LogFormat;
use super::header::Header;
use super::read::{Line, Lines, Log, OpenLog, ReadOptions, open, read_accounting};
use super::record::Record;
use super::source::Source;
use crate::text::{counted, grouped, plural};
use crate::time::Time;

/// The most faulty lines kept to be shown; all are counted.
const FAULTS_SHOWN: usize = 20;

/// The most runs of consecutive job numbers that are kept, which take a few megabytes. Real logs have far fewer.
const MOST_RUNS: usize = 100_000;

/// The result of [`validate`].
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The number of valid data lines.
    pub records: u64,
    /// The first 20 faulty lines.
    pub faults: Vec<LineFault>,
    /// The number of all faulty lines.
    pub fault_count: u64,
    /// The format of the log.
    pub format: &'static str,
    /// The header does not give the size of the machine, and there are no waits that show it.
    pub no_machine: bool,
    /// Facts that are legal but unusual, in a fixed order; only those that occur.
    pub remarks: Vec<Finding>,
}

/// A fact about some records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The fact, as the end of a sentence that begins with the number of records.
    pub what: String,
    /// The number of records.
    pub count: u64,
    /// The line of the first of them; 0 if it applies to the whole log.
    pub first_line: u64,
}

impl Findings {
    /// Whether `sim` can simulate the log as it is.
    pub fn is_sound(&self) -> bool {
        self.fault_count == 0 && !self.no_machine && self.records > 0
    }
}

#[derive(Clone, Copy, Default)]
struct Tally {
    count: u64,
    first_line: u64,
}

impl Tally {
    fn note(&mut self, holds: bool, line: u64) {
        if holds {
            if self.count == 0 {
                self.first_line = line;
            }
            self.count += 1;
        }
    }
}

/// A set of job numbers, kept as runs of consecutive ones: most logs are one run.
#[derive(Default)]
struct JobNumbers {
    /// The first and the last number of each run.
    runs: BTreeMap<i64, i64>,
}

impl JobNumbers {
    /// Adds a number. Returns whether it is new.
    fn insert(&mut self, number: i64) -> bool {
        let before = self.runs.range(..=number).next_back().map(|(&first, &last)| (first, last));
        if before.is_some_and(|(_, last)| number <= last) {
            return false;
        }
        // Merge with the runs that end directly before it and begin directly after it.
        let first = before.filter(|&(_, last)| last + 1 == number).map_or(number, |(first, _)| first);
        let behind = number.checked_add(1).and_then(|next| self.runs.remove(&next));
        self.runs.insert(first, behind.unwrap_or(number));
        true
    }

    fn is_full(&self) -> bool {
        self.runs.len() >= MOST_RUNS
    }
}

/// The most processors that were in use at once, as [`peak`] says, of a log in order of submission. It keeps only the jobs
/// that wait or run.
#[derive(Default)]
struct PeakSoFar {
    /// The times at which processors are taken or, as a negative number, given back.
    changes: BinaryHeap<Reverse<(Time, i64)>>,
    used: i64,
    most: i64,
}

impl PeakSoFar {
    fn add(&mut self, record: &Record, procs: u32) {
        // Jobs that are submitted from now on cannot change what was before.
        self.advance(record.submit);
        self.most = self.most.max(procs.into());
        if record.wait >= 0 && record.runtime > 0 {
            let start = record.submit + record.wait;
            self.changes.push(Reverse((start, procs.into())));
            self.changes.push(Reverse((start + record.runtime, -i64::from(procs))));
        }
    }

    fn advance(&mut self, now: Time) {
        while let Some(Reverse((time, change))) = self.changes.peek().copied()
            && time < now
        {
            self.changes.pop();
            self.used += change;
            self.most = self.most.max(self.used);
        }
    }

    fn most(mut self) -> Option<u32> {
        self.advance(Time::MAX);
        u32::try_from(self.most).ok()
    }
}

/// That more processors were in use at once than the machine has: what follows their number in a sentence.
pub fn over_machine(peak: u32, procs: u32) -> String {
    format!(
        "{} in use at once by the recorded schedule, but the machine has {} (--procs): waits, run times, requests or the size of the \
         machine are wrong",
        plural(peak.into(), "processor"),
        grouped(procs.into())
    )
}

/// Reads a log to its end, faulty lines included. `procs` is the size of the machine if it is not the header's. Of an SWF log,
/// only the jobs that wait or run at one time are kept in memory. `progress` is called after every 65,536 records with the
/// number of records so far.
///
/// # Errors
/// If the log cannot be read, or is of no known format.
pub fn validate(
    source: &Source,
    options: &ReadOptions,
    procs: Option<u32>,
    progress: &mut dyn FnMut(usize),
) -> Result<Findings, TraceError> {
    let (format, raw) = open(source, options)?;
    match format {
        LogFormat::Swf => {
            options.reading.check(&format, raw.name())?;
            validate_swf(raw, procs, progress)
        }
        format => {
            let mut findings = Findings { format: format.name(), ..Findings::default() };
            let mut on_fault = |fault| findings.push_fault(fault);
            let log = read_accounting(source, &format, raw, options, Some(&mut on_fault), progress)?;
            findings.describe(&log, procs);
            Ok(findings)
        }
    }
}

impl Findings {
    fn push_fault(&mut self, fault: LineFault) {
        self.fault_count += 1;
        if self.faults.len() < FAULTS_SHOWN {
            self.faults.push(fault);
        }
    }

    /// Adds that more was in use than the machine has.
    fn compare_peak(&mut self, peak: Option<u32>, procs: Option<u32>) {
        if let (Some(peak), Some(procs)) = (peak, procs)
            && peak > procs
        {
            let what = over_machine(peak, procs);
            self.remarks.push(Finding { what, count: peak.into(), first_line: 0 });
        }
    }

    /// Adds what is unusual in a log that is not SWF. Its records have no lines of their own.
    fn describe(&mut self, log: &Log, procs: Option<u32>) {
        self.records = log.records.len() as u64;
        let sane = |record: &&Record| sane_procs(record, ProcsField::Requested).is_ok_and(|needs| fits(needs, procs));
        // Of jobs that become part of the workload.
        let count =
            |is: fn(&Record) -> bool| log.records.iter().filter(sane).filter(|record| is(record)).count() as u64;
        let without_procs = |record: &&Record| record.runtime >= 0 && record.requested.max(record.allocated) <= 0;
        let wide = |record: &&Record| sane_procs(record, ProcsField::Requested).is_ok_and(|needs| !fits(needs, procs));
        let report = &log.source;
        let remarks = [
            (report.steps, "row", "of steps of jobs: dropped"),
            (report.array_ranges, "row", "of ranges of job arrays: dropped"),
            (report.array_parents, "row", "of parents of job arrays: dropped"),
            (report.repeated, "row", "with the job id, times and processors of an earlier row: dropped"),
            (report.not_ended, "job", "that had not ended: dropped"),
            (report.other_events, "row", "of other events than the end of a job: dropped"),
            (report.without_gpus, "job", "without GPUs: dropped"),
            (report.other_clusters, "job", "of other clusters: dropped"),
            (report.never_started, "job", "that never started: dropped by cleaning"),
            (
                log.records.iter().filter(without_procs).count() as u64,
                "record",
                "without processors: dropped by cleaning",
            ),
            (log.records.iter().filter(wide).count() as u64, "record", "wider than the machine: dropped by cleaning"),
            (report.unknown_states, "job", "with an unknown state: the status is 0, or -1 in csv"),
            (report.waits_cut, "job", "with a start before the submission: the wait is 0"),
            (
                report.clock_changes,
                "job",
                "with times that differ from the run time by an hour or more: the run time is used",
            ),
            (report.held, "job", "held: submitted on becoming eligible (--submit-time)"),
            (count(|record| record.runtime == 0), "record", "with a run time of 0: simulated as 1 second"),
            (count(|record| record.estimate <= 0), "record", "without an estimate: filled in (--missing-estimate)"),
            (
                count(|record| record.estimate > 0 && record.runtime > record.estimate),
                "record",
                "running longer than estimated (--overrun)",
            ),
        ];
        for (count, thing, what) in remarks.into_iter().filter(|(count, ..)| *count > 0) {
            let what = format!("{} {what}", plural(count, thing));
            self.remarks.push(Finding { what, count, first_line: 0 });
        }
        self.compare_peak(peak(&log.records, ProcsField::Requested), procs);
    }
}

/// Whether a machine has this many processors. One of unknown size has.
fn fits(needs: u32, procs: Option<u32>) -> bool {
    procs.is_none_or(|procs| needs <= procs)
}

fn validate_swf(raw: OpenLog, given: Option<u32>, progress: &mut dyn FnMut(usize)) -> Result<Findings, TraceError> {
    let mut findings = Findings { format: "swf", ..Findings::default() };
    let (mut extra_fields, mut has_waits) = (Tally::default(), false);
    let mut header = Header::default();
    let (mut backwards, mut repeated, mut insane, mut wide) =
        (Tally::default(), Tally::default(), Tally::default(), Tally::default());
    let (mut overruns, mut no_estimate, mut zero) = (Tally::default(), Tally::default(), Tally::default());
    let (mut numbers, mut unchecked) = (JobNumbers::default(), Tally::default());
    let mut latest_submit = i64::MIN;
    let (mut procs, mut peak) = (given, PeakSoFar::default());
    let mut lines = Lines::new(raw);
    while let Some(line) = lines.next_line()? {
        match line {
            Line::Comment(text) => {
                if findings.records == 0 {
                    header.push_if_room(text);
                }
            }
            Line::Fault(fault) => findings.push_fault(fault),
            Line::Record { record, extra, .. } => {
                let at = lines.number();
                if findings.records == 0 {
                    procs = given.or_else(|| header.procs());
                }
                findings.records += 1;
                extra_fields.note(extra, at);
                has_waits |= record.wait >= 0;
                let needs = sane_procs(&record, ProcsField::Requested).ok();
                insane.note(needs.is_none(), at);
                needs.into_iter().for_each(|needs| peak.add(&record, needs));
                let is_kept = needs.is_some_and(|needs| fits(needs, procs));
                wide.note(needs.is_some() && !is_kept, at);
                backwards.note(record.submit < latest_submit, at);
                latest_submit = latest_submit.max(record.submit);
                match numbers.is_full() {
                    true => unchecked.note(true, at),
                    false => repeated.note(!numbers.insert(record.number), at),
                }
                zero.note(is_kept && record.runtime == 0, at);
                no_estimate.note(is_kept && record.estimate <= 0, at);
                overruns.note(is_kept && record.estimate > 0 && record.runtime > record.estimate, at);
                if findings.records.is_multiple_of(1 << 16) {
                    progress(findings.records as usize);
                }
            }
        }
    }
    findings.no_machine = procs.is_none() && !has_waits;
    let width = format!("wider than the machine ({}): dropped", counted(procs.unwrap_or(0).into(), "processor"));
    let remarks = [
        (insane, "not sane (no processors, a negative run or submit time, or cancelled before it ran): dropped"),
        (wide, width.as_str()),
        (backwards, "submitted earlier than a line before: sorted"),
        (repeated, "with a job number that an earlier line has"),
        (unchecked, "with a job number that was not compared: the numbers before have too many gaps"),
        (zero, "with a run time of 0: simulated as 1 second"),
        (no_estimate, "without an estimate: filled in (--missing-estimate)"),
        (overruns, "running longer than estimated (--overrun)"),
        (extra_fields, "with fields after the 18th, which are ignored"),
    ];
    for (tally, what) in remarks {
        if tally.count > 0 {
            let Tally { count, first_line } = tally;
            findings.remarks.push(Finding { what: what.to_string(), count, first_line });
        }
    }
    // Of a log that is not in order, only `sim trace info` computes the peak.
    if backwards.count == 0 && has_waits {
        findings.compare_peak(peak.most(), procs);
    }
    if procs.is_none() && has_waits {
        let what = format!(
            "{}, but neither MaxProcs nor MaxNodes: the machine is the most that was in use (--procs)",
            plural(findings.records, "record")
        );
        findings.remarks.push(Finding { what, count: findings.records, first_line: 0 });
    }
    if let Some(declared) = header.number("MaxJobs")
        && u64::try_from(declared) != Ok(findings.records)
    {
        let records = plural(findings.records, "record");
        let what = format!("{records}, but the header's MaxJobs is {declared}");
        findings.remarks.push(Finding { what, count: findings.records, first_line: 0 });
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;
    use std::collections::BTreeSet;

    /// With many equal times, waits of 0 and run times of 0.
    #[test]
    fn the_peak_so_far_is_the_peak_of_all() {
        let mut rng = stream(1, "peak");
        for _ in 0..300 {
            let (mut submit, mut records, mut so_far) = (0, Vec::new(), PeakSoFar::default());
            for number in 1..=rng.random_range(1..40) {
                submit += rng.random_range(0..4);
                let (wait, runtime) = (rng.random_range(0..6), rng.random_range(0..9));
                let procs = rng.random_range(1..9);
                let [user, group, executable, queue, partition] = [-1; 5];
                let (estimate, allocated, requested, status) = (9, procs, procs, 1);
                records.push(Record {
                    number,
                    submit,
                    wait,
                    runtime,
                    estimate,
                    allocated,
                    requested,
                    user,
                    group,
                    executable,
                    queue,
                    partition,
                    status,
                });
                so_far.add(&records[records.len() - 1], procs.unsigned_abs());
            }
            assert_eq!(so_far.most(), peak(&records, ProcsField::Requested), "{records:?}");
        }
    }

    #[test]
    fn runs_of_numbers_are_the_set_of_them() {
        let mut rng = stream(1, "job numbers");
        for span in [5, 40, 1000] {
            let (mut numbers, mut set) = (JobNumbers::default(), BTreeSet::new());
            for _ in 0..500 {
                let number = rng.random_range(-span..span);
                assert_eq!(numbers.insert(number), set.insert(number), "{number}");
            }
            let runs = set.iter().filter(|&&number| !set.contains(&(number - 1))).count();
            assert_eq!(numbers.runs.len(), runs);
        }
        let mut numbers = JobNumbers::default();
        let extremes = [i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 1, i64::MAX, i64::MIN];
        assert_eq!(extremes.map(|number| numbers.insert(number)), [true, true, true, true, false, false]);
    }
}
