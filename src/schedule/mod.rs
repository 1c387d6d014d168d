//! Scheduling policies: who starts, given who waits, who runs and what is predicted. One file a policy.
//!
//! [`Policy`] is the interface, [`View`] what policies look at, [`catalog`] the list of them all.
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
