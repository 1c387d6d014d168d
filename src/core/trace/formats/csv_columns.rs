//! The columns of a table as a user names them: `submit=COLUMN,wait=COLUMN{min},status=COLUMN{word:value}`.

use std::fmt;

use crate::time::{Seconds, Time};
use crate::trace::conditions::CONDITION_FIELDS;
use crate::trace::number;
use crate::trace::requests::REQUEST_FIELDS;
use crate::trace::rows::{Bad, any_time, duration};
use crate::trace::time_unit::TimeUnit;
use crate::tres::joined;

/// The columns of a record. Those after them say what the job asks for, as the partition does, and what it waits for.
const OF_RECORD: [&str; 14] = [
    "submit",
    "start",
    "wait",
    "run",
    "end",
    "procs",
    "estimate",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "status",
    "id",
];
const PARTITION: usize = 11;

/// What a column can hold, in the order in which the format is printed.
pub const ROLES: [&str; OF_RECORD.len() + REQUEST_FIELDS.len() - 1 + CONDITION_FIELDS.len()] =
    joined(OF_RECORD, PLACES.0, CONDITION_FIELDS);

/// The places of [`REQUEST_FIELDS`].
pub const ASKED: [usize; REQUEST_FIELDS.len()] = PLACES.1;

/// The names of the fields of a request but the partition, and the places of all fields in a row.
const PLACES: ([&str; REQUEST_FIELDS.len() - 1], [usize; REQUEST_FIELDS.len()]) = {
    let (mut names, mut places) = ([""; REQUEST_FIELDS.len() - 1], [PARTITION; REQUEST_FIELDS.len()]);
    let (mut at, mut found) = (0, 0);
    while at < REQUEST_FIELDS.len() {
        let name = REQUEST_FIELDS[at].name;
        if !matches!(name.as_bytes(), b"partition") {
            names[found] = name;
            places[at] = OF_RECORD.len() + found;
            found += 1;
        }
        at += 1;
    }
    (names, places)
};

/// The places of [`CONDITION_FIELDS`].
pub const CONDITIONS: [usize; CONDITION_FIELDS.len()] = {
    let mut places = [ROLES.len() - CONDITION_FIELDS.len(); CONDITION_FIELDS.len()];
    let mut at = 0;
    while at < places.len() {
        places[at] += at;
        at += 1;
    }
    places
};

/// The places of the first name, of the runtime and of the end.
pub const NAMES: usize = 7;
pub const RUN: usize = 3;
pub const END: usize = 4;

/// The columns of a record, of those of all roles.
pub fn of_record<T: Copy>(all: &[T; ROLES.len()]) -> [T; OF_RECORD.len()] {
    *all.first_chunk().expect("a record has fewer columns than there are")
}

/// Which columns hold times or durations, so that they can have a unit.
fn has_unit(role: usize) -> bool {
    matches!(ROLES[role], "estimate" | "begin" | "hold") || role <= END
}

/// The columns of a table: what each holds, and replacements for its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvColumns {
    pub(super) columns: [Option<NamedColumn>; ROLES.len()],
}

/// A column: its name, the values that are replaced by others, and the unit of its numbers if that is stated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedColumn {
    pub name: String,
    pub words: Vec<(String, String)>,
    unit: Option<TimeUnit>,
}

