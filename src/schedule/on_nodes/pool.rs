//! Schedulers of a pool of processors on nodes for which all CPUs are alike.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::job::{JobId, Submission};
use crate::machine::{NodeGrant, Placement, Resources, Shapes, take};
use crate::schedule::policy::{Facts, OutsidePolicy, Policy, View};
use crate::schedule::queue::Waiting;
use crate::time::Time;

/// If jobs ask for nothing but CPUs, and all may have all nodes, then a job fits where its CPUs are free, whatever their nodes. So
/// the scheduler of the pool decides which jobs start, and each is placed.
pub struct PlacedPool {
    pool: Box<dyn Policy>,
    shapes: Arc<Shapes>,
    placement: Placement,
    /// What the jobs have that the last pass has started, in the order of the starts.
    grants: VecDeque<(JobId, NodeGrant)>,
    /// Scratch: what is free during a pass.
    free: Vec<Resources>,
}

impl PlacedPool {
    /// This scheduler of a pool, for shapes with [`Shapes::is_pool`].
    pub fn new(pool: Box<dyn Policy>, shapes: &Arc<Shapes>, placement: Placement) -> PlacedPool {
        PlacedPool { pool, shapes: Arc::clone(shapes), placement, grants: VecDeque::new(), free: Vec::new() }
    }
}

impl Policy for PlacedPool {
    fn pass(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        self.pool.pass(view, starts);
        if starts.is_empty() {
            return;
        }
        let nodes = view.nodes.expect("the engine has the nodes of this policy");
        self.grants.clear();
        self.free.clear();
        self.free.extend_from_slice(nodes.free());
        for &id in starts.iter() {
            // The engine finds that a grant is missing.
            let grant = nodes.shape(id).place(0, self.placement, nodes.cluster(), &self.free, |_| false);
            let grant = grant.unwrap_or_default();
            take(&mut self.free, &grant);
            self.grants.push_back((id, grant));
        }
    }

    fn take_grant(&mut self, id: JobId) -> NodeGrant {
        let first = self.grants.pop_front();
        first.filter(|(first, _)| *first == id).map(|(_, grant)| grant).unwrap_or_default()
    }

    fn shapes(&self) -> Option<Arc<Shapes>> {
        Some(Arc::clone(&self.shapes))
    }

    fn reservations(&mut self, view: &View<'_>, most: usize, reserved: &mut Vec<(JobId, Time)>) {
        self.pool.reservations(view, most, reserved);
    }

    fn on_begin(&mut self, facts: &Facts) {
        self.pool.on_begin(facts);
    }

    fn on_arrival(&mut self, id: JobId, job: &Submission) {
        self.pool.on_arrival(id, job);
    }

    fn on_prediction(&mut self, job: &Waiting) {
        self.pool.on_prediction(job);
    }

    fn on_termination(&mut self, id: JobId, now: Time) {
        self.pool.on_termination(id, now);
    }

    fn on_cancellation(&mut self, job: &Waiting) {
        self.pool.on_cancellation(job);
    }

    fn on_clock(&mut self, now: Time) {
        self.pool.on_clock(now);
    }

    fn follows_clock(&self) -> bool {
        self.pool.follows_clock()
    }

    fn take_virtual_starts(&mut self) -> Option<Vec<Time>> {
        self.pool.take_virtual_starts()
    }

    fn as_outside(&mut self) -> Option<&mut dyn OutsidePolicy> {
        self.pool.as_outside()
    }

    fn wakes_at(&self) -> Option<Time> {
        self.pool.wakes_at()
    }

    fn counts_running_by_estimates(&self) -> bool {
        self.pool.counts_running_by_estimates()
    }
}
