//! Slurm on nodes: which nodes a job gets, and what the main and the backfill pass do with partitions, memory and GPUs.
//!
//! These are the rules alone, judged by records of the daemon: each recorded pass is made again. The scheduler `slurm` itself still
//! takes a machine of nodes as a pool.
//!
//! `site` is the machine with the parameters of its slurm.conf, `job` a job as the daemon has it, `in_use` what running jobs have.
//! `choice` says what a job could use of each node, `ways` and `tree` take nodes, `grant` is what these give. `pick` says whether a
//! job can start now, later or never, `space` is what reservations leave, and `passes` are the two passes.

mod choice;
mod grant;
mod in_use;
mod job;
mod passes;
mod pick;
mod site;
mod space;
mod tree;
mod ways;

pub use choice::{NodeWeight, plain_weight};
pub use in_use::{InUse, NodeUse, RunningJob};
pub use job::{NodeCounts, SlurmJob};
pub use passes::{ArrayTasks, Limits, NoLimits, QueueEntry, Reserved, SlurmPass, Started};
pub use pick::{Picked, SlurmNodes, candidates};
pub use site::{NodeSet, SlurmParameters, SlurmSite};
