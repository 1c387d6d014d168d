//! A job as the daemon has it: what was asked for, completed by its rules.

use std::collections::VecDeque;

use crate::machine::{Cluster, Constraint, Resource, Tres};
use crate::request::{DeviceAsked, MemoryAsked, Request};
use crate::time::{Seconds, Time};

/// What a job asks for. 0 means that it is not given.
#[derive(Clone, Debug)]
pub struct SlurmJob {
    /// Its number in the daemon, or its place in the simulation.
    pub id: u64,
    /// The number of what it asks for: jobs with the same number ask for the same in the same partitions.
    pub kind: usize,
    /// Its user.
    pub user: i64,
    /// Who it belongs to, as a place in [`Owners::all`](super::Owners::all).
    pub owner: usize,
    /// Its quality of service, as a place in [`Associations::qos`](crate::machine::associations::Associations::qos).
    pub qos: Option<usize>,
    /// Its partitions, as places in the cluster, in the order in which it names them.
    pub partitions: Vec<usize>,
    /// When it was submitted; with priorities, when it was last requeued.
    pub submit: Time,
    /// From when on its age counts.
    pub eligible: Time,
    /// Its limit.
    pub limit: Seconds,
    /// How long passes plan it to run. None: for its limit.
    pub planned: Option<Seconds>,
    /// Tasks.
    pub tasks: u32,
    /// Tasks on each node.
    pub tasks_per_node: u32,
    /// The CPUs of a task, at least 1.
    pub cpus_per_task: u32,
    /// The fewest nodes, at least 1.
    pub min_nodes: u32,
    /// The most nodes.
    pub max_nodes: u32,
    /// All CPUs together.
    pub min_cpus: u32,
    /// The fewest CPUs of a node.
    pub cpus_per_node: u32,
    /// Memory in MB, for each CPU or for each node. 0: all memory of each node.
    pub memory: u64,
    /// Whether the memory is for each CPU.
    pub is_per_cpu: bool,
    /// GPUs on each node.
    pub gpus_per_node: u32,
    /// GPUs on all nodes together.
    pub gpus: u32,
    /// What its nodes must have.
    pub constraint: Constraint,
    /// Whether it takes whole nodes.
    pub is_whole: bool,
    /// Whether it ends if it is stopped, also where others wait again.
    pub no_requeue: bool,
    /// By how much its user lowers its priority.
    pub nice: i32,
    /// The number of the reservation that it names.
    pub reservation: Option<u32>,
    /// The number of its array, with which it waits in the queue. None: it waits alone.
    pub array: Option<u64>,
    /// The tasks of its array that wait behind it, if it is the first of them.
    pub behind: Option<Box<ArrayTasks>>,
}

/// The tasks of a job array that wait behind the first one.
#[derive(Clone, Debug, Default)]
pub struct ArrayTasks {
    /// Those that may start, in order of their numbers.
    pub tasks: VecDeque<SlurmJob>,
    /// How many more the limit of the array keeps out of the queue. Reservations are made for them too.
    pub held: u32,
}

/// An entry of the queue: a job in one of its partitions. A job in several partitions has several entries. Of an array the job is the
/// first task. Passes take the queue as a function from a number to the entry there.
#[derive(Clone, Copy)]
pub struct QueueEntry<'a> {
    /// The job.
    pub job: &'a SlurmJob,
    /// The place of the partition.
    pub partition: usize,
}

/// How many nodes a job may have in a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeCounts {
    /// At least.
    pub least: u32,
    /// At most.
    pub most: u32,
    /// As many as it wants, if that is possible.
    pub wanted: u32,
}

