//! What nodes have, and what jobs have of them.
//!
//! What is free is a list by node. After the nodes it has the limits of partitions that leave CPUs of their nodes to others: by
//! node, how many CPUs the jobs of such a partition may still take there ([`super::Cluster::resources`]).

use std::num::NonZeroU32;

/// What a node has, or a job has on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// CPUs.
    pub cpus: u32,
    /// Memory in MB.
    pub memory: u64,
    /// GPUs.
    pub gpus: u32,
}

impl Resources {
    /// Whether all of this is at least the other.
    pub fn holds(&self, other: &Resources) -> bool {
        self.cpus >= other.cpus && self.memory >= other.memory && self.gpus >= other.gpus
    }

    /// Adds what a job gives back.
    pub fn give(&mut self, other: &Resources) {
        self.cpus += other.cpus;
        self.memory += other.memory;
        self.gpus += other.gpus;
    }

    /// Removes what a job takes; what is not there is not taken.
    pub fn take(&mut self, other: &Resources) {
        self.cpus = self.cpus.saturating_sub(other.cpus);
        self.memory = self.memory.saturating_sub(other.memory);
        self.gpus = self.gpus.saturating_sub(other.gpus);
    }
}

/// What a job has on one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeShare {
    /// The place of the node in [`Cluster::nodes`](super::Cluster::nodes).
    pub node: u32,
    /// What of it.
    pub what: Resources,
    /// The place of the limit of its partition on this node, after the nodes in the list of what is free. None: there is no such
    /// limit, or the scheduler counts it itself.
    pub limit: Option<NonZeroU32>,
}

impl NodeShare {
    /// A share that no limit counts.
    pub fn new(node: u32, what: Resources) -> NodeShare {
        NodeShare { node, what, limit: None }
    }

    fn limited<'f>(&self, free: &'f mut [Resources]) -> Option<&'f mut u32> {
        self.limit.map(|at| &mut free[at.get() as usize].cpus)
    }
}

/// What a job was given: its nodes, each once.
pub type NodeGrant = Vec<NodeShare>;

/// Takes a grant from what is free on each node.
pub fn take(free: &mut [Resources], grant: &[NodeShare]) {
    for share in grant {
        free[share.node as usize].take(&share.what);
        share.limited(free).into_iter().for_each(|left| *left = left.saturating_sub(share.what.cpus));
    }
}

/// Gives a grant back.
pub fn give(free: &mut [Resources], grant: &[NodeShare]) {
    for share in grant {
        free[share.node as usize].give(&share.what);
        share.limited(free).into_iter().for_each(|left| *left += share.what.cpus);
    }
}

/// The CPUs of some shares.
pub fn cpus_of<'a>(shares: impl IntoIterator<Item = &'a NodeShare>) -> i64 {
    shares.into_iter().map(|share| i64::from(share.what.cpus)).sum()
}
