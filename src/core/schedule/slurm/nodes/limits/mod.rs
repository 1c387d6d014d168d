//! The limits of qualities of service, accounts and users on nodes.
//!
//! Source: Slurm 22.05, `slurmctld/acct_policy.c`. A limit of the partition's quality of service comes first, then that of the job's;
//! the limits of accounts and users hold only where no quality of service has a limit of the same kind. A limit of a group holds for
//! the user and for each account above. A limit of a single job or user that an association does not have is that of the account
//! above.
//!
//! What is used is counted when jobs start and end, nothing is summed over running jobs. Where a site has no limits, nothing is
//! counted.

mod checks;
mod holders;
mod over;
mod used;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use self::holders::{OwnerLimits, QosLimits};
pub use self::over::OverLimit;
use self::used::{Charge, Used};
use super::in_use::RunningJob;
use super::job::{QueueEntry, SlurmJob};
use super::owners::Owners;
use crate::machine::associations::Limits;
use crate::machine::{Cluster, NodeShare, Resource, total_of};
use crate::time::Time;

/// The limits of a site, with what jobs use of them. By default there are none.
#[derive(Clone, Debug, Default)]
pub struct SiteLimits {
    cluster: Arc<Cluster>,
    /// By place in the associations.
    qos: Vec<QosLimits>,
    /// By partition: the place of its quality of service.
    partition_qos: Vec<Option<usize>>,
    /// By place in [`Owners::all`].
    owners: Vec<OwnerLimits>,
    /// By waiting or running job: its CPUs when nodes were last chosen or planned for it. The daemon remembers them from pass to pass.
    last_cpus: FxHashMap<u64, u64>,
    has_any: bool,
    /// Whether a limit counts nodes that jobs may share.
    has_nodes: bool,
    /// Whether a limit is about times that jobs have run or may need.
    has_times: bool,
    decay: f64,
    /// When the use of running jobs was last counted.
    counted: Option<Time>,
    /// What nobody uses.
    unused: Used,
}

/// What is known of the nodes of a job when its limits are tested.
#[derive(Clone, Copy)]
pub enum Chosen<'a> {
    /// It would start now with this.
    Now(&'a [NodeShare]),
    /// It would have this later.
    Later(&'a [NodeShare]),
    /// Nothing: it cannot start now, and no later time was looked for.
    Nothing,
    /// Nothing: it has at least what it asks for, on as many nodes as it may have.
    Least,
}

/// Why a job is refused when it is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// Too many jobs wait or run (MaxSubmitJobs, GrpSubmitJobs).
    TooMany,
    /// It can never keep a limit, and its quality of service has DenyOnLimit.
    Never,
}

/// Whose limits a job must keep.
#[derive(Clone, Copy)]
struct LimitedJob<'a> {
    job: &'a SlurmJob,
    partition: usize,
    account: usize,
    /// The first one comes first.
    qos: [Option<usize>; 2],
    /// Whether there are any.
    is_limited: bool,
    test: LimitTest,
}

/// When a job must keep the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LimitTest {
    /// Now, beside what others use.
    Now,
    /// At any time: others use nothing.
    Ever,
    /// When it is submitted, with DenyOnLimit: others use nothing, and it alone may not use up what a group may use in all.
    Submission,
}

impl<'a> LimitedJob<'a> {
    fn queued(&self) -> QueueEntry<'a> {
        QueueEntry { job: self.job, partition: self.partition }
    }
}

