//! What jobs are given of the nodes of a machine.

use rustc_hash::FxHashMap;

use super::super::probe::Probe;
use crate::engine::{Event, Observer};
use crate::job::JobId;
use crate::machine::{NodeGrant, NodeShare};
use crate::schedule::Machine;
use crate::time::Time;

/// Observes what each job is given: in its last run, if it is requeued. On a pool it keeps nothing.
#[derive(Clone, Debug, Default)]
pub struct NodeGrants(FxHashMap<JobId, NodeGrant>);

impl NodeGrants {
    /// The shares of a job. Empty on a pool.
    pub fn of(&self, job: JobId) -> &[NodeShare] {
        self.0.get(&job).map_or(&[], Vec::as_slice)
    }
}

impl Probe for NodeGrants {
    fn observer(&mut self) -> Option<&mut dyn Observer> {
        Some(self)
    }
}

impl Observer for NodeGrants {
    fn on(&mut self, _time: Time, event: &Event<'_>, _machine: &Machine) {
        if let Event::Start(start) = event
            && !start.grant.is_empty()
        {
            self.0.insert(start.job.id, start.grant.to_vec());
        }
    }
}
