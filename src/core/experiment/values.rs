//! Reads and prints values of options: numbers within bounds, and words of a list.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;

use crate::machine::HostList;
use crate::similar::did_you_mean;
use crate::time::{Seconds, parse_duration};
use crate::trace::{LogReading, MissingEstimate, Overrun, PartitionMap, ProcsField, Shaping};

pub const PROCS_FIELDS: &[(&str, ProcsField)] =
    &[("requested", ProcsField::Requested), ("allocated", ProcsField::Allocated)];
pub const MISSING_ESTIMATES: &[(&str, MissingEstimate)] =
    &[("largest", MissingEstimate::Largest), ("runtime", MissingEstimate::Runtime), ("drop", MissingEstimate::Drop)];
pub const OVERRUNS: &[(&str, Overrun)] = &[("extend", Overrun::Extend), ("kill", Overrun::Kill)];
/// Whether jobs that an outage stops have failed.
pub const ON_FAILURE: &[(&str, bool)] = &[("requeue", false), ("kill", true)];
pub const SWITCH: &[(&str, bool)] = &[("on", true), ("off", false)];

/// The form of an option's values: how one is read and printed.
pub trait ValueForm<T> {
    /// Reads a value.
    fn read(&self, text: &str) -> Result<T, String>;

    /// Empty if the option is not set.
    fn print(&self, value: &T) -> String;

    /// Reads a value into the field of the option.
    fn set(&self, field: &mut T, text: &str) -> Result<(), String> {
        *field = self.read(text)?;
        Ok(())
    }

    /// The words that are its values. Empty if there are others than some words.
    fn words(&self) -> Vec<&'static str> {
        Vec::new()
    }
}

/// One of some words.
pub struct Words<T: 'static>(pub &'static [(&'static str, T)]);

impl<T: Copy + PartialEq> ValueForm<T> for Words<T> {
    fn read(&self, text: &str) -> Result<T, String> {
        self.0.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
            let words = self.words();
            format!("'{text}' is not one of {}{}", words.join(", "), did_you_mean(text, words.iter().copied()))
        })
    }

    fn print(&self, value: &T) -> String {
        self.0.iter().find(|(_, other)| other == value).map_or(String::new(), |(word, _)| word.to_string())
    }

    fn words(&self) -> Vec<&'static str> {
        self.0.iter().map(|(word, _)| *word).collect()
    }
}

/// A whole number from the first to the second.
pub struct Whole<T>(pub T, pub T);

impl<T: FromStr + PartialOrd + Display> ValueForm<T> for Whole<T> {
    fn read(&self, text: &str) -> Result<T, String> {
        let Whole(least, most) = self;
        let number = text.parse::<T>().ok().filter(|number| number >= least && number <= most);
        number.ok_or_else(|| format!("'{text}' is not a whole number from {least} to {most}"))
    }

    fn print(&self, value: &T) -> String {
        value.to_string()
    }
}

/// A number from the first to the second.
pub struct Real(pub f64, pub f64);

impl ValueForm<f64> for Real {
    fn read(&self, text: &str) -> Result<f64, String> {
        let Real(least, most) = self;
        let number = text.parse::<f64>().ok().filter(|number| (least..=most).contains(&number));
        number.ok_or_else(|| format!("'{text}' is not a number from {least} to {most}"))
    }

    fn print(&self, value: &f64) -> String {
        value.to_string()
    }
}

/// Read and printed by two functions.
pub struct By<T, E>(pub fn(&str) -> Result<T, E>, pub fn(&T) -> String);

impl<T, E: Display> ValueForm<T> for By<T, E> {
    fn read(&self, text: &str) -> Result<T, String> {
        (self.0)(text).map_err(|error| error.to_string())
    }

    fn print(&self, value: &T) -> String {
        (self.1)(value)
    }
}

/// A value that need not be set.
pub struct Maybe<F>(pub F);

impl<T, F: ValueForm<T>> ValueForm<Option<T>> for Maybe<F> {
    fn read(&self, text: &str) -> Result<Option<T>, String> {
        self.0.read(text).map(Some)
    }

    fn print(&self, value: &Option<T>) -> String {
        value.as_ref().map_or(String::new(), |value| self.0.print(value))
    }
}

/// A value, or `none`.
pub struct OrNone<F>(pub F);

impl<T, F: ValueForm<T>> ValueForm<Option<T>> for OrNone<F> {
    fn read(&self, text: &str) -> Result<Option<T>, String> {
        (text != "none").then(|| self.0.read(text)).transpose()
    }

    fn print(&self, value: &Option<T>) -> String {
        value.as_ref().map_or(String::new(), |value| self.0.print(value))
    }
}

/// The number of a replication. It sets two options, and is printed as these.
pub struct Replication;

impl ValueForm<Shaping> for Replication {
    fn read(&self, text: &str) -> Result<Shaping, String> {
        let mut shaping = Shaping::default();
        self.set(&mut shaping, text).map(|()| shaping)
    }

    fn print(&self, _: &Shaping) -> String {
        String::new()
    }

    fn set(&self, shaping: &mut Shaping, text: &str) -> Result<(), String> {
        let replication = Whole(0, u64::MAX).read(text)?;
        match (replication, shaping.resample) {
            // The log as it is.
            (0, _) => shaping.resample = None,
            (_, None) => (shaping.shake, shaping.seed) = (SHAKE, replication),
            (_, Some(_)) => shaping.seed = replication,
        }
        Ok(())
    }
}

/// The format of a log with its keys. What jobs request is an option of its own.
pub struct Reading;

impl ValueForm<LogReading> for Reading {
    fn read(&self, text: &str) -> Result<LogReading, String> {
        LogReading::parse(text).map_err(|error| error.to_string())
    }

    fn print(&self, reading: &LogReading) -> String {
        reading.spec()
    }

    fn set(&self, reading: &mut LogReading, text: &str) -> Result<(), String> {
        *reading = LogReading { requests: reading.requests.take(), ..self.read(text)? };
        Ok(())
    }
}

/// The most by which a replication moves submissions: small for users, but enough to show the effect of chance.
const SHAKE: Seconds = 30;

pub fn at_least_a_second(text: &str) -> Result<Seconds, String> {
    match parse_duration(text)? {
        0 => Err("the threshold is at least 1 second".to_string()),
        seconds => Ok(seconds),
    }
}

/// Refuses a partition that is named twice.
fn refuse_repeated<'a>(names: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    match names.into_iter().find(|name| !seen.insert(name.as_str())) {
        Some(name) => Err(format!("the partition '{name}' is there twice")),
        None => Ok(()),
    }
}

/// Reads a list of nodes, which is kept as it is written.
pub fn host_list(text: &str) -> Result<String, String> {
    let wrong = || format!("'{text}' is no list of nodes such as n[1-8]");
    HostList::parse(text).map(|_| text.to_string()).ok_or_else(wrong)
}

/// Reads `OLD=NEW,OLD=NEW`.
pub fn partition_map(text: &str) -> Result<PartitionMap, String> {
    let pair = |item: &str| match item.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => Ok((old.to_string(), new.to_string())),
        _ => Err(format!("'{item}' is not OLD=NEW")),
    };
    let pairs: Vec<(String, String)> = text.split(',').map(pair).collect::<Result<_, _>>()?;
    refuse_repeated(pairs.iter().map(|(old, _)| old)).map(|()| pairs.into_iter().collect())
}

pub fn print_partition_map(map: &PartitionMap) -> String {
    map.iter().map(|(old, new)| format!("{old}={new}")).collect::<Vec<_>>().join(",")
}