impl CsvColumns {
    /// Reads `submit=COLUMN,wait=COLUMN,...`, where a column may be followed by `{word:value,word:value}`, and that of a time or
    /// a duration by a unit, `{min}`.
    ///
    /// # Errors
    /// If a column is unknown, missing or given twice.
    pub fn parse(text: &str) -> Result<CsvColumns, String> {
        let mut columns: [Option<NamedColumn>; ROLES.len()] = [const { None }; ROLES.len()];
        for item in split_outside_braces(text) {
            let (role, column) = item.split_once('=').ok_or_else(|| format!("'{item}' is not KEY=COLUMN; {FORM}"))?;
            let at = ROLES.iter().position(|other| *other == role.trim());
            let at = at.ok_or_else(|| format!("no key '{}'; the keys are {}", role.trim(), ROLES.join(", ")))?;
            let column = NamedColumn::parse(column)?;
            if column.unit.is_some() && !has_unit(at) {
                return Err(format!("{role} is not a time or a duration: it has no unit"));
            }
            if columns[at].replace(column).is_some() {
                return Err(format!("'{role}' is given twice"));
            }
        }
        let has = |role: &str| ROLES.iter().zip(&columns).any(|(other, column)| *other == role && column.is_some());
        for (one, other) in [("submit", ""), ("start", "wait"), ("run", "end"), ("procs", "")] {
            match (has(one), has(other)) {
                (false, false) if other.is_empty() => return Err(format!("{one} is missing; {FORM}")),
                // Such logs have no waits. The schedule of the log is then not known.
                (false, false) if one == "start" && has("run") => {}
                (false, false) => return Err(format!("{one} or {other} is missing; {FORM}")),
                (true, true) => return Err(format!("{one} and {other} are both given; {FORM}")),
                _ => {}
            }
        }
        for (one, other) in [("after", "id"), ("array_limit", "array")] {
            if has(one) && !has(other) {
                return Err(format!("{one}= is given without {other}=, the column that it refers to"));
            }
        }
        Ok(CsvColumns { columns })
    }

    /// Whether the table says which jobs a job waits for.
    pub(super) fn has_dependencies(&self) -> bool {
        self.columns[CONDITIONS[0]].is_some()
    }
}

const FORM: &str = "the form is csv:submit=COLUMN,start=COLUMN,run=COLUMN,procs=COLUMN, with wait= instead of start=, \
                    or neither if waits are not known, end= instead of run=, and estimate=, user=, group=, executable=, queue=, partition=, status=, id= if \
                    the table has them; `sim help logs` has the columns of what jobs ask for and wait for";

/// The parts between commas that are not within braces.
fn split_outside_braces(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0u32);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

impl NamedColumn {
    fn parse(text: &str) -> Result<NamedColumn, String> {
        let Some((name, words)) = text.split_once('{') else {
            return Ok(NamedColumn { name: text.trim().to_string(), words: Vec::new(), unit: None });
        };
        let words = words.strip_suffix('}').ok_or_else(|| format!("the brace in '{text}' is not closed at the end"))?;
        let mut column = NamedColumn { name: name.trim().to_string(), words: Vec::new(), unit: None };
        for item in words.split(',') {
            match (item.rsplit_once(':'), TimeUnit::parse(item.trim())) {
                (Some((word, value)), _) => column.words.push((word.to_string(), value.to_string())),
                (None, Some(unit)) => column.unit = Some(unit),
                (None, None) => return Err(format!("'{item}' is not WORD:VALUE or a unit ({})", TimeUnit::all())),
            }
        }
        Ok(column)
    }

    /// The unit of its numbers, unless that is seconds.
    fn other_unit(&self) -> Option<TimeUnit> {
        self.unit.filter(|&unit| unit != TimeUnit::Seconds)
    }

    /// The value that replaces this one. None if it stays.
    pub fn replacement(&self, value: &[u8]) -> Option<&str> {
        self.words.iter().find(|(word, _)| word.as_bytes() == value).map(|(_, value)| value.as_str())
    }
}

