//! Joins SWF logs into one, on one clock and in order of submission.

use rustc_hash::FxHashSet;

use super::error::TraceError;
use super::feedback::Preceding;
use super::header::Header;
use super::log::Log;
use super::log_text::LogText;
use super::record::Record;
use super::rows::RowCause;
use crate::request::{LogRequests, RequestId, Requests};
use crate::sort::sort_by_key;
use crate::time::{FOREVER, Time};

/// Submit times that are all at least this are Unix times, if nothing says otherwise: it is a day of 1973.
const UNIX_TIMES: Time = 100_000_000;

/// Joins logs whose data lines were kept. Jobs, users and other names keep their numbers. One log keeps its times too.
/// Those of several count from the earliest instant 0 of them, which is the Unix time in the header field `UnixStartTime`,
/// whatever the first submission is; without this field all submit times must be Unix times. A record that is already in
/// another file is left out and counted. The header is that of the first log, with the largest machine of all.
///
/// # Errors
/// If the instants 0 of several logs are not known, or their users, queues or partitions were numbered separately.
pub fn join(mut logs: Vec<Log>) -> Result<Log, TraceError> {
    let zero = if logs.len() > 1 { put_on_one_clock(&mut logs)? } else { None };
    let mut header = logs[0].header.clone();
    if let Some(procs) = logs.iter().filter_map(|log| log.header.procs()).max() {
        header = header.with_procs(procs);
    }
    if let Some(zero) = zero {
        header = header.with_field("UnixStartTime", zero);
    }
    for log in &logs[1..] {
        add_names(&mut header, &logs[0].name, log)?;
    }
    let (name, label) = (logs[0].name.clone(), logs[0].label.clone());
    // Jobs of one second keep the order of the log if its parts are given in another one.
    logs.sort_by_cached_key(first_submit);
    let mut logs = logs.into_iter();
    let mut all = logs.next().expect("at least one log");
    let mut lines = all.text.take().unwrap_or_default();
    let mut requests = RequestsJoined::new(&all);
    for log in logs {
        append(&mut all, &mut lines, &mut requests, &log);
        all.unknown.iter_mut().zip(log.unknown).for_each(|(sum, count)| *sum += count);
        all.source.rows += log.source.rows;
        all.source.causes.add(RowCause::ExtraFields, log.source.causes[RowCause::ExtraFields]);
        all.skipped.count += log.skipped.count;
        all.skipped.first = all.skipped.first.or(log.skipped.first);
    }
    if !all.records.is_sorted_by_key(|record| record.submit) {
        let mut order: Vec<usize> = (0..all.records.len()).collect();
        sort_by_key(&mut order, |&at| all.records[at].submit);
        let mut sorted = LogText::default();
        order.iter().for_each(|&at| sorted.push(lines.line(at)));
        all.records = order.iter().map(|&at| all.records[at]).collect();
        requests.by_record = order.iter().map(|&at| requests.by_record[at]).collect();
        lines = sorted;
        let mut places = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&at, place)| places[at] = place);
        all.preceding.iter_mut().for_each(|preceding| preceding.record = places[preceding.record as usize]);
        sort_by_key(&mut all.preceding, |preceding| preceding.record);
    }
    all.requests = LogRequests::of_records(requests.all, requests.by_record);
    all.header = counted_header(&header, all.records.len());
    Log { name, label, text: Some(lines), ..all }.checked()
}

/// The earliest submit time. Negative ones are unknown.
fn first_submit(log: &Log) -> Time {
    log.records.iter().map(|record| record.submit).filter(|&submit| submit >= 0).min().unwrap_or(Time::MAX)
}

/// Moves the submit times of several logs to one clock. Returns the Unix time of its instant 0; None if it is 1970.
fn put_on_one_clock(logs: &mut [Log]) -> Result<Option<Time>, TraceError> {
    refuse_separate_numbers(logs)?;
    let failed = |log: &Log, why: &str| Err(TraceError::unusable(&log.name, why));
    let start = |log: &Log| log.header.number("UnixStartTime").filter(|&time| time > 0);
    let Some(zero) = logs.iter().filter_map(start).min() else {
        return match logs.iter().find(|log| first_submit(log) < UNIX_TIMES) {
            None => Ok(None),
            Some(log) => failed(
                log,
                "its header has no UnixStartTime, the Unix time of its instant 0, so its times cannot be compared with \
                 those of the other logs: add the line `; UnixStartTime: SECONDS` to each, or, if all count from the same \
                 instant, make one file of them with `cat`",
            ),
        };
    };
    for log in logs {
        let Some(shift) = start(log).map(|start| start - zero) else {
            return failed(
                log,
                "its header has no UnixStartTime, but that of another log has one: their times cannot be compared",
            );
        };
        if shift > FOREVER - log.records.iter().map(|record| record.submit).max().unwrap_or(0) {
            return failed(log, "its UnixStartTime is too long after that of another log");
        }
        let known = log.records.iter_mut().filter(|record| record.submit >= 0);
        known.for_each(|record| record.submit += shift);
    }
    Ok(Some(zero))
}

