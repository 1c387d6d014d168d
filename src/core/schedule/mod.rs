//! Scheduling policies: which jobs start, given the waiting jobs, the running jobs and the predictions. One file per
//! policy.
//!
//! [`Policy`] is the interface, [`Machine`] is what policies can read, [`catalog`] lists all policies.
//!
#![cfg_attr(doc, doc = include_str!("../../cli/help/schedulers.md"))]

mod accounts;
mod arrivals;
mod backfill;
pub mod catalog;
mod exec;
mod fair;
mod machine;
mod order;
mod policy;
mod queue;
mod replay;
mod room;
mod rules;
mod running;
pub mod slurm;

pub use accounts::{Accounts, LogFacts};
pub use backfill::{AmidOutages, Easy, OnNodes, Reserving};
pub use exec::{EndAnswer, Episode, Exec, Introduction, WarmStart};
pub(crate) use machine::{Broken, Change};
pub use machine::{Machine, MachineState};
pub use order::Order;
pub use policy::{Asked, Decisions, Facts, NeverStarts, Policy, PolicyEvent, Scheduler, Stop};
pub use queue::{Queue, Waiting};
pub use replay::Replay;
pub use rules::{Counting, Rules};
pub(crate) use running::Move;
pub use running::{Running, RunningJobs};
