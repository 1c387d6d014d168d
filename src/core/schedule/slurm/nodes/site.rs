//! A site as Slurm sees it: the nodes, the partitions and the parameters that decide which job gets which nodes.

use std::sync::Arc;

use super::NodeSet;
use super::job::QueueEntry;
use crate::machine::{Cluster, Partition, PreemptMode, Tres};
use crate::spec::Spec;
use crate::time::Seconds;

/// The machine and the parameters of its slurm.conf.
#[derive(Clone, Debug)]
pub struct SlurmSite {
    /// The nodes and partitions.
    pub cluster: Arc<Cluster>,
    /// The number of processors, if the machine is a pool: so many nodes of one CPU in one partition. They are not in the cluster.
    pub(crate) pool: Option<u32>,
    /// All nodes.
    pub(crate) all: NodeSet,
    /// What tests look at of each node, near together.
    pub hardware: Vec<NodeHardware>,
    /// The nodes of each partition on which jobs can run, as a set.
    pub partition_nodes: Vec<NodeSet>,
    /// The network, if it decides where jobs go.
    pub network: Option<Network>,
    /// The parameters.
    pub parameters: SlurmParameters,
    /// By partition, with `preempts_by_qos` by quality of service: those whose running jobs make way for its jobs.
    pub(super) preemptable: Vec<Vec<usize>>,
    /// By partition: its quality of service.
    pub(super) qos_of_partition: Vec<Option<usize>>,
    /// Whether jobs that make way may still run for some time.
    pub(super) has_grace: bool,
}

/// What tests look at of a node.
#[derive(Clone, Copy, Debug)]
pub struct NodeHardware {
    /// What it has.
    pub has: Tres,
    /// Its cores.
    pub cores: u32,
    /// The CPUs of a core.
    pub threads: u32,
}

/// `SchedulerParameters`, as far as they decide anything on nodes. 0: no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    pub array_reservations: usize,
    /// `assoc_limit_stop`: a job over a limit blocks its partition as any other job.
    pub limits_block: bool,
    /// `KillWait`.
    pub kill_wait: Seconds,
    /// `PreemptMode`.
    pub preempt: PreemptMode,
    /// `PreemptType=preempt/qos`; else it is `preempt/partition_prio`.
    pub preempts_by_qos: bool,
    /// `PreemptExemptTime`: how long a job runs before it may be preempted.
    pub preempt_exempt: Seconds,
    /// `preempt_youngest_first`.
    pub youngest_first: bool,
    /// `preempt_strict_order`.
    pub strict_order: bool,
    /// `preempt_reorder_count`.
    pub most_orders: usize,
    /// `JobRequeue`.
    pub requeues: bool,
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
            array_reservations: count("bf_max_job_array_resv"),
            limits_block: is_set("assoc_limit_stop"),
            kill_wait: spec.duration("kill_wait"),
            preempt: PreemptMode::of(spec.text("preempt")).unwrap_or_default(),
            preempts_by_qos: spec.text("preempt_type") == "qos",
            preempt_exempt: spec.duration("preempt_exempt"),
            youngest_first: is_set("preempt_youngest_first"),
            strict_order: is_set("preempt_strict_order"),
            most_orders: count("preempt_reorder_count"),
            requeues: is_set("job_requeue"),
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
        let qos = &cluster.associations.qos;
        let qos_named = |name: &str| qos.iter().position(|qos| qos.name == name);
        let qos_of_partition = cluster.partitions.iter().map(|partition| qos_named(&partition.qos)).collect();
        let has_grace = match parameters.preempts_by_qos {
            true => qos.iter().any(|qos| qos.grace > 0),
            false => cluster.partitions.iter().any(|partition| partition.grace > 0),
        };
        let hardware = cluster.nodes.iter().map(|node| NodeHardware {
            has: node.has,
            cores: node.has.cpus() / node.threads_per_core,
            threads: node.threads_per_core,
        });
        let mut site = SlurmSite {
            pool: None,
            all: NodeSet::all(cluster.nodes.len()),
            hardware: hardware.collect(),
            partition_nodes,
            network,
            parameters,
            preemptable: Vec::new(),
            qos_of_partition,
            has_grace,
            cluster,
        };
        site.preemptable = site.find_preemptable();
        site
    }

    /// A pool of processors with these parameters.
    pub(crate) fn of_pool(procs: u32, parameters: SlurmParameters) -> SlurmSite {
        let cluster = Cluster { partitions: vec![Partition::default()], ..Cluster::default() };
        let all = NodeSet::whole(procs, NodeSet::suits_bits(procs, procs as usize));
        // The other parameters have no effect there.
        let SlurmParameters { resolution, window, growth, most_tried, most_per_user, .. } = parameters;
        let SlurmParameters { array_reservations, depth, kill_wait, .. } = parameters;
        let shared = SlurmParameters {
            resolution,
            window,
            growth,
            most_tried,
            most_per_user,
            array_reservations,
            depth,
            kill_wait,
            ..SlurmParameters::default()
        };
        SlurmSite {
            pool: Some(procs),
            partition_nodes: vec![all.clone()],
            all,
            ..SlurmSite::new(Arc::new(cluster), shared)
        }
    }

    /// How long an entry is planned to run.
    pub(crate) fn limit(&self, entry: &QueueEntry<'_>) -> Seconds {
        let limit = entry.job.planned.unwrap_or(entry.job.limit);
        limit.min(self.cluster.partitions[entry.partition].max_time.unwrap_or(Seconds::MAX))
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.cluster.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cores that some CPUs of a node take.
    pub fn cores_of(&self, node: u32, cpus: u32) -> u32 {
        cpus.div_ceil(self.hardware[node as usize].threads)
    }
}

/// The switches of a network that is a tree.
#[derive(Clone, Debug)]
pub struct Network {
    /// In the order of the file.
    pub switches: Vec<NetworkSwitch>,
    /// Whether nodes are connected only to switches without others below them.
    pub has_leaves: bool,
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
        let has_leaves = cluster.switches.iter().all(|switch| switch.nodes.is_empty() || switch.switches.is_empty());
        Network { switches: parents.into_iter().enumerate().map(switch).collect(), has_leaves, hops }
    }
}
