//! Grid Engine (SGE, UGE): the colon separated file `accounting`.

use super::{FormatEntry, keys};
use crate::time::{FOREVER, Seconds, Time};
use crate::trace::error::FaultKind;
use crate::trace::number;
use crate::trace::rows::{Bad, Collector, JobInRow, RowCause, count, duration, unix_time};

pub const FORMAT: FormatEntry = FormatEntry {
    name: "sge",
    about: "Grid Engine: accounting, also with times in milliseconds",
    is_line: is_sge,
    // Lines that begin with `#` are comments.
    read: |raw, collector| {
        collector.read_lines(raw, |line, collector| match line.first() {
            Some(b'#') => Ok(()),
            _ => row(line, collector),
        })
    },
    keys: &[keys::SUBMIT_TIME],
    ..FormatEntry::ACCOUNTING
};

/// The fields up to the category, which is the last one that is used.
const FIELDS: usize = 40;

/// Times from here on are milliseconds: as seconds they would be after the year 5000.
const MILLISECONDS: i64 = 100_000_000_000;

/// Whether a line has the form of an SGE row.
fn is_sge(line: &[u8]) -> bool {
    let is_number = |field: Option<&[u8]>| field.is_some_and(|field| number::parse(field).is_ok());
    let mut fields = line.split(|&byte| byte == b':');
    memchr::memchr_iter(b':', line).count() + 1 >= FIELDS
        && is_number(fields.nth(5))
        && is_number(fields.nth(2))
        && is_number(fields.next())
        && is_number(fields.next())
}

fn row<'a>(line: &'a [u8], collector: &mut Collector<'_>) -> Result<(), Bad<'a>> {
    let mut fields: [&[u8]; FIELDS] = [b""; FIELDS];
    let mut found = 0;
    for (field, text) in fields.iter_mut().zip(line.split(|&byte| byte == b':')) {
        *field = text;
        found += 1;
    }
    if found < FIELDS {
        return Err(Bad { kind: FaultKind::Columns { found, expected: FIELDS }, at: line });
    }
    // The category and what follows it: an h_rt of 1:00:00 has colons of its own.
    let category_at = fields[FIELDS - 1].as_ptr() as usize - line.as_ptr() as usize;
    let category = &line[category_at..];
    // A task of a parallel job is not a job. The field follows the category and the waits for input and output.
    let task = category[category_end(category)..].split(|&byte| byte == b':').nth(2).unwrap_or(b"NONE");
    if !matches!(task, b"" | b"NONE" | b"NULL" | b"(null)") {
        return collector.drop_row(RowCause::Step);
    }
    let [queue, _, group, owner, name, number, _, _, submit, start, end, failed, exit_status, wallclock, ..] = fields;
    let slots = count(fields[34], "slots")?.unwrap_or(-1);
    let completed = failed == b"0" && exit_status == b"0";
    let job = JobInRow {
        id: number,
        task: fields[35],
        submit: time(submit, "submission_time")?.ok_or(Bad::missing(submit, "submission_time"))?,
        start: time(start, "start_time")?,
        end: time(end, "end_time")?,
        elapsed: duration(wallclock, "ru_wallclock")?,
        allocated: slots,
        requested: slots,
        estimate: limit(category, b"h_rt=")?.map_or_else(|| limit(category, b"s_rt="), |limit| Ok(Some(limit)))?,
        names: [owner, group, name, queue, b""],
        status: i32::from(completed),
        state: if completed { b"exit status 0" } else { b"failed or other exit status" },
        ..JobInRow::default()
    };
    collector.job(line, &job)
}

/// Where the category ends: at the first colon that is not part of a duration such as `h_rt=1:00:00`.
fn category_end(category: &[u8]) -> usize {
    let mut at = 0;
    while let Some(colon) = memchr::memchr(b':', &category[at..]) {
        let colon = at + colon;
        let is_value = category[..colon].rsplit(|byte| !byte.is_ascii_digit()).next().is_some_and(|digits| {
            let before = (colon - digits.len()).checked_sub(1).map(|before| category[before]);
            !digits.is_empty() && before == Some(b'=')
        });
        if !is_value || !is_clock(&category[colon..]) {
            return colon;
        }
        at = colon + 6;
    }
    category.len()
}

/// Whether a text goes on as a duration does after its hours: `:00:00`.
fn is_clock(rest: &[u8]) -> bool {
    match rest {
        [b':', m1, m2, b':', s1, s2, after @ ..] => {
            let digits = [m1, m2, s1, s2].iter().all(|byte| byte.is_ascii_digit());
            digits && !after.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.')
        }
        _ => false,
    }
}

/// An instant in seconds or milliseconds. None if it is 0.
fn time<'a>(text: &'a [u8], column: &'static str) -> Result<Option<Time>, Bad<'a>> {
    match number::parse(text) {
        Ok(number) if number.rounded >= MILLISECONDS => {
            match number.rounded / 1000 + i64::from(number.rounded % 1000 >= 500) {
                time if time <= FOREVER => Ok(Some(time)),
                _ => Err(Bad::value(text, column, "is not a time in Unix milliseconds")),
            }
        }
        _ => unix_time(text, column),
    }
}

/// The value of a limit such as `h_rt=` in the category.
fn limit<'a>(category: &'a [u8], key: &[u8]) -> Result<Option<Seconds>, Bad<'a>> {
    let starts = memchr::memmem::find_iter(category, key);
    let mut starts = starts.filter(|&at| at == 0 || matches!(category[at - 1], b' ' | b','));
    let Some(at) = starts.next() else { return Ok(None) };
    let rest = &category[at + key.len()..];
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // A colon may also be the end of the category.
    let length = if is_clock(&rest[digits..]) { digits + 6 } else { digits };
    if digits == 0 { Ok(None) } else { duration(&rest[..length], "the limit of the category") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_milliseconds() {
        for (text, limit_found) in [
            ("-l h_cpu=1,h_rt=36000,s_rt=5 -pe x 1:0.0:NONE", Some(36_000)),
            ("-l h_rt=1:00:00 -pe x 1:0.0:NONE", Some(3600)),
            ("-l h_rt=36000:0.000000:NONE", Some(36_000)),
            ("-l xh_rt=5", None),
            ("-l h_rt=INFINITY", None),
            ("-u x:0", None),
        ] {
            assert_eq!(limit(text.as_bytes(), b"h_rt="), Ok(limit_found), "{text}");
        }
        for (text, end) in
            [("-l a=1:0.0:NONE", 6), ("-l h_rt=1:00:00 -pe x:0", 21), ("-u x", 4), ("h_rt=36000:0.0", 10)]
        {
            assert_eq!(category_end(text.as_bytes()), end, "{text}");
        }
        assert_eq!(time(b"1652111622875", "t"), Ok(Some(1_652_111_623)));
        assert_eq!((time(b"1310761621", "t"), time(b"0", "t")), (Ok(Some(1_310_761_621)), Ok(None)));
    }
}
