//! Writes SWF logs: a simulated schedule, a log with other estimates, or a resample.

use std::io::{self, Write};

use crate::metrics::JobMetrics;
use crate::text::counted;
use crate::time::Seconds;
use crate::trace::{
    Header, Log, LogText, Preceding, Resampled, Workload, field_texts, write_header, write_record, write_texts,
};

/// Writes the jobs of a schedule with their simulated waits, and a header with notes.
pub(super) fn write_schedule(
    out: &mut dyn Write,
    (header, text): (&Header, &LogText),
    workload: &Workload,
    setting: &str,
    estimates: Option<&str>,
    jobs: &mut dyn Iterator<Item = JobMetrics>,
) -> io::Result<()> {
    let mut header = header.with_procs(workload.procs);
    if let Some(maker) = estimates {
        header.push(estimates_note(maker).as_bytes());
    }
    let machine = counted(u64::from(workload.procs), "processor");
    header.push(format!("; Note: waits simulated by shadowtime, {setting} on {machine}").as_bytes());
    write_header(out, &header)?;
    for job in jobs {
        let mut changed = vec![(1, job.number), (2, job.eligible), (3, job.wait), (4, job.runtime)];
        changed.extend(estimates.map(|_| (9, job.estimate)));
        let mut record = job.record;
        if let Some(resampled) = workload.resampled() {
            record = resampled.record_of_log(record);
            // The preceding job of the log may be in no copy, or in several.
            changed.extend([(12, i64::from(job.user)), (17, -1), (18, -1)]);
        }
        write_changed(out, text.line(record as usize), &changed)?;
    }
    Ok(())
}

/// Writes a log with other estimates. `estimates` has one entry per record; None keeps the old estimate. A note in the
/// header says what made them.
pub fn write_with_estimates(
    out: &mut dyn Write,
    header: &Header,
    text: &LogText,
    maker: &str,
    estimates: &[Option<Seconds>],
) -> io::Result<()> {
    let mut header = header.clone();
    header.push(estimates_note(maker).as_bytes());
    write_header(out, &header)?;
    for (record, estimate) in estimates.iter().enumerate() {
        let changed = estimate.map(|estimate| (9, estimate));
        write_changed(out, text.line(record), changed.as_slice())?;
    }
    Ok(())
}

/// Writes a resample of a log. Job number, submit time, user and preceding job are those of the resample, all other fields are as
/// in the log. A note in the header says what made it.
pub fn write_resample(
    out: &mut dyn Write,
    (header, text): (&Header, &LogText),
    workload: &Workload,
    resampled: &Resampled,
    maker: &str,
    preceding: &[Preceding],
) -> io::Result<()> {
    let mut header = header.with_procs(workload.procs);
    for name in ["MaxJobs", "MaxRecords"] {
        if header.number(name).is_some() {
            header = header.with_field(name, workload.jobs.len());
        }
    }
    header.push(format!("; Note: resampled by shadowtime, {maker}").as_bytes());
    write_header(out, &header)?;
    for job in &workload.jobs {
        let [number, think] = linked(preceding, job.record);
        let submission = &job.submission;
        let user = i64::from(submission.user);
        let changed = [(1, job.number), (2, submission.submit), (12, user), (17, number), (18, think)];
        write_changed(out, text.line(resampled.record_of_log(job.record) as usize), &changed)?;
    }
    Ok(())
}

/// Writes a log as SWF. Data lines that were kept are written as they are, except that the submit time is the record's if it
/// is another second than the one in the line. `preceding`, in order of records, replaces the preceding jobs of all records; None:
/// they are as in the log.
pub fn write_log(out: &mut dyn Write, log: &Log, header: &Header, preceding: Option<&[Preceding]>) -> io::Result<()> {
    write_header(out, header)?;
    let preceding = preceding.or(log.text.is_none().then_some(&log.preceding[..]));
    for (at, record) in log.records.iter().enumerate() {
        let linked = preceding.map(|all| linked(all, at as u32));
        match &log.text {
            None => {
                let mut fields = record.to_fields(&log.wide);
                fields[16..].copy_from_slice(&linked.unwrap_or([-1, -1]));
                write_record(out, &fields)?;
            }
            Some(text) => {
                let line = text.line(at);
                let mut changed = Vec::new();
                changed.extend(linked.iter().flat_map(|[number, think]| [(17, *number), (18, *think)]));
                let submit =
                    field_texts(line).nth(1).and_then(|field| std::str::from_utf8(field).ok()?.parse::<f64>().ok());
                if submit.is_none_or(|time| (time + 0.5).floor() != record.submit as f64) {
                    changed.push((2, record.submit));
                }
                write_changed(out, line, &changed)?;
            }
        }
    }
    Ok(())
}

/// Fields 17 and 18 of a record. `preceding` is in order of records.
fn linked(preceding: &[Preceding], record: u32) -> [i64; 2] {
    match preceding.binary_search_by_key(&record, |one| one.record) {
        Ok(place) => [preceding[place].number, preceding[place].think],
        Err(_) => [-1, -1],
    }
}

fn estimates_note(maker: &str) -> String {
    format!("; Note: estimates (field 9) made by shadowtime, {maker}")
}

/// Writes a line of a log with other values in some fields, which are counted from 1.
fn write_changed(out: &mut dyn Write, line: &[u8], changed: &[(usize, i64)]) -> io::Result<()> {
    let texts: Vec<(usize, String)> = changed.iter().map(|(number, value)| (*number, value.to_string())).collect();
    let fields = field_texts(line).zip(1..).map(|(field, number)| {
        let new = texts.iter().find(|(changed, _)| *changed == number);
        new.map_or(field, |(_, text)| text.as_bytes())
    });
    write_texts(out, fields)
}
