//! A cluster: its nodes and its partitions.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::associations::Associations;
use super::preempt_mode::PreemptMode;
use crate::request::{MemoryAsked, Request};
use crate::time::Seconds;
use crate::tres::{Resource, Tres};

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Its name, which no other node has.
    pub name: String,
    /// What it has, without what the system keeps for itself: at least one CPU.
    pub has: Tres,
    /// What a job may ask for by name.
    pub features: Vec<String>,
    /// Slurm takes nodes of a low weight first.
    pub weight: u32,
    /// The CPUs of a core, at least 1.
    pub threads_per_core: u32,
    /// Whether no job can run on it: it is down, drained or failing.
    pub is_down: bool,
}

/// Whether jobs run in a partition (Slurm's State).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartitionState {
    /// They do.
    #[default]
    Up,
    /// Only those that wait there already.
    Drain,
    /// None do.
    Down,
}

impl PartitionState {
    /// The state of a word of Slurm, in capitals or not. None if there is no such state.
    pub fn of(word: &str) -> Option<PartitionState> {
        let states = [PartitionState::Up, PartitionState::Drain, PartitionState::Down];
        let word = if word.trim().eq_ignore_ascii_case("inactive") { "down" } else { word.trim() };
        states.into_iter().find(|state| word.eq_ignore_ascii_case(state.name()))
    }

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            PartitionState::Up => "up",
            PartitionState::Drain => "drain",
            PartitionState::Down => "down",
        }
    }
}

/// A set of nodes with rules for the jobs that run there. Partitions may overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    /// Its name, which no other partition has.
    pub name: String,
    /// Its nodes, as ascending places in [`Cluster::nodes`].
    pub nodes: Vec<u32>,
    /// Whether jobs run here that name no partition.
    pub is_default: bool,
    /// Slurm's PriorityTier: partitions of a high tier come first.
    pub priority_tier: u32,
    /// Slurm's PriorityJobFactor.
    pub priority_job_factor: u32,
    /// Whether jobs run here.
    pub state: PartitionState,
    /// The longest estimate. None: no limit.
    pub max_time: Option<Seconds>,
    /// The estimate of a job that has none. None: `max_time`.
    pub default_time: Option<Seconds>,
    /// The fewest nodes of a job.
    pub min_nodes: u32,
    /// The most nodes of a job. None: no limit.
    pub max_nodes: Option<u32>,
    /// Whether no two jobs share a node (OverSubscribe=EXCLUSIVE).
    pub exclusive: bool,
    /// Whether the least loaded nodes come first (LLN).
    pub least_loaded_first: bool,
    /// The most CPUs of a node that jobs of this partition use. None: all.
    pub max_cpus_per_node: Option<u32>,
    /// The memory in MB for each CPU of a job that does not say its memory.
    pub memory_per_cpu: Option<u64>,
    /// The same on each of its nodes. A partition has one of the two. With neither such a job has all memory of its nodes.
    pub memory_per_node: Option<u64>,
    /// The quality of service whose limits hold here. Empty: none.
    pub qos: String,
    /// What jobs are charged for, as [`Tres::of_billing`] reads it. Empty: their CPUs.
    pub billing: String,
    /// How the jobs here make way for others. None: as in all partitions.
    pub preempt_mode: Option<PreemptMode>,
    /// How long jobs here still run when they have to make way for others (Slurm's GraceTime).
    pub grace: Seconds,
}

/// A switch of a network that is a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switch {
    /// Its name, which no other switch has.
    pub name: String,
    /// The nodes that are connected to it, as ascending places in [`Cluster::nodes`].
    pub nodes: Vec<u32>,
    /// The switches directly below it, as ascending places in [`Cluster::switches`].
    pub switches: Vec<u32>,
}

/// A machine of nodes. They are in the natural order of their names: n1, n2, n10.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cluster {
    /// Slurm's ClusterName. Empty: not said.
    pub name: String,
    /// In natural order of their names.
    pub nodes: Vec<Node>,
    /// In the order of the file. At least one: a file without partitions has one of all nodes.
    pub partitions: Vec<Partition>,
    /// The tree of the network, in the order of the file. Empty if placement does not depend on it.
    pub switches: Vec<Switch>,
    /// Whether two jobs may share a core that has several CPUs (Slurm's CR_CPU). Otherwise jobs get whole cores.
    pub shares_cores: bool,
    /// Whether jobs do not use up memory (no `_Memory` in Slurm's SelectTypeParameters).
    pub ignores_memory: bool,
    /// Who may use how much.
    pub associations: Associations,
}

impl Partition {
    /// The memory of a job that does not say it, here.
    pub fn default_memory(&self) -> MemoryAsked {
        let per_cpu = self.memory_per_cpu.map(MemoryAsked::PerCpu);
        per_cpu.or(self.memory_per_node.map(MemoryAsked::PerNode)).unwrap_or(MemoryAsked::PerNode(0))
    }

    /// The longest estimate of a job that has none.
    pub fn time_of_unlimited(&self) -> Option<Seconds> {
        self.default_time.or(self.max_time)
    }
}

