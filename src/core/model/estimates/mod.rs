//! Models of user runtime estimates: they make estimates from the runtimes of jobs.
//!
//! These are the models that Tsafrir, Etsion and Feitelson compare in "Modeling user runtime estimates" (2005), one file
//! per model; [`catalog`] lists them all. [`EstimateModel`] is a model, [`replace_estimates`] applies one to a workload, and
//! [`Modes`] analyses a list of estimates as that paper does.
//!
#![cfg_attr(doc, doc = include_str!("../../../cli/help/estimates.md"))]

pub mod catalog;

mod assignment;
mod better;
mod double;
mod feit;
mod modes;
mod multiple;
mod replace;
mod shuffle;
mod tsafrir;

pub use catalog::EstimateModel;
pub use modes::{HEAD, Mode, Modes, ks_distance};
pub use replace::replace_estimates;

use crate::time::Seconds;

/// The input of an estimate model for one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// In seconds, at least 1.
    pub runtime: Seconds,
    /// The user's estimate in the log, in seconds. None if unknown.
    pub estimate: Option<Seconds>,
    /// As a job has it; -1 if unknown.
    pub user: i32,
}

/// The seeds of random numbers: of the popular estimates, and of everything else.
#[derive(Clone, Copy, Debug)]
struct Seeds {
    distribution: u64,
    draws: u64,
}

/// The output of an estimate model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// One estimate per job in seconds, in the order of the jobs.
    pub estimates: Vec<Seconds>,
    /// The number of jobs that run longer than the longest estimate of the model. For the assignment only, their runtime
    /// counts as that.
    pub cut: u64,
    /// The number of jobs for which no long enough estimate was left (for `x2`: twice their estimate is too short).
    pub short: u64,
}

/// The largest estimate of the jobs, if any of them has one.
fn largest_estimate(jobs: &[Sample]) -> Option<Seconds> {
    jobs.iter().filter_map(|job| job.estimate).max()
}

fn no_estimates(model: &str) -> String {
    format!("{model} needs the log's own estimates, but the log has none: tsafrir, f and feit need only runtimes")
}
