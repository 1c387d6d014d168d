//! Makes a log of the rows of a file, or of several, or the present queue of a site.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use twox_hash::XxHash3_64;

use super::JobInRow;
use super::names::NamesRead;
use super::reading::SubmitTime;
use super::reading::Unit;
use super::report::RowCause;
use super::values::Bad;
use crate::sort::sort_by_key;
use crate::text::shortened;
use crate::time::{HOUR, Seconds};
use crate::trace::conditions::ConditionsRead;
use crate::trace::error::{FaultKind, LineFault, TraceError};
use crate::trace::ids::LogIds;
use crate::trace::lines::{RawLines, after_returns, outline, shorten};
use crate::trace::log::{Log, ReadOptions};
use crate::trace::log_format::LogFormat;
use crate::trace::queue::present_rows::PresentRows;
use crate::trace::record::{CANCELLED, Fields, Record, is_blank_line};
use crate::trace::requests::RequestsRead;
use crate::trace::source::Source;

/// The number of records between two calls of `progress`.
const PROGRESS_EVERY: usize = 1 << 16;

/// The most different states that are counted by name.
const MOST_STATES: usize = 100;

/// A number of processors as a record has it.
fn small(procs: i64) -> i32 {
    procs.clamp(-1, i64::from(i32::MAX)) as i32
}

/// Collects the jobs of one log, which may be several files, or of a present queue.
pub struct Collector<'a> {
    pub options: &'a ReadOptions,
    pub format: LogFormat,
    /// What was read so far.
    pub log: Log,
    /// The lines of the records of an SWF log, for validation.
    pub lines: Vec<u64>,
    /// The jobs of a present queue.
    pub present: PresentRows,
    /// What the jobs of a log ask for.
    pub requests: RequestsRead,
    /// What the jobs of a log wait for.
    pub conditions: ConditionsRead,
    /// Whether the next job ran in a reservation.
    pub is_reserved: bool,
    /// The name of the format of logs that a line belongs to. None if it belongs to none that can be told.
    format_of_line: fn(&[u8]) -> Option<&'static str>,
    /// The file that is being read.
    pub name: String,
    names: NamesRead,
    ids: LogIds,
    /// The ids of a table if all are whole numbers, in the order of the rows.
    numbers: Option<Vec<i64>>,
    /// Hashes of the jobs' [`JobInRow::identity`]. Among ten million jobs, two have the same with a probability of 1 in
    /// 300,000.
    identities: FxHashSet<u64>,
    /// Memory for the next identity.
    identity: Vec<u8>,
    /// Receives faulty rows, for validation.
    on_fault: Option<&'a mut dyn FnMut(LineFault)>,
    /// The clusters of the jobs, if they are not selected by an option.
    clusters: Vec<Vec<u8>>,
    progress: &'a mut dyn FnMut(usize),
}

impl<'a> Collector<'a> {
    /// `format_of_line` names the format of logs that a line belongs to.
    pub(in crate::trace) fn with_formats(
        format_of_line: fn(&[u8]) -> Option<&'static str>,
        source: &Source,
        format: LogFormat,
        options: &'a ReadOptions,
        on_fault: Option<&'a mut dyn FnMut(LineFault)>,
        progress: &'a mut dyn FnMut(usize),
    ) -> Self {
        let numbers = (format.name() == "csv").then(Vec::new);
        let mut log = Log::new(source, options, format.name());
        log.source.unused_limits = options.reading.partition_limits.iter().map(|(name, _)| name.clone()).collect();
        Collector {
            options,
            log,
            format,
            format_of_line,
            lines: Vec::new(),
            present: PresentRows::default(),
            requests: RequestsRead::default(),
            conditions: ConditionsRead::default(),
            is_reserved: false,
            name: String::new(),
            names: NamesRead::default(),
            ids: LogIds::default(),
            numbers,
            identities: FxHashSet::default(),
            identity: Vec::new(),
            on_fault,
            clusters: Vec::new(),
            progress,
        }
    }

