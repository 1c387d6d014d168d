//! LSF: the rows `JOB_FINISH` of `lsb.acct`.

use super::{FormatEntry, keys};
use crate::time::{FOREVER, Seconds};
use crate::trace::error::FaultKind;
use crate::trace::rows::{Bad, Collector, JobInRow, RowCause, Unit, count, leading_number, unix_time};

pub const FORMAT: FormatEntry = FormatEntry {
    name: "lsf",
    about: "LSF: the rows JOB_FINISH of lsb.acct",
    is_line: is_lsf,
    read: |raw, collector| {
        let unit = collector.options.reading.unit;
        collector.read_lines(raw, |line, collector| row(line, unit, collector))
    },
    keys: &[keys::unit(&["cpus", "nodes"]), keys::SUBMIT_TIME],
    ..FormatEntry::ACCOUNTING
};

/// The fields between the execution hosts and the number of additional submission options: status, host factor, name,
/// command, 19 fields of usage, and 33 more, the last of which are the reservation and the description.
const AFTER_HOSTS: usize = 53;

/// The fields between the execution hosts and the index of a task in its job array.
const ARRAY_INDEX: usize = 29;

/// The fields of the usage of one host.
const HOST_USAGE: usize = 6;

/// Whether a line has the form of an LSF row.
fn is_lsf(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"\"") else { return false };
    let name = rest.iter().take_while(|byte| byte.is_ascii_uppercase() || **byte == b'_').count();
    name > 2 && rest[name..].starts_with(b"\" \"")
}

/// Splits a row at blanks. Quotes around a field are removed; doubled quotes inside it stay doubled.
fn split(line: &[u8]) -> Result<Vec<&[u8]>, Bad<'_>> {
    let mut fields = Vec::with_capacity(128);
    let mut at = 0;
    while at < line.len() {
        if line[at] == b' ' {
            at += 1;
        } else if line[at] == b'"' {
            let from = at + 1;
            at = from;
            loop {
                let Some(quote) = memchr::memchr(b'"', &line[at..]) else {
                    return Err(open_quote(&line[from - 1..]));
                };
                at += quote + 1;
                if line.get(at) != Some(&b'"') {
                    break;
                }
                at += 1;
            }
            // A quote of the next field has closed this one.
            if line.get(at).is_some_and(|&next| next != b' ') {
                return Err(open_quote(&line[from - 1..]));
            }
            fields.push(&line[from..at - 1]);
        } else {
            let end = memchr::memchr(b' ', &line[at..]).map_or(line.len(), |end| at + end);
            fields.push(&line[at..end]);
            at = end;
        }
    }
    Ok(fields)
}

fn open_quote(at: &[u8]) -> Bad<'_> {
    Bad { kind: FaultKind::NotARow { expected: "fields in closed quotes" }, at }
}

fn row<'a>(line: &'a [u8], unit: Unit, collector: &mut Collector<'_>) -> Result<(), Bad<'a>> {
    if !is_lsf(line) {
        return Err(Bad { kind: FaultKind::NotARow { expected: "\"JOB_FINISH\" \"version\" ..." }, at: line });
    }
    if !line.starts_with(b"\"JOB_FINISH\"") {
        return collector.drop_row(RowCause::OtherEvent);
    }
    let fields = &split(line)?;
    let field = |at: usize| {
        let too_few = FaultKind::NotARow { expected: "all fields of a JOB_FINISH row" };
        fields.get(at).copied().ok_or(Bad { kind: too_few, at: line })
    };
    let number = |at: usize, column| {
        let text = field(at)?;
        match count(text, column)?.map(usize::try_from) {
            Some(Ok(number)) => Ok(number),
            _ => Err(Bad::value(text, column, "is not a number")),
        }
    };
    // The hosts that were asked for, then those that it ran on.
    let asked = number(22, "numAskedHosts")?;
    let host_count_at = asked.saturating_add(23);
    let host_count = number(host_count_at, "numExHosts")?;
    let after_hosts = (host_count_at + 1).saturating_add(host_count);
    field(after_hosts.saturating_add(3))?;
    let hosts = &fields[host_count_at + 1..after_hosts];
    let asked_processors = count(field(6)?, "numProcessors")?.unwrap_or(-1);
    let (allocated, requested) = match unit {
        Unit::Nodes => (distinct(hosts), -1),
        _ => (slots(hosts), asked_processors),
    };
    let status = field(after_hosts)?;
    if status.is_empty() || !status.iter().all(u8::is_ascii_digit) {
        return Err(Bad::value(status, "jStatus", "is not a number"));
    }
    let end = field(2)?;
    let submit = field(7)?;
    let job = JobInRow {
        id: field(3)?,
        task: fields.get(after_hosts + ARRAY_INDEX).copied().unwrap_or(b""),
        submit: unix_time(submit, "submitTime")?.ok_or(Bad::missing(submit, "submitTime"))?,
        eligible: unix_time(field(8)?, "beginTime")?,
        start: unix_time(field(10)?, "startTime")?,
        end: Some(unix_time(end, "event time")?.ok_or(Bad::missing(end, "event time"))?),
        allocated,
        requested,
        estimate: limit(fields, after_hosts),
        names: [
            field(11)?,
            fields.get(after_hosts + 24).copied().unwrap_or(b""),
            field(after_hosts + 2)?,
            field(12)?,
            b"",
        ],
        status: i32::from(status == b"64"),
        state: match status {
            b"64" => b"DONE",
            b"32" => b"EXIT",
            _ => b"other status",
        },
        ..JobInRow::default()
    };
    collector.job(line, &job)
}

/// The run limit: the number after the list of host usages. Its position is known from one sample of version 9.11; a row
/// that does not fit has no limit.
fn limit(fields: &[&[u8]], after_hosts: usize) -> Option<Seconds> {
    let number = |at: usize| leading_number(fields.get(at)?);
    let options_at = after_hosts + AFTER_HOSTS;
    // Each additional option is a key and a value.
    let usages_at = options_at + 1 + usize::try_from(number(options_at)?).ok()?.checked_mul(2)?;
    let usages = usize::try_from(number(usages_at)?).ok()?.checked_mul(HOST_USAGE)?;
    number(usages_at.checked_add(usages)?.checked_add(1)?).filter(|limit| (1..=FOREVER).contains(limit))
}

/// A host and its slots: `16*h` is 16, `h` is 1.
fn host(text: &[u8]) -> (&[u8], i64) {
    match (memchr::memchr(b'*', text), leading_number(text)) {
        (Some(at), Some(slots)) => (&text[at + 1..], slots),
        _ => (text, 1),
    }
}

fn slots(hosts: &[&[u8]]) -> i64 {
    hosts.iter().map(|text| host(text).1).sum::<i64>().min(i64::from(i32::MAX))
}

fn distinct(hosts: &[&[u8]]) -> i64 {
    let mut names: Vec<_> = hosts.iter().map(|text| host(text).0).collect();
    names.sort_unstable();
    names.dedup();
    names.len() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_blanks() {
        let fields = split(br#""JOB_FINISH" "9.1"  12 "" "a ""b"" c" x"#).unwrap();
        assert_eq!(fields, [&b"JOB_FINISH"[..], b"9.1", b"12", b"", br#"a ""b"" c"#, b"x"]);
        assert!(split(br#"1 "open"#).is_err() && split(br#"1 "open 2 "closed" 3"#).is_err());
        assert_eq!((slots(&[b"16*a", b"b", b"b"]), distinct(&[b"16*a", b"b", b"b"])), (18, 2));
    }
}
