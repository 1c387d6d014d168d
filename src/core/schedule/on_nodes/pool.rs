//! Schedulers of a pool of processors on nodes for which all CPUs are alike.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::job::JobId;
use crate::machine::{NodeGrant, Placement, Resources, Shapes, take};
use crate::schedule::forward::forward_policy;
use crate::schedule::machine::Machine;
use crate::schedule::policy::Policy;

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
    forward_policy!(self.pool: reservations, on_begin, on_arrival, on_prediction, on_termination, on_cancellation);
    forward_policy!(self.pool: on_clock, follows_clock, take_virtual_starts, as_outside, wakes_at);
    forward_policy!(self.pool: counts_running_by_estimates);

    fn pass(&mut self, machine: &Machine, starts: &mut Vec<JobId>) {
        self.pool.pass(machine, starts);
        if starts.is_empty() {
            return;
        }
        let nodes = machine.nodes().expect("the engine has the nodes of this policy");
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
}
