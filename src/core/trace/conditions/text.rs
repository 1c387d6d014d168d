//! Conditions as they are written: in the columns of tables, in files of requests, in the options of `sbatch`.

use std::fmt::Write;

use super::reading::{WrittenConditions, WrittenHold};
use super::{Conditions, DependencyKind, Hold, JobArray};
use crate::time::{FOREVER, Time};
use crate::trace::number;
use crate::trace::record::Record;

/// The columns of conditions, in files of requests and in tables.
pub const CONDITION_FIELDS: [&str; 5] = ["after", "begin", "hold", "array", "array_limit"];

const NOT_AFTER: &str = "is not a list of jobs such as afterok:12:13,afterany:5, 12:13 or singleton";
const NO_CORRESPONDING: &str = "has aftercorr, which is not simulated: name the task of the other array with afterok";
const NO_CHOICE: &str = "has jobs of which any one is enough ('?'), which is not simulated: write ','";
const NO_DELAY: &str = "has a time after the start of a job ('+'), which is not simulated";
const NOT_HOLD: &str = "is neither yes nor no nor the time of the release";
const NOT_LIMIT: &str = "is not a whole number of tasks from 1 on";

/// Sets a condition from its text; an empty one, and `(null)` and -1 where they have no other meaning, say nothing. `time` reads an
/// instant. The error follows the name of the field: "is not a number".
pub fn set_condition<'a, E>(
    conditions: &mut WrittenConditions,
    field: &str,
    text: &'a [u8],
    wrong: impl Fn(&'static str) -> E,
    time: impl Fn(&'a [u8]) -> Result<Option<Time>, E>,
) -> Result<(), E> {
    let text = text.trim_ascii();
    if text.is_empty() || text == b"(null)" || text == b"-1" {
        return Ok(());
    }
    match field {
        "after" => set_after(conditions, text).map_err(wrong)?,
        "begin" => conditions.begin = time(text)?,
        "hold" => {
            let is_one_of = |words: [&[u8]; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
            conditions.hold =
                match (is_one_of([b"yes", b"true", b"on", b"1"]), is_one_of([b"no", b"false", b"off", b"0"])) {
                    (true, _) => WrittenHold::Forever,
                    (_, true) => WrittenHold::None,
                    _ => time(text).map_err(|_| wrong(NOT_HOLD))?.map_or(WrittenHold::None, WrittenHold::Until),
                };
        }
        "array" => conditions.array = Some(text.into()),
        "array_limit" => {
            let limit = number::parse(text).ok().filter(|number| number.sign > 0);
            let limit = limit.and_then(|number| u32::try_from(number.rounded).ok()).filter(|&limit| limit > 0);
            conditions.array_limit = Some(limit.ok_or_else(|| wrong(NOT_LIMIT))?);
        }
        _ => unreachable!("the field {field} is not in the list"),
    }
    Ok(())
}

/// `afterok:12:13,afterany:5,singleton`. Jobs without a word are those of `afterany`.
fn set_after(conditions: &mut WrittenConditions, text: &[u8]) -> Result<(), &'static str> {
    for (byte, why) in [(b'?', NO_CHOICE), (b'+', NO_DELAY)] {
        if text.contains(&byte) {
            return Err(why);
        }
    }
    for part in text.split(|&byte| byte == b',') {
        let part = part.trim_ascii();
        if part.eq_ignore_ascii_case(b"singleton") {
            conditions.singleton = true;
            continue;
        }
        let (word, jobs) = match part.first() {
            Some(first) if first.is_ascii_alphabetic() => {
                let at = part.iter().position(|&byte| byte == b':').ok_or(NOT_AFTER)?;
                (&part[..at], &part[at + 1..])
            }
            _ => (&b"afterany"[..], part),
        };
        let is_word = |kind: &DependencyKind| word.eq_ignore_ascii_case(kind.name().as_bytes());
        let Some(kind) = DependencyKind::ALL.into_iter().find(is_word) else {
            return Err(if word.eq_ignore_ascii_case(b"aftercorr") { NO_CORRESPONDING } else { NOT_AFTER });
        };
        for job in jobs.split(|&byte| byte == b':') {
            let job = job.trim_ascii();
            // `12_3` is a task of an array.
            let is_id = job.first().is_some_and(u8::is_ascii_digit) && !job.iter().any(u8::is_ascii_whitespace);
            if !is_id {
                return Err(NOT_AFTER);
            }
            conditions.after.push((kind, job.into()));
        }
    }
    Ok(())
}

/// An instant in seconds of the log, as files of requests have it.
pub fn log_seconds(text: &[u8]) -> Option<Time> {
    let number = number::parse(text).ok().filter(|number| number.sign >= 0)?;
    Some(number.rounded).filter(|&time| time <= FOREVER)
}

/// The most tasks at once of the array in a range such as `1-10%2`.
pub fn array_limit_in(range: &[u8]) -> Option<u32> {
    let at = range.iter().position(|&byte| byte == b'%')?;
    let digits = range[at + 1..].split(|byte| !byte.is_ascii_digit()).next()?;
    std::str::from_utf8(digits).ok()?.parse().ok().filter(|&limit| limit > 0)
}

/// The conditions of a job as files of requests have them. Empty texts: it has none of the kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConditionTexts {
    /// `afterok:12:13,singleton`, by job number.
    pub after: String,
    /// When it may start at the earliest, in seconds of the log.
    pub begin: Option<Time>,
    /// `yes`, or when it is released, in seconds of the log.
    pub hold: String,
    /// The id of its array.
    pub array: String,
    /// The most tasks of the array that run at once.
    pub array_limit: Option<u32>,
}

