//! Reads and prints values of options: numbers within bounds, and words of a list.

use crate::similar::did_you_mean;
use crate::spec::SpecError;
use crate::time::{Seconds, parse_duration, print_duration};
use crate::trace::{EstimateField, MissingEstimate, Overrun, ProcsField, SubmitTime, Unit};

pub const PROCS_FIELDS: &[(&str, ProcsField)] =
    &[("requested", ProcsField::Requested), ("allocated", ProcsField::Allocated)];
pub const MISSING_ESTIMATES: &[(&str, MissingEstimate)] =
    &[("largest", MissingEstimate::Largest), ("runtime", MissingEstimate::Runtime), ("drop", MissingEstimate::Drop)];
pub const OVERRUNS: &[(&str, Overrun)] = &[("extend", Overrun::Extend), ("kill", Overrun::Kill)];
pub const UNITS: &[(&str, Unit)] = &[("cpus", Unit::Cpus), ("nodes", Unit::Nodes), ("gpus", Unit::Gpus)];
pub const SUBMIT_TIMES: &[(&str, SubmitTime)] =
    &[("eligible", SubmitTime::Eligible), ("submitted", SubmitTime::Submitted)];
pub const ESTIMATE_FIELDS: &[(&str, EstimateField)] =
    &[("walltime", EstimateField::Walltime), ("soft_walltime", EstimateField::SoftWalltime)];
pub const SWITCH: &[(&str, bool)] = &[("on", true), ("off", false)];

pub fn assign<T>(place: &mut T, value: Result<T, String>) -> Result<(), String> {
    *place = value?;
    Ok(())
}

pub fn spec<T>(place: &mut T, value: Result<T, SpecError>) -> Result<(), String> {
    assign(place, value.map_err(|error| error.to_string()))
}

pub fn word<T: Copy>(text: &str, words: &[(&str, T)]) -> Result<T, String> {
    words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        format!("'{text}' is not one of {}{}", words.join(", "), did_you_mean(text, words.iter().copied()))
    })
}

pub fn words_of<T>(words: &[(&'static str, T)]) -> Vec<&'static str> {
    words.iter().map(|(word, _)| *word).collect()
}

pub fn word_of<T: Copy + PartialEq>(value: T, words: &[(&str, T)]) -> String {
    words.iter().find(|(_, other)| *other == value).map_or(String::new(), |(word, _)| word.to_string())
}

pub fn whole<T>(text: &str, least: T, most: T) -> Result<T, String>
where
    T: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    match text.parse::<T>() {
        Ok(number) if number >= least && number <= most => Ok(number),
        _ => Err(format!("'{text}' is not a whole number from {least} to {most}")),
    }
}

pub fn real(text: &str, least: f64, most: f64) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("'{text}' is not a number from {least} to {most}")),
    }
}

pub fn at_least_a_second(text: &str) -> Result<Seconds, String> {
    match parse_duration(text)? {
        0 => Err("the threshold is at least 1 second".to_string()),
        seconds => Ok(seconds),
    }
}

/// Reads `NAME=DURATION,NAME=DURATION`.
pub fn partition_limits(text: &str) -> Result<Vec<(String, Seconds)>, String> {
    let limit = |item: &str| match item.rsplit_once('=') {
        Some((name, limit)) if !name.is_empty() => Ok((name.to_string(), parse_duration(limit)?)),
        _ => Err(format!("'{item}' is not NAME=DURATION")),
    };
    text.split(',').map(limit).collect()
}

pub fn print_partition_limits(limits: &[(String, Seconds)]) -> String {
    limits.iter().map(|(name, limit)| format!("{name}={}", print_duration(*limit))).collect::<Vec<_>>().join(",")
}

/// Reads names of columns with commas between them.
pub fn columns(text: &str) -> Result<Vec<String>, String> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_string()).collect();
    match names.iter().any(String::is_empty) {
        true => Err(format!("'{text}' has an empty name")),
        false => Ok(names),
    }
}
