//! What a request means on a cluster: in which partitions, on which nodes, and how much there.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::cluster::Cluster;
use super::grant::{NodeShare, total_of};
use crate::tres::{Resource, Tres};

/// A request on a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeShape {
    /// All its CPUs together.
    pub cpus: u32,
    /// Its devices on each node.
    pub per_node: Tres,
    /// All it has of a device together, if it does not say how much on each node. It is divided in parts with equal CPUs.
    pub parts: Option<(Resource, u32)>,
    /// Where it may run, in the order in which that is tried.
    pub places: Vec<ShapePlace>,
}

/// A partition in which a job may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapePlace {
    /// The place of the partition in [`Cluster::partitions`].
    pub partition: u32,
    /// The nodes that it may have there.
    pub nodes: Arc<NodeList>,
    /// Jobs of one kind need the same of a node for each of their CPUs, on the same nodes: the room for one is the room for all.
    pub kind: u32,
    /// Its memory for each CPU, in MB.
    pub memory_per_cpu: u64,
    /// Its memory on each node, in MB.
    pub memory_per_node: u64,
    /// Whether it takes all memory of its nodes: another job that has some of it has a node for itself.
    pub all_memory: bool,
    /// The fewest nodes over which its CPUs are divided equally. 0: it takes the fewest that hold it.
    pub least_nodes: u32,
    /// The most nodes that it may have.
    pub most_nodes: u32,
    /// Where the limits of the partition begin in the list of what is free, if it limits the CPUs of its jobs on a node.
    pub limits: Option<NonZeroU32>,
    /// Whether it takes whole nodes.
    pub whole: bool,
    /// Whether every free CPU of these nodes has room for one of the job.
    pub is_plain: bool,
}

impl ShapePlace {
    /// The place of the limit of a node in the list of what is free.
    pub fn limit(&self, node: u32) -> Option<NonZeroU32> {
        self.limits.map(|first| first.saturating_add(node))
    }

    /// The CPUs of a node that the limit of the partition allows beside what its jobs have there.
    pub fn allowed(&self, free: &[Tres], node: u32) -> u32 {
        self.limit(node).map_or(u32::MAX, |at| free[at.get() as usize].cpus())
    }

    /// Whether the job may have so many nodes here.
    pub fn allows_nodes(&self, count: usize) -> bool {
        (self.least_nodes.max(1) as usize..=self.most_nodes as usize).contains(&count)
    }
}

/// The nodes of a partition that have some features.
#[derive(Debug, PartialEq, Eq)]
pub struct NodeList {
    /// Its number among the lists of a workload.
    pub number: u32,
    /// Places in [`Cluster::nodes`], ascending.
    pub nodes: Box<[u32]>,
    /// By node: whether it is in the list.
    has: Box<[bool]>,
    /// The CPUs of the largest core that goes to one job as a whole.
    pub largest_core: u32,
}

impl NodeList {
    pub(super) fn new(number: usize, nodes: impl Iterator<Item = u32>, cluster: &Cluster) -> NodeList {
        let nodes: Box<[u32]> = nodes.collect();
        let mut has = vec![false; cluster.nodes.len()].into_boxed_slice();
        nodes.iter().for_each(|&node| has[node as usize] = true);
        let largest_core = nodes.iter().map(|&node| cluster.core(node)).max().unwrap_or(1);
        NodeList { number: number as u32, nodes, has, largest_core }
    }

    /// Whether a node is in the list.
    pub fn has(&self, node: u32) -> bool {
        self.has[node as usize]
    }

    pub(super) fn relation(&self, other: &NodeList) -> ListRelation {
        match self.nodes.iter().filter(|&&node| other.has(node)).count() {
            0 => ListRelation::Apart,
            common if common == self.nodes.len() => ListRelation::Within,
            _ => ListRelation::Other,
        }
    }
}

/// What nodes of a list another has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListRelation {
    /// None.
    Apart,
    /// All.
    Within,
    /// Some, or it is not known.
    Other,
}

impl NodeShape {
    /// Whether a job may start with this grant: what is wrong if not. `free` is what is free, by node.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self, grant: &[NodeShare], cluster: &Cluster, free: &[Tres]) -> Result<(), &'static str> {
        let is_allowed =
            |share: &NodeShare| share.limit.is_none_or(|at| free[at.get() as usize].cpus() >= share.what.cpus());
        if grant.iter().any(|share| !free[share.node as usize].holds(&share.what) || !is_allowed(share)) {
            return Err("its nodes do not have what it was given");
        }
        if !grant.is_sorted_by(|a, b| a.node < b.node) {
            return Err("it was given a node twice, or its nodes are not in order");
        }
        // Slurm gives a job fewer CPUs than it asks for if its tasks cannot be divided otherwise.
        let is_right = |place: &ShapePlace| {
            let has_parts = self.parts.is_none_or(|(kind, count)| total_of(grant)[kind] >= count.into());
            let has_share = |share: &NodeShare| match place.whole {
                true => share.what.cpus() == cluster.nodes[share.node as usize].has.cpus(),
                false => self.holds_share(place, cluster, share),
            };
            has_parts && grant.iter().all(|share| place.nodes.has(share.node) && has_share(share))
        };
        if grant.is_empty() {
            return Err("it was given nothing");
        }
        self.places.iter().any(is_right).then_some(()).ok_or("it was not given what it asks for")
    }

    fn holds_share(&self, place: &ShapePlace, cluster: &Cluster, share: &NodeShare) -> bool {
        let is_of_cores = share.what.cpus().is_multiple_of(cluster.core(share.node));
        let memory = self.memory(place, &cluster.nodes[share.node as usize], share.what.cpus());
        is_of_cores && share.what.holds(&self.per_node.with(Resource::Memory, memory))
    }
}
