//! Scheduling policies: which jobs start, given the waiting jobs, the running jobs and the predictions. One file per
//! policy.
//!
//! [`Policy`] is the interface, [`View`] is what policies can read, [`catalog`] lists all policies.
//!
#![doc = include_str!("../cli/help/schedulers.md")]

pub mod catalog;
mod conservative;
mod easy;
mod fcfs;
mod policy;
mod queue;
mod replay;
mod running;
mod widths;

pub use conservative::Conservative;
pub use easy::{Easy, ScanOrder};
pub use fcfs::Fcfs;
pub use policy::{Policy, View};
pub use queue::{Queue, Waiting};
pub use replay::Replay;
pub(crate) use running::Move;
pub use running::{Running, RunningJobs};
