//! What a backfill pass keeps from entry to entry: its reservations, and what got nothing.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use crate::schedule::slurm::nodes::{ArrayTurns, NodeSet, NodeWeight, SlurmNodes};
use crate::schedule::slurm::space::NodeSpace;
use crate::time::{Seconds, Time};

/// What decides about a job besides its owner and its age: what it asks for (on a pool its processors), its class, its limit and the
/// reservation that it names.
pub(super) type JobShape = (usize, usize, Seconds, Option<u32>);

/// What a pass keeps from entry to entry.
pub(super) struct BackfillPlan {
    pub space: NodeSpace,
    pub tried: usize,
    pub turns: ArrayTurns,
    pub of_user: BTreeMap<i64, usize>,
    pub of_partition: BTreeMap<usize, usize>,
    /// By partition: its reservations.
    pub reserved: BTreeMap<usize, usize>,
    /// The numbers of jobs and arrays that have a reservation, if one is all that they may have.
    pub planned: BTreeSet<u64>,
    /// Scratch: the nodes that a job may use.
    pub free: NodeSet,
    /// On a pool, when reservations take idle processors: each instant at which fewer are left, with their number. KTH takes 1.8 times
    /// as long without; `tests/twins/plain_slurm.rs` does not know it.
    pub falls: Vec<(Time, u32)>,
    /// Shapes of jobs that got nothing since a job last started or got a reservation. Until then another such job gets nothing either.
    /// KTH with 1.5 times its load takes 1.3 times as long without; `tests/twins/plain_slurm.rs` does not know it.
    pub hopeless: FxHashSet<JobShape>,
    /// The weights of nodes with which these got nothing.
    pub weights: Vec<NodeWeight>,
}

impl BackfillPlan {
    /// No reservations.
    pub fn new(nodes: &SlurmNodes<'_>, now: Time, unix_start: Time) -> BackfillPlan {
        let SlurmNodes { site, state, .. } = nodes;
        let mut all = nodes.every();
        if let Some(out) = &state.closed.out {
            all.take_out(out);
        }
        let rounding = (site.parameters.resolution, unix_start);
        BackfillPlan {
            free: all.clone(),
            space: NodeSpace::new(all, now, site.parameters.window, rounding, site.pool.is_none()),
            tried: 0,
            turns: ArrayTurns::default(),
            of_user: BTreeMap::new(),
            of_partition: BTreeMap::new(),
            reserved: BTreeMap::new(),
            planned: BTreeSet::new(),
            falls: Vec::new(),
            hopeless: FxHashSet::default(),
            weights: state.weights.clone(),
        }
    }
}
