//! What running jobs have of the nodes.

use rustc_hash::FxHashMap;

use super::NodeSet;
use super::site::SlurmSite;
use crate::job::JobId;
use crate::machine::{NodeGrant, NodeShare, Resource};
use crate::schedule::slurm::releases::{Release, Releases, Releasing};
use crate::time::Time;

/// What is used of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeUse {
    /// Cores.
    pub cores: u32,
    /// Memory in MB.
    pub memory: u64,
    /// GPUs.
    pub gpus: u32,
    /// Jobs.
    pub jobs: u32,
    /// Jobs that have it whole.
    pub whole: u32,
    /// Jobs of exclusive partitions.
    pub exclusive: u32,
}

/// A running job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunningJob {
    /// When it started.
    pub start: Time,
    /// When it is expected to end.
    pub end: Time,
    /// Its number.
    pub id: u64,
    /// The place of its partition.
    pub partition: usize,
    /// The place of its quality of service.
    pub qos: Option<usize>,
    /// Whether it ends if it is stopped, also where others wait again.
    pub no_requeue: bool,
    /// If it has to make way but may still run: until when.
    pub grace_end: Option<Time>,
    /// What it has.
    pub grant: NodeGrant,
    /// Whether it has whole nodes.
    pub is_whole: bool,
}

impl Releasing for RunningJob {
    fn end(&self) -> Time {
        self.end
    }

    fn meets(&self, nodes: &NodeSet) -> bool {
        self.grant.iter().any(|share| nodes.has(share.node))
    }
}

/// What is used of all nodes.
#[derive(Clone, Debug, Default)]
pub struct NodesInUse {
    /// By node.
    pub nodes: Vec<NodeUse>,
    /// Cores by partition and node.
    of_partition: FxHashMap<(usize, u32), u32>,
}

/// The same with the jobs.
#[derive(Clone, Debug, Default)]
pub struct InUse {
    /// What they use.
    pub nodes: NodesInUse,
    /// In order of their ends, then of their numbers. Empty on a pool.
    pub running: Vec<RunningJob>,
    /// What runs on a pool of processors, and when it leaves them.
    pub(crate) pool: Option<Releases>,
    /// How often it has changed.
    pub changes: u64,
}

impl NodesInUse {
    /// The CPUs of a node that jobs of a partition use.
    pub fn cpus_of_partition(&self, site: &SlurmSite, partition: usize, node: u32) -> u32 {
        let cores = self.of_partition.get(&(partition, node)).copied().unwrap_or(0);
        cores * site.hardware[node as usize].threads
    }

    /// The same as in another.
    pub fn copy(&mut self, other: &NodesInUse) {
        self.nodes.clone_from(&other.nodes);
        self.of_partition.clone_from(&other.of_partition);
    }

    /// A job leaves its nodes.
    pub fn leave(&mut self, job: &RunningJob, site: &SlurmSite) {
        job.grant.iter().for_each(|share| self.count(share, job, site, -1));
    }

    fn count(&mut self, share: &NodeShare, job: &RunningJob, site: &SlurmSite, sign: i32) {
        let node = &mut self.nodes[share.node as usize];
        let add = |value: &mut u32, what: u32| *value = value.wrapping_add_signed(sign * what as i32);
        let cores = site.cores_of(share.node, share.what.cpus());
        add(&mut node.cores, cores);
        node.memory = node.memory.wrapping_add_signed(i64::from(sign) * share.what.memory() as i64);
        add(&mut node.gpus, share.what.count(Resource::Gpus));
        add(&mut node.jobs, 1);
        add(&mut node.whole, job.is_whole.into());
        add(&mut node.exclusive, site.cluster.partitions[job.partition].exclusive.into());
        if site.cluster.partitions[job.partition].max_cpus_per_node.is_some() {
            add(self.of_partition.entry((job.partition, share.node)).or_default(), cores);
        }
    }
}

impl InUse {
    /// Idle nodes.
    pub fn new(site: &SlurmSite) -> InUse {
        let nodes = NodesInUse { nodes: vec![NodeUse::default(); site.len()], ..NodesInUse::default() };
        InUse { nodes, pool: site.pool.map(Releases::new), ..InUse::default() }
    }

    /// A job starts on a pool of processors.
    pub(crate) fn start_on_pool(&mut self, job: Release) {
        self.changes += 1;
        self.pool.as_mut().expect("a pool").start(job);
    }