impl SiteLimits {
    /// The limits of the associations of a cluster. The owners are those of its associations and of all jobs; others may be added
    /// later.
    pub fn new(cluster: Arc<Cluster>, owners: &Owners) -> SiteLimits {
        let all = &cluster.associations.qos;
        let qos: Vec<QosLimits> = all.iter().map(QosLimits::new).collect();
        let place = |name: &str| all.iter().position(|qos| qos.name == name);
        let partition_qos = cluster.partitions.iter().map(|partition| place(&partition.qos)).collect();
        let mut limits = SiteLimits { partition_qos, decay: 1.0, qos, cluster, ..SiteLimits::default() };
        limits.add_owners(owners);
        let sets = limits.qos.iter().map(|qos| &qos.limits).chain(limits.owners.iter().map(|owner| &owner.limits));
        let sets: Vec<&Limits> = sets.filter(|set| **set != Limits::default()).collect();
        let counts_nodes = |set: &&Limits| {
            [set.group_tres, set.max_tres_per_user, set.max_tres_per_account]
                .iter()
                .any(|tres| tres[Resource::Nodes].is_some())
        };
        let counts_times = |set: &&Limits| {
            let minutes = [set.group_tres_minutes, set.group_tres_running_minutes];
            set.group_wall.is_some() || minutes.iter().any(|tres| !tres.is_unlimited())
        };
        (limits.has_any, limits.has_nodes, limits.has_times) =
            (!sets.is_empty(), sets.iter().any(counts_nodes), sets.iter().any(counts_times));
        limits
    }

    /// Adds the owners that were found since. They have no limits of their own, only those of their accounts.
    pub fn add_owners(&mut self, owners: &Owners) {
        for (at, owner) in owners.all().iter().enumerate().skip(self.owners.len()) {
            let above = owner.parent.map(|parent| &self.owners[parent]);
            self.owners.push(OwnerLimits::new(at, owner, above));
        }
    }

    /// Whether there are no limits. Then nothing needs to be tested or counted.
    pub fn is_empty(&self) -> bool {
        !self.has_any
    }

    /// Whether there are limits of what was used or is still to come, which change as time goes on.
    pub fn counts_times(&self) -> bool {
        self.has_times
    }

    /// How much of the use of the past is left after a second, for GrpTRESMins and GrpWall: 1 - 0.693 / PriorityDecayHalfLife. It is
    /// 1 if this is not set.
    pub fn set_decay(&mut self, decay: f64) {
        self.decay = decay;
    }

    /// A job is submitted, for the limits of numbers of submitted jobs. If this is called for no job, no job is one too many.
    pub fn submit(&mut self, job: &SlurmJob) {
        self.count_submission(job, |used| used.submitted += 1);
    }

    /// A job that was submitted is withdrawn before it starts.
    pub fn withdraw(&mut self, job: &SlurmJob) {
        self.count_submission(job, Used::leave);
        self.last_cpus.remove(&job.id);
    }

    /// Whether a job is refused when it is submitted. It is if one of its partitions refuses it.
    pub fn rejects(&self, job: &SlurmJob) -> Option<Rejected> {
        if !self.has_any {
            return None;
        }
        job.partitions.iter().find_map(|&partition| {
            let entry = self.entry(QueueEntry { job, partition });
            if self.over_submissions(&entry).is_some() {
                return Some(Rejected::TooMany);
            }
            self.denies(&entry).map(|_| Rejected::Never)
        })
    }

    /// The limit for which [`SiteLimits::rejects`] refuses a job.
    pub fn rejects_by(&self, job: &SlurmJob) -> Option<OverLimit> {
        let entries = job.partitions.iter().map(|&partition| self.entry(QueueEntry { job, partition }));
        entries.into_iter().find_map(|entry| self.over_submissions(&entry).or_else(|| self.denies(&entry)))
    }

    /// The limit for which a job is refused when it is submitted, if its quality of service has DenyOnLimit.
    fn denies(&self, entry: &LimitedJob<'_>) -> Option<OverLimit> {
        entry.qos.iter().flatten().find(|&&qos| self.qos[qos].deny_on_limit)?;
        let entry = LimitedJob { test: LimitTest::Submission, ..*entry };
        let asked = self.asked(entry.queued(), Chosen::Nothing);
        self.over_wall(&entry).or_else(|| self.over_amounts(&entry, &asked))
    }

