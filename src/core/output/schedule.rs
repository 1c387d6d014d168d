//! Writes SWF logs: a simulated schedule, or a log with other estimates.

use std::io::{self, Write};

use crate::metrics::JobMetrics;
use crate::text::counted;
use crate::time::Seconds;
use crate::trace::{Header, Log, LogText, Preceding, field_texts, write_header, write_record, write_texts};

/// Writes the jobs of a schedule with their simulated waits, and a header with notes.
pub(super) fn write_schedule(
    out: &mut dyn Write,
    header: &Header,
    text: &LogText,
    procs: u32,
    setting: &str,
    estimates: Option<&str>,
    jobs: &mut dyn Iterator<Item = JobMetrics>,
) -> io::Result<()> {
    let mut header = header.with_procs(procs);
    if let Some(maker) = estimates {
        header.push(estimates_note(maker).as_bytes());
    }
    let machine = counted(u64::from(procs), "processor");
    header.push(format!("; Note: waits simulated by shadowtime, {setting} on {machine}").as_bytes());
    write_header(out, &header)?;
    for job in jobs {
        let line = text.line(job.record as usize);
        let changed = [job.number, job.eligible, job.wait, job.runtime].map(|value| value.to_string());
        let fields = changed.iter().map(String::as_bytes).chain(field_texts(line).skip(4));
        match estimates {
            None => write_texts(out, fields)?,
            Some(_) => write_with_estimate(out, fields, job.estimate)?,
        }
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
        let fields = field_texts(text.line(record));
        match estimate {
            None => write_texts(out, fields)?,
            Some(estimate) => write_with_estimate(out, fields, *estimate)?,
        }
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
        let linked = preceding.map(|all| match all.binary_search_by_key(&(at as u32), |one| one.record) {
            Ok(place) => [all[place].number, all[place].think],
            Err(_) => [-1, -1],
        });
        match &log.text {
            None => {
                let mut fields = record.to_fields(&log.wide);
                fields[16..].copy_from_slice(&linked.unwrap_or([-1, -1]));
                write_record(out, &fields)?;
            }
            Some(text) => {
                let linked = linked.map(|link| link.map(|number| number.to_string()));
                let submit = record.submit.to_string();
                let second = |field: &[u8]| std::str::from_utf8(field).ok()?.parse::<f64>().ok();
                let is_same =
                    |field: &[u8]| second(field).is_some_and(|time| (time + 0.5).floor() == record.submit as f64);
                let fields = field_texts(text.line(at)).zip(1..).map(|(field, number)| match number {
                    2 if !is_same(field) => submit.as_bytes(),
                    17 | 18 => linked.as_ref().map_or(field, |link| link[number - 17].as_bytes()),
                    _ => field,
                });
                write_texts(out, fields)?;
            }
        }
    }
    Ok(())
}

fn estimates_note(maker: &str) -> String {
    format!("; Note: estimates (field 9) made by shadowtime, {maker}")
}

/// Writes fields unchanged, except the ninth.
fn write_with_estimate<'a>(
    out: &mut dyn Write,
    fields: impl Iterator<Item = &'a [u8]>,
    estimate: Seconds,
) -> io::Result<()> {
    let estimate = estimate.to_string();
    write_texts(out, fields.zip(1..).map(|(field, number)| if number == 9 { estimate.as_bytes() } else { field }))
}