    /// A job starts.
    pub fn start(&mut self, job: RunningJob, site: &SlurmSite) {
        self.changes += 1;
        job.grant.iter().for_each(|share| self.nodes.count(share, &job, site, 1));
        let at = self.running.partition_point(|other| (other.end, other.id) < (job.end, job.id));
        self.running.insert(at, job);
    }

    /// A job ends. None if it does not run, or runs on a pool.
    pub fn end(&mut self, id: u64, site: &SlurmSite) -> Option<RunningJob> {
        self.changes += 1;
        if let Some(pool) = &mut self.pool {
            pool.end(JobId(id as u32));
            return None;
        }
        let at = self.running.iter().position(|job| job.id == id)?;
        let job = self.running.remove(at);
        self.nodes.leave(&job, site);
        Some(job)
    }

    /// Whether a job runs.
    pub fn has(&self, id: u64) -> bool {
        self.running.iter().any(|job| job.id == id)
    }

    /// Whether no job runs.
    pub fn is_idle(&self) -> bool {
        self.running.is_empty() && self.pool.as_ref().is_none_or(Releases::is_idle)
    }

    /// The first expected end after `now`. `Time::MAX` if there is none.
    pub(crate) fn first_end_after(&self, now: Time) -> Time {
        let first = match &self.pool {
            Some(pool) => pool.first_end_after(now),
            None => self.running.get(self.running.partition_point(|job| job.end <= now)).map(|job| job.end),
        };
        first.unwrap_or(Time::MAX)
    }

    /// Whether these are the expected ends of all running jobs, in their order.
    pub(crate) fn has_ends(&self, ends: impl Iterator<Item = (Time, JobId)>) -> bool {
        match &self.pool {
            Some(pool) => pool.has_ends(ends),
            None => self.running.iter().map(|job| (job.end, job.id)).eq(ends.map(|(end, id)| (end, u64::from(id.0)))),
        }
    }

    /// The ends of running jobs are expected anew.
    pub fn set_ends(&mut self, end_of: impl Fn(u64) -> Option<Time>) {
        if let Some(pool) = &mut self.pool {
            self.changes += u64::from(pool.set_ends(end_of));
            return;
        }
        let mut has_changed = false;
        for job in &mut self.running {
            let end = end_of(job.id).unwrap_or(job.end).min(job.grace_end.unwrap_or(Time::MAX));
            has_changed |= std::mem::replace(&mut job.end, end) != end;
        }
        if has_changed {
            self.changes += 1;
            self.running.sort_by_key(|job| (job.end, job.id));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::machine::parse_toml;
    use crate::schedule::slurm::nodes::SlurmParameters;

    /// Jobs 0, 1, 2, ... with these ends, and until when they may run on if they make way.
    fn running(jobs: &[(Time, Option<Time>)]) -> InUse {
        let text = "[[nodes]]\nname = \"n1\"\ncpus = 8\n[[partitions]]\nname = \"p\"\nnodes = \"ALL\"\n";
        let site = SlurmSite::new(Arc::new(parse_toml(text).unwrap()), SlurmParameters::default());
        let mut in_use = InUse::new(&site);
        for (id, &(end, grace_end)) in (0..).zip(jobs) {
            in_use.start(RunningJob { id, end, grace_end, ..RunningJob::default() }, &site);
        }
        in_use
    }

    /// An end at this instant is none after it.
    #[test]
    fn the_first_end_is_after_the_present() {
        let in_use = running(&[(20, None), (10, None)]);
        assert_eq!([9, 10, 19, 20].map(|now| in_use.first_end_after(now)), [10, 20, 20, Time::MAX]);
    }

    /// Job 0 may run on until 30: it ends then if it is predicted to end later, and at its prediction if that is sooner.
    #[test]
    fn a_job_that_makes_way_ends_with_its_grace_whatever_is_predicted() {
        let mut in_use = running(&[(30, Some(30)), (50, None)]);
        let mut ends_if_predicted = |end| {
            in_use.set_ends(|_| Some(end));
            in_use.running.iter().map(|job| (job.id, job.end)).collect::<Vec<_>>()
        };
        assert_eq!(ends_if_predicted(100), [(0, 30), (1, 100)]);
        assert_eq!(ends_if_predicted(20), [(0, 20), (1, 20)]);
    }
}
