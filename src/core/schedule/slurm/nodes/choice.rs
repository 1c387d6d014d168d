//! Which nodes a job gets (`select/cons_tres`): what each node has for it, and which of them are taken.

use super::NodeSet;
use super::in_use::NodesInUse;
use super::job::{NodeCounts, QueueEntry, SlurmJob};
use super::site::SlurmSite;
use crate::machine::{NodeGrant, NodeShare, Resource, Tres};

/// A weight with a low byte that tests of jobs with GPUs change: nodes that such jobs can use come first.
pub type NodeWeight = u64;

/// The weight of a node before any test.
pub fn plain_weight(site: &SlurmSite, node: u32) -> NodeWeight {
    NodeWeight::from(site.cluster.nodes[node as usize].weight) << 8 | 0xff
}

/// A job in a partition, and what is used of the nodes at some time.
#[derive(Clone, Copy)]
pub struct JobOnNodes<'a> {
    pub site: &'a SlurmSite,
    pub in_use: &'a NodesInUse,
    pub job: &'a SlurmJob,
    /// The place of the partition.
    pub partition: usize,
    /// The nodes are taken as idle.
    pub as_idle: bool,
    /// The job gets whole nodes.
    pub(super) is_whole: bool,
    /// Its partition gives whole nodes to every job.
    pub(super) is_exclusive: bool,
    /// The memory that the job needs of a node at least.
    pub(super) least_memory: u64,
}

/// A test of a job: which nodes it gets.
pub struct NodeTest<'a> {
    pub on: JobOnNodes<'a>,
    pub weights: &'a mut [NodeWeight],
    /// Memory: by node, what the job could use of it. Of nodes that are not tested it says nothing.
    pub usable: &'a mut UsableNodes,
    /// Nodes with a job come first; these have none.
    pub busy_first: Option<&'a NodeSet>,
}

/// What a job could use of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usable {
    /// CPUs. The choice makes them fewer.
    pub cpus: u32,
    /// CPUs of all free cores.
    pub most: u32,
    pub gpus: u32,
    /// CPUs and GPUs together, by which nodes are left out one step after the other.
    pub count: u32,
    /// The CPUs of the tasks that can be beside its GPUs.
    pub limit: u32,
}

/// What is still wanted while nodes are taken.
#[derive(Clone, Copy)]
pub(super) struct Need {
    /// CPUs.
    pub cpus: i64,
    /// The same, for what a node gives at most.
    pub most_cpus: i64,
    /// Nodes.
    pub nodes: i64,
    /// Nodes at least.
    pub least: i64,
    /// Nodes at most.
    pub most: i64,
    /// GPUs so far, and all of them.
    pub gpus: (i64, i64),
}

impl Need {
    /// Whether nothing more is needed.
    pub fn is_met(&self) -> bool {
        self.nodes <= 0 && self.cpus <= 0 && self.has_gpus()
    }

    pub fn has_gpus(&self) -> bool {
        self.gpus.1 == 0 || self.gpus.0 >= self.gpus.1
    }

    /// A node is taken that gives this.
    pub fn take(&mut self, cpus: u32, gpus: u32) {
        let cpus = i64::from(cpus);
        (self.cpus, self.most_cpus) = (self.cpus - cpus, self.most_cpus - cpus);
        (self.nodes, self.least, self.most) = (self.nodes - 1, self.least - 1, self.most - 1);
        if cpus > 0 {
            self.gpus.0 += i64::from(gpus);
        }
    }
}

/// What some nodes have for a job together, and what it needs at least.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsableSums {
    nodes: u32,
    cpus: u64,
    gpus: u64,
    /// Nodes that are enough alone.
    enough_alone: u32,
    least_nodes: u32,
    least_cpus: u32,
    least_gpus: u32,
    is_for_one: bool,
}

impl UsableSums {
    /// No nodes yet.
    pub fn new(job: &SlurmJob, counts: &NodeCounts) -> UsableSums {
        let counts = job.counts_by_tasks(counts);
        UsableSums {
            least_nodes: counts.least,
            least_cpus: job.min_cpus,
            least_gpus: job.gpus,
            is_for_one: counts.most == 1,
            ..UsableSums::default()
        }
    }

    fn is_enough_alone(&self, usable: &Usable) -> bool {
        usable.cpus >= self.least_cpus && usable.gpus >= self.least_gpus
    }

