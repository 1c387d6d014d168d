//! Joins SWF logs into one, on one clock and in order of submission.

use std::io;

use super::error::TraceError;
use super::format::LogFormat;
use super::header::Header;
use super::read::{Line, Lines, Log, LogText, ReadOptions, open, scan_swf};
use super::record::Record;
use super::source::Source;
use crate::time::Time;

/// Times of SWF logs without `UnixStartTime` that are at least this are Unix times: it is a day of 1973.
const UNIX_TIMES: Time = 100_000_000;

/// Joins logs whose data lines were kept. Users and job numbers stay as they are. Submit times count from the first one,
/// which is the time in the header field `UnixStartTime` if that is known. The header is that of the first log.
///
/// # Errors
/// If only some of the logs have a `UnixStartTime`.
pub fn join(logs: Vec<Log>) -> Result<Log, TraceError> {
    let first_submit = |log: &Log| log.records.iter().map(|record| record.submit).filter(|&submit| submit >= 0).min();
    let starts: Vec<Option<Time>> =
        logs.iter().map(|log| log.header.number("UnixStartTime").filter(|&time| time > 0)).collect();
    let known = starts.iter().flatten().count();
    if known > 0 && known < logs.len() {
        let at = starts.iter().position(Option::is_none).expect("one has none");
        let why = "its header has no UnixStartTime, but that of another log has one: their times cannot be compared";
        return Err(TraceError::Format { name: logs[at].name.clone(), why: why.to_string() });
    }
    // What is added to the submit times of each log to put all on one clock.
    let shifts: Vec<Time> = logs
        .iter()
        .zip(&starts)
        .map(|(log, start)| start.map_or(0, |start| start - first_submit(log).unwrap_or(0)))
        .collect();
    let zero = logs.iter().zip(&shifts).filter_map(|(log, shift)| Some(first_submit(log)? + shift)).min().unwrap_or(0);

    let mut logs = logs.into_iter().zip(shifts);
    let (mut all, shift) = logs.next().expect("at least one log");
    let mut lines = all.text.take().unwrap_or_default();
    let moved = |submit: Time, shift: Time| if submit < 0 { submit } else { submit + shift - zero };
    all.records.iter_mut().for_each(|record| record.submit = moved(record.submit, shift));
    for (log, shift) in logs {
        let mut code = |code: i32| all.wide.code(log.wide.number(code));
        all.records.extend(log.records.iter().map(|record| {
            let mut record = *record;
            record.submit = moved(record.submit, shift);
            let codes = [record.user, record.group, record.executable, record.queue, record.partition].map(&mut code);
            [record.user, record.group, record.executable, record.queue, record.partition] = codes;
            record
        }));
        if let Some(text) = &log.text {
            (0..log.records.len()).for_each(|at| lines.push(text.line(at)));
        }
        all.unknown.iter_mut().zip(log.unknown).for_each(|(sum, count)| *sum += count);
        all.source.rows += log.source.rows;
        all.source.extra_fields += log.source.extra_fields;
        all.skipped.count += log.skipped.count;
        all.skipped.first = all.skipped.first.or(log.skipped.first);
    }
    if !all.records.is_sorted_by_key(|record| record.submit) {
        let mut order: Vec<usize> = (0..all.records.len()).collect();
        order.sort_by_key(|&at| all.records[at].submit);
        let mut sorted = LogText::default();
        order.iter().for_each(|&at| sorted.push(lines.line(at)));
        all.records = order.iter().map(|&at| all.records[at]).collect();
        lines = sorted;
    }
    all.text = Some(lines);
    all.header = joined_header(&all.header, zero, all.records.len());
    Ok(all)
}

/// The header of logs that were joined: `zero` is the time of the first submission on their clock.
fn joined_header(header: &Header, zero: Time, records: usize) -> Header {
    let mut header = header.clone();
    let is_known = header.number("UnixStartTime").is_some_and(|time| time > 0);
    if is_known || zero >= UNIX_TIMES {
        header = header.with_field("UnixStartTime", zero);
    }
    for name in ["MaxJobs", "MaxRecords"] {
        if header.number(name).is_some() {
            header = header.with_field(name, records);
        }
    }
    header
}

/// An SWF log in order of submission, which can be copied without being kept in memory.
#[derive(Debug)]
pub struct SortedLog {
    /// The log without its records, with the header of the copy.
    pub log: Log,
    /// The number of its records.
    pub records: usize,
    source: Source,
    options: ReadOptions,
    first_submit: Time,
}

impl SortedLog {
    /// Reads a file once to see whether it is an SWF log in order of submission. None if it is not, if it is not a file,
    /// or if the size of the machine must be computed from its records.
    ///
    /// # Errors
    /// As [`super::read`].
    pub fn find(
        source: &Source,
        options: &ReadOptions,
        procs: Option<u32>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Option<SortedLog>, TraceError> {
        // Standard input can be read only once.
        let Source::File(_) = source else { return Ok(None) };
        let (format, raw) = open(source, options)?;
        if format != LogFormat::Swf {
            return Ok(None);
        }
        options.reading.check(&format, raw.name())?;
        let (mut records, mut latest, mut first_submit) = (0, Time::MIN, None);
        let is_sorted = |record: &Record| {
            records += 1;
            first_submit = first_submit.or((record.submit >= 0).then_some(record.submit));
            std::mem::replace(&mut latest, record.submit) <= record.submit
        };
        let Some(mut log) = scan_swf(source, raw, options, is_sorted, progress)? else { return Ok(None) };
        if procs.is_none() && log.header.procs().is_none() {
            return Ok(None);
        }
        let first_submit = first_submit.unwrap_or(0);
        let start = log.header.number("UnixStartTime").filter(|&time| time > 0);
        log.header = joined_header(&log.header, start.unwrap_or(first_submit), records);
        Ok(Some(SortedLog { log, records, source: source.clone(), options: options.clone(), first_submit }))
    }

    /// Reads the file again. `write` gets each data line with its submit time, which counts from the first one.
    ///
    /// # Errors
    /// If the file cannot be read, or `write` fails.
    pub fn copy(&self, write: &mut dyn FnMut(&[u8], Time) -> io::Result<()>) -> io::Result<()> {
        let failed = |error: TraceError| io::Error::other(error.to_string());
        let (_, raw) = open(&self.source, &self.options).map_err(failed)?;
        let mut lines = Lines::new(raw);
        while let Some(line) = lines.next_line().map_err(failed)? {
            if let Line::Record { record, text, .. } = line {
                let submit = if record.submit < 0 { record.submit } else { record.submit - self.first_submit };
                write(text, submit)?;
            }
        }
        Ok(())
    }
}
