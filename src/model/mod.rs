//! Models that make workloads and estimates. One file a model.

pub mod estimates;
mod sessions;

pub use estimates::{Assignment, EstimateModel, Mode, Modes, Replaced, Sample, ks_distance, replace_estimates};
pub use sessions::{Sessions, generate_sessions};
