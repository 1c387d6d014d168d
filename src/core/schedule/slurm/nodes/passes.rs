//! A pass of the daemon, and the main pass, which starts jobs in the order of the queue.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::NodeSet;
use super::arrays::ArrayTurns;
use super::in_use::RunningJob;
use super::job::{QueueEntry, SlurmJob};
use super::limits::{Chosen, SiteLimits};
use super::pick::Picked;
use super::state::SlurmNodes;
use crate::job::JobId;
use crate::machine::NodeGrant;
use crate::schedule::slurm::releases::Release;
use crate::time::{Seconds, Time};

/// A job that a pass starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// Its number.
    pub id: u64,
    /// The place of its partition.
    pub partition: usize,
    /// What it gets.
    pub grant: NodeGrant,
}

/// A job for which a backfill pass reserves nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// Its number.
    pub id: u64,
    /// The place of its partition.
    pub partition: usize,
    /// When it is expected to start.
    pub start: Time,
    /// On which nodes; none on a pool.
    pub nodes: NodeSet,
}

/// A pass at one instant.
pub struct SlurmPass<'a, 's> {
    /// The nodes.
    pub nodes: SlurmNodes<'s>,
    /// What jobs may have together.
    pub limits: &'a mut SiteLimits,
    /// The instant.
    pub now: Time,
    /// The Unix time of the instant 0.
    pub unix_start: Time,
    /// Whether the backfill pass makes all reservations. Otherwise it ends when no job can start any more.
    pub reserves_all: bool,
    /// In the order of their starts.
    pub started: Vec<Started>,
    /// What the backfill pass reserves, if it makes all reservations.
    pub reserved: Vec<Reserved>,
}

/// Adds one, and says whether that is more than allowed; 0 allows all.
pub(crate) fn is_too_many<K: Ord>(counts: &mut BTreeMap<K, usize>, key: K, most: usize) -> bool {
    if most == 0 {
        return false;
    }
    let count = counts.entry(key).or_default();
    if *count >= most {
        return true;
    }
    *count += 1;
    false
}

impl SlurmPass<'_, '_> {
    /// Whether an entry is of a job that has started, or of one that waits for jobs that make way. Its other partitions are not tried
    /// then. Which tasks of an array have started is known from its turns.
    pub(crate) fn is_gone(&self, job: &SlurmJob) -> bool {
        let has_started = || job.array.is_none() && self.started.iter().any(|started| started.id == job.id);
        self.nodes.is_preempting(job.number()) || has_started()
    }

    /// Starts a job with this; on a pool, on some of these processors.
    pub(crate) fn start(&mut self, entry: QueueEntry<'_>, grant: NodeGrant, among: Option<&NodeSet>) {
        let QueueEntry { job, partition } = entry;
        let limit = self.limit(&entry);
        if let Some(pool) = &self.nodes.state.in_use.pool {
            let (id, procs, idle) = (JobId(job.id as u32), job.min_nodes, pool.idle());
            let open = among.map(Cow::Borrowed).or_else(|| {
                let is_open = self.nodes.state.closed.is_empty();
                let (open, _) = self.nodes.open_on_pool(entry, &self.nodes.up(), self.now).ok().filter(|_| !is_open)?;
                Some(Cow::Owned(open))
            });
            let share = open.map_or_else(|| idle.choose(procs), |open| idle.common(&open).choose(procs));
            self.nodes.state.in_use.start_on_pool(Release { id, end: self.now + limit, procs, share });
            self.started.push(Started { id: job.id, partition, grant });
            return;
        }
        self.limits.start(entry, &grant);
        self.nodes.state.forget_preemptor(job.number());
        let is_whole = self.nodes.is_whole(entry);
        let (start, end) = (self.now, self.now + limit);
        let SlurmJob { id, qos, no_requeue, .. } = *job;
        let running =
            RunningJob { start, end, id, partition, qos, no_requeue, grace_end: None, grant: grant.clone(), is_whole };
        self.nodes.state.in_use.start(running, self.nodes.site);
        self.started.push(Started { id: job.id, partition, grant });
    }

    /// Whether a job is too young to hold nodes for it.
    pub(crate) fn is_young(&self, job: &SlurmJob) -> bool {
        let least = self.nodes.site.parameters.least_age;
        least > 0 && self.now - job.submit < least
    }