/// Refuses logs that were made from accounting files one by one: user 1 of one is not user 1 of another.
fn refuse_separate_numbers(logs: &[Log]) -> Result<(), TraceError> {
    let is_note = |line: &&[u8]| memchr::memmem::find(line, CONVERTED.as_bytes()).is_some() && !line.ends_with(b" swf");
    let origin = |log: &Log| {
        let notes: Vec<Vec<u8>> = log.header.lines().filter(is_note).map(<[u8]>::to_vec).collect();
        (notes, log.header.number("UnixStartTime"))
    };
    let first = origin(&logs[0]);
    match logs.iter().find(|log| !first.0.is_empty() && !origin(log).0.is_empty() && origin(log) != first) {
        None => Ok(()),
        Some(log) => {
            let why = format!(
                "like {}, it was converted from an accounting file: the same number means a different user in each; \
                 join the accounting files instead",
                logs[0].name
            );
            Err(TraceError::unusable(&log.name, why))
        }
    }
}

/// Adds the queues and partitions that the header of another log names, and refuses it if one number means two of them.
fn add_names(header: &mut Header, first: &str, log: &Log) -> Result<(), TraceError> {
    for (field, what) in [("Queue", "queue"), ("Partition", "partition")] {
        let known = header.numbered(field);
        for (number, name) in log.header.numbered(field) {
            match known.iter().find(|(other, _)| *other == number) {
                None => header.push(format!("; {field}: {number} {name}").as_bytes()),
                Some((_, same)) if *same == name => {}
                Some(_) => {
                    let why = format!(
                        "the header of {first} has another name for {what} {number}: the same number means a different \
                         {what} in each"
                    );
                    return Err(TraceError::unusable(&log.name, why));
                }
            }
        }
    }
    Ok(())
}

/// The note in the header of a log that was converted begins so. The label of the log and its format follow.
pub const CONVERTED: &str = "converted by shadowtime from";

/// Adds the records of a log that are not in another one, with their lines.
fn append(all: &mut Log, lines: &mut LogText, requests: &mut RequestsJoined, log: &Log) {
    let from = first_submit(log);
    let may_repeat = |record: &Record| record.submit >= from && record.number > 0;
    let earlier: FxHashSet<Record> = all.records.iter().filter(|record| may_repeat(record)).copied().collect();
    for (at, record) in log.records.iter().enumerate() {
        let mut record = *record;
        let codes = [record.user, record.group, record.executable, record.queue, record.partition]
            .map(|code| all.wide.code(log.wide.number(code)));
        [record.user, record.group, record.executable, record.queue, record.partition] = codes;
        if earlier.contains(&record) {
            all.source.causes.add(RowCause::Repeated, 1);
            continue;
        }
        if let Ok(place) = log.preceding.binary_search_by_key(&(at as u32), |preceding| preceding.record) {
            all.preceding.push(Preceding { record: all.records.len() as u32, ..log.preceding[place] });
        }
        all.records.push(record);
        requests
            .by_record
            .push(log.requests.get(at).map_or(RequestId::NONE, |request| requests.all.intern(request.clone())));
        if let Some(text) = &log.text {
            lines.push(text.line(at));
        }
    }
}

/// The requests of the logs that are joined.
struct RequestsJoined {
    all: Requests,
    by_record: Vec<RequestId>,
}

impl RequestsJoined {
    fn new(first: &Log) -> RequestsJoined {
        let by_record = (0..first.records.len()).map(|at| first.requests.of(at)).collect();
        RequestsJoined { all: first.requests.requests.as_ref().clone(), by_record }
    }
}

/// The header with the number of the records, if it has one.
fn counted_header(header: &Header, records: usize) -> Header {
    let counts = ["MaxJobs", "MaxRecords"].into_iter().filter(|name| header.number(name).is_some());
    counts.fold(header.clone(), |header, name| header.with_field(name, records))
}
