//! Joins SWF logs into one, on one clock and in order of submission.

use super::error::TraceError;
use super::read::{Log, LogText};
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
    if known > 0 || zero >= UNIX_TIMES {
        all.header = all.header.with_field("UnixStartTime", zero);
    }
    if all.header.number("MaxJobs").is_some() {
        all.header = all.header.with_field("MaxJobs", all.records.len());
    }
    if all.header.number("MaxRecords").is_some() {
        all.header = all.header.with_field("MaxRecords", all.records.len());
    }
    Ok(all)
}