    /// The main pass. `is_full`: without a limit of entries. Returns whether it stopped at that limit.
    pub fn main<'q>(&mut self, queue: impl Fn(usize) -> Option<QueueEntry<'q>>, is_full: bool) -> bool {
        let site = self.nodes.site;
        self.nodes.begin_preemption(self.now);
        let mut left = self.nodes.up();
        // By partition: how many of its nodes are left; none if it has failed.
        let count = |left: &NodeSet| site.partition_nodes.iter().map(|own| own.count_common(left)).collect();
        let mut left_of: Vec<u32> = count(&left);
        let mut of_partition: BTreeMap<usize, usize> = BTreeMap::new();
        let (mut looked_at, mut turns) = (0, ArrayTurns::default());
        let mut failed_reservations: Vec<u32> = Vec::new();
        for first in (0..).map_while(queue) {
            let partition = first.partition;
            if left.is_empty() {
                // All partitions have failed.
                return false;
            }
            let mut at = 0;
            while let Some(entry) = turns.next(first, &mut at) {
                let job = entry.job;
                if self.is_gone(job) {
                    break;
                }
                if is_too_many(&mut of_partition, partition, site.parameters.partition_depth) {
                    break;
                }
                if !is_full {
                    // On a pool the depth is what the key says. The daemon looks at one entry more.
                    if looked_at >= site.parameters.depth + usize::from(site.pool.is_none()) {
                        return true;
                    }
                    looked_at += 1;
                }
                if left_of[partition] == 0 || self.is_reservation_full(entry, &failed_reservations) {
                    break;
                }
                let is_allowed = self.limits.allows_job(entry);
                if !is_allowed && !site.parameters.limits_block {
                    break;
                }
                let has_enough = job.min_nodes.max(1) <= left_of[partition];
                let picked = match is_allowed && has_enough {
                    true => self.nodes.pick(entry, &left, self.now),
                    false => Picked::Busy,
                };
                let is_busy = match picked {
                    Picked::Start(grant) if self.limits.allows(entry, Chosen::Now(&grant)) => {
                        self.start(entry, grant, None);
                        // A task of an array that starts makes way for the next.
                        turns.start(first, at - 1);
                        continue;
                    }
                    // The job waits for those that make way, as it does for busy nodes.
                    Picked::Preempt(found) if self.limits.allows(entry, Chosen::Now(&found.grant)) => {
                        self.nodes.preempt(job, &found.jobs);
                        true
                    }
                    Picked::Start(_) | Picked::Preempt(_) => site.parameters.limits_block,
                    Picked::Busy => {
                        site.parameters.limits_block || !has_enough || self.limits.allows(entry, Chosen::Nothing)
                    }
                    Picked::Reserved | Picked::Never => {
                        self.keep_from_reservation(job, matches!(picked, Picked::Never), &mut left);
                        left_of = count(&left);
                        false
                    }
                    _ => false,
                };
                if let (true, true, Some(number)) = (is_busy, has_enough, job.reservation) {
                    // Its reservation fails, not its partition.
                    failed_reservations.push(number);
                } else if is_busy && !self.is_young(job) {
                    left.to_mut().take_out(&site.partition_nodes[partition]);
                    left_of = count(&left);
                }
                break;
            }
        }
        false
    }

    /// Whether the reservation that a job names has failed in this pass, or is flexible and has too few nodes of its partition.
    fn is_reservation_full(&self, QueueEntry { job, partition }: QueueEntry<'_>, failed: &[u32]) -> bool {
        let own = job.reservation.and_then(|number| self.nodes.state.closed.reservation(number));
        own.is_some_and(|own| {
            let has = || own.nodes.count_common(&self.nodes.site.partition_nodes[partition]);
            failed.contains(&own.number) || own.is_flexible && has() < job.min_nodes
        })
    }

    /// A job can not start in the reservation that it names: never, or as long as others have its nodes, which then leave the pass.
    fn keep_from_reservation(&mut self, job: &SlurmJob, is_never: bool, left: &mut Cow<'_, NodeSet>) {
        let Some(number) = job.reservation else { return };
        match (is_never, self.nodes.state.closed.reservation(number)) {
            (true, _) if job.partitions.len() == 1 => self.nodes.state.closed.held.push(job.id),
            (false, Some(own)) => left.to_mut().take_out(&own.nodes),
            _ => {}
        }
    }

    /// How long an entry is planned to run.
    pub(crate) fn limit(&self, entry: &QueueEntry<'_>) -> Seconds {
        self.nodes.site.limit(entry)
    }
}