impl ConditionTexts {
    /// The conditions of a record, and its array.
    pub fn of(
        conditions: &Conditions,
        array: Option<&JobArray>,
        record: &Record,
        records: &[Record],
    ) -> ConditionTexts {
        let mut after = String::new();
        for together in conditions.after.chunk_by(|a, b| a.kind == b.kind) {
            let comma = if after.is_empty() { "" } else { "," };
            write!(after, "{comma}{}", together[0].kind.name()).expect("a text can be written");
            for dependency in together {
                let number = records[dependency.record as usize].number;
                write!(after, ":{number}").expect("a text can be written");
            }
        }
        if conditions.singleton {
            after += if after.is_empty() { "singleton" } else { ",singleton" };
        }
        ConditionTexts {
            after,
            begin: (conditions.begin > 0).then(|| record.submit + conditions.begin),
            hold: match conditions.hold {
                Hold::None => String::new(),
                // A 1 alone would mean yes.
                Hold::Until(seconds) if record.submit + seconds == 1 => "1.0".to_string(),
                Hold::Until(seconds) => (record.submit + seconds).to_string(),
                Hold::Forever => "yes".to_string(),
            },
            array: array.map_or_else(String::new, |array| array.id.clone()),
            array_limit: array.and_then(|array| array.limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str) -> Result<WrittenConditions, &'static str> {
        let mut conditions = WrittenConditions::default();
        set_after(&mut conditions, text.as_bytes()).map(|()| conditions)
    }

    #[test]
    fn dependencies_are_written_as_for_sbatch() {
        use DependencyKind::{After, AfterAny, AfterNotOk, AfterOk};
        let all = |text: &str| {
            let conditions = after(text).unwrap();
            let jobs = conditions.after.iter().map(|(kind, id)| (*kind, String::from_utf8(id.to_vec()).unwrap()));
            (jobs.collect::<Vec<_>>(), conditions.singleton)
        };
        let job = |kind, id: &str| (kind, id.to_string());
        assert_eq!(all("12"), (vec![job(AfterAny, "12")], false));
        assert_eq!(all("12:13"), (vec![job(AfterAny, "12"), job(AfterAny, "13")], false));
        assert_eq!(
            all("afterok:12:13_4, AfterNotOk:5,singleton"),
            (vec![job(AfterOk, "12"), job(AfterOk, "13_4"), job(AfterNotOk, "5")], true)
        );
        assert_eq!(all("after:7,8").0, [job(After, "7"), job(AfterAny, "8")]);
        for text in ["afterok", "afterok:", "afterok:x", "later:5", "12 13", ",", "aftercorr:3", "1?2", "after:3+5"] {
            assert!(after(text).is_err(), "{text}");
        }
    }

    #[test]
    fn limits_of_arrays() {
        for (text, limit) in [("1-10%2", Some(2)), ("123_[1-10,12%40]", Some(40)), ("1-10", None), ("1-10%0", None)] {
            assert_eq!(array_limit_in(text.as_bytes()), limit, "{text}");
        }
    }
}
