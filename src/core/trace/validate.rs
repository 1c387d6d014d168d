//! Checks a log: reports every fault with its position, and unusual records.

use rustc_hash::FxHashSet;

use super::clean::{ProcsField, peak, sane_procs};
use super::error::{LineFault, TraceError};
use super::log::{Log, ReadOptions};
use super::read::open;
use super::record::Record;
use super::requests::with_requests;
use super::rows::Collector;
use super::source::Source;
use crate::text::{counted, grouped, plural};
use crate::time::Time;

/// The most faulty lines kept to be shown; all are counted.
const FAULTS_SHOWN: usize = 20;

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

/// That more processors were in use at once than the machine has: what follows their number in a sentence.
pub fn over_machine(peak: u32, procs: u32) -> String {
    format!(
        "{} in use at once by the recorded schedule, but the machine has {} (--procs): waits, run times, requests or the size of the \
         machine are wrong",
        plural(peak.into(), "processor"),
        grouped(procs.into())
    )
}

/// Reads a log to its end, faulty lines included. `procs` is the size of the machine if it is not the header's. `progress` is
/// called after every 65,536 records with the number of records so far.
///
/// # Errors
/// If the log cannot be read, or is of no known format.
pub fn validate(
    source: &Source,
    options: &ReadOptions,
    procs: Option<u32>,
    progress: &mut dyn FnMut(usize),
) -> Result<Findings, TraceError> {
    let (format, mut raw) = open(source, options, false)?;
    let mut findings = Findings { format: format.name(), ..Findings::default() };
    let mut on_fault = |fault| {
        findings.fault_count += 1;
        if findings.faults.len() < FAULTS_SHOWN {
            findings.faults.push(fault);
        }
    };
    let mut collector = Collector::new(source, format, options, Some(&mut on_fault), progress);
    collector.read(&mut raw)?;
    let lines = std::mem::take(&mut collector.lines);
    let log = with_requests(options, collector.finish()?)?;
    findings.describe(&log, &lines, procs.or_else(|| log.header.procs()));
    Ok(findings)
}

impl Findings {
    /// Adds a fact about records, if it holds for any.
    fn remark(&mut self, count: u64, first_line: u64, what: String) {
        if count > 0 {
            self.remarks.push(Finding { what, count, first_line });
        }
    }

    /// Adds what is unusual in a log. `lines` are those of the records; only SWF has them.
    fn describe(&mut self, log: &Log, lines: &[u64], procs: Option<u32>) {
        self.records = log.records.len() as u64;
        let is_swf = log.source.format == "swf";
        for (words, count) in log.source.counts().filter(|(words, _)| !words.found.1.is_empty()) {
            let (thing, what) = words.found;
            self.remark(count, 0, format!("{} {what}", plural(count, thing)));
        }
        self.describe_records(log, lines, procs);
        let peak = peak(&log.records, ProcsField::Requested);
        self.no_machine = is_swf && procs.is_none() && peak.is_none();
        if let (Some(peak), Some(procs)) = (peak, procs)
            && peak > procs
        {
            self.remark(peak.into(), 0, over_machine(peak, procs));
        }
        let records = plural(self.records, "record");
        if is_swf && procs.is_none() && peak.is_some() {
            let what = "but neither MaxProcs nor MaxNodes: the machine is the most that was in use (--procs)";
            self.remark(self.records, 0, format!("{records}, {what}"));
        }
        if let Some(declared) = log.header.number("MaxJobs")
            && u64::try_from(declared) != Ok(self.records)
        {
            self.remark(self.records, 0, format!("{records}, but the header's MaxJobs is {declared}"));
        }
    }

    /// Adds what is unusual in records.
    fn describe_records(&mut self, log: &Log, lines: &[u64], procs: Option<u32>) {
        let is_swf = log.source.format == "swf";
        let needs = |record: &Record| sane_procs(record, ProcsField::Requested).ok();
        let fits = |needs: u32| procs.is_none_or(|procs| needs <= procs);
        let is_kept = |record: &Record| needs(record).is_some_and(fits);
        let (mut latest, mut numbers) = (Time::MIN, FxHashSet::default());
        let machine = counted(procs.unwrap_or(0).into(), "processor");
        let mut note = |what: &str, is: &mut dyn FnMut(&Record) -> bool| {
            let mut found = (0..log.records.len()).filter(|&at| is(&log.records[at]));
            let first = found.next();
            let count = u64::from(first.is_some()) + found.count() as u64;
            let line = first.and_then(|at| lines.get(at)).copied().unwrap_or(0);
            let what = if is_swf { what.to_string() } else { format!("{} {what}", plural(count, "record")) };
            self.remark(count, line, what);
        };
        if is_swf {
            note(
                "not sane (no processors, a negative run or submit time, or cancelled before it ran): dropped",
                &mut |record| needs(record).is_none(),
            );
        } else {
            note("without processors: dropped by cleaning", &mut |record| {
                record.runtime >= 0 && record.requested.max(record.allocated) <= 0
            });
        }
        note(&format!("wider than the machine ({machine}): dropped"), &mut |record| {
            needs(record).is_some_and(|needs| !fits(needs))
        });
        note("submitted earlier than a line before: sorted", &mut |record| {
            let is_earlier = record.submit < latest;
            latest = latest.max(record.submit);
            is_earlier
        });
        note("with a job number that an earlier line has", &mut |record| !numbers.insert(record.number));
        note("with a run time of 0: simulated as 1 second", &mut |record| is_kept(record) && record.runtime == 0);
        note("without an estimate: filled in (--missing-estimate)", &mut |record| {
            is_kept(record) && record.estimate <= 0
        });
        note("running longer than estimated (--overrun)", &mut |record| {
            is_kept(record) && record.estimate > 0 && record.runtime > record.estimate
        });
    }
}
