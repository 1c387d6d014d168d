//! Slurm on nodes: which nodes a job gets, and what the main and the backfill pass do with partitions and resources.
//!
//! These are the rules alone, judged by records of the daemon: each recorded pass is made again.
//!
//! `site` is the machine with the parameters of its slurm.conf, `job` a job as the daemon has it, `in_use` what running jobs have,
//! `futures` what is used when some of these have left, and `state` the nodes at one instant.
//! `choice` says what a job could use of each node, `ways` and `tree` take nodes, `grant` is what these give. `pick` says whether a
//! job can start now, later or never, and `passes` is what both passes share, and the main pass. `arrays` are jobs of which one task
//! follows the other. `line` is the queue, and `prospects` spare tests whose outcome is known. `preempt` says which running jobs
//! make way for a job, `closed` which nodes are out or reserved, and `unreserved` what reservations leave to a job.
//! `owners` are the users and accounts of jobs, `limits` what these and qualities of service may use,
//! `fair_share` what they used, and `priority` the priorities of jobs with the `weights` of slurm.conf.

mod arrays;
mod choice;
mod closed;
mod fair_share;
mod futures;
mod grant;
mod in_use;
mod job;
mod limits;
mod line;
mod owners;
mod passes;
mod pick;
mod preempt;
mod priority;
mod prospects;
mod site;
mod state;
mod tree;
mod unreserved;
mod ways;
mod weights;

pub use super::node_set::NodeSet;
pub(super) use arrays::ArrayTurns;
pub use choice::{NodeWeight, plain_weight};
pub use closed::{SiteClosures, SiteReservation};
pub use fair_share::{FairShareRule, RunningUse};
pub use in_use::{InUse, NodeUse, NodesInUse, RunningJob};
pub use job::{ArrayTasks, NodeCounts, QueueEntry, SlurmJob};
pub use limits::{Chosen, OverLimit, Rejected, SiteLimits};
pub use line::{SlurmQueue, merge_sort};
pub use owners::{Owner, Owners};
pub(super) use passes::is_too_many;
pub use passes::{Reserved, SlurmPass, Started};
pub use pick::{Picked, candidates};
pub(super) use pick::{When, share_of};
pub use priority::SitePriorities;
pub use site::{SlurmParameters, SlurmSite};
pub use state::{MakingWay, NodesState, SlurmNodes};
pub use weights::PriorityWeights;
