//! A site as Slurm sees it: the nodes, the partitions and the parameters that decide which job gets which nodes.

use std::sync::Arc;

use crate::machine::{Cluster, Partition, PreemptMode};
use crate::spec::Spec;
use crate::time::Seconds;

/// The machine and the parameters of its slurm.conf.
#[derive(Clone, Debug)]
pub struct SlurmSite {
    /// The nodes and partitions.
    pub cluster: Arc<Cluster>,
    /// The nodes of each partition on which jobs can run, as a set.
    pub partition_nodes: Vec<NodeSet>,
    /// The network, if it decides where jobs go.
    pub network: Option<Network>,
    /// The parameters.
    pub parameters: SlurmParameters,
    /// By partition: those whose jobs make way for its jobs.
    pub(super) preemptable: Vec<Vec<usize>>,
}

/// `SchedulerParameters`, as far as they decide anything on nodes. 0: no limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmParameters {
    /// `bf_resolution`.
    pub resolution: Seconds,
    /// `bf_window`.
    pub window: Seconds,
    /// `bf_window_linear`: by how much groups of ends of running jobs grow. 0: they double.
    pub growth: Seconds,
    /// `bf_max_job_test`: how many entries of the queue a backfill pass tries.
    pub most_tried: usize,
    /// `bf_max_job_user`.
    pub most_per_user: usize,
    /// `bf_max_job_part`.
    pub most_per_partition: usize,
    /// `bf_max_job_start`.
    pub most_started: usize,
    /// `bf_job_part_count_reserve`.
    pub most_reserved: usize,
    /// `bf_min_age_reserve`.
    pub least_age: Seconds,
    /// `bf_one_resv_per_job`.
    pub one_reservation: bool,
    /// `bf_busy_nodes`.
    pub busy_first: bool,
    /// `pack_serial_at_end`.
    pub serial_at_end: bool,
    /// `CR_LLN`: in all partitions the least loaded nodes come first.
    pub least_loaded_first: bool,
    /// `default_queue_depth`.
    pub depth: usize,
    /// `partition_job_depth`.
    pub partition_depth: usize,
    /// `bf_max_job_array_resv`.
    pub array_reservations: u32,
    /// `assoc_limit_stop`: a job over a limit blocks its partition as any other job.
    pub limits_block: bool,
    /// `KillWait`.
    pub kill_wait: Seconds,
    /// `PreemptMode`, with `PreemptType=preempt/partition_prio`.
    pub preempt: PreemptMode,
    /// `PreemptExemptTime`: how long a job runs before it may be preempted.
    pub preempt_exempt: Seconds,
}

impl SlurmParameters {
    /// Those of a spec of the scheduler `slurm`.
    pub fn of(spec: &Spec) -> SlurmParameters {
        let count = |key: &str| usize::try_from(spec.whole(key)).unwrap_or(usize::MAX);
        let is_set = |key: &str| spec.text(key) == "yes";
        SlurmParameters {
            resolution: spec.duration("bf_resolution"),
            window: spec.duration("bf_window"),
            growth: spec.duration("bf_window_linear"),
            most_tried: count("bf_max_job_test"),
            most_per_user: count("bf_max_job_user"),
            most_per_partition: count("bf_max_job_part"),
            most_started: count("bf_max_job_start"),
            most_reserved: count("bf_job_part_count_reserve"),
            least_age: spec.duration("bf_min_age_reserve"),
            one_reservation: is_set("bf_one_resv_per_job"),
            busy_first: is_set("bf_busy_nodes"),
            serial_at_end: is_set("pack_serial_at_end"),
            least_loaded_first: is_set("cr_lln"),
            depth: count("default_queue_depth"),
            partition_depth: count("partition_job_depth"),
            array_reservations: 20,
            limits_block: is_set("assoc_limit_stop"),
            kill_wait: spec.duration("kill_wait"),
            preempt: PreemptMode::of(spec.text("preempt")).unwrap_or_default(),
            preempt_exempt: spec.duration("preempt_exempt"),
        }
    }
}

impl SlurmSite {
    /// A site with these parameters.
    pub fn new(cluster: Arc<Cluster>, parameters: SlurmParameters) -> SlurmSite {
        let is_up = |node: &u32| !cluster.nodes[*node as usize].is_down;
        let set =
            |partition: &Partition| NodeSet::of(cluster.nodes.len(), partition.nodes.iter().copied().filter(is_up));
        let partition_nodes = cluster.partitions.iter().map(set).collect();
        let network = (!cluster.switches.is_empty()).then(|| Network::new(&cluster));
        let mut site = SlurmSite { cluster, partition_nodes, network, parameters, preemptable: Vec::new() };
        site.preemptable = site.find_preemptable();
        site
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.cluster.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cores of a node.
    pub fn cores(&self, node: u32) -> u32 {
        let node = &self.cluster.nodes[node as usize];
        node.has.cpus() / node.threads_per_core
    }

    /// The cores that some CPUs of a node take.
    pub fn cores_of(&self, node: u32, cpus: u32) -> u32 {
        cpus.div_ceil(self.cluster.nodes[node as usize].threads_per_core)
    }
}

/// A set of nodes, one bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodeSet {
    words: Vec<u64>,
}

impl NodeSet {
    /// No nodes, of a machine that has this number.
    pub fn none(nodes: usize) -> NodeSet {
        NodeSet { words: vec![0; nodes.div_ceil(64)] }
    }

    /// All nodes.
    pub fn all(nodes: usize) -> NodeSet {
        NodeSet::of(nodes, 0..nodes as u32)
    }