impl SlurmJob {
    /// The job of a request. It is whole in all its partitions if one of them is exclusive.
    ///
    /// # Panics
    /// If its constraint is not simulated: such jobs are dropped before.
    pub fn of(request: &Request, partitions: Vec<usize>, cluster: &Cluster) -> SlurmJob {
        let cpus_per_task = request.cpus_per_task.max(1);
        let min_nodes = request.min_nodes.max(1);
        let has_tasks_per_node = request.tasks_per_node > 0 && request.min_nodes > 0;
        let tasks = match request.tasks {
            0 if has_tasks_per_node => request.tasks_per_node * min_nodes,
            tasks => tasks,
        };
        let min_cpus = if tasks > 0 { tasks * cpus_per_task } else { request.cpus.max(min_nodes) };
        let by_tasks = if tasks > 1 { cpus_per_task * request.tasks_per_node } else { 0 };
        let (memory, is_per_cpu) = match cluster.memory_of(request) {
            MemoryAsked::PerCpu(memory) => (memory, true),
            MemoryAsked::PerNode(memory) => (memory, false),
            MemoryAsked::Unsaid => (0, false),
        };
        let (gpus_per_node, gpus) = match request.devices[Resource::Gpus] {
            DeviceAsked::None => (0, 0),
            DeviceAsked::PerNode(gpus) => (gpus, 0),
            DeviceAsked::Total(gpus) => (0, gpus),
        };
        SlurmJob {
            id: 0,
            kind: 0,
            user: -1,
            owner: 0,
            qos: None,
            submit: 0,
            eligible: 0,
            limit: 0,
            planned: None,
            tasks,
            tasks_per_node: request.tasks_per_node,
            cpus_per_task,
            min_nodes,
            max_nodes: request.max_nodes,
            min_cpus,
            cpus_per_node: 1.max(by_tasks).max(cpus_per_task),
            memory,
            is_per_cpu,
            gpus_per_node,
            gpus,
            constraint: Constraint::parse(&request.constraint).expect("jobs with other constraints are dropped"),
            is_whole: request.exclusive || partitions.iter().any(|&at| cluster.partitions[at].exclusive),
            no_requeue: request.no_requeue,
            nice: request.nice,
            reservation: None,
            array: None,
            behind: None,
            partitions,
        }
    }

    /// What it asks for if it has so many CPUs and nodes.
    pub fn amounts(&self, cpus: u64, nodes: u64) -> Tres {
        let gpus = if self.gpus > 0 { self.gpus.into() } else { u64::from(self.gpus_per_node) * nodes };
        let memory = self.memory * if self.is_per_cpu { cpus } else { nodes };
        let amounts = Tres::default().with(Resource::Cpus, cpus).with(Resource::Nodes, nodes);
        amounts.with(Resource::Memory, memory).with(Resource::Gpus, gpus)
    }

    /// A job of so many processors of a pool.
    pub(crate) fn of_processors(procs: u32, cluster: &Cluster) -> SlurmJob {
        let [cpus, min_nodes, max_nodes, tasks] = [procs; 4];
        let request = Request { cpus, min_nodes, max_nodes, tasks, ..Request::default() };
        SlurmJob { kind: procs as usize, ..SlurmJob::of(&request, vec![0], cluster) }
    }

    /// Whether it asks for GPUs.
    pub fn has_gpus(&self) -> bool {
        self.gpus_per_node > 0 || self.gpus > 0
    }

    /// The nodes that it may have in a partition. None if there is no such number.
    pub fn counts(&self, cluster: &Cluster, partition: usize) -> Option<NodeCounts> {
        let partition = &cluster.partitions[partition];
        let least = self.min_nodes.max(partition.min_nodes);
        let allowed = partition.max_nodes.unwrap_or(u32::MAX);
        let most = if self.max_nodes > 0 { self.max_nodes.min(allowed) } else { allowed };
        let wanted = if self.max_nodes > 0 { most } else { least };
        (most >= least).then_some(NodeCounts { least, most, wanted })
    }

    /// The same for a job whose tasks need more nodes, or cannot use so many.
    pub fn counts_by_tasks(&self, counts: &NodeCounts) -> NodeCounts {
        let by_tasks = if self.tasks_per_node > 0 { self.tasks.div_ceil(self.tasks_per_node) } else { 0 };
        let least = counts.least.max(by_tasks);
        let most = if self.tasks > 0 && counts.most > self.tasks { self.tasks.max(least) } else { counts.most };
        NodeCounts { least, most, ..*counts }
    }
}