    /// The limit that a job cannot keep even if no other job runs. None if there is none in one of its partitions.
    pub fn over_for_ever(&self, job: &SlurmJob) -> Option<OverLimit> {
        self.in_all_partitions(job, |entry| {
            let ever = LimitedJob { test: LimitTest::Ever, ..*entry };
            let asked = self.asked(ever.queued(), Chosen::Least);
            let running = || self.over_submissions(&ever).or_else(|| self.over_running(&ever));
            running()
                .or_else(|| self.over_wall(&ever).or_else(|| self.over_amounts(&ever, &asked)))
                .or_else(|| self.denies(entry))
        })
    }

    /// The limit that holds a waiting job now. None if it may start in one of its partitions.
    pub fn over_now(&self, job: &SlurmJob) -> Option<OverLimit> {
        self.in_all_partitions(job, |entry| {
            let asked = || self.asked(entry.queued(), Chosen::Nothing);
            let times = || self.over_running(entry).or_else(|| self.over_wall(entry));
            times().or_else(|| self.over_amounts(entry, &asked()))
        })
    }

    /// The limit that a job would be over in a partition if it started with this.
    pub fn over_with(&self, queued: QueueEntry<'_>, grant: &[NodeShare]) -> Option<OverLimit> {
        let entry = self.entry(queued);
        self.over_amounts(&entry, &self.asked(queued, Chosen::Now(grant)))
    }

    /// The limit that a job is over in its first partition, if it is over one in all of them.
    fn in_all_partitions(
        &self,
        job: &SlurmJob,
        over: impl Fn(&LimitedJob<'_>) -> Option<OverLimit>,
    ) -> Option<OverLimit> {
        if !self.has_any {
            return None;
        }
        let over = |&partition: &usize| {
            let entry = self.entry(QueueEntry { job, partition });
            if entry.is_limited { over(&entry) } else { None }
        };
        let (first, others) = job.partitions.split_first()?;
        let first = over(first)?;
        others.iter().all(|partition| over(partition).is_some()).then_some(first)
    }

    /// Whether limits of use in the past loosen as time passes.
    pub fn loosens(&self) -> bool {
        self.has_times && self.decay < 1.0
    }

    /// A job ends that has started.
    pub fn end(&mut self, job: &SlurmJob, running: &RunningJob, now: Time) {
        if !self.has_any {
            return;
        }
        self.last_cpus.remove(&job.id);
        let entry = self.entry(QueueEntry { job, partition: running.partition });
        let charge = self.charge_of(job, running, now, true);
        let (amounts, has_nodes) = (total_of(&running.grant), self.has_nodes);
        self.count(&entry, |used| {
            used.charge(&amounts, charge);
            used.end(&running.grant, has_nodes);
        });
    }

    /// Counts what running jobs have used since the last time, as the daemon does each PriorityCalcPeriod. Without it a job counts when
    /// it ends.
    pub fn recalculate<'a>(&mut self, now: Time, running: impl IntoIterator<Item = (&'a SlurmJob, &'a RunningJob)>) {
        if !self.has_times {
            return;
        }
        let by = self.counted.map_or(1.0, |counted| libm::pow(self.decay, (now - counted) as f64));
        self.qos.iter_mut().for_each(|qos| qos.used.decay(by));
        self.owners.iter_mut().for_each(|owner| owner.used.decay(by));
        for (job, running) in running {
            let entry = self.entry(QueueEntry { job, partition: running.partition });
            let charge = self.charge_of(job, running, now, false);
            let amounts = total_of(&running.grant);
            self.count(&entry, |used| used.charge(&amounts, charge));
        }
        self.counted = Some(now);
    }

    /// What a job has used since the last time. At its end, what it leaves of its limit is not to come any more.
    fn charge_of(&self, job: &SlurmJob, running: &RunningJob, now: Time, is_end: bool) -> Charge {
        if !self.has_times {
            return Charge::default();
        }
        let (start, end) = (running.start, running.start + job.limit);
        let from = self.counted.map_or(start, |counted| counted.max(start));
        let seconds = (now - from).max(0) as f64;
        let until = if is_end { end } else { now.min(end) };
        let factor = self.usage_factor(job);
        Charge {
            past: factor * seconds * libm::pow(self.decay, seconds),
            to_come: factor * (until - from).max(0) as f64,
        }
    }