impl CsvColumns {
    /// An instant in a column, by the unit of the column.
    pub(super) fn time<'a>(&self, role: usize, value: &'a [u8]) -> Result<Option<Time>, Bad<'a>> {
        match self.in_other_unit(role, value)? {
            Some(..0) => Err(Bad::value(value, ROLES[role], "is before 1970")),
            Some(time) => Ok(Some(time)),
            None => any_time(value, ROLES[role]),
        }
    }

    /// A duration in a column, likewise. A negative one is none.
    pub(super) fn duration<'a>(&self, role: usize, value: &'a [u8]) -> Result<Option<Seconds>, Bad<'a>> {
        match self.in_other_unit(role, value)? {
            Some(seconds) => Ok(Some(seconds).filter(|&seconds| seconds >= 0)),
            None => duration(value, ROLES[role]),
        }
    }

    /// A number in a column whose unit is not seconds. None if it is, or if the value is not a number: a date or a clock.
    fn in_other_unit<'a>(&self, role: usize, value: &'a [u8]) -> Result<Option<Seconds>, Bad<'a>> {
        match self.columns[role].as_ref().and_then(NamedColumn::other_unit) {
            Some(unit) if number::parse(value).is_ok() => match unit.seconds(value) {
                Some(seconds) => Ok(Some(seconds)),
                None => Err(Bad::value(value, ROLES[role], "is too large for its unit")),
            },
            _ => Ok(None),
        }
    }

    /// Keeps the column of runtimes, or else of ends, when its first number is found, if no unit is stated.
    pub(super) fn note_plain_numbers(&self, values: [&[u8]; 2], kept: &mut Option<String>) {
        for (role, value) in [RUN, END].into_iter().zip(values) {
            if kept.is_none()
                && let Some(column) = self.columns[role].as_ref().filter(|column| column.unit.is_none())
                && number::parse(value).is_ok_and(|number| number.sign > 0)
            {
                *kept = Some(format!("{}={}", ROLES[role], column.name));
            }
        }
    }
}

impl fmt::Display for CsvColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = ROLES.iter().zip(&self.columns).filter_map(|(role, column)| Some((role, column.as_ref()?)));
        for (at, (role, column)) in given.enumerate() {
            write!(f, "{}{role}={}", if at > 0 { "," } else { "" }, column.name)?;
            let unit = column.unit.map(|unit| unit.written().to_string());
            let words = column.words.iter().map(|(word, value)| format!("{word}:{value}"));
            let inside: Vec<String> = unit.into_iter().chain(words).collect();
            if !inside.is_empty() {
                write!(f, "{{{}}}", inside.join(","))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tres::Resource;

    #[test]
    fn every_field_of_a_request_has_its_column() {
        assert_eq!(ASKED.map(|place| ROLES[place]), REQUEST_FIELDS.map(|field| field.name));
        assert_eq!(CONDITIONS.map(|place| ROLES[place]), CONDITION_FIELDS);
    }

    #[test]
    fn columns_are_printed_as_they_are_read() {
        let devices: String = Resource::DEVICE_NAMES.map(|name| format!("{name}=a {name},{name}_per_node=b,")).concat();
        let asked =
            format!("submit=a,start=b,run=c,procs=d,partition=p{{x:y}},id=i,nodes=n,memory=m,{devices}qos=q,account=a");
        for text in [
            "submit=a,start=b,run=c,procs=d",
            &asked,
            "submit=a,wait=b c,end=d,procs=e,estimate=f,user=g{0.0:-1},status=s{Pass:1,Failed:0,Killed:5},id=i",
            "submit=a{us},run=b,procs=c",
            "submit=a{ms},wait=b{h},run=c{min,none:-1},procs=d,estimate=e{s}",
            "submit=a,start=b,run=c,procs=d,id=i,after=x,begin=y{ms},hold=z,array=v,array_limit=w",
        ] {
            assert_eq!(CsvColumns::parse(text).unwrap().to_string(), text);
        }
        for (text, message) in [
            ("", "'' is not KEY=COLUMN"),
            ("submit=a,wait=b,run=c", "procs is missing"),
            ("submit=a,end=b,procs=c", "start or wait is missing"),
            ("submit=a,wait=b,start=b,run=c,procs=d", "start and wait are both given"),
            ("submit=a,submit=b", "given twice"),
            ("time=a", "no key 'time'; the keys are submit, start"),
            ("status=a{Pass:1", "not closed"),
            ("status=a{Pass}", "'Pass' is not WORD:VALUE or a unit (us, ms, s, min, h, d)"),
            ("procs=a{min}", "procs is not a time or a duration"),
            ("submit=a,start=b,run=c,procs=d,after=e", "after= is given without id="),
            ("submit=a,start=b,run=c,procs=d,array_limit=e", "array_limit= is given without array="),
        ] {
            let error = CsvColumns::parse(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
