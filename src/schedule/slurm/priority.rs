//! The priorities of `order=multifactor`: age, size and fair share, each with a weight.
//!
//! This is the classic formula of Slurm's priority/multifactor, in which a user's factor is 2^(-usage / share). It is not
//! Fair Tree, the default since version 19.05.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::shares;
use crate::job::{JobId, Submission};
use crate::schedule::Accounts;
use crate::spec::Spec;
use crate::time::{MINUTE, Seconds, Time};

/// The weights of the factors, and what the factors depend on.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    age: f64,
    max_age: f64,
    size: f64,
    fair_share: f64,
    halflife: f64,
    by_group: bool,
    /// By the number in the log. Empty: all have equal shares.
    shares: BTreeMap<i64, f64>,
}

impl Weights {
    pub fn of(spec: &Spec) -> Weights {
        Weights {
            age: spec.whole("age_weight") as f64,
            max_age: spec.duration("max_age") as f64,
            size: spec.whole("size_weight") as f64,
            fair_share: spec.whole("fairshare_weight") as f64,
            halflife: spec.duration("halflife") as f64,
            by_group: spec.text("shares") == "group",
            shares: shares::of_canonical(spec.text("shares_file")),
        }
    }

    /// The user or the group whose share a job uses.
    fn owner(&self, job: &Submission) -> i32 {
        if self.by_group { job.group } else { job.user }
    }

    /// The share of the one with this number in the log, before all shares are scaled.
    fn share(&self, number: i64) -> f64 {
        if self.shares.is_empty() { 1.0 } else { self.shares.get(&number).copied().unwrap_or(0.0) }
    }
}

/// What somebody has used of the machine.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// Decayed processor-seconds, multiplied by [`Priorities::scale`].
    past: f64,
    /// Processor-seconds since the last update.
    recent: f64,
    /// The processors of its running jobs.
    procs: f64,
    /// Its share before scaling, and of the machine: all of these together are 1.
    given: f64,
    share: f64,
}

/// The priorities of jobs over time.
#[derive(Clone, Debug)]
pub(super) struct Priorities {
    weights: Weights,
    usage: BTreeMap<i32, Usage>,
    /// By the id of a running job: its owner and its processors.
    running: BTreeMap<JobId, (i32, u32)>,
    /// The sum of `past` of all.
    total: f64,
    /// The factor of `past`. It grows instead of the usage of everybody decaying.
    scale: f64,
    /// When usage was brought up to date, and up to when `recent` is counted. None before the first job.
    updated: Option<Time>,
    counted: Time,
}

impl Priorities {
    /// The time from one update of the usage to the next: Slurm's PriorityCalcPeriod.
    const PERIOD: Seconds = 5 * MINUTE;
    /// Beyond this all figures are scaled down.
    const LARGEST_SCALE: f64 = 1e100;

    /// The users or the groups of these accounts have shares.
    pub fn new(weights: Weights, accounts: &Accounts) -> Priorities {
        let owners = if weights.by_group { &accounts.groups } else { &accounts.users };
        let usage = |number: i64| Usage { given: weights.share(number), ..Usage::default() };
        let usage = owners.iter().map(|(&owner, &number)| (owner, usage(number))).collect();
        let mut priorities =
            Priorities { weights, usage, running: BTreeMap::new(), total: 0.0, scale: 1.0, updated: None, counted: 0 };
        priorities.share_out();
        priorities
    }

    /// Gives everybody a share: equal ones, or those of the file, in which others have none.
    fn share_out(&mut self) {
        let shares = &self.weights.shares;
        let all: f64 = match shares.is_empty() {
            true => self.usage.len() as f64,
            false => shares.values().sum(),
        };
        self.usage.values_mut().for_each(|usage| usage.share = usage.given / all);
    }

    pub fn on_arrival(&mut self, job: &Submission) {
        let owner = self.weights.owner(job);
        if let Entry::Vacant(missing) = self.usage.entry(owner) {
            // Somebody of another site. A file of shares is about those of the log.
            let given = if self.weights.shares.is_empty() { 1.0 } else { 0.0 };
            missing.insert(Usage { given, ..Usage::default() });
            self.share_out();
        }
        if self.updated.is_none() {
            (self.updated, self.counted) = (Some(job.submit), job.submit);
        }
    }

    pub fn on_start(&mut self, id: JobId, job: &Submission, now: Time) {
        self.count_until(now);
        let owner = self.weights.owner(job);
        self.running.insert(id, (owner, job.procs));
        self.usage.entry(owner).or_default().procs += f64::from(job.procs);
    }

    pub fn on_end(&mut self, id: JobId, now: Time) {
        self.count_until(now);
        if let Some((owner, procs)) = self.running.remove(&id) {
            self.usage.entry(owner).or_default().procs -= f64::from(procs);
        }
    }