impl Cluster {
    /// `max_cpus_per_node`, if a node of the partition has more CPUs.
    fn cpu_limit(&self, partition: &Partition) -> Option<u32> {
        let is_above = |most: u32| partition.nodes.iter().any(|&node| self.nodes[node as usize].has.cpus() > most);
        partition.max_cpus_per_node.filter(|most| is_above(*most))
    }

    /// What each node has for jobs. After the nodes, for each partition that does not allow its jobs all CPUs of a node, and each node: the
    /// CPUs there that jobs of the partition may have together.
    pub fn resources(&self) -> Vec<Tres> {
        let limits = self.partitions.iter().filter_map(|partition| self.cpu_limit(partition));
        let of_limit = |cpus: u32| std::iter::repeat_n(Tres::on_node(cpus, 0), self.nodes.len());
        let of_node = |node: &Node| if node.is_down { Tres::default() } else { node.has };
        self.nodes.iter().map(of_node).chain(limits.flat_map(of_limit)).collect()
    }

    /// Where the limits of a partition begin in the list of [`Cluster::resources`]. None if its jobs may have all CPUs of a node.
    pub fn limits_of(&self, partition: usize) -> Option<NonZeroU32> {
        self.cpu_limit(&self.partitions[partition])?;
        let before = self.partitions[..partition].iter().filter(|other| self.cpu_limit(other).is_some()).count();
        NonZeroU32::new(((before + 1) * self.nodes.len()) as u32)
    }

    /// The memory of a job: what it says, or the default of the first partition that it names, in whichever of its partitions it
    /// runs. As in Slurm, a job without either has all memory of its nodes.
    pub fn memory_of(&self, request: &Request) -> MemoryAsked {
        let first = || match request.partitions.first() {
            None => self.default_partition(),
            Some(name) => self.partition(name),
        };
        match request.memory {
            MemoryAsked::Unsaid => first().map_or(MemoryAsked::PerNode(0), |at| self.partitions[at].default_memory()),
            said => said,
        }
    }

    /// The CPUs of a node that go to one job together: those of a core, or 1 if jobs may share a core.
    pub fn core(&self, node: u32) -> u32 {
        if self.shares_cores { 1 } else { self.nodes[node as usize].threads_per_core }
    }

    /// How many nodes are down, and their CPUs.
    pub fn down(&self) -> (u64, u64) {
        let down = self.nodes.iter().filter(|node| node.is_down);
        down.fold((0, 0), |(nodes, cpus), node| (nodes + 1, cpus + node.has[Resource::Cpus]))
    }

    /// The CPUs of all nodes.
    pub fn cpus(&self) -> u64 {
        self.total()[Resource::Cpus]
    }

    /// What all nodes have together.
    pub fn total(&self) -> Tres {
        total_of_nodes(&self.nodes)
    }

    /// The place of a partition.
    pub fn partition(&self, name: &str) -> Option<usize> {
        self.partitions.iter().position(|partition| partition.name == name)
    }

    /// The place of the partition of jobs that name none: the default, or the only one.
    pub fn default_partition(&self) -> Option<usize> {
        let default = self.partitions.iter().position(|partition| partition.is_default);
        default.or_else(|| (self.partitions.len() == 1).then_some(0))
    }

    /// Nodes that are alike, with their places: by first node, in order of the nodes.
    pub fn kinds(&self) -> Vec<Vec<usize>> {
        let mut kinds: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let Node { has, features, weight, threads_per_core, is_down, .. } = node;
            let kind = (has, features, weight, threads_per_core, is_down);
            kinds.entry(kind).or_default().push(at);
        }
        let mut kinds: Vec<_> = kinds.into_values().collect();
        kinds.sort();
        kinds
    }
}

/// What some nodes have together.
pub fn total_of_nodes<'n>(nodes: impl IntoIterator<Item = &'n Node>) -> Tres {
    nodes.into_iter().fold(Tres::default(), |mut total, node| {
        total.give(&node.has.with(Resource::Nodes, 1));
        total
    })
}

/// The order of names in which runs of digits count as numbers: `n2` is before `n10`. Names that differ only in leading zeros are
/// ordered as text.
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let by_pieces = pieces(a).zip(pieces(b)).map(|(a, b)| match (number(a), number(b)) {
        (Some(a), Some(b)) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
        _ => a.cmp(b),
    });
    let first_difference = by_pieces.into_iter().find(|order| order.is_ne());
    first_difference.unwrap_or_else(|| pieces(a).count().cmp(&pieces(b).count())).then_with(|| a.cmp(b))
}

/// Runs of digits and of other characters.
fn pieces(name: &str) -> impl Iterator<Item = &[u8]> {
    name.as_bytes().chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit())
}

/// A run of digits without leading zeros.
fn number(piece: &[u8]) -> Option<&[u8]> {
    piece[0].is_ascii_digit().then(|| &piece[piece.iter().take_while(|&&digit| digit == b'0').count()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_natural_order() {
        let mut names = ["n10", "n2", "b1", "n2a", "n02", "n", "r2n10", "r2n9", "n1", "99999999999999999999999"];
        names.sort_by(|a, b| natural_order(a, b));
        assert_eq!(names, ["99999999999999999999999", "b1", "n", "n1", "n02", "n2", "n2a", "n10", "r2n9", "r2n10"]);
    }
}
