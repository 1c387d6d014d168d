//! What a site knows of the owners of jobs while it runs: their priorities, and what they use of their limits.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::nodes::{InUse, Owners, RunningJob, RunningUse, SiteLimits, SitePriorities, SlurmJob, SlurmSite};
use super::settings::Settings;
use crate::machine::{Partition, Shapes, Tres, total_of};
use crate::request::RequestId;
use crate::schedule::accounts::LogFacts;
use crate::time::{MINUTE, Seconds, Time};

fn billing_of(partition: &Partition) -> Tres<f64> {
    Tres::of_billing(&partition.billing).expect("the weights were checked when they were read")
}

/// Of all owners.
#[derive(Clone)]
pub struct Standings {
    shapes: Arc<Shapes>,
    owners: Owners,
    /// By user in the simulated jobs: the name.
    users: BTreeMap<i32, String>,
    /// By user and request: the owner.
    known: FxHashMap<(i32, RequestId), usize>,
    /// None if the queue is in order of arrival.
    priorities: Option<SitePriorities>,
    /// What jobs may have together.
    pub limits: SiteLimits,
    /// The next recalculation. None before the first job.
    next: Option<Time>,
    period: Seconds,
    /// When the last recalculation was, if the queue has not been ordered since.
    changed: Option<Time>,
    /// By partition: what use is charged for.
    billing: Vec<Tres<f64>>,
    /// By running job: what it asked for, and the priorities that it had. Empty if nobody needs it.
    started_jobs: FxHashMap<u64, (SlurmJob, Vec<i64>)>,
}

impl Standings {
    /// Without priorities and limits, as on a pool.
    pub fn of_nobody(site: &SlurmSite, shapes: &Arc<Shapes>) -> Standings {
        Standings {
            shapes: Arc::clone(shapes),
            owners: Owners::new(&site.cluster.associations),
            users: BTreeMap::new(),
            known: FxHashMap::default(),
            priorities: None,
            limits: SiteLimits::default(),
            next: None,
            period: 5 * MINUTE,
            changed: None,
            billing: site.cluster.partitions.iter().map(billing_of).collect(),
            started_jobs: FxHashMap::default(),
        }
    }

    /// For the jobs of a log.
    pub fn new(settings: &Settings, site: &SlurmSite, shapes: &Arc<Shapes>, log: &LogFacts<'_>) -> Standings {
        let (accounts, weights) = (log.accounts(), settings.weights.as_ref().map(|weights| &weights.of));
        let users = accounts.users.iter().map(|(&user, &number)| (user, shapes.user(number).into_owned()));
        let period = weights.map_or(5 * MINUTE, |weights| weights.period);
        let mut standing = Standings { users: users.collect(), period, ..Standings::of_nobody(site, shapes) };
        // Shares are those of all who submit jobs, from the beginning.
        for (user, request) in log.requests() {
            standing.owner(user, request);
        }
        if settings.enforces_limits {
            standing.limits = SiteLimits::new(Arc::clone(&site.cluster), &standing.owners);
            if let Some(weights) = weights.filter(|weights| weights.has_decay()) {
                standing.limits.set_decay(weights.decay());
            }
        }
        standing.priorities =
            weights.map(|weights| SitePriorities::new(weights.clone(), site, standing.owners.clone()));
        standing
    }

    /// The owner of the jobs of a user that ask for this.
    fn owner(&mut self, user: i32, request: RequestId) -> usize {
        if let Some(&known) = self.known.get(&(user, request)) {
            return known;
        }
        let name = self.users.entry(user).or_insert_with(|| self.shapes.user(user.into()).into_owned());
        let account = &self.shapes.asked(request).account;
        let owner = self.owners.find(name, account);
        if let Some(priorities) = &mut self.priorities {
            priorities.owner(name, account);
        }
        self.limits.add_owners(&self.owners);
        self.known.insert((user, request), owner);
        owner
    }

