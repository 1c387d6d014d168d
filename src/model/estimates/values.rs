//! Kinds of keys that several models use.

use crate::spec::Kind;
use crate::time::{MINUTE, Seconds, parse_duration, print_duration};

/// A factor from 0 to a million.
pub const FACTOR: Kind = Kind::Text { what: "a number from 0 to 1000000", canonical: |text| number(text, 0.0, 1e6) };

/// A share of the jobs.
pub const SHARE: Kind = Kind::Text { what: "a number from 0 to 1", canonical: |text| number(text, 0.0, 1.0) };

/// Reads a number within bounds. Returns it as it is printed.
pub fn number(text: &str, least: f64, most: f64) -> Result<String, String> {
    match text.parse::<f64>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number.to_string()),
        _ => Err(format!("'{text}' is not a number from {least} to {most}")),
    }
}

/// Reads a duration of whole minutes, at least one.
pub fn minutes(text: &str) -> Result<Seconds, String> {
    match parse_duration(text)? {
        seconds if seconds >= MINUTE && seconds % MINUTE == 0 => Ok(seconds),
        seconds => Err(format!("{} is not a whole number of minutes, at least one", print_duration(seconds))),
    }
}
