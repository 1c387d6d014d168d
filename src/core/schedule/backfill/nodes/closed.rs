//! Nodes that jobs may not have because of outages.

use std::borrow::Cow;
use std::sync::Arc;

use super::bounds::JobAtPlace;
use crate::machine::{Nodes, Outages, Tres};
use crate::schedule::machine::Machine;
use crate::time::Time;

/// The outages that are known in a pass.
#[derive(Default)]
pub(super) struct ClosedNodes {
    outages: Arc<Outages>,
    views: Vec<NodeView>,
}

/// An outage as far as it is known.
struct NodeView {
    outage: u32,
    start: Time,
    end: Time,
}

impl ClosedNodes {
    /// Those of a machine at the present instant.
    pub fn renew(&mut self, machine: &Machine) {
        self.views.clear();
        if let Some(ledger) = &machine.outages {
            self.outages = Arc::clone(ledger.outages());
            let view = |(outage, known): (u32, &crate::machine::Outage)| NodeView {
                outage,
                start: known.start,
                end: known.known_end(),
            };
            self.views.extend(ledger.known().map(view));
        }
    }

    /// Whether no outage is known.
    pub fn is_empty(&self) -> bool {
        self.views.is_empty()
    }

    /// The known ends after an instant.
    pub fn ends_after(&self, now: Time) -> impl Iterator<Item = Time> {
        self.views.iter().map(|view| view.end).filter(move |&end| now < end && end < Time::MAX)
    }

    /// What is free for a job that starts then: nothing on nodes that are out at its start, and on those of outages that it would
    /// reach into. A job that names a reservation has only its nodes while that is there.
    pub fn open<'a>(&self, job: &JobAtPlace, start: Time, free: Cow<'a, [Tres]>, nodes: &Nodes) -> Cow<'a, [Tres]> {
        let mut open = free;
        for view in &self.views {
            let outage = &self.outages.list[view.outage as usize];
            let is_on = view.start <= start && start < view.end;
            let is_ahead = outage.is_hard() && start < view.start && view.start < start + job.planned;
            if is_on && self.outages.class(job.class).named.contains(&view.outage) {
                let others = (0..nodes.cluster().nodes.len()).filter(|&node| !outage.nodes.contains(&(node as u32)));
                let open = open.to_mut();
                others.for_each(|node| open[node] = Tres::default());
            }
            if (is_on || is_ahead) && !self.outages.owns(job.class, view.outage) {
                let open = open.to_mut();
                outage.nodes.iter().for_each(|&node| open[node as usize] = Tres::default());
            }
        }
        open
    }
}
