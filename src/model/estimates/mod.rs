//! Models of user runtime estimates: what users would have asked for, given how long their jobs ran.
//!
//! They are those that Tsafrir, Etsion and Feitelson compare in "Modeling user runtime estimates" (2005), one file a
//! model; [`catalog`] alone knows them all. [`EstimateModel`] is a model by its spec, [`replace_estimates`] puts one to
//! use on a workload, and [`Modes`] looks at a list of estimates as that paper does.
//!
#![doc = include_str!("../../cli/help/estimates.md")]

pub mod catalog;

mod assignment;
mod double;
mod feit;
mod modes;
mod multiple;
mod replace;
mod shuffle;
mod tsafrir;
mod values;

pub use catalog::EstimateModel;
pub use modes::{HEAD, Mode, Modes, ks_distance};
pub use replace::{Replaced, replace_estimates};

use crate::time::Seconds;

/// One job as an estimate model sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// How long it runs, at least 1 second.
    pub runtime: Seconds,
    /// What its user asked for, if the log knows.
    pub estimate: Option<Seconds>,
}

/// Where random numbers come from: those that say which estimates are popular, and all others.
#[derive(Clone, Copy, Debug)]
struct Seeds {
    distribution: u64,
    draws: u64,
}

/// An estimate for each job, in the order of the jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    pub estimates: Vec<Seconds>,
    /// Jobs that run longer than the longest estimate there is: their runtime counted as that, for the assignment only.
    pub cut: u64,
    /// Jobs for which no estimate long enough was left (for `x2`: twice their estimate is too short).
    pub short: u64,
}

/// The largest estimate of the jobs, if any of them has one.
fn largest_estimate(jobs: &[Sample]) -> Option<Seconds> {
    jobs.iter().filter_map(|job| job.estimate).max()
}

fn no_estimates(model: &str) -> String {
    format!("{model} needs the log's own estimates, and it has none: tsafrir, f and feit make them from runtimes alone")
}
