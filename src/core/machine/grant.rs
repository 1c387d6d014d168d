//! What jobs have of nodes.
//!
//! What is free is a list by node. After the nodes it has the limits of partitions that leave CPUs of their nodes to others: by
//! node, how many CPUs the jobs of such a partition may still take there ([`super::Cluster::resources`]).

use std::num::NonZeroU32;

use crate::tres::{Resource, Tres};

/// What a job has on one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeShare {
    /// The place of the node in [`Cluster::nodes`](super::Cluster::nodes).
    pub node: u32,
    /// What of it.
    pub what: Tres,
    /// The place of the limit of its partition on this node, after the nodes in the list of what is free. None: there is no such
    /// limit, or the scheduler counts it itself.
    pub limit: Option<NonZeroU32>,
}

impl NodeShare {
    /// A share that no limit counts.
    pub fn new(node: u32, what: Tres) -> NodeShare {
        NodeShare { node, what, limit: None }
    }

    fn limited<'f>(&self, free: &'f mut [Tres]) -> Option<&'f mut u64> {
        self.limit.map(|at| &mut free[at.get() as usize][Resource::Cpus])
    }
}

/// What a job was given: its nodes, each once.
pub type NodeGrant = Vec<NodeShare>;

/// Takes a grant from what is free on each node.
pub fn take(free: &mut [Tres], grant: &[NodeShare]) {
    for share in grant {
        free[share.node as usize].take(&share.what);
        share.limited(free).into_iter().for_each(|left| *left = left.saturating_sub(share.what[Resource::Cpus]));
    }
}

/// Gives a grant back.
pub fn give(free: &mut [Tres], grant: &[NodeShare]) {
    for share in grant {
        free[share.node as usize].give(&share.what);
        share.limited(free).into_iter().for_each(|left| *left += share.what[Resource::Cpus]);
    }
}

/// The CPUs of some shares.
pub fn cpus_of<'a>(shares: impl IntoIterator<Item = &'a NodeShare>) -> i64 {
    shares.into_iter().map(|share| i64::from(share.what.cpus())).sum()
}

/// What a grant has in all.
pub fn total_of(grant: &[NodeShare]) -> Tres {
    let mut total = Tres::default().with(Resource::Nodes, grant.len() as u64);
    grant.iter().for_each(|share| total.give(&share.what));
    total
}
