//! Makes records of the jobs of an accounting file.

use std::collections::BTreeMap;
use std::io::Read;

use rustc_hash::FxHashSet;
use twox_hash::XxHash3_64;

use super::AccountingJob;
use super::names::{LogNames, NamesRead};
use super::reading::SubmitTime;
use super::values::Bad;
use crate::text::shortened;
use crate::time::{HOUR, Time};
use crate::trace::error::{FaultKind, LineFault, TraceError};
use crate::trace::format::{LogFormat, format_of_line};
use crate::trace::lines::{RawLines, after_returns, shorten};
use crate::trace::read::{PROGRESS_EVERY, ReadOptions, Skipped};
use crate::trace::record::{CANCELLED, Record, is_blank_line};

/// The most different states that are counted by name.
const MOST_STATES: usize = 100;

/// What reading did to the rows of a log. The rows are the records of the log and the rows that were dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceReport {
    /// The format of the log; empty if it was made by the program.
    pub format: &'static str,
    /// All rows that are not faulty.
    pub rows: u64,
    /// Dropped: steps of jobs (`123.batch`), and tasks of SGE's parallel jobs.
    pub steps: u64,
    /// Dropped: ranges of job arrays (`123_[1-3]`) that stand for tasks which were never started.
    pub array_ranges: u64,
    /// Dropped: the parents of PBS job arrays (`123[]`), whose tasks have rows of their own.
    pub array_parents: u64,
    /// Dropped: rows that repeat an earlier one. In accounting files these have the same job id, submission, start, end and
    /// processors: exports of two months share the jobs at their border. In SWF logs that are joined, all fields that a
    /// [`Record`] has are the same and the files differ: job numbers may begin anew in each file, and one file is taken as
    /// it is.
    pub repeated: u64,
    /// Dropped: jobs that had not ended.
    pub not_ended: u64,
    /// Dropped: rows that do not report the end of a job.
    pub other_events: u64,
    /// Dropped: jobs without GPUs where GPUs are the unit.
    pub without_gpus: u64,
    /// Dropped: jobs of other clusters.
    pub other_clusters: u64,
    /// Records of jobs that never started. They have no run time, so that cleaning drops them.
    pub never_started: u64,
    /// Jobs that were held, and count as submitted when they became eligible.
    pub held: u64,
    /// Jobs that started before they were submitted: their wait is 0.
    pub waits_cut: u64,
    /// Jobs whose run time is the format's own, because their times differ from it by an hour or more.
    pub clock_changes: u64,
    /// Jobs with a state that is not known: their status is 0, or -1 in CSV.
    pub unknown_states: u64,
    /// The first of these states.
    pub first_unknown_state: Option<String>,
    /// Records with fields after the 18th, which are ignored. Only in SWF.
    pub extra_fields: u64,
    /// The number of jobs in each state, as the log names it. Empty for SWF.
    pub states: BTreeMap<String, u64>,
}

impl SourceReport {
    /// All rows that did not become records.
    pub fn dropped(&self) -> u64 {
        let arrays = self.array_ranges + self.array_parents;
        let others = self.other_events + self.without_gpus + self.other_clusters;
        self.steps + arrays + self.repeated + self.not_ended + others
    }
}

/// A number of processors as a record has it.
fn small(procs: i64) -> i32 {
    procs.clamp(-1, i64::from(i32::MAX)) as i32
}

/// Collects the jobs of one log, which may be several files.
pub struct Collector<'a> {
    options: &'a ReadOptions,
    format: &'static str,
    /// The file that is being read.
    name: String,
    records: Vec<Record>,
    names: NamesRead,
    ids: Vec<Box<[u8]>>,
    /// Hashes of the jobs' [`AccountingJob::identity`]. Among ten million jobs, two have the same with a probability of 1 in
    /// 300,000.
    identities: FxHashSet<u64>,
    /// Memory for the next identity.
    identity: Vec<u8>,
    report: SourceReport,
    skipped: Skipped,
    /// Receives faulty rows instead of [`Skipped`], for validation.
    on_fault: Option<&'a mut dyn FnMut(LineFault)>,
    /// The clusters of the jobs, if they are not selected by an option.
    clusters: Vec<Vec<u8>>,
    progress: &'a mut dyn FnMut(usize),
}

/// A log of which all rows have been read.
pub struct Collected {
    /// In order of submission, which counts from the first one.
    pub records: Vec<Record>,
    pub names: LogNames,
    pub report: SourceReport,
    pub skipped: Skipped,
    /// The Unix time of the first submission. None if there are no records.
    pub unix_start: Option<Time>,
}

