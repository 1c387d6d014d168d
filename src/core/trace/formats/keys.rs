//! The keys of formats: `sacct:unit=nodes,cluster=c1`.

use crate::spec::{Key, Kind};
use crate::time::{Seconds, parse_duration, print_duration};
use crate::tres::{Resource, joined};

/// What a processor is.
pub const UNIT: Key = unit(&UNITS);

const UNITS: [&str; 2 + Resource::DEVICES.len()] = joined(["cpus", "nodes"], Resource::DEVICE_NAMES, []);

/// The same of a format that says only some of these.
pub const fn unit(words: &'static [&'static str]) -> Key {
    Key::choice("unit", words, "what a processor is")
}

/// When a job counts as submitted.
pub const SUBMIT_TIME: Key = Key::choice(
    "submit-time",
    &["eligible", "submitted"],
    "when a held or dependent job counts as submitted: when it became eligible, or when it was submitted",
);

/// The estimates of jobs without a limit of their own.
pub const PARTITION_LIMIT: Key = Key::new(
    "partition-limit",
    Kind::Text { what: "NAME=DURATION", canonical: |text| Ok(print_limits(&partition_limits(text)?)) },
    "",
    "the estimate of jobs that have the limit of their partition; several in quotes, as \"a=1d,b=2d\"",
);

/// The field with the estimate.
pub const ESTIMATE_FIELD: Key =
    Key::choice("estimate-field", &["walltime", "soft_walltime"], "which field of a PBS log has the estimate");

/// The columns of a file without a header.
pub const COLUMNS: Key = Key::new(
    "columns",
    Kind::Text { what: "names with commas between them", canonical: |text| Ok(columns(text)?.join(",")) },
    "",
    "the columns of a file without a header, in quotes, as `sacct --format` has them",
);

/// One of several clusters.
pub const CLUSTER: Key = Key::new(
    "cluster",
    Kind::Text { what: "a name", canonical: |text| Ok(text.to_string()) },
    "",
    "only the jobs of this cluster",
);

/// Reads `NAME=DURATION,NAME=DURATION`.
pub fn partition_limits(text: &str) -> Result<Vec<(String, Seconds)>, String> {
    let mut limits: Vec<(String, Seconds)> = Vec::new();
    for item in text.split(',') {
        match item.rsplit_once('=') {
            Some((name, _)) if limits.iter().any(|(other, _)| other == name) => {
                return Err(format!("the partition '{name}' is there twice"));
            }
            Some((name, limit)) if !name.is_empty() => limits.push((name.to_string(), parse_duration(limit)?)),
            _ => return Err(format!("'{item}' is not NAME=DURATION")),
        }
    }
    Ok(limits)
}

pub fn print_limits(limits: &[(String, Seconds)]) -> String {
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