    /// Adds a node.
    pub fn add(&mut self, usable: Option<&Usable>) {
        if let Some(usable) = usable {
            self.nodes += 1;
            self.cpus += u64::from(usable.cpus);
            self.gpus += u64::from(usable.gpus);
            self.enough_alone += u32::from(self.is_enough_alone(usable));
        }
    }

    /// Removes a node, of which more can be used now.
    pub fn remove(&mut self, usable: Option<&Usable>) {
        if let Some(usable) = usable {
            self.nodes -= 1;
            self.cpus -= u64::from(usable.cpus);
            self.gpus -= u64::from(usable.gpus);
            self.enough_alone -= u32::from(self.is_enough_alone(usable));
        }
    }

    /// Whether the job may fit. If not, it does not.
    pub fn are_enough(&self) -> bool {
        match self.is_for_one {
            true => self.enough_alone > 0,
            false => {
                self.nodes >= self.least_nodes
                    && self.cpus >= self.least_cpus.into()
                    && self.gpus >= self.least_gpus.into()
            }
        }
    }
}

/// Whether so many nodes are enough; a job that wants more than it needs is content with fewer.
pub(super) fn are_enough(available: i64, need: &Need, counts: &NodeCounts) -> bool {
    let (least, wanted) = (i64::from(counts.least), i64::from(counts.wanted));
    available >= if wanted > least { need.nodes + least - wanted } else { need.nodes }
}

/// By node: what a job could use of it.
pub(super) type UsableNodes = Vec<Option<Usable>>;

