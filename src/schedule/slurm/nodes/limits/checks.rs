//! Whether a job keeps the limits.

use super::super::job::QueueEntry;
use super::holders::QosLimits;
use super::used::{Amounts, NODES, Used, amounts_of, minutes_of};
use super::{Chosen, LimitedJob, SiteLimits};
use crate::machine::NodeShare;
use crate::machine::associations::{Limits, Tres};
use crate::time::Seconds;

/// What a job asks for.
pub(super) struct AskedAmounts<'a> {
    pub amounts: Amounts,
    /// Times the minutes of its limit.
    minutes: Amounts,
    /// What it would start with.
    grant: Option<&'a [NodeShare]>,
}

impl SiteLimits {
    /// What a job asks for, as far as its nodes are known.
    pub(super) fn asked<'a>(&self, entry: QueueEntry<'_>, chosen: Chosen<'a>) -> AskedAmounts<'a> {
        let QueueEntry { job, partition } = entry;
        let (cpus, nodes, grant) = match chosen {
            Chosen::Now(grant) => (0, 0, Some(grant)),
            Chosen::Later(grant) => (amounts_of(grant)[0], grant.len() as u64, None),
            Chosen::Nothing => {
                let cpus = self.last_cpus.get(&job.id).copied().unwrap_or(job.min_cpus.into());
                let nodes = job.counts(&self.cluster, partition).map_or(job.min_nodes, |counts| counts.wanted);
                (cpus, nodes.into(), None)
            }
        };
        let amounts = grant.map(amounts_of).unwrap_or_else(|| {
            // Only for a job that starts the daemon has what it gets; else memory and GPUs are as asked for.
            let gpus = if job.gpus > 0 { job.gpus.into() } else { u64::from(job.gpus_per_node) * nodes };
            [cpus, job.memory * if job.is_per_cpu { cpus } else { nodes }, nodes, gpus]
        });
        AskedAmounts { amounts, minutes: amounts.map(|amount| amount * minutes_of(job.limit)), grant }
    }

    /// A limit of all jobs together: that of the first quality of service that has one, else those of the user and all accounts above.
    fn keeps_group<T>(
        &self,
        entry: &LimitedJob<'_>,
        limit: impl Fn(&Limits) -> Option<T>,
        keeps: impl Fn(T, &Used) -> bool,
    ) -> bool {
        let keeps = |limit: T, used| keeps(limit, if entry.is_alone { &self.unused } else { used });
        let mut qos = entry.qos.iter().flatten().map(|&qos| &self.qos[qos]);
        if let Some((limit, used)) = qos.find_map(|qos| Some((limit(&qos.limits)?, &qos.used))) {
            return keeps(limit, used);
        }
        let mut owners = std::iter::successors(Some(entry.job.owner), |&at| self.owners[at].parent);
        owners.all(|at| {
            let owner = &self.owners[at];
            limit(&owner.limits).is_none_or(|limit| keeps(limit, &owner.used))
        })
    }

    /// A limit of a quality of service for each user or account.
    fn keeps_each<T>(
        &self,
        entry: &LimitedJob<'_>,
        limit: impl Fn(&Limits) -> Option<T>,
        used: impl Fn(&QosLimits) -> Option<&Used>,
        keeps: impl Fn(T, &Used) -> bool,
    ) -> bool {
        let mut qos = entry.qos.iter().flatten().map(|&qos| &self.qos[qos]);
        let Some((limit, qos)) = qos.find_map(|qos| Some((limit(&qos.limits)?, qos))) else { return true };
        keeps(limit, used(qos).filter(|_| !entry.is_alone).unwrap_or(&self.unused))
    }

    /// A limit of a single job: that of the first quality of service that has one, else that of the user.
    fn of_job<T>(&self, entry: &LimitedJob<'_>, limit: impl Fn(&Limits) -> Option<T>) -> Option<T> {
        let of_qos = entry.qos.iter().flatten().find_map(|&qos| limit(&self.qos[qos].limits));
        of_qos.or_else(|| limit(&self.owners[entry.job.owner].limits))
    }

