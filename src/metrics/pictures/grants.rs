//! What jobs are given of the nodes of a machine.

use crate::engine::{Observer, Preemption, Start};
use crate::job::JobId;
use crate::machine::{NodeGrant, NodeShare};
use crate::sort::sort_by_key;

/// Observes what each job is given. On a pool it keeps nothing.
#[derive(Clone, Debug, Default)]
pub struct GrantObserver {
    given: Vec<(JobId, NodeGrant)>,
}

impl GrantObserver {
    /// What each job was given, in order of the jobs.
    pub fn finish(mut self) -> NodeGrants {
        sort_by_key(&mut self.given, |(id, _)| *id);
        NodeGrants { given: self.given }
    }
}

impl Observer for GrantObserver {
    fn on_start(&mut self, start: &Start<'_>) {
        if !start.grant.is_empty() {
            self.given.push((start.job.id, start.grant.to_vec()));
        }
    }

    /// What counts is the last run of a job.
    fn on_preemption(&mut self, preemption: &Preemption<'_>) {
        if preemption.is_requeued {
            self.given.retain(|(id, _)| *id != preemption.job.id);
        }
    }
}

/// What each job was given.
#[derive(Clone, Debug, Default)]
pub struct NodeGrants {
    given: Vec<(JobId, NodeGrant)>,
}

impl NodeGrants {
    /// The shares of a job. Empty on a pool.
    pub fn of(&self, job: JobId) -> &[NodeShare] {
        self.given.binary_search_by_key(&job, |(id, _)| *id).map_or(&[], |at| &self.given[at].1)
    }
}
