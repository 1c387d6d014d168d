//! What a backfill pass keeps from entry to entry: its reservations, and attempts that need not be made again.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use crate::schedule::slurm::nodes::{ArrayTurns, NodeSet, NodeWeight, NodesState, SlurmSite};
use crate::schedule::slurm::space::NodeSpace;
use crate::time::{Seconds, Time};

/// What decides about a job besides its owner and its age: what it asks for (on a pool its processors), its partition and its limit.
pub(super) type JobShape = (usize, usize, Seconds);

/// Attempts on a pool that need not be made again: a job of at least as many processors for at least as long fails in all of them
/// too, and is tried from `from`.
pub(super) struct FailedAttempt {
    pub procs: usize,
    pub limit: Seconds,
    pub from: Time,
}

/// What a pass keeps from entry to entry.
pub(super) struct BackfillPlan {
    pub space: NodeSpace,
    pub tried: usize,
    pub turns: ArrayTurns,
    pub of_user: BTreeMap<i64, usize>,
    pub of_partition: BTreeMap<usize, usize>,
    /// By partition: its reservations.
    pub reserved: BTreeMap<usize, usize>,
    /// The numbers of jobs and arrays that have a reservation, if one is all that they may have.
    pub planned: BTreeSet<u64>,
    /// Scratch: the nodes that a job may use.
    pub free: NodeSet,
    /// On a pool, when reservations take idle processors: each instant at which fewer are left, with their number. KTH takes 1.8 times
    /// as long without; `tests/twins/plain_slurm.rs` does not know it.
    pub falls: Vec<(Time, u32)>,
    /// Shapes of jobs that got nothing since a job last started or got a reservation. Until then another such job gets nothing either.
    /// KTH with 1.5 times its load takes 1.3 times as long without; `tests/twins/plain_slurm.rs` does not know it.
    pub hopeless: FxHashSet<JobShape>,
    /// The weights of nodes with which these got nothing.
    pub weights: Vec<NodeWeight>,
    pub failures: Vec<FailedAttempt>,
}

impl BackfillPlan {
    /// No reservations.
    pub fn new(state: &NodesState, site: &SlurmSite, now: Time, unix_start: Time) -> BackfillPlan {
        let all = state.in_use.pool.as_ref().map_or_else(|| site.all.clone(), |pool| pool.all());
        let rounding = (site.parameters.resolution, unix_start);
        BackfillPlan {
            free: all.clone(),
            space: NodeSpace::new(all, now, site.parameters.window, rounding, site.pool.is_none()),
            tried: 0,
            turns: ArrayTurns::default(),
            of_user: BTreeMap::new(),
            of_partition: BTreeMap::new(),
            reserved: BTreeMap::new(),
            planned: BTreeSet::new(),
            falls: Vec::new(),
            hopeless: FxHashSet::default(),
            weights: state.weights.clone(),
            failures: Vec::new(),
        }
    }

    /// When a job is to be tried first.
    pub fn first_attempt(&self, (procs, _, limit): JobShape, now: Time) -> Time {
        let known = self.failures.iter().filter(|failure| failure.procs <= procs && failure.limit <= limit);
        known.map(|failure| failure.from).max().unwrap_or(now)
    }

    /// All attempts of a job before `from` have failed.
    pub fn fails_before(&mut self, (procs, _, limit): JobShape, from: Time) {
        self.failures.retain(|failure| failure.procs != procs || failure.limit != limit);
        self.failures.push(FailedAttempt { procs, limit, from });
    }

    /// After a reservation that begins then.
    pub fn forget_failures(&mut self, begin: Time) {
        if !self.failures.is_empty() {
            // Nothing has changed before the reservation. At its begin there may be no release any more.
            let is_release = self.space.next_release(None, begin - 1, begin - 1) == Some(begin);
            self.failures.retain(|failure| failure.from < begin || failure.from == begin && is_release);
        }
    }
}
