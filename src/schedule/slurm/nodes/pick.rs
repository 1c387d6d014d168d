//! Whether a job can start now, in the future, or never.

use super::choice::{NodeTest, NodeWeight, plain_weight};
use super::in_use::InUse;
use super::job::{NodeCounts, SlurmJob};
use super::site::{NodeSet, SlurmSite};
use crate::machine::NodeGrant;
use crate::time::{Seconds, Time};

/// The nodes at one instant.
pub struct SlurmNodes<'a> {
    /// The machine.
    pub site: &'a SlurmSite,
    /// What running jobs have.
    pub in_use: InUse,
    /// By node: in which order nodes are taken.
    pub weights: &'a mut Vec<NodeWeight>,
    /// Nodes on which a job has ended but is not gone yet.
    pub completing: NodeSet,
}

/// What a test of a job finds.
pub enum Picked {
    /// It can start with this.
    Start(NodeGrant),
    /// Its nodes are busy.
    Busy,
    /// Not on the nodes that are left, though none of them is busy.
    NotAvailable,
    /// Not even on idle nodes.
    Never,
    /// The partition does not allow its number of nodes.
    Limited,
}

/// Nodes of a partition that a job could ever use.
pub fn candidates(site: &SlurmSite, job: &SlurmJob, partition: usize, is_backfill: bool) -> NodeSet {
    let mut nodes = site.partition_nodes[partition].clone();
    nodes.retain(|node| {
        let node = &site.cluster.nodes[node as usize];
        let per_cpu = is_backfill && job.is_per_cpu;
        let memory = job.memory.saturating_mul(if per_cpu { job.cpus_per_node.into() } else { 1 });
        job.cpus_per_node <= node.cpus
            && memory.max(job.memory) <= node.memory
            && job.constraint.holds_for(&node.features)
    });
    nodes
}

impl SlurmNodes<'_> {
    fn test<'t>(&'t mut self, job: &'t SlurmJob, partition: usize, as_idle: bool) -> NodeTest<'t> {
        let SlurmNodes { site, in_use, weights, .. } = self;
        NodeTest { site, in_use, weights, job, partition, as_idle, busy_first: None }
    }

    /// Whether a job is whole in a partition.
    pub fn is_whole(&self, job: &SlurmJob, partition: usize) -> bool {
        job.is_whole || self.site.cluster.partitions[partition].exclusive
    }

    /// Tries to start a job on the nodes that are left.
    pub fn pick(&mut self, job: &SlurmJob, partition: usize, left: &NodeSet) -> Picked {
        let Some(counts) = job.counts(&self.site.cluster, partition) else { return Picked::Limited };
        let all = candidates(self.site, job, partition, false);
        if all.is_empty() {
            return Picked::Never;
        }
        for node in all.iter() {
            self.weights[node as usize] = plain_weight(self.site, node);
        }
        let available = all.common(left);
        let mut open = available.clone();
        let is_whole = self.is_whole(job, partition);
        open.retain(|node| {
            let used = &self.in_use.nodes[node as usize];
            !self.completing.has(node) && if is_whole { used.jobs == 0 } else { used.whole == 0 }
        });
        let is_busy = open.count() != available.count();
        let has_enough = open.count() >= counts.least;
        if has_enough
            && let Some(grant) = self.test(job, partition, false).run(&open, &counts)
            && grant.len() <= counts.most as usize
        {
            return Picked::Start(grant);
        }
        let (mut is_ever, mut is_available) = (false, false);
        if all.count() >= counts.least {
            if has_enough && let Some(found) = self.test(job, partition, true).run(&available, &counts) {
                (is_ever, is_available) = (true, found.len() <= counts.most as usize);
            }
            is_ever = is_ever || self.test(job, partition, true).run(&all, &counts).is_some();
        }
        match (is_ever, is_available || is_busy) {
            (false, _) => Picked::Never,
            (true, false) => Picked::NotAvailable,
            (true, true) => Picked::Busy,
        }
    }

    /// When a job could start on these nodes, and on which of them, with its CPUs: now, or when running jobs have left. `only_now`:
    /// the future is not looked at.
    pub fn will_run(
        &mut self,
        job: &SlurmJob,
        partition: usize,
        nodes: &NodeSet,
        counts: &NodeCounts,
        (now, unix_start, only_now): (Time, Time, bool),
    ) -> Option<(Time, NodeGrant)> {
        if let Some(grant) = self.test(job, partition, false).run(nodes, counts) {
            return Some((now, grant));
        }
        if only_now {
            return None;
        }
        let site = self.site;
        let mut future = self.in_use.clone();
        let running = std::mem::take(&mut future.running);
        let mut idle = NodeSet::all(site.len());
        idle.retain(|node| self.in_use.nodes[node as usize].jobs == 0);
        let mut groups = ReleaseGroups { width: 30, border: None };
        let mut next = 0;
        while next < running.len() {
            let last_end =
                groups.leave(&running, &mut next, nodes, unix_start, |job| future.leave(job, nodes, site))?;
            let busy_first = site.parameters.busy_first.then_some(&idle);
            let weights = &mut *self.weights;
            let mut test = NodeTest { site, in_use: &future, weights, job, partition, as_idle: false, busy_first };
            if let Some(grant) = test.run(nodes, counts) {
                let start =
                    if last_end <= now { (last_end + site.parameters.kill_wait).max(now + 1) } else { last_end };
                return Some((start, grant));
            }
        }
        None
    }
}

/// Running jobs leave in groups of ends near each other.
struct ReleaseGroups {
    width: Seconds,
    border: Option<Time>,
}

impl ReleaseGroups {
    /// The next group leaves. Returns the end of its last job that has some of the nodes; None if there is no such job.
    fn leave(
        &mut self,
        running: &[super::in_use::RunningJob],
        next: &mut usize,
        nodes: &NodeSet,
        unix_start: Time,
        mut each: impl FnMut(&super::in_use::RunningJob),
    ) -> Option<Time> {
        let mut last = None;
        while let Some(job) = running.get(*next) {
            *next += 1;
            if !job.grant.iter().any(|share| nodes.has(share.node)) {
                continue;
            }
            let border = *self.border.get_or_insert_with(|| job.end + (30 - (job.end + unix_start).rem_euclid(30)));
            last = Some(job.end);
            each(job);
            if running.get(*next).is_none_or(|following| following.end > border + self.width) {
                break;
            }
        }
        let border = self.border?;
        loop {
            self.width *= 2;
            if running.get(*next).is_none_or(|following| following.end <= border + self.width) {
                break;
            }
        }
        last
    }
}
