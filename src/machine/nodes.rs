//! The nodes of a cluster: what is free on each, and what running jobs were given.

use std::collections::VecDeque;
use std::sync::Arc;

use super::cluster::Cluster;
use super::shape::{NodeShape, Shapes};
use crate::job::JobId;
use crate::request::RequestId;

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
    /// The place of the node in [`Cluster::nodes`].
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

/// The nodes of a running simulation.
#[derive(Clone, Debug)]
pub struct Nodes {
    shapes: Arc<Shapes>,
    free: Vec<Resources>,
    /// The jobs in the system.
    jobs: NodeJobs,
}

#[derive(Clone, Debug, Default)]
struct NodeJob {
    /// [`RequestId::NONE`] if the job is not in the system.
    request: RequestId,
    /// What it has, if it runs.
    grant: NodeGrant,
}

/// All jobs from the first to the last in the system. A job is found by its distance from the first.
#[derive(Clone, Debug, Default)]
struct NodeJobs {
    /// The id of the first.
    first: u32,
    jobs: VecDeque<NodeJob>,
}

impl NodeJobs {
    fn get(&self, JobId(id): JobId) -> &NodeJob {
        &self.jobs[id.wrapping_sub(self.first) as usize]
    }

    fn get_mut(&mut self, JobId(id): JobId) -> &mut NodeJob {
        &mut self.jobs[id.wrapping_sub(self.first) as usize]
    }

    fn insert(&mut self, JobId(id): JobId, job: NodeJob) {
        if self.jobs.is_empty() {
            self.first = id;
        }
        while id < self.first {
            self.first -= 1;
            self.jobs.push_front(NodeJob::default());
        }
        let at = (id - self.first) as usize;
        if at >= self.jobs.len() {
            self.jobs.resize_with(at + 1, NodeJob::default);
        }
        self.jobs[at] = job;
    }

    fn remove(&mut self, id: JobId) -> NodeJob {
        let job = std::mem::take(self.get_mut(id));
        let is_gone = |job: Option<&NodeJob>| job.is_some_and(|job| job.request == RequestId::NONE);
        while is_gone(self.jobs.front()) {
            self.jobs.pop_front();
            self.first += 1;
        }
        job
    }
}

impl Nodes {
    /// Idle nodes, for jobs with these shapes.
    pub fn new(shapes: Arc<Shapes>) -> Nodes {
        let free = shapes.cluster().resources();
        Nodes { shapes, free, jobs: NodeJobs::default() }
    }

    /// The nodes themselves.
    pub fn cluster(&self) -> &Cluster {
        self.shapes.cluster()
    }

    /// What is free, by node.
    pub fn free(&self) -> &[Resources] {
        &self.free
    }

    /// What a job in the system asks for.
    ///
    /// # Panics
    /// If the job is not in the system.
    pub fn shape(&self, id: JobId) -> &NodeShape {
        self.shapes.get(self.jobs.get(id).request)
    }

    /// The number of what a job asks for. Panics as [`Nodes::shape`].
    pub fn request(&self, id: JobId) -> RequestId {
        self.jobs.get(id).request
    }

    /// What a running job has; nothing if it waits. Panics as [`Nodes::shape`].
    pub fn grant(&self, id: JobId) -> &[NodeShare] {
        &self.jobs.get(id).grant
    }

    /// All shapes.
    pub fn shapes(&self) -> &Arc<Shapes> {
        &self.shapes
    }

    /// A job arrives.
    pub fn arrive(&mut self, id: JobId, request: RequestId) {
        self.jobs.insert(id, NodeJob { request, grant: Vec::new() });
    }

    /// A waiting job starts with this. Says what is wrong if it may not.
    pub fn start(&mut self, id: JobId, grant: NodeGrant) -> Result<(), &'static str> {
        self.shape(id).check(&grant, self.cluster(), &self.free)?;
        take(&mut self.free, &grant);
        self.jobs.get_mut(id).grant = grant;
        Ok(())
    }

    /// A running job waits again, and gives back what it has.
    pub fn stop(&mut self, id: JobId) {
        let grant = std::mem::take(&mut self.jobs.get_mut(id).grant);
        give(&mut self.free, &grant);
    }

    /// A job leaves, and gives back what it has.
    pub fn leave(&mut self, id: JobId) {
        let job = self.jobs.remove(id);
        give(&mut self.free, &job.grant);
    }
}
