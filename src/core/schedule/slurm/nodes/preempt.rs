//! Which running jobs make way for a job of a partition with a higher PriorityTier (preempt/partition_prio).

use super::NodeSet;
use super::choice::{JobOnNodes, NodeTest};
use super::futures::UsedWithout;
use super::in_use::{InUse, NodesInUse, RunningJob};
use super::job::{NodeCounts, QueueEntry};
use super::site::SlurmSite;
use super::state::{NodesState, PreemptionState, SlurmNodes, WithoutJobs};
use crate::machine::{NodeGrant, PreemptMode};
use crate::schedule::slurm::releases::Releasing;
use crate::sort::sort_by_key;
use crate::time::{Seconds, Time};

/// How often candidates are put in another order and tried again, so that few jobs make way (`preempt_reorder_count` is 1).
const MOST_ORDERS: usize = 2;

/// How long after `KillWait` a job that has preempted others preempts no more (`MessageTimeout`).
const MESSAGE_TIMEOUT: Seconds = 10;

/// The running jobs that have to make way so that a job can start, and what it would get.
pub struct Preempting {
    /// Their numbers.
    pub jobs: Vec<u64>,
    /// What the job would get.
    pub grant: NodeGrant,
}

impl SlurmSite {
    /// Whether running jobs may make way for others.
    pub fn preempts(&self) -> bool {
        self.parameters.preempt != PreemptMode::Off && self.preemptable.iter().any(|partitions| !partitions.is_empty())
    }

    /// By partition: those with nodes of it and a lower tier, whose jobs make way.
    pub(super) fn find_preemptable(&self) -> Vec<Vec<usize>> {
        let all = 0..self.cluster.partitions.len();
        let makes_way = |other: usize, partition: usize| {
            self.tier(other) < self.tier(partition)
                && self.preempt_mode(other) != PreemptMode::Off
                && self.partition_nodes[other].meets(&self.partition_nodes[partition])
        };
        all.clone().map(|own| all.clone().filter(|&other| makes_way(other, own)).collect()).collect()
    }

    /// What becomes of the jobs of a partition that have to make way.
    pub fn preempt_mode(&self, partition: usize) -> PreemptMode {
        let everywhere = self.parameters.preempt;
        match everywhere {
            PreemptMode::Off => PreemptMode::Off,
            _ => self.cluster.partitions[partition].preempt_mode.unwrap_or(everywhere),
        }
    }

    fn tier(&self, partition: usize) -> u32 {
        self.cluster.partitions[partition].priority_tier
    }

    /// Whether a running job makes way for jobs of a partition. One that has started at this very instant does not.
    fn makes_way(&self, running: &RunningJob, partition: usize, now: Time) -> bool {
        self.preemptable[partition].contains(&running.partition)
            && running.start < now
            && now - running.start >= self.parameters.preempt_exempt
            && running.meets(&self.partition_nodes[partition])
    }
}

impl InUse {
    /// The next time at which a job has run so long that it may be preempted. None if jobs may be preempted at once.
    pub fn next_exemption(&self, now: Time, site: &SlurmSite) -> Option<Time> {
        let exempt = site.parameters.preempt_exempt;
        let ends = self.running.iter().map(|running| running.start + exempt).filter(|end| *end > now);
        if site.preempts() && exempt > 0 { ends.min() } else { None }
    }

    /// Whether such a time is after the first and not after the second of these.
    pub fn has_lost_exemption(&self, after: Time, now: Time, site: &SlurmSite) -> bool {
        self.next_exemption(after, site).is_some_and(|end| end <= now)
    }
}

impl PreemptionState {
    /// What is used, and the running jobs in order of their ends: without those that make way for jobs of a partition, after
    /// [`SlurmNodes::has_candidates`] has found some, or with all.
    pub(super) fn without<'u>(&'u self, in_use: &'u InUse, of: UsedWithout) -> (&'u NodesInUse, &'u [RunningJob]) {
        match of.partition.map(|partition| &self.without[partition]) {
            Some(WithoutJobs { nodes, staying, .. }) => (nodes, staying),
            None => (&in_use.nodes, &in_use.running),
        }
    }
}

impl NodesState {
    /// The jobs that were stopped since the last call.
    pub fn take_stopped(&mut self) -> Vec<RunningJob> {
        std::mem::take(&mut self.preemption.stopped)
    }

    /// A waiting job starts or leaves.
    pub fn forget_preemptor(&mut self, job: u64) {
        self.preemption.preemptors.remove(&job);
    }
}

