//! Whether a job keeps the limits, and which one it does not.

use super::super::job::QueueEntry;
use super::holders::QosLimits;
use super::over::{LimitHolder, OverLimit};
use super::used::{Used, minutes_of};
use super::{Chosen, LimitTest, LimitedJob, SiteLimits};
use crate::machine::associations::Limits;
use crate::machine::{NodeShare, Resource, Tres, total_of};
use crate::time::Seconds;

/// What a job asks for.
pub(super) struct AskedAmounts<'a> {
    pub amounts: Tres,
    /// Times the minutes of its limit.
    minutes: Tres,
    /// Over how many nodes it is divided, for limits of what it has on each.
    nodes: u64,
    /// What it would start with.
    grant: Option<&'a [NodeShare]>,
}

/// A limit, or what is over it: its name in Slurm, its kind of amount, the most and what is asked for.
type Named = (&'static str, Option<Resource>, u64, u64);

impl SiteLimits {
    /// What a job asks for, as far as its nodes are known.
    pub(super) fn asked<'a>(&self, entry: QueueEntry<'_>, chosen: Chosen<'a>) -> AskedAmounts<'a> {
        let QueueEntry { job, partition } = entry;
        let counts = || job.counts(&self.cluster, partition);
        let (cpus, nodes, grant) = match chosen {
            Chosen::Now(grant) => (0, 0, Some(grant)),
            Chosen::Later(grant) => (total_of(grant)[Resource::Cpus], grant.len() as u64, None),
            Chosen::Nothing => {
                let cpus = self.last_cpus.get(&job.id).copied().unwrap_or(job.min_cpus.into());
                (cpus, counts().map_or(job.min_nodes, |counts| counts.wanted).into(), None)
            }
            Chosen::Least => (job.min_cpus.into(), counts().map_or(job.min_nodes, |counts| counts.least).into(), None),
        };
        let amounts = grant.map(total_of).unwrap_or_else(|| {
            // Only for a job that starts the daemon has what it gets; else memory and devices are as asked for.
            job.amounts(cpus, nodes)
        });
        let nodes = match chosen {
            // It may be divided over more nodes.
            Chosen::Least => counts().map_or(amounts[Resource::Nodes], |counts| counts.most.into()),
            _ => amounts[Resource::Nodes],
        };
        let minutes = amounts.map(|amount| amount * minutes_of(job.limit));
        AskedAmounts { amounts, minutes, nodes: nodes.max(1), grant }
    }

    /// A limit of all jobs together: that of the first quality of service that has one, else those of the user and all accounts above.
    /// `over` says what is over a limit.
    fn over_group<T>(
        &self,
        entry: &LimitedJob<'_>,
        limit: impl Fn(&Limits) -> Option<T>,
        over: impl Fn(T, &Used) -> Option<Named>,
    ) -> Option<OverLimit> {
        let over = |limit: T, used| over(limit, if entry.test == LimitTest::Now { used } else { &self.unused });
        let mut qos = entry.qos.iter().flatten().map(|&qos| (qos, &self.qos[qos]));
        if let Some((at, limit, used)) = qos.find_map(|(at, qos)| Some((at, limit(&qos.limits)?, &qos.used))) {
            return over(limit, used).map(|named| OverLimit::new(LimitHolder::Qos(at), named));
        }
        let mut owners = std::iter::successors(Some(entry.job.owner), |&at| self.owners[at].parent);
        owners.find_map(|at| {
            let owner = &self.owners[at];
            over(limit(&owner.limits)?, &owner.used).map(|named| OverLimit::new(LimitHolder::Owner(at), named))
        })
    }

    /// A limit of a quality of service for each user or account.
    fn over_each<T>(
        &self,
        entry: &LimitedJob<'_>,
        limit: impl Fn(&Limits) -> Option<T>,
        used: impl Fn(&QosLimits) -> Option<&Used>,
        over: impl Fn(T, &Used) -> Option<Named>,
    ) -> Option<OverLimit> {
        let mut qos = entry.qos.iter().flatten().map(|&qos| (qos, &self.qos[qos]));
        let (at, limit, qos) = qos.find_map(|(at, qos)| Some((at, limit(&qos.limits)?, qos)))?;
        let used = used(qos).filter(|_| entry.test == LimitTest::Now).unwrap_or(&self.unused);
        over(limit, used).map(|named| OverLimit::new(LimitHolder::Qos(at), named))
    }

    /// A limit of a single job: that of the first quality of service that has one, else that of the user.
    fn over_own<T: PartialEq>(
        &self,
        entry: &LimitedJob<'_>,
        limit: impl Fn(&Limits) -> Option<T>,
        over: impl Fn(T) -> Option<Named>,
    ) -> Option<OverLimit> {
        let mut qos = entry.qos.iter().flatten();
        if let Some((at, most)) = qos.find_map(|&qos| Some((qos, limit(&self.qos[qos].limits)?))) {
            return over(most).map(|named| OverLimit::new(LimitHolder::Qos(at), named));
        }
        let named = over(limit(&self.owners[entry.job.owner].limits)?)?;
        Some(OverLimit::new(self.source(entry.job.owner, limit), named))
    }

    /// From whom a user has a limit: the user, or an account above.
    fn source<T: PartialEq>(&self, mut at: usize, limit: impl Fn(&Limits) -> Option<T>) -> LimitHolder {
        let own = limit(&self.owners[at].limits);
        while let Some(parent) = self.owners[at].parent.filter(|&parent| limit(&self.owners[parent].limits) == own) {
            at = parent;
        }
        LimitHolder::Owner(at)
    }

    /// Limits of numbers of jobs: of all together, of each user, of each account.
    fn over_jobs(
        &self,
        entry: &LimitedJob<'_>,
        jobs: fn(&Used) -> u32,
        names: [&'static str; 3],
        [group, user, account]: [fn(&Limits) -> Option<u32>; 3],
    ) -> Option<OverLimit> {
        let over = |name| {
            move |limit: u32, used: &Used| {
                (jobs(used) >= limit).then_some((name, None, limit.into(), u64::from(jobs(used)) + 1))
            }
        };
        let has_own = |&qos: &usize| user(&self.qos[qos].limits).or(account(&self.qos[qos].limits)).is_some();
        let of_user = || {
            let at = entry.job.owner;
            let used = if entry.test == LimitTest::Now { &self.owners[at].used } else { &self.unused };
            let named = over(names[1])(user(&self.owners[at].limits)?, used)?;
            Some(OverLimit::new(self.source(at, user), named))
        };
        self.over_group(entry, group, over(names[0]))
            .or_else(|| self.over_each(entry, user, |qos| qos.users.get(&entry.job.user), over(names[1])))
            .or_else(|| self.over_each(entry, account, |qos| qos.accounts.get(&entry.account), over(names[2])))
            .or_else(|| if entry.qos.iter().flatten().any(has_own) { None } else { of_user() })
    }

    /// Limits of numbers of running jobs.
    pub(super) fn over_running(&self, entry: &LimitedJob<'_>) -> Option<OverLimit> {
        let limits: [fn(&Limits) -> Option<u32>; 3] =
            [|limits| limits.group_jobs, |limits| limits.max_jobs, |limits| limits.max_jobs_per_account];
        self.over_jobs(entry, |used| used.jobs, ["GrpJobs", "MaxJobs", "MaxJobsPerAccount"], limits)
    }

    /// Limits of numbers of jobs that wait or run.
    pub(super) fn over_submissions(&self, entry: &LimitedJob<'_>) -> Option<OverLimit> {
        let limits: [fn(&Limits) -> Option<u32>; 3] = [
            |limits| limits.group_submit_jobs,
            |limits| limits.max_submit_jobs,
            |limits| limits.max_submit_jobs_per_account,
        ];
        let names = ["GrpSubmitJobs", "MaxSubmitJobs", "MaxSubmitJobsPerAccount"];
        self.over_jobs(entry, |used| used.submitted, names, limits)
    }

    /// Limits of the times of jobs.
    pub(super) fn over_wall(&self, entry: &LimitedJob<'_>) -> Option<OverLimit> {
        let limit = entry.job.limit;
        let over_most = |name| move |most: Seconds| (limit > most).then_some((name, None, most as u64, limit as u64));
        let over = |most: Seconds, used: &Used| match entry.test {
            LimitTest::Submission => over_most("GrpWall")(most),
            _ => (used.wall >= most as f64).then_some(("GrpWall", None, most as u64, used.wall as u64)),
        };
        self.over_own(entry, |limits| limits.max_wall, over_most("MaxWall"))
            .or_else(|| self.over_group(entry, |limits| limits.group_wall, over))
    }

    /// Limits of amounts. What a job does not ask for is not limited.
    pub(super) fn over_amounts(&self, entry: &LimitedJob<'_>, asked: &AskedAmounts<'_>) -> Option<OverLimit> {
        // Jobs that count nothing are not held by what others have used.
        let is_free = self.usage_factor(entry.job) == 0.0;
        Resource::ALL.into_iter().filter(|&at| asked.amounts[at] > 0).find_map(|at| {
            let (amount, minutes) = (asked.amounts[at], asked.minutes[at]);
            let of = |tres: fn(&Limits) -> &Tres<Option<u64>>| move |limits: &Limits| tres(limits)[at];
            let more = |name, asked: u64| move |limit: u64| (asked > limit).then_some((name, Some(at), limit, asked));
            let together = |name| {
                move |limit: u64, used: &Used| {
                    let own = match asked.grant {
                        Some(grant) if at == Resource::Nodes => used.new_nodes(grant),
                        _ => amount,
                    };
                    (own > 0 && used.amount(at) + own > limit).then_some((name, Some(at), limit, own))
                }
            };
            let past = |limit: u64, used: &Used| match entry.test {
                LimitTest::Submission => more("GrpTRESMins", minutes)(limit),
                _ if is_free || used.minutes_past(at) < limit => None,
                _ => Some(("GrpTRESMins", Some(at), limit, minutes)),
            };
            let to_come = |limit: u64, used: &Used| {
                let all = minutes + if is_free { 0 } else { used.minutes_to_come(at) };
                (all > limit).then_some(("GrpTRESRunMins", Some(at), limit, minutes))
            };
            self.over_own(entry, of(|limits| &limits.max_tres_per_job), more("MaxTRES", amount))
                .or_else(|| {
                    let per_node = more("MaxTRESPerNode", amount / asked.nodes);
                    self.over_own(entry, of(|limits| &limits.max_tres_per_node), per_node)
                })
                .or_else(|| {
                    let of_job = more("MaxTRESMins", minutes);
                    self.over_own(entry, of(|limits| &limits.max_tres_minutes_per_job), of_job)
                })
                .or_else(|| self.over_group(entry, of(|limits| &limits.group_tres), together("GrpTRES")))
                .or_else(|| self.over_group(entry, of(|limits| &limits.group_tres_minutes), past))
                .or_else(|| self.over_group(entry, of(|limits| &limits.group_tres_running_minutes), to_come))
                .or_else(|| {
                    self.over_each(
                        entry,
                        of(|limits| &limits.max_tres_per_user),
                        |qos| qos.users.get(&entry.job.user),
                        together("MaxTRESPerUser"),
                    )
                })
                .or_else(|| {
                    self.over_each(
                        entry,
                        of(|limits| &limits.max_tres_per_account),
                        |qos| qos.accounts.get(&entry.account),
                        together("MaxTRESPerAccount"),
                    )
                })
        })
    }
}