    /// A job gets its owner and its quality of service.
    pub fn identify(&mut self, job: &mut SlurmJob, user: i32, request: RequestId, now: Time) {
        job.owner = self.owner(user, request);
        let name = match self.shapes.asked(request).qos.as_str() {
            "" => self.owners.default_qos(job.owner),
            name => name,
        };
        job.qos = self.shapes.cluster().associations.qos.iter().position(|qos| qos.name == name);
        self.next.get_or_insert(now + self.period);
    }

    /// A job is submitted. Returns false if it is refused, which never happens to one that is back after a preemption.
    pub fn accepts(&mut self, job: &SlurmJob, is_back: bool) -> bool {
        let is_accepted = is_back || self.limits.rejects(job).is_none();
        if is_accepted {
            self.limits.submit(job);
        }
        is_accepted
    }

    /// The priority of a job in a partition. The largest comes first.
    pub fn priority(&mut self, job: &SlurmJob, partition: usize, now: Time) -> i64 {
        self.priorities
            .as_mut()
            .map_or(-i64::from(job.nice), |priorities| priorities.of(job, partition, job.eligible, None, now))
    }

    /// Whether it matters what jobs use.
    fn counts_use(&self) -> bool {
        self.priorities.is_some() || !self.limits.is_empty()
    }

    /// Whether the queue is in order of priorities. If not, it is in order of first submissions.
    pub fn has_priorities(&self) -> bool {
        self.priorities.is_some()
    }

    /// A job with these priorities starts.
    pub fn start(&mut self, job: SlurmJob, priorities: Vec<i64>) {
        if self.counts_use() {
            self.started_jobs.insert(job.id, (job, priorities));
        }
    }

    /// A waiting job is cancelled.
    pub fn withdraw(&mut self, job: &SlurmJob) {
        self.limits.withdraw(job);
    }

    /// A job ends or is stopped. Recalculations before that must have been made. Returns the priorities that it had, by partition.
    pub fn end(&mut self, running: &RunningJob, now: Time) -> Vec<(usize, i64)> {
        let Some((job, priorities)) = self.started_jobs.remove(&running.id) else { return Vec::new() };
        self.limits.end(&job, running, now);
        let used = self.used(&job, running);
        if let Some(of_site) = &mut self.priorities {
            of_site.on_end(&used, now);
        }
        if self.has_priorities() { job.partitions.into_iter().zip(priorities).collect() } else { Vec::new() }
    }

    fn used(&self, job: &SlurmJob, running: &RunningJob) -> RunningUse {
        let qos = job.qos.map(|qos| &self.shapes.cluster().associations.qos[qos]);
        let factor = qos.map_or(1.0, |qos| qos.usage_factor);
        RunningUse {
            owner: job.owner,
            cpus: self.billing[running.partition].sum(total_of(&running.grant).map(|amount| amount as f64)),
            start: running.start,
            factor,
        }
    }

    /// Makes the recalculations up to `now`.
    pub fn recalculate_until(&mut self, now: Time, in_use: &InUse) {
        let Some(mut next) = self.next.filter(|&next| next <= now && self.counts_use()) else { return };
        if in_use.running.is_empty() {
            // Nothing is used in between. There may be many of them if a log has a gap of years.
            next += (now - next).div_euclid(self.period) * self.period;
        }
        while next <= now {
            self.recalculate(next, in_use);
            (self.changed, next) = (Some(next), next + self.period);
        }
        self.next = Some(next);
    }

    /// When priorities last changed, if the queue has not been ordered since.
    pub fn take_change(&mut self) -> Option<Time> {
        self.changed.take().filter(|_| self.priorities.is_some())
    }

    fn recalculate(&mut self, now: Time, in_use: &InUse) {
        let started = &self.started_jobs;
        let running = || in_use.running.iter().filter_map(|job| Some((&started.get(&job.id)?.0, job)));
        let uses: Vec<RunningUse> = running().map(|(asked, job)| self.used(asked, job)).collect();
        self.limits.recalculate(now, running());
        if let Some(priorities) = &mut self.priorities {
            priorities.recalculate(now, uses);
        }
    }

    /// The next recalculation that changes the order of the queue.
    pub fn next_change(&self) -> Option<Time> {
        self.next.filter(|_| self.priorities.is_some())
    }
}