impl<'a> Collector<'a> {
    pub fn new(
        format: &LogFormat,
        options: &'a ReadOptions,
        on_fault: Option<&'a mut dyn FnMut(LineFault)>,
        progress: &'a mut dyn FnMut(usize),
    ) -> Self {
        Collector {
            options,
            format: format.name(),
            name: String::new(),
            records: Vec::new(),
            names: NamesRead::default(),
            ids: Vec::new(),
            identities: FxHashSet::default(),
            identity: Vec::new(),
            report: SourceReport { format: format.name(), ..SourceReport::default() },
            skipped: Skipped::default(),
            on_fault,
            clusters: Vec::new(),
            progress,
        }
    }

    /// Begins with a file.
    pub fn begin(&mut self, name: &str) {
        self.name = name.to_string();
    }

    /// Reads a file that has one row per line. `row` makes a job of a line; blank lines are skipped.
    pub(super) fn read_lines<R: Read>(
        &mut self,
        raw: &mut RawLines<R>,
        row: impl for<'r> Fn(&'r [u8], &mut Self) -> Result<(), Bad<'r>>,
    ) -> Result<(), TraceError> {
        while let Some(place) = raw.cut()? {
            let line = &raw.buffer()[place];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if is_blank_line(line) {
                continue;
            }
            if let Some(rest) = after_returns(line).find(|rest| format_of_line(rest) == Some(self.format)) {
                self.bad_row(raw.number(), line, &Bad { kind: FaultKind::MixedLineEnds, at: rest })?;
                continue;
            }
            if let Err(bad) = row(line, self) {
                self.bad_row(raw.number(), line, &bad)?;
            }
        }
        Ok(())
    }

    /// Counts a row that is dropped.
    pub(super) fn drop_row(&mut self, cause: fn(&mut SourceReport) -> &mut u64) {
        self.report.rows += 1;
        *cause(&mut self.report) += 1;
    }

    /// Whether jobs of this cluster are read. Other clusters are remembered for the error at the end.
    #[inline]
    pub(super) fn is_own_cluster(&mut self, cluster: &[u8]) -> bool {
        match &self.options.reading.cluster {
            Some(own) => own.as_bytes() == cluster,
            None => {
                if !cluster.is_empty() && !self.clusters.iter().any(|other| other == cluster) {
                    self.clusters.push(cluster.to_vec());
                }
                true
            }
        }
    }

    /// Counts a state that is not known.
    pub(super) fn unknown_state(&mut self, state: &[u8]) {
        self.report.unknown_states += 1;
        self.report.first_unknown_state.get_or_insert_with(|| shorten(state));
    }

    fn count_state(&mut self, state: &[u8]) {
        if state.is_empty() {
            return;
        }
        let states = &mut self.report.states;
        if let Some(count) = std::str::from_utf8(state).ok().and_then(|state| states.get_mut(state)) {
            *count += 1;
            return;
        }
        let name =
            if states.len() < MOST_STATES { shortened(&shorten(state)).to_string() } else { "others".to_string() };
        *states.entry(name).or_default() += 1;
    }

    /// Whether no earlier row is of the same run of the same job. A job without an id is always new.
    #[inline]
    fn is_new(&mut self, job: &AccountingJob<'_>) -> bool {
        if job.id.is_empty() {
            return true;
        }
        job.identity(&mut self.identity);
        self.identities.insert(XxHash3_64::oneshot(&self.identity))
    }

    /// Adds a job. Returns false if it is dropped: it had not ended, or an earlier row is the same.
    #[inline]
    pub(super) fn job<'r>(&mut self, row: &'r [u8], job: &AccountingJob<'r>) -> Result<bool, Bad<'r>> {
        let by_eligible = self.options.reading.submit_time == SubmitTime::Eligible;
        let held = job.eligible.filter(|&eligible| by_eligible && eligible > job.submit);
        let submit = held.unwrap_or(job.submit);
        let mut record = Record {
            number: self.records.len() as i64,
            submit,
            wait: -1,
            runtime: -1,
            estimate: job.estimate.filter(|&estimate| estimate > 0).unwrap_or(-1),
            allocated: -1,
            requested: small(if job.requested > 0 { job.requested } else { job.allocated }),
            user: -1,
            group: -1,
            executable: -1,
            queue: -1,
            partition: -1,
            status: CANCELLED,
        };
        let (mut wait_cut, mut clock_changed) = (false, false);
        if let Some(start) = job.start {
            let Some(end) = job.end else {
                self.drop_row(|report| &mut report.not_ended);
                return Ok(false);
            };
            wait_cut = start < submit;
            let mut runtime = end - start;
            match job.elapsed {
                Some(elapsed) if runtime < 0 || (runtime - elapsed).abs() >= HOUR => {
                    clock_changed = true;
                    runtime = elapsed;
                }
                None if runtime < 0 => return Err(Bad { kind: FaultKind::EndsBeforeStart, at: row }),
                _ => {}
            }
            let procs = small(if job.allocated > 0 { job.allocated } else { job.requested });
            record = Record {
                wait: if job.wait_known { (start - submit).max(0) } else { -1 },
                runtime,
                allocated: procs,
                requested: procs,
                status: job.status,
                ..record
            };
        }
        if !self.is_new(job) {
            self.drop_row(|report| &mut report.repeated);
            return Ok(false);
        }
        let report = &mut self.report;
        report.rows += 1;
        report.held += u64::from(held.is_some());
        report.never_started += u64::from(job.start.is_none());
        report.waits_cut += u64::from(wait_cut);
        report.clock_changes += u64::from(clock_changed);
        self.count_state(job.state);
        let [user, group, executable, queue, partition] = job.names;
        record.user = self.names.place(0, user);
        record.group = self.names.place(1, group);
        record.executable = self.names.place(2, executable);
        record.queue = self.names.place(3, queue);
        record.partition = self.names.place(4, partition);
        self.records.push(record);
        if self.options.keep_names {
            self.ids.push(job.id.into());
        }
        if self.records.len().is_multiple_of(PROGRESS_EVERY) {
            (self.progress)(self.records.len());
        }
        Ok(true)
    }

    /// Reports a row that cannot be read: counted and skipped, or an error.
    #[cold]
    pub(super) fn bad_row(&mut self, number: u64, row: &[u8], bad: &Bad<'_>) -> Result<(), TraceError> {
        // The piece is a part of the row, unless it was made from it.
        let offset = (bad.at.as_ptr() as usize).checked_sub(row.as_ptr() as usize).filter(|&at| at <= row.len());
        let mut fault = LineFault {
            line: number,
            column: offset.unwrap_or(0) + 1,
            kind: bad.kind,
            text: shorten(if offset.is_some() { bad.at } else { row }),
        };
        let line = row.split(|&byte| byte == b'\n').next().unwrap_or(row);
        let other = format_of_line(line).filter(|&found| found != self.format && self.format != "csv");
        if let Some(at) = memchr::memchr(0, row) {
            fault = LineFault { column: at + 1, kind: FaultKind::Binary, text: shorten(&row[at..]), ..fault };
        } else if let Some(found) = other {
            let kind = FaultKind::OtherFormat { own: self.format, found };
            fault = LineFault { column: 1, kind, text: shorten(line), ..fault };
        }
        match &mut self.on_fault {
            Some(on_fault) => on_fault(fault),
            None if self.options.skip_bad_lines => {
                self.skipped.count += 1;
                self.skipped.first.get_or_insert(fault);
            }
            None => return Err(TraceError::Line { name: self.name.clone(), fault }),
        }
        Ok(())
    }

    /// Sorts the records by submit time and numbers jobs and names in this order.
    pub fn finish(self) -> Result<Collected, TraceError> {
        if self.clusters.len() > 1 {
            let names: Vec<_> = self.clusters.iter().map(|name| format!("\"{}\"", shorten(name))).collect();
            let why = format!(
                "it has jobs of {} clusters: {}; choose one with --cluster NAME",
                names.len(),
                names.join(", ")
            );
            return Err(TraceError::Format { name: self.name, why });
        }
        let mut records = self.records;
        if !records.is_sorted_by_key(|record| record.submit) {
            records.sort_by_key(|record| record.submit);
        }
        let unix_start = records.first().map(|record| record.submit);
        let mut ids = self.ids;
        let jobs = match ids.is_empty() {
            true => Vec::new(),
            false => records.iter().map(|record| std::mem::take(&mut ids[record.number as usize])).collect(),
        };
        for (record, number) in records.iter_mut().zip(1..) {
            record.number = number;
            record.submit -= unix_start.unwrap_or(0);
        }
        let mut names = self.names.finish(records.iter_mut().map(|record| {
            let Record { user, group, executable, queue, partition, .. } = record;
            [user, group, executable, queue, partition]
        }));
        names.jobs = jobs;
        records.shrink_to_fit();
        Ok(Collected { records, names, report: self.report, skipped: self.skipped, unix_start })
    }
}
