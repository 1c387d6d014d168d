//! Schedulers of a pool of processors on nodes for which all CPUs are alike.

use std::sync::Arc;

use crate::machine::{Placement, Shapes, Tres, take};
use crate::schedule::machine::Machine;
use crate::schedule::policy::{Asked, Decisions, Policy, PolicyEvent, Scheduler};
use crate::time::Time;

/// If jobs ask for nothing but CPUs, and all may have all nodes, then a job fits where its CPUs are free, whatever their nodes. So
/// the scheduler of the pool decides which jobs start, and each is placed.
pub struct PlacedPool {
    pool: Box<dyn Policy>,
    placement: Placement,
    /// Scratch: what is free during a pass.
    free: Vec<Tres>,
}

impl PlacedPool {
    /// This scheduler of a pool, for shapes with [`Shapes::is_pool`].
    pub fn scheduler(pool: Scheduler, shapes: &Arc<Shapes>, placement: Placement) -> Scheduler {
        let policy = Box::new(PlacedPool { pool: pool.policy, placement, free: Vec::new() });
        Scheduler { policy, shapes: Some(Arc::clone(shapes)), ..pool }
    }
}

impl Policy for PlacedPool {
    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        self.pool.decide(machine, out);
        if !matches!(out.asked, Asked::Pass) || out.starts.is_empty() {
            return;
        }
        let nodes = machine.nodes().expect("the engine has the nodes of this policy");
        self.free.clear();
        self.free.extend_from_slice(nodes.free());
        for &id in &out.starts {
            // The engine finds that a grant is missing.
            let grant = nodes.shape(id).place(0, self.placement, nodes.cluster(), &self.free, |_| false);
            let grant = grant.unwrap_or_default();
            take(&mut self.free, &grant);
            out.grants.push(grant);
        }
    }

    fn on(&mut self, event: &PolicyEvent<'_>, machine: &Machine) {
        self.pool.on(event, machine);
    }

    fn wake(&self) -> Option<Time> {
        self.pool.wake()
    }
}