    /// Limits of numbers of jobs: of all together, of each user, of each account.
    fn keeps_jobs(
        &self,
        entry: &LimitedJob<'_>,
        jobs: fn(&Used) -> u32,
        group: fn(&Limits) -> Option<u32>,
        user: fn(&Limits) -> Option<u32>,
        account: fn(&Limits) -> Option<u32>,
    ) -> bool {
        let keeps = |limit, used: &Used| jobs(used) < limit;
        let has_own = |&qos: &usize| user(&self.qos[qos].limits).or(account(&self.qos[qos].limits)).is_some();
        let owner = &self.owners[entry.job.owner];
        self.keeps_group(entry, group, keeps)
            && self.keeps_each(entry, user, |qos| qos.users.get(&entry.job.user), keeps)
            && self.keeps_each(entry, account, |qos| qos.accounts.get(&entry.account), keeps)
            && (entry.qos.iter().flatten().any(has_own)
                || user(&owner.limits).is_none_or(|limit| keeps(limit, &owner.used)))
    }

    /// Limits of numbers of running jobs.
    pub(super) fn keeps_running(&self, entry: &LimitedJob<'_>) -> bool {
        self.keeps_jobs(
            entry,
            |used| used.jobs,
            |limits| limits.group_jobs,
            |limits| limits.max_jobs,
            |limits| limits.max_jobs_per_account,
        )
    }

    /// Limits of numbers of jobs that wait or run.
    pub(super) fn keeps_submissions(&self, entry: &LimitedJob<'_>) -> bool {
        self.keeps_jobs(
            entry,
            |used| used.submitted,
            |limits| limits.group_submit_jobs,
            |limits| limits.max_submit_jobs,
            |limits| limits.max_submit_jobs_per_account,
        )
    }

    /// Limits of the times of jobs.
    pub(super) fn keeps_wall(&self, entry: &LimitedJob<'_>) -> bool {
        let limit = entry.job.limit;
        let keeps = |most: Seconds, used: &Used| match entry.is_alone {
            true => limit <= most,
            false => used.wall < most as f64,
        };
        self.of_job(entry, |limits| limits.max_wall).is_none_or(|most| limit <= most)
            && self.keeps_group(entry, |limits| limits.group_wall, keeps)
    }

    /// Limits of amounts. What a job does not ask for is not limited.
    pub(super) fn keeps_amounts(&self, entry: &LimitedJob<'_>, asked: &AskedAmounts<'_>) -> bool {
        // Jobs that count nothing are not held by what others have used.
        let is_free = self.usage_factor(entry.job) == 0.0;
        let nodes = asked.amounts[NODES].max(1);
        (0..asked.amounts.len()).filter(|&at| asked.amounts[at] > 0).all(|at| {
            let (amount, minutes) = (asked.amounts[at], asked.minutes[at]);
            let of = |tres: fn(&Limits) -> &Tres| move |limits: &Limits| tres(limits).amounts()[at];
            let together = |limit: u64, used: &Used| {
                let own = match asked.grant {
                    Some(grant) if at == NODES => used.new_nodes(grant),
                    _ => amount,
                };
                own == 0 || used.amount(at) + own <= limit
            };
            let past = |limit: u64, used: &Used| match entry.is_alone {
                true => minutes <= limit,
                false => is_free || used.minutes_past(at) < limit,
            };
            let to_come =
                |limit: u64, used: &Used| minutes + if is_free { 0 } else { used.minutes_to_come(at) } <= limit;
            let most = |tres| self.of_job(entry, of(tres)).unwrap_or(u64::MAX);
            amount <= most(|limits| &limits.max_tres_per_job)
                && amount / nodes <= most(|limits| &limits.max_tres_per_node)
                && minutes <= most(|limits| &limits.max_tres_minutes_per_job)
                && self.keeps_group(entry, of(|limits| &limits.group_tres), together)
                && self.keeps_group(entry, of(|limits| &limits.group_tres_minutes), past)
                && self.keeps_group(entry, of(|limits| &limits.group_tres_running_minutes), to_come)
                && self.keeps_each(
                    entry,
                    of(|limits| &limits.max_tres_per_user),
                    |qos| qos.users.get(&entry.job.user),
                    together,
                )
                && self.keeps_each(
                    entry,
                    of(|limits| &limits.max_tres_per_account),
                    |qos| qos.accounts.get(&entry.account),
                    together,
                )
        })
    }
}
