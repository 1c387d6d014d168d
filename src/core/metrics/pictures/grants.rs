//! What jobs are given of the nodes of a machine.

use rustc_hash::FxHashMap;

use crate::engine::{Observer, Start};
use crate::job::JobId;
use crate::machine::{NodeGrant, NodeShare};

/// Observes what each job is given: in its last run, if it is requeued. On a pool it keeps nothing.
#[derive(Clone, Debug, Default)]
pub struct NodeGrants(FxHashMap<JobId, NodeGrant>);

impl NodeGrants {
    /// The shares of a job. Empty on a pool.
    pub fn of(&self, job: JobId) -> &[NodeShare] {
        self.0.get(&job).map_or(&[], Vec::as_slice)
    }
}

impl Observer for NodeGrants {
    fn on_start(&mut self, start: &Start<'_>) {
        if !start.grant.is_empty() {
            self.0.insert(start.job.id, start.grant.to_vec());
        }
    }
}