impl SlurmNodes<'_> {
    /// A pass begins at this instant.
    pub(crate) fn begin_preemption(&mut self, now: Time) {
        if self.site.preempts() {
            let NodesState { preemption, in_use, .. } = &mut *self.state;
            // With the time, more jobs may make way.
            in_use.changes += u64::from(std::mem::replace(&mut preemption.now, now) != now);
            preemption.in_progress.clear();
        }
    }

    /// How many jobs have preempted others in this pass.
    pub(crate) fn preempting(&self) -> usize {
        self.state.preemption.in_progress.len()
    }

    /// Whether a job has preempted others in this pass, and waits for them.
    pub(super) fn is_preempting(&self, job: u64) -> bool {
        self.state.preemption.in_progress.contains(&job)
    }

    /// Finds the jobs that make way for those of a partition now. False if there are none.
    pub(super) fn has_candidates(&mut self, partition: usize) -> bool {
        if self.site.parameters.preempt == PreemptMode::Off || self.site.preemptable[partition].is_empty() {
            return false;
        }
        let SlurmNodes { site, state, .. } = self;
        let NodesState { preemption: PreemptionState { now, without, .. }, in_use, .. } = &mut **state;
        without.resize_with(site.preemptable.len(), WithoutJobs::default);
        let WithoutJobs { change, is_any, nodes, staying } = &mut without[partition];
        if change.replace(in_use.changes) != Some(in_use.changes) {
            let makes_way = |running: &RunningJob| site.makes_way(running, partition, *now);
            *is_any = in_use.running.iter().any(makes_way);
            if *is_any {
                nodes.copy(&in_use.nodes);
                staying.clear();
                for running in &in_use.running {
                    match makes_way(running) {
                        true => nodes.leave(running, site),
                        false => staying.push(running.clone()),
                    }
                }
            }
        }
        *is_any
    }

    /// For a partition: whether running jobs make way for its jobs, and after which change of what is used.
    pub(super) fn of(&mut self, partition: usize) -> UsedWithout {
        let partition = self.has_candidates(partition).then_some(partition);
        UsedWithout { change: self.state.in_use.changes, partition }
    }

    /// What is used without the jobs that make way for those of a partition.
    pub(super) fn used_without(&mut self, partition: usize) -> &NodesInUse {
        let of = self.of(partition);
        self.state.preemption.without(&self.state.in_use, of).0
    }

    /// The jobs that have to make way so that a job can start on the nodes that are left. None if that is not enough.
    ///
    /// Candidates leave one after the other, those of low tiers and few nodes first, until the job fits. The one that left last is
    /// then the first, followed by those with most of the nodes that were chosen, and all is tried again.
    pub(super) fn find_preempting(
        &mut self,
        entry: QueueEntry<'_>,
        left: &NodeSet,
        counts: &NodeCounts,
    ) -> Option<Preempting> {
        if !self.has_candidates(entry.partition) {
            return None;
        }
        let site = self.site;
        let mut open = left.clone();
        open.take_out(&self.completing);
        let used = self.used_without(entry.partition);
        if !JobOnNodes::new(site, used, entry).may_hold(&open, counts) {
            return None;
        }
        let now = self.state.preemption.now;
        let is_candidate = |running: &&RunningJob| site.makes_way(running, entry.partition, now);
        let mut candidates: Vec<RunningJob> = self.state.in_use.running.iter().filter(is_candidate).cloned().collect();
        sort_by_key(&mut candidates, |running| (site.tier(running.partition), running.grant.len(), running.id));
        for orders in 0.. {
            let (last, grant) = self.leave_until_it_fits(entry, &open, counts, &candidates)?;
            let chosen = NodeSet::of(site.len(), grant.iter().map(|share| share.node));
            if orders >= MOST_ORDERS || candidates.len() <= orders + 1 {
                let needed = candidates[..=last].iter().filter(|running| running.meets(&chosen));
                return Some(Preempting { jobs: needed.map(|running| running.id).collect(), grant });
            }
            candidates[..=last].rotate_right(1);
            let shared = |running: &RunningJob| running.grant.iter().filter(|share| chosen.has(share.node)).count();
            sort_by_key(&mut candidates[1..=last], |running| std::cmp::Reverse(shared(running)));
        }
        None
    }

    /// Candidates leave in order until a job fits. Returns the place of the last that left, and what the job would get.
    fn leave_until_it_fits(
        &mut self,
        entry: QueueEntry<'_>,
        nodes: &NodeSet,
        counts: &NodeCounts,
        candidates: &[RunningJob],
    ) -> Option<(usize, NodeGrant)> {
        let (site, is_whole) = (self.site, self.is_whole(entry));
        let NodesState { in_use, weights, usable, future, .. } = &mut *self.state;
        future.copy(&in_use.nodes);
        for (at, running) in candidates.iter().enumerate() {
            if !running.meets(nodes) {
                continue;
            }
            future.leave(running, site);
            let mut open = nodes.clone();
            open.retain(|node| {
                let used = &future.nodes[node as usize];
                if is_whole { used.jobs == 0 } else { used.whole == 0 }
            });
            let on = JobOnNodes::new(site, future, entry);
            if open.count() >= counts.least
                && on.may_hold(&open, counts)
                && let Some(grant) = (NodeTest { on, weights, usable, busy_first: None }).run(&open, counts)
                && grant.len() <= counts.most as usize
            {
                return Some((at, grant));
            }
        }
        None
    }

    /// Stops the jobs that have to make way for a job. Their nodes are completing, so that no job starts there in this pass. A job
    /// that has preempted others not long ago waits for them instead.
    pub(crate) fn preempt(&mut self, job: u64, jobs: &[u64]) {
        let SlurmNodes { site, state, completing } = self;
        let NodesState { preemption, in_use, prospects, .. } = &mut **state;
        let wait = site.parameters.kill_wait + MESSAGE_TIMEOUT;
        if preemption.preemptors.get(&job).is_some_and(|&last| preemption.now - last < wait) {
            return;
        }
        for &id in jobs {
            let Some(running) = in_use.end(id, site) else { continue };
            running.grant.iter().for_each(|share| completing.insert(share.node));
            preemption.stopped.push(running);
        }
        preemption.preemptors.insert(job, preemption.now);
        preemption.in_progress.push(job);
        // Jobs may start earlier than it was found before.
        prospects.begin_pass(in_use.changes);
    }
}
