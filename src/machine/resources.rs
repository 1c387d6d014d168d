//! What nodes have, and what jobs have of them.

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
}

/// What a job was given: its nodes, each once.
pub type NodeGrant = Vec<NodeShare>;

/// Takes a grant from what is free on each node.
pub fn take(free: &mut [Resources], grant: &[NodeShare]) {
    grant.iter().for_each(|share| free[share.node as usize].take(&share.what));
}

/// Gives a grant back.
pub fn give(free: &mut [Resources], grant: &[NodeShare]) {
    grant.iter().for_each(|share| free[share.node as usize].give(&share.what));
}

/// The CPUs of some shares.
pub fn cpus_of<'a>(shares: impl IntoIterator<Item = &'a NodeShare>) -> i64 {
    shares.into_iter().map(|share| i64::from(share.what.cpus)).sum()
}
