//! Jobs that have started before the program decides.

use std::collections::VecDeque;

use crate::job::JobId;
use crate::machine::NodeGrant;
use crate::time::Time;

/// The jobs that run when the program begins to decide. Until then they start as another scheduler has started them.
#[derive(Clone, Debug)]
pub struct WarmStart {
    /// When the program begins to decide.
    pub until: Time,
    /// The jobs with their starts, all before that instant, in the order in which they start. On nodes each has its grant.
    pub starts: VecDeque<(Time, JobId, NodeGrant)>,
}

impl WarmStart {
    /// The next start.
    pub(super) fn next(&self) -> Option<Time> {
        self.starts.front().map(|(start, ..)| *start)
    }

    /// Takes a job that starts now.
    pub(super) fn take(&mut self, now: Time) -> Option<(JobId, NodeGrant)> {
        self.next().filter(|&start| start <= now)?;
        self.starts.pop_front().map(|(_, id, grant)| (id, grant))
    }
}
