//! Scheduling policies: which jobs start, given the waiting jobs, the running jobs and the predictions. One file per
//! policy.
//!
//! [`Policy`] is the interface, [`Machine`] is what policies can read, [`catalog`] lists all policies.
//!
#![cfg_attr(doc, doc = include_str!("../../cli/help/schedulers.md"))]

mod accounts;
mod arrivals;
mod backlog;
mod blocks;
pub mod catalog;
mod check;
mod easy;
mod exec;
mod fair;
mod fcfs;
mod guide;
mod hints;
mod index;
mod limits;
mod line;
mod machine;
mod on_nodes;
mod order;
mod plan;
mod policy;
mod profile;
mod queue;
mod ranked;
mod replay;
mod reserving;
mod room;
mod rules;
mod running;
mod scan_index;
mod shadow;
pub mod slurm;
mod widths;

pub use accounts::{Accounts, LogFacts};
pub use easy::Easy;
pub use exec::{EndAnswer, Episode, Exec, Introduction, WarmStart};
pub use fcfs::Fcfs;
pub(crate) use machine::{Broken, Change};
pub use machine::{Machine, MachineState};
pub use on_nodes::OnNodes;
pub use order::Order;
pub use policy::{Asked, Decisions, Facts, NeverStarts, Policy, PolicyEvent, Scheduler, Stop};
pub use queue::{Queue, Waiting};
pub use replay::Replay;
pub use reserving::Reserving;
pub use rules::{Counting, Rules};
pub(crate) use running::Move;
pub use running::{Running, RunningJobs};