impl<'a> JobOnNodes<'a> {
    pub fn new(site: &'a SlurmSite, in_use: &'a NodesInUse, entry: QueueEntry<'a>) -> JobOnNodes<'a> {
        let QueueEntry { job, partition, .. } = entry;
        let is_exclusive = site.cluster.partitions[partition].exclusive;
        let times = if job.is_per_cpu { job.tasks_per_node.max(job.cpus_per_node).max(job.cpus_per_task) } else { 1 };
        JobOnNodes {
            site,
            in_use,
            job,
            partition,
            as_idle: false,
            is_whole: job.is_whole || is_exclusive,
            is_exclusive,
            least_memory: job.memory.saturating_mul(times.into()),
        }
    }

    /// Whether a node is not ruled out by what is used of it, whatever its cores.
    fn is_open(&self, node: u32) -> bool {
        let (hardware, used, job) = (&self.site.hardware[node as usize], &self.in_use.nodes[node as usize], self.job);
        let memory = match self.site.cluster.ignores_memory {
            true => true,
            false if job.memory == 0 => used.memory == 0,
            false => hardware.has.memory().saturating_sub(used.memory) >= self.least_memory,
        };
        let free_gpus = hardware.has.count(Resource::Gpus).saturating_sub(used.gpus);
        memory
            && !(self.is_whole && used.gpus > 0)
            && (!job.has_gpus() || free_gpus >= job.gpus_per_node.max(1))
            && used.exclusive == 0
            && !(self.is_exclusive && used.cores > 0)
    }

    /// Whether these nodes have all that the job needs, by sums alone: if not, no choice among them succeeds.
    pub fn may_hold(&self, nodes: &NodeSet, counts: &NodeCounts) -> bool {
        let mut sums = UsableSums::new(self.job, counts);
        nodes.iter().any(|node| {
            sums.add(self.usable_now(node).as_ref());
            sums.are_enough()
        })
    }

    /// What the job could use of a node now.
    pub fn usable_now(&self, node: u32) -> Option<Usable> {
        let used = &self.in_use.nodes[node as usize];
        if !self.is_open(node) || (self.is_whole && used.cores > 0) {
            return None;
        }
        let mut usable = self.usable(node, self.site.hardware[node as usize].cores - used.cores, false)?;
        usable = self.with_memory(node, usable)?;
        usable.cpus = self.cpus_of(&mut usable);
        Some(usable)
    }

    /// What the job could use of a node with so many free cores, whatever its memory.
    fn usable(&self, node: u32, cores: u32, is_first: bool) -> Option<Usable> {
        let (hardware, used, job) = (&self.site.hardware[node as usize], &self.in_use.nodes[node as usize], self.job);
        let mut gpus = 0;
        if job.has_gpus() {
            gpus = hardware.has.count(Resource::Gpus).saturating_sub(if self.as_idle { 0 } else { used.gpus });
            if gpus < job.gpus_per_node.max(1) {
                return None;
            }
        }
        let most = cores * hardware.threads;
        if cores < 1 || most < job.cpus_per_node {
            return None;
        }
        let mut cpus = most;
        if let Some(allowed) = self.site.cluster.partitions[self.partition].max_cpus_per_node {
            let used = if is_first { 0 } else { self.in_use.cpus_of_partition(self.site, self.partition, node) };
            if cpus + used > allowed {
                if self.is_whole || used >= allowed || (allowed - used == 1 && job.cpus_per_task > 1) {
                    return None;
                }
                cpus = cpus.min(allowed - used);
            }
        }
        let tasks = match job.tasks_per_node {
            0 if job.max_nodes == 1 && job.tasks > 0 => job.tasks,
            0 => 1,
            tasks => tasks,
        };
        if most < job.tasks_per_node || cpus < tasks * job.cpus_per_task {
            return None;
        }
        Some(Usable { cpus, most, gpus, count: 0, limit: 0 })
    }

    /// The same with the CPUs that have their memory.
    fn with_memory(&self, node: u32, mut usable: Usable) -> Option<Usable> {
        if !self.site.cluster.ignores_memory {
            let hardware = &self.site.hardware[node as usize];
            let used = if self.as_idle { 0 } else { self.in_use.nodes[node as usize].memory };
            let free = hardware.has.memory().saturating_sub(used);
            usable.cpus = self.cpus_by_memory(usable.cpus, free, hardware.threads);
        }
        usable.count = usable.cpus + usable.gpus;
        (usable.cpus > 0).then_some(usable)
    }

    /// How many of these CPUs have their memory.
    fn cpus_by_memory(&self, mut cpus: u32, free: u64, threads: u32) -> u32 {
        let job = self.job;
        if !job.is_per_cpu {
            return if job.memory > free { 0 } else { cpus };
        }
        let is_too_much = |cpus: u32| job.memory.saturating_mul(cpus.into()) > free;
        if self.is_whole && is_too_much(cpus) {
            cpus = 0;
        }
        let step = if self.site.cluster.shares_cores { 1 } else { threads };
        while is_too_much(cpus) {
            cpus = cpus.saturating_sub(step);
        }
        cpus -= cpus % job.cpus_per_task;
        if cpus < job.tasks_per_node { 0 } else { cpus }
    }

    /// The CPUs that a node gives; with GPUs no more than the tasks there need.
    pub(super) fn cpus_of(&self, usable: &mut Usable) -> u32 {
        let job = self.job;
        let (least, most) = match job.tasks_per_node {
            0 if job.max_nodes == 1 => (job.tasks.max(1), if job.tasks > 0 { job.tasks } else { u32::MAX }),
            0 if job.tasks == 1 => (1, 1),
            0 if job.tasks > 0 && job.tasks == job.min_nodes && job.tasks == job.max_nodes => (1, 1),
            0 => (1, u32::MAX),
            tasks => (tasks, tasks),
        };
        let tasks = usable.cpus / job.cpus_per_task;
        if tasks < least {
            return 0;
        }
        if !job.has_gpus() {
            return usable.cpus;
        }
        usable.limit = most.min(tasks) * job.cpus_per_task;
        usable.cpus.min(usable.limit)
    }

    /// What a node gives of its CPUs, so that the other nodes have at least one core each.
    pub(super) fn give(&self, node: u32, cpus: u32, usable: &mut Usable, need: &Need) -> u32 {
        if self.is_whole {
            return cpus;
        }
        let threads = i64::from(self.site.hardware[node as usize].threads);
        let limit = need.most_cpus - (need.least - 1).max(0) * threads;
        let mut given = cpus;
        if i64::from(cpus) > limit {
            given = limit.max(self.job.cpus_per_node.into()) as u32;
            usable.cpus = given;
        }
        usable.count = usable.cpus + usable.gpus;
        given
    }
}

impl NodeTest<'_> {
    /// What the job gets of these nodes. None if it cannot run on them. With `as_idle` only the nodes count.
    pub fn run(&mut self, nodes: &NodeSet, counts: &NodeCounts) -> Option<NodeGrant> {
        let mut nodes = nodes.clone();
        if !self.on.as_idle {
            nodes.retain(|node| self.on.is_open(node));
        }
        let mut usable = std::mem::take(self.usable);
        usable.resize(self.on.site.len(), None);
        let found = self.run_in(nodes, counts, &mut usable);
        *self.usable = usable;
        found
    }