    fn usage_factor(&self, job: &SlurmJob) -> f64 {
        job.qos.map_or(1.0, |qos| self.qos[qos].usage_factor)
    }

    fn entry<'a>(&self, entry: QueueEntry<'a>) -> LimitedJob<'a> {
        let QueueEntry { job, partition } = entry;
        let first = self.partition_qos[partition];
        let qos = [first, job.qos.filter(|qos| first != Some(*qos))];
        let owner = &self.owners[job.owner];
        let is_limited = owner.is_within_limits || qos.iter().flatten().any(|&qos| self.qos[qos].is_limited);
        LimitedJob { job, partition, account: owner.account, qos, is_limited, test: LimitTest::Now }
    }

    /// Changes what is used of all limits that hold for a job.
    fn count(&mut self, entry: &LimitedJob<'_>, change: impl Fn(&mut Used)) {
        entry.qos.iter().flatten().for_each(|&qos| self.qos[qos].count(entry.job.user, entry.account, &change));
        self.count_owners(entry.job.owner, change);
    }

    fn count_owners(&mut self, from: usize, change: impl Fn(&mut Used)) {
        let mut next = Some(from);
        while let Some(at) = next {
            let owner = &mut self.owners[at];
            if owner.is_limited {
                change(&mut owner.used);
            }
            next = owner.parent;
        }
    }

    /// A waiting job counts in the qualities of service of all its partitions.
    fn count_submission(&mut self, job: &SlurmJob, change: impl Fn(&mut Used)) {
        if !self.has_any {
            return;
        }
        let account = self.owners[job.owner].account;
        for qos in self.all_qos(job) {
            self.qos[qos].count(job.user, account, &change);
        }
        self.count_owners(job.owner, change);
    }

    /// That of a job and those of its partitions, each once.
    fn all_qos(&self, job: &SlurmJob) -> Vec<usize> {
        let of_partitions = job.partitions.iter().filter_map(|&partition| self.partition_qos[partition]);
        let mut all: Vec<usize> = job.qos.into_iter().chain(of_partitions).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether a job may be tried: limits of numbers of jobs and of times.
    pub fn allows_job(&self, entry: QueueEntry<'_>) -> bool {
        if !self.has_any {
            return true;
        }
        let entry = self.entry(entry);
        !entry.is_limited || (self.over_running(&entry).is_none() && self.over_wall(&entry).is_none())
    }

    /// Whether a job may have this.
    pub fn allows(&mut self, queued: QueueEntry<'_>, chosen: Chosen<'_>) -> bool {
        if !self.has_any {
            return true;
        }
        let asked = self.asked(queued, chosen);
        if matches!(chosen, Chosen::Now(_) | Chosen::Later(_)) {
            self.last_cpus.insert(queued.job.id, asked.amounts[Resource::Cpus]);
        }
        let entry = self.entry(queued);
        !entry.is_limited || self.over_amounts(&entry, &asked).is_none()
    }

    /// A job starts.
    pub fn start(&mut self, queued: QueueEntry<'_>, grant: &[NodeShare]) {
        if !self.has_any {
            return;
        }
        let entry = self.entry(queued);
        // It waits no longer in its other partitions.
        for qos in self.all_qos(queued.job).into_iter().filter(|&qos| !entry.qos.contains(&Some(qos))) {
            self.qos[qos].count(queued.job.user, entry.account, Used::leave);
        }
        let (seconds, has_nodes) = (self.usage_factor(queued.job) * queued.job.limit as f64, self.has_nodes);
        self.count(&entry, |used| used.start(grant, has_nodes, seconds));
    }
}

#[cfg(test)]
mod tests;