    /// Counts what running jobs use up to `now`, with all updates until then. Must be called before [`Priorities::of`].
    pub fn count_until(&mut self, now: Time) {
        let Some(mut updated) = self.updated else { return };
        while now - updated >= Self::PERIOD {
            updated += Self::PERIOD;
            self.add_recent(updated);
            self.scale *= libm::exp2(Self::PERIOD as f64 / self.weights.halflife);
            let scale = self.scale;
            self.total = 0.0;
            for usage in self.usage.values_mut() {
                usage.past += usage.recent * scale;
                usage.recent = 0.0;
                self.total += usage.past;
            }
            if scale > Self::LARGEST_SCALE {
                self.usage.values_mut().for_each(|usage| usage.past /= scale);
                (self.total, self.scale) = (self.total / scale, 1.0);
            }
        }
        self.updated = Some(updated);
        self.add_recent(now);
    }

    fn add_recent(&mut self, now: Time) {
        let seconds = (now - self.counted) as f64;
        if seconds > 0.0 {
            self.usage.values_mut().for_each(|usage| usage.recent += usage.procs * seconds);
        }
        self.counted = self.counted.max(now);
    }

    /// The priority of a waiting job on a machine of `procs` processors, in millionths. The largest comes first. Users with equal
    /// usage have equal priorities: without rounding they would differ in the last digits of their sums.
    pub fn of(&self, job: &Submission, procs: u32, now: Time) -> f64 {
        (self.exactly(job, procs, now) * 1e6).round()
    }

    fn exactly(&self, job: &Submission, procs: u32, now: Time) -> f64 {
        let Weights { age, max_age, size, fair_share, .. } = self.weights;
        let aged = ((now - job.submit) as f64 / max_age).clamp(0.0, 1.0);
        let sized = f64::from(job.procs) / f64::from(procs);
        let usage = self.usage.get(&self.weights.owner(job)).copied().unwrap_or_default();
        let used = if self.total > 0.0 { usage.past / self.total } else { 0.0 };
        let fair = match usage.share {
            0.0 => 0.0,
            share => libm::exp2(-used / share),
        };
        age * aged + size * sized + fair_share * fair
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::catalog;

    fn priorities(keys: &str, users: &[i32]) -> Priorities {
        let spec = catalog::parse(&format!("slurm:order=multifactor,{keys}")).unwrap();
        let users = users.iter().map(|&user| (user, i64::from(user))).collect();
        Priorities::new(Weights::of(&spec), &Accounts { users, ..Accounts::default() })
    }

    fn by(user: i32, submit: Time, procs: u32) -> Submission {
        Submission { user, ..Submission::new(submit, procs, 60) }
    }

    #[test]
    fn age_and_size_are_shares_of_their_largest_values() {
        let priorities = priorities("age_weight=1000,max_age=100s,size_weight=10", &[1]);
        assert_eq!(priorities.exactly(&by(1, 50, 4), 8, 50), 5.0);
        assert_eq!(priorities.exactly(&by(1, 50, 4), 8, 75), 255.0);
        assert_eq!(priorities.exactly(&by(1, 50, 8), 8, 500), 1010.0);
    }

    /// Two users with equal shares. User 1 runs on 2 processors for 300 seconds, user 2 on 1 for 600 seconds; usage halves
    /// every 300 seconds.
    #[test]
    fn usage_decays_and_is_compared_with_shares() {
        let mut priorities = priorities("fairshare_weight=1000,halflife=300s", &[1, 2]);
        priorities.on_arrival(&by(1, 0, 2));
        priorities.on_start(JobId(0), &by(1, 0, 2), 0);
        priorities.on_start(JobId(1), &by(2, 0, 1), 0);
        let both = |priorities: &Priorities| [1, 2].map(|user| priorities.exactly(&by(user, 0, 1), 8, 0));
        assert_eq!(both(&priorities), [1000.0, 1000.0]);
        // Usage is brought up to date every 5 minutes only.
        priorities.count_until(299);
        assert_eq!(both(&priorities), [1000.0, 1000.0]);
        priorities.on_end(JobId(0), 300);
        // 600 and 300 of 900; a half each would be fair.
        let expected = [2.0 / 3.0, 1.0 / 3.0].map(|used: f64| 1000.0 * (-2.0 * used).exp2());
        let close = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).abs() < 1e-9 && (a[1] - b[1]).abs() < 1e-9;
        assert!(close(both(&priorities), expected), "{:?}", both(&priorities));
        priorities.on_end(JobId(1), 600);
        // 600 / 2 and 300 / 2 + 300, of 750.
        let expected = [300.0 / 750.0, 450.0 / 750.0].map(|used: f64| 1000.0 * (-2.0 * used).exp2());
        assert!(close(both(&priorities), expected), "{:?}", both(&priorities));
    }

    #[test]
    fn shares_can_be_unequal_and_missing_ones_are_none() {
        let mut priorities = priorities("fairshare_weight=1000,shares_file=1:3;2:1", &[1, 2, 3]);
        priorities.on_arrival(&by(1, 0, 1));
        priorities.on_start(JobId(0), &by(1, 0, 1), 0);
        priorities.on_start(JobId(1), &by(2, 0, 1), 0);
        priorities.count_until(300);
        let of = |user| priorities.exactly(&by(user, 0, 1), 8, 300);
        // Both used a half; the shares are 3/4 and 1/4.
        assert!((of(1) - 1000.0 * (-2.0f64 / 3.0).exp2()).abs() < 1e-9);
        assert!((of(2) - 1000.0 * (-2.0f64).exp2()).abs() < 1e-9);
        assert_eq!(of(3), 0.0);
    }
}
