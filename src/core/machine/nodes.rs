//! The nodes of a cluster: what is free on each, and what running jobs were given.

use std::collections::VecDeque;
use std::sync::Arc;

use super::cluster::Cluster;
use super::grant::{NodeGrant, NodeShare, give, take};
use super::shape::NodeShape;
use super::shapes::Shapes;
use crate::job::JobId;
use crate::request::RequestId;
use crate::tres::Tres;

/// The nodes of a running simulation.
#[derive(Clone, Debug)]
pub struct Nodes {
    shapes: Arc<Shapes>,
    free: Vec<Tres>,
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
    pub fn free(&self) -> &[Tres] {
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

    /// A waiting job starts with this, which [`NodeShape::check`] allows.
    pub fn start(&mut self, id: JobId, grant: NodeGrant) {
        take(&mut self.free, &grant);
        self.jobs.get_mut(id).grant = grant;
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
