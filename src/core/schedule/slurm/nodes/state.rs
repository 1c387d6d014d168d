//! The nodes at one instant, and what is kept of them from pass to pass.

use rustc_hash::FxHashMap;

use super::NodeSet;
use super::choice::{NodeWeight, UsableNodes, plain_weight};
use super::closed::SiteClosures;
use super::futures::Futures;
use super::in_use::{InUse, NodesInUse, RunningJob};
use super::prospects::Prospects;
use super::site::SlurmSite;
use crate::time::Time;

/// What is kept from pass to pass.
#[derive(Clone, Debug, Default)]
pub struct NodesState {
    /// What running jobs have.
    pub in_use: InUse,
    /// By node: in which order nodes are taken.
    pub weights: Vec<NodeWeight>,
    /// Nodes that are out, and reservations.
    pub closed: SiteClosures,
    pub(super) prospects: Prospects,
    /// Running jobs that may make way for others.
    pub(super) preemption: PreemptionState,
    /// A backfill pass that finds the same nodes and the same queue before this instant makes the same plan as the last one.
    pub holds_until: Time,
    /// Memory for tests.
    pub(super) usable: UsableNodes,
    /// What is used when some jobs have left.
    pub(super) futures: Futures,
    /// Memory: what is used when some jobs have made way.
    pub(super) future: NodesInUse,
}

impl NodesState {
    /// Idle nodes.
    pub fn new(site: &SlurmSite) -> NodesState {
        NodesState {
            in_use: InUse::new(site),
            weights: (0..site.len() as u32).map(|node| plain_weight(site, node)).collect(),
            ..NodesState::default()
        }
    }

    /// Whether nodes are taken in the order of these weights. On a pool there are none: a comparison of nothing takes as long as one
    /// of a hundred nodes where the system does it with wide registers.
    pub(crate) fn has_weights(&self, weights: &[NodeWeight]) -> bool {
        self.weights.is_empty() || self.weights == weights
    }
}

/// The nodes at one instant.
pub struct SlurmNodes<'a> {
    /// The machine.
    pub site: &'a SlurmSite,
    /// Its state.
    pub state: &'a mut NodesState,
    /// Nodes on which a job has ended but is not gone yet.
    pub completing: NodeSet,
}

/// What is known of running jobs that may make way. Empty without preemption.
#[derive(Clone, Debug, Default)]
pub struct PreemptionState {
    pub(super) now: Time,
    /// By class of jobs: what is used without the jobs that make way for them.
    pub(super) without: Vec<WithoutJobs>,
    /// By waiting job: when it last preempted others.
    pub(super) preemptors: FxHashMap<u64, Time>,
    /// The waiting jobs that have preempted others in this pass.
    pub(super) in_progress: Vec<u64>,
    /// The jobs that have to make way, in this order.
    pub(super) making_way: Vec<MakingWay>,
}

/// A running job that has to make way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MakingWay {
    /// The job as it ran.
    pub running: RunningJob,
    /// The number of the job for which it makes way.
    pub preemptor: u64,
    /// Whether it is stopped at once. If not, it still runs for some time.
    pub is_stopped: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct WithoutJobs {
    /// After which change of what is used it was computed. None: not yet.
    pub(super) change: Option<u64>,
    /// Whether a job makes way. If not, the others are not computed.
    pub(super) is_any: bool,
    pub(super) nodes: NodesInUse,
    /// The other running jobs, in order of their ends.
    pub(super) staying: Vec<RunningJob>,
}
