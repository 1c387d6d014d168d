//! Models that make workloads. One file a model.

mod sessions;

pub use sessions::{Sessions, generate_sessions};