    fn run_in(&mut self, mut nodes: NodeSet, counts: &NodeCounts, usable: &mut UsableNodes) -> Option<NodeGrant> {
        let follows = !self.on.as_idle && self.has_one_node(counts);
        // Tests look whether the rule holds.
        let first = if follows && !cfg!(debug_assertions) { None } else { self.select(&nodes, counts, true, usable) };
        if self.on.as_idle {
            let share = |node| NodeShare::new(node, Tres::default());
            return first.map(|chosen| chosen.iter().map(share).collect());
        }
        if !follows && first.is_none() {
            return None;
        }
        if self.on.is_whole {
            nodes.retain(|node| self.on.in_use.nodes[node as usize].cores == 0);
        }
        let chosen = self.select(&nodes, counts, false, usable)?;
        debug_assert!(first.is_some(), "a node with cores in use is enough, but no idle one");
        self.grant(&chosen, usable)
    }

    /// Whether a choice among the free cores succeeds only if one among all cores does, so that the latter needs not be made: one node
    /// is enough alone, it is not less if it is idle, and nodes that are not enough are left out one step after the other.
    fn has_one_node(&self, counts: &NodeCounts) -> bool {
        let JobOnNodes { site, job, .. } = self.on;
        job.counts_by_tasks(counts) == NodeCounts { least: 1, most: 1, wanted: 1 }
            && !job.has_gpus()
            && !job.is_per_cpu
            && site.network.as_ref().is_none_or(|network| network.has_leaves)
    }

    /// The nodes that are taken; `usable` gets what each could give. `is_first`: all cores are taken as free.
    fn select(
        &mut self,
        nodes: &NodeSet,
        counts: &NodeCounts,
        is_first: bool,
        usable: &mut UsableNodes,
    ) -> Option<NodeSet> {
        if nodes.count() < counts.least {
            return None;
        }
        let mut left = nodes.clone();
        left.retain(|node| {
            let used = if is_first { 0 } else { self.on.in_use.nodes[node as usize].cores };
            let found = self.on.usable(node, self.on.site.hardware[node as usize].cores - used, is_first);
            if let Some(found) = found.filter(|_| self.on.job.has_gpus()) {
                self.note_gpus(node, found.gpus);
            }
            usable[node as usize] = found.and_then(|found| self.on.with_memory(node, found));
            usable[node as usize].is_some()
        });
        if left.count() < counts.least {
            return None;
        }
        self.choose(left, usable, &self.on.job.counts_by_tasks(counts))
    }

    /// Nodes with GPUs are favoured by later tests of the pass.
    fn note_gpus(&mut self, node: u32, gpus: u32) {
        let job = self.on.job;
        let wanted = if job.gpus_per_node > 0 { job.gpus_per_node } else { job.gpus };
        let weight = &mut self.weights[node as usize];
        *weight = *weight & !0xff | NodeWeight::from(0xff - gpus.min(wanted).min(0xff));
    }

    /// Takes nodes; if that fails, without those that have least, one step after the other.
    fn choose(&mut self, nodes: NodeSet, usable: &mut UsableNodes, counts: &NodeCounts) -> Option<NodeSet> {
        if let Some(chosen) = self.take_nodes(&nodes, usable, counts) {
            return Some(chosen);
        }
        let mut left = nodes;
        let mut count = left.count();
        if count <= counts.least {
            return self.take_nodes(&left, usable, counts);
        }
        let most = left.iter().filter_map(|node| usable[node as usize]).map(|usable| usable.count).max().unwrap_or(0);
        for step in 1..most {
            let mut has_changed = false;
            for node in left.clone().iter() {
                if usable[node as usize].is_some_and(|usable| (1..=step).contains(&usable.count)) {
                    has_changed = true;
                    left.remove(node);
                    count -= 1;
                    if count <= counts.least {
                        break;
                    }
                }
            }
            if !has_changed && step != 1 {
                continue;
            }
            if let Some(chosen) = self.take_nodes(&left, usable, counts) {
                return Some(chosen);
            }
            if count <= counts.least {
                return None;
            }
        }
        None
    }
}