    /// These nodes.
    pub fn of(nodes: usize, some: impl IntoIterator<Item = u32>) -> NodeSet {
        let mut set = NodeSet::none(nodes);
        some.into_iter().for_each(|node| set.insert(node));
        set
    }

    /// Adds a node.
    pub fn insert(&mut self, node: u32) {
        self.words[node as usize / 64] |= 1 << (node % 64);
    }

    /// Removes a node.
    pub fn remove(&mut self, node: u32) {
        self.words[node as usize / 64] &= !(1 << (node % 64));
    }

    /// Whether it has a node.
    pub fn has(&self, node: u32) -> bool {
        self.words[node as usize / 64] >> (node % 64) & 1 == 1
    }

    /// How many it has.
    pub fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Keeps the nodes that the other has too.
    pub fn keep(&mut self, other: &NodeSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    /// Removes the nodes of the other.
    pub fn take_out(&mut self, other: &NodeSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    /// Adds the nodes of the other.
    pub fn add(&mut self, other: &NodeSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// The nodes of both.
    pub fn common(&self, other: &NodeSet) -> NodeSet {
        let mut both = self.clone();
        both.keep(other);
        both
    }

    /// How many both have.
    pub fn count_common(&self, other: &NodeSet) -> u32 {
        self.words.iter().zip(&other.words).map(|(word, other)| (word & other).count_ones()).sum()
    }

    /// Whether both have a node.
    pub fn meets(&self, other: &NodeSet) -> bool {
        self.words.iter().zip(&other.words).any(|(word, other)| word & other != 0)
    }

    /// Whether the other has all its nodes.
    pub fn is_within(&self, other: &NodeSet) -> bool {
        self.words.iter().zip(&other.words).all(|(word, other)| word & !other == 0)
    }

    /// Whether the first two have a node in common that the other two do not have in common.
    pub fn is_more([a, b]: [&NodeSet; 2], [c, d]: [&NodeSet; 2]) -> bool {
        let words = a.words.iter().zip(&b.words).zip(c.words.iter().zip(&d.words));
        words.into_iter().any(|((a, b), (c, d))| a & b & !(c & d) != 0)
    }

    /// The nodes in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        places(self.words.iter().copied())
    }

    /// The nodes of both, in order.
    pub fn iter_common(&self, other: &NodeSet) -> impl Iterator<Item = u32> {
        places(self.words.iter().zip(&other.words).map(|(word, other)| word & other))
    }

    /// Keeps the nodes for which this is true.
    pub fn retain(&mut self, mut keeps: impl FnMut(u32) -> bool) {
        for (at, word) in self.words.iter_mut().enumerate() {
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                if !keeps(at as u32 * 64 + bit) {
                    *word &= !(1 << bit);
                }
            }
        }
    }
}

/// The places of the bits that are set.
fn places(words: impl Iterator<Item = u64>) -> impl Iterator<Item = u32> {
    words.enumerate().flat_map(|(at, word)| {
        let next = |left: &u64| Some(left & (left - 1)).filter(|left| *left != 0);
        std::iter::successors(Some(word).filter(|word| *word != 0), next)
            .map(move |left| at as u32 * 64 + left.trailing_zeros())
    })
}

/// The switches of a network that is a tree.
#[derive(Clone, Debug)]
pub struct Network {
    /// In the order of the file.
    pub switches: Vec<NetworkSwitch>,
    /// By pair of switches: the hops between them. [`FAR`] if they are not connected.
    pub hops: Vec<Vec<u32>>,
}

/// More hops than any network has.
pub const FAR: u32 = 1_000_000_000;

/// A switch.
#[derive(Clone, Debug)]
pub struct NetworkSwitch {
    /// 0: nodes are connected to it. Else one more than the highest below it.
    pub level: u32,
    /// The switch above it; itself if there is none.
    pub parent: usize,
    /// The nodes below it.
    pub nodes: NodeSet,
}

impl Network {
    fn new(cluster: &Cluster) -> Network {
        let count = cluster.switches.len();
        let below = |at: usize| cluster.switches[at].switches.iter().map(|&below| below as usize);
        fn level(at: usize, below: &dyn Fn(usize) -> Vec<usize>) -> u32 {
            below(at).into_iter().map(|below_it| 1 + level(below_it, below)).max().unwrap_or(0)
        }
        fn nodes(at: usize, cluster: &Cluster) -> NodeSet {
            let switch = &cluster.switches[at];
            let own = NodeSet::of(cluster.nodes.len(), switch.nodes.iter().copied());
            switch.switches.iter().fold(own, |mut all, &below| {
                all.add(&nodes(below as usize, cluster));
                all
            })
        }
        let mut hops = vec![vec![FAR; count]; count];
        let mut parents: Vec<usize> = (0..count).collect();
        let connected: Vec<(usize, usize)> =
            (0..count).flat_map(|at| below(at).map(move |child| (at, child))).collect();
        (0..count).for_each(|at| hops[at][at] = 0);
        for (at, child) in connected {
            (hops[at][child], hops[child][at]) = (1, 1);
            parents[child] = at;
        }
        for over in 0..count {
            for from in 0..count {
                for to in 0..count {
                    hops[from][to] = hops[from][to].min(hops[from][over] + hops[over][to]);
                }
            }
        }
        let list = |at: usize| below(at).collect();
        let switch = |(at, parent)| NetworkSwitch { level: level(at, &list), parent, nodes: nodes(at, cluster) };
        Network { switches: parents.into_iter().enumerate().map(switch).collect(), hops }
    }
}
