//! Is this a sound SWF log? Every fault with its place, and everything that a user of the log should know.

use std::collections::HashSet;

use super::error::{LineFault, TraceError};
use super::header::Header;
use super::read::{Line, Lines};
use super::record::Record;
use super::source::Source;

/// How many faulty lines are kept to be shown; all are counted.
const FAULTS_SHOWN: usize = 20;

/// What was found in a log.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub records: u64,
    /// Lines that are no record; the first of them.
    pub faults: Vec<LineFault>,
    pub fault_count: u64,
    /// The header says nothing of the machine's size.
    pub no_machine: bool,
    /// Things that are legal but worth knowing, in a fixed order; only those that occur.
    pub remarks: Vec<Finding>,
}

/// Something that holds for some records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub what: String,
    pub count: u64,
    /// The line where it is first so.
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

/// Reads a log to its end, whatever its lines are.
pub fn validate(source: &Source, watch: &mut dyn FnMut(usize)) -> Result<Findings, TraceError> {
    let mut findings = Findings::default();
    let mut header = Header::default();
    let (mut backwards, mut repeated, mut insane, mut wide) =
        (Tally::default(), Tally::default(), Tally::default(), Tally::default());
    let (mut overruns, mut no_estimate, mut zero) = (Tally::default(), Tally::default(), Tally::default());
    let mut numbers: HashSet<i64> = HashSet::new();
    let mut latest_submit = i64::MIN;
    let mut procs = None;
    let mut lines = Lines::new(source.open()?, source.name());
    while let Some(line) = lines.next_line()? {
        match line {
            Line::Comment(text) => {
                if findings.records == 0 {
                    header.push(text);
                    procs = header.procs();
                }
            }
            Line::Fault(fault) => {
                findings.fault_count += 1;
                if findings.faults.len() < FAULTS_SHOWN {
                    findings.faults.push(fault);
                }
            }
            Line::Record { record, .. } => {
                let at = lines.number();
                findings.records += 1;
                let wants = if record.requested > 0 { record.requested } else { record.allocated };
                insane.note(is_insane(&record), at);
                wide.note(procs.is_some_and(|procs| i64::from(wants) > i64::from(procs)), at);
                backwards.note(record.submit < latest_submit, at);
                latest_submit = latest_submit.max(record.submit);
                repeated.note(!numbers.insert(record.number), at);
                zero.note(record.runtime == 0, at);
                no_estimate.note(record.estimate <= 0, at);
                overruns.note(record.estimate > 0 && record.runtime > record.estimate, at);
                if findings.records.is_multiple_of(1 << 16) {
                    watch(findings.records as usize);
                }
            }
        }
    }
    findings.no_machine = procs.is_none();
    let width = format!("wider than the machine's {} processors: dropped", procs.unwrap_or(0));
    let remarks = [
        (insane, "not sane (no processors, or a negative run or submit time): dropped"),
        (wide, width.as_str()),
        (backwards, "submitted earlier than a line before: sorted"),
        (repeated, "with a job number that an earlier line has"),
        (zero, "with a run time of 0: simulated as 1 second"),
        (no_estimate, "without an estimate: filled in (--missing-estimate)"),
        (overruns, "running longer than estimated (--overrun)"),
    ];
    for (tally, what) in remarks {
        if tally.count > 0 {
            let Tally { count, first_line } = tally;
            findings.remarks.push(Finding { what: what.to_string(), count, first_line });
        }
    }
    if let Some(said) = header.number("MaxJobs")
        && u64::try_from(said) != Ok(findings.records)
    {
        let what = format!("records, where the header's MaxJobs says {said}");
        findings.remarks.push(Finding { what, count: findings.records, first_line: 0 });
    }
    Ok(findings)
}

fn is_insane(record: &Record) -> bool {
    record.requested.max(record.allocated) <= 0 || record.runtime < 0 || record.submit < 0
}