    /// Reads a file that has one row per line. `row` makes a job of a line; blank lines are skipped.
    pub fn read_lines(
        &mut self,
        raw: &mut RawLines,
        row: impl for<'r> Fn(&'r [u8], &mut Self) -> Result<(), Bad<'r>>,
    ) -> Result<(), TraceError> {
        while let Some(place) = raw.cut()? {
            let line = &raw.buffer()[place];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if is_blank_line(line) {
                continue;
            }
            if let Some(rest) = after_returns(line).find(|rest| (self.format_of_line)(rest) == Some(self.format.name()))
            {
                self.bad_row(raw.number(), line, &Bad { kind: FaultKind::MIXED_LINE_ENDS, at: rest })?;
                continue;
            }
            if let Err(bad) = row(line, self) {
                self.bad_row(raw.number(), line, &bad)?;
            }
        }
        Ok(())
    }

    /// The limit of a partition (the key `partition-limit`), for a job without a limit of its own.
    pub fn limit_of_partition(&mut self, partition: &[u8]) -> Option<Seconds> {
        let limits = &self.options.reading.partition_limits;
        let (name, limit) = limits.iter().find(|(name, _)| name.as_bytes() == partition)?;
        self.log.source.unused_limits.remove(name);
        Some(*limit)
    }

    /// Counts a row that is dropped, which is not a fault.
    pub fn drop_row<'r>(&mut self, cause: RowCause) -> Result<(), Bad<'r>> {
        self.log.source.rows += 1;
        self.log.source.causes.add(cause, 1);
        Ok(())
    }

    /// Counts a job that is dropped because it has none of the device that is the unit.
    pub fn drop_without_device<'r>(&mut self, unit: Unit) -> Result<(), Bad<'r>> {
        self.log.source.rows += 1;
        self.log.source.without_device[unit] += 1;
        Ok(())
    }

    /// Whether jobs of this cluster are read. Other clusters are remembered for the error at the end.
    #[inline]
    pub fn is_own_cluster(&mut self, cluster: &[u8]) -> bool {
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
    pub fn unknown_state(&mut self, state: &[u8]) {
        self.log.source.causes.add(RowCause::UnknownState, 1);
        self.log.source.first_unknown_state.get_or_insert_with(|| shorten(state));
    }

    /// Adds a record of an SWF log.
    #[inline]
    pub fn record(&mut self, line: u64, text: &[u8], fields: &Fields, record: Record) {
        let log = &mut self.log;
        log.count_unknown(fields);
        log.records.push(record);
        if let Some(kept) = &mut log.text {
            kept.push(text);
        }
        if self.on_fault.is_some() {
            self.lines.push(line);
        }
        if self.log.records.len().is_multiple_of(PROGRESS_EVERY) {
            (self.progress)(self.log.records.len());
        }
    }

    fn count_state(&mut self, state: &[u8]) {
        if state.is_empty() {
            return;
        }
        let states = &mut self.log.source.states;
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
    fn is_new(&mut self, job: &JobInRow<'_>) -> bool {
        if job.id.is_empty() {
            return true;
        }
        job.identity(&mut self.identity);
        self.identities.insert(XxHash3_64::oneshot(&self.identity))
    }

    /// Adds a job of a log, unless it had not ended or an earlier row is the same.
    #[inline]
    pub fn job<'r>(&mut self, row: &'r [u8], job: &JobInRow<'r>) -> Result<(), Bad<'r>> {
        let by_eligible = self.options.reading.submit_time == SubmitTime::Eligible;
        let held = job.eligible.filter(|&eligible| by_eligible && eligible > job.submit);
        let submit = held.unwrap_or(job.submit);
        let mut record = Record {
            number: self.log.records.len() as i64,
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
                return self.drop_row(RowCause::NotEnded);
            };
            wait_cut = start < submit;
            let mut runtime = end - start;
            match job.elapsed {
                Some(elapsed) if runtime < 0 || (runtime - elapsed).abs() >= HOUR => {
                    clock_changed = true;
                    runtime = elapsed;
                }
                None if runtime < 0 => return Err(Bad { kind: FaultKind::ENDS_BEFORE_START, at: row }),
                _ => {}
            }
            let procs = small(if job.allocated > 0 { job.allocated } else { job.requested });
            record = Record {
                wait: if job.wait_unknown { -1 } else { (start - submit).max(0) },
                runtime,
                allocated: procs,
                requested: procs,
                status: job.status,
                ..record
            };
        }
        if !self.is_new(job) {
            return self.drop_row(RowCause::Repeated);
        }
        let report = &mut self.log.source;
        report.rows += 1;
        for (cause, applies) in [
            (RowCause::Held, held.is_some()),
            (RowCause::NeverStarted, job.start.is_none()),
            (RowCause::WaitCut, wait_cut),
            (RowCause::ClockChange, clock_changed),
            (RowCause::Reserved, self.is_reserved),
        ] {
            report.causes.add(cause, applies.into());
        }
        self.count_state(job.state);
        if job.is_unknown_state {
            self.unknown_state(job.state);
        }
        let [user, group, executable, queue, partition] = job.names;
        record.user = self.names.place(0, user);
        record.group = self.names.place(1, group);
        record.executable = self.names.place(2, executable);
        record.queue = self.names.place(3, queue);
        record.partition = self.names.place(4, partition);
        self.requests.set(self.log.records.len(), job.request);
        self.conditions.add(self.log.records.len(), job.id, job.array());
        self.log.records.push(record);
        if let Some(numbers) = &mut self.numbers {
            let number = std::str::from_utf8(job.id).ok().and_then(|id| id.parse().ok()).filter(|number| *number >= 0);
            match number {
                Some(number) => numbers.push(number),
                None => self.numbers = None,
            }
        }
        self.ids.push(job.id);
        if self.log.records.len().is_multiple_of(PROGRESS_EVERY) {
            (self.progress)(self.log.records.len());
        }
        Ok(())
    }

    /// Reports a row that cannot be read: counted and skipped, or an error.
    #[cold]
    pub fn bad_row(&mut self, number: u64, row: &[u8], bad: &Bad<'_>) -> Result<(), TraceError> {
        // The piece is a part of the row, unless it was made from it.
        let offset = (bad.at.as_ptr() as usize).checked_sub(row.as_ptr() as usize).filter(|&at| at <= row.len());
        // A missing value has no text, so the message shows the whole row. Rows of SWF are numbers, others have names.
        let has_text = offset.is_some() && !bad.at.is_empty();
        let piece = if has_text { bad.at.trim_ascii() } else { row.trim_ascii() };
        let is_value = has_text && matches!(bad.kind, FaultKind::Value { .. });
        let text = if is_value || self.format.name() == "swf" { shorten(piece) } else { outline(piece) };
        let mut fault = LineFault { line: number, column: offset.unwrap_or(0) + 1, kind: bad.kind, text };
        let line = row.split(|&byte| byte == b'\n').next().unwrap_or(row);
        let own = self.format.name();
        // Any line can be one of a table.
        let other = (self.format_of_line)(line).filter(|&found| found != own && own != "csv");
        if let Some(at) = memchr::memchr(0, row) {
            fault = LineFault { column: at + 1, kind: FaultKind::BINARY, text: outline(&row[at..]), ..fault };
        } else if let Some(found) = other {
            fault = LineFault { column: 1, kind: FaultKind::OtherFormat { own, found }, text: outline(line), ..fault };
        }
        self.fault(fault)
    }

    /// Reports a faulty line: counted and skipped, or an error.
    #[cold]
    pub fn fault(&mut self, fault: LineFault) -> Result<(), TraceError> {
        match &mut self.on_fault {
            Some(on_fault) => on_fault(fault),
            None if self.options.skip_bad_lines => {
                self.log.skipped.count += 1;
                self.log.skipped.first.get_or_insert(fault);
            }
            None => return Err(TraceError::Line { name: self.name.clone(), fault }),
        }
        Ok(())
    }

    /// The log of everything that was collected.
    pub fn finish(mut self) -> Result<Log, TraceError> {
        if self.clusters.len() > 1 {
            let names: Vec<_> = self.clusters.iter().map(|name| format!("\"{}\"", shorten(name))).collect();
            let why = format!(
                "it has jobs of {} clusters: {}; choose one with --log-format sacct:cluster=NAME",
                names.len(),
                names.join(", ")
            );
            return Err(TraceError::unusable(&self.name, why));
        }
        if self.format.name() == "swf" {
            self.log.source.rows = self.log.records.len() as u64;
            self.log.requests = std::mem::take(&mut self.requests).finish(&self.log.records, None);
        } else {
            self.number_records();
        }
        self.log.records.shrink_to_fit();
        self.log.checked()
    }

    /// Sorts the records by submit time, numbers jobs and names in this order, and makes a header.
    fn number_records(&mut self) {
        let Log { records, header, ids, requests, conditions, .. } = &mut self.log;
        if !records.is_sorted_by_key(|record| record.submit) {
            sort_by_key(records, |record| record.submit);
        }
        header.push(b"; Version: 2.2");
        let has_dates = self.format.has_dates;
        let start = records.first().filter(|_| has_dates).map_or(0, |record| record.submit);
        if has_dates && !records.is_empty() {
            header.push(format!("; UnixStartTime: {start}").as_bytes());
        }
        let read_ids = std::mem::take(&mut self.ids);
        *ids = Arc::new(read_ids.in_order(records.iter().map(|record| record.number as usize)));
        *requests = std::mem::take(&mut self.requests).finish(records, Some(|record| record.number as usize));
        let read = std::mem::take(&mut self.conditions);
        *conditions = Arc::new(read.finish(records, Some(|record| record.number as usize)));
        // A table's own numbers stay, so that other tables can name its jobs.
        let own = self.numbers.take().filter(|numbers| are_different(numbers));
        for (record, number) in records.iter_mut().zip(1..) {
            record.number = own.as_ref().map_or(number, |own| own[record.number as usize]);
            record.submit -= start;
        }
        let names = std::mem::take(&mut self.names);
        self.log.names = names.finish(records.iter_mut().map(|record| {
            let Record { user, group, executable, queue, partition, .. } = record;
            [user, group, executable, queue, partition]
        }));
        for at in 0..self.log.records.len() {
            let fields = self.log.records[at].to_fields(&self.log.wide);
            self.log.count_unknown(&fields);
            if let Some(text) = &mut self.log.text {
                text.push_record(&fields);
            }
        }
    }
}
fn are_different(numbers: &[i64]) -> bool {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.is_sorted_by(|one, next| one < next)
}
