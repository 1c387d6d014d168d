//! The priorities of `order=multifactor`: age, size and fair share, each with a weight.
//!
//! This is the classic formula of Slurm's priority/multifactor, in which a user's factor is 2^(-usage / share). It is not
//! Fair Tree, the default since version 19.05.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rustc_hash::FxHashMap;

use super::nodes::PriorityWeights;
use super::shares;
use crate::job::{JobId, Submission};
use crate::schedule::Accounts;
use crate::spec::Spec;
use crate::time::{MINUTE, Seconds, Time};

/// The weights of the factors, and what the factors depend on.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    /// Those on nodes. Here some of them have no meaning.
    pub of: PriorityWeights,
    by_group: bool,
    /// By the number in the log. Empty: all have equal shares.
    shares: BTreeMap<i64, f64>,
}

impl Weights {
    pub fn of(spec: &Spec) -> Weights {
        Weights {
            of: PriorityWeights::of(spec),
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
    /// How often usage or shares have changed.
    changes: u64,
    /// What fair share adds to the priorities of somebody's jobs, and after how many changes that was computed.
    fair: FxHashMap<i32, (u64, f64)>,
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
        let mut priorities = Priorities {
            weights,
            usage,
            changes: 0,
            fair: FxHashMap::default(),
            running: BTreeMap::new(),
            total: 0.0,
            scale: 1.0,
            updated: None,
            counted: 0,
        };
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
        self.changes += 1;
    }

    /// What fair share adds to the priorities of somebody's jobs.
    fn fair(&self, owner: i32) -> f64 {
        let usage = self.usage.get(&owner).copied().unwrap_or_default();
        let used = if self.total > 0.0 { usage.past / self.total } else { 0.0 };
        let factor = match usage.share {
            0.0 => 0.0,
            share => libm::exp2(-used / share),
        };
        self.weights.of.fair_share * factor
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
        self.add_recent(now);
        let owner = self.weights.owner(job);
        self.running.insert(id, (owner, job.procs));
        self.usage.entry(owner).or_default().procs += f64::from(job.procs);
    }

    pub fn on_end(&mut self, id: JobId, now: Time) {
        self.count_until(now);
        self.add_recent(now);
        if let Some((owner, procs)) = self.running.remove(&id) {
            self.usage.entry(owner).or_default().procs -= f64::from(procs);
        }
    }

    /// Makes all updates of the usage up to `now`. Must be called before [`Priorities::at`].
    pub fn count_until(&mut self, now: Time) {
        let Some(mut updated) = self.updated else { return };
        if now - updated < Self::PERIOD {
            return;
        }
        let growth = libm::exp2(Self::PERIOD as f64 / self.weights.of.half_life as f64);
        // After an update without running jobs the next ones add nothing. There are many of them if a log has a gap of years.
        let mut is_idle = false;
        while now - updated >= Self::PERIOD {
            updated += Self::PERIOD;
            self.scale *= growth;
            let scale = self.scale;
            if !is_idle {
                self.add_recent(updated);
                self.total = 0.0;
                for usage in self.usage.values_mut() {
                    usage.past += usage.recent * scale;
                    usage.recent = 0.0;
                    self.total += usage.past;
                }
                is_idle = self.running.is_empty();
            }
            if scale > Self::LARGEST_SCALE {
                self.usage.values_mut().for_each(|usage| usage.past /= scale);
                (self.total, self.scale, is_idle) = (self.total / scale, 1.0, false);
            }
        }
        self.updated = Some(updated);
        self.changes += u64::from(self.weights.of.fair_share > 0.0);
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
    #[cfg(test)]
    pub fn of(&self, job: &Submission, procs: u32, now: Time) -> f64 {
        self.at(now, &self.parts(job, procs))
    }

    /// The same from the parts of the priority.
    pub fn at(&self, now: Time, parts: &PriorityParts) -> f64 {
        (self.exactly(now, parts) * 1e6).round()
    }

    fn exactly(&self, now: Time, parts: &PriorityParts) -> f64 {
        let aged = ((now - parts.submit) as f64 / self.weights.of.max_age as f64).clamp(0.0, 1.0);
        self.weights.of.age * aged + parts.sized + parts.fair
    }

    pub fn parts(&self, job: &Submission, procs: u32) -> PriorityParts {
        let owner = self.weights.owner(job);
        let sized = self.weights.of.size * (f64::from(job.procs) / f64::from(procs));
        PriorityParts { submit: job.submit, owner, sized, fair: self.fair(owner) }
    }

    /// Sets the part that depends on usage. That of one owner is computed once after each change.
    pub fn renew(&mut self, parts: &mut PriorityParts) {
        let changes = self.changes;
        parts.fair = match self.fair.get(&parts.owner) {
            Some(&(then, fair)) if then == changes => fair,
            _ => {
                let fair = self.fair(parts.owner);
                self.fair.insert(parts.owner, (changes, fair));
                fair
            }
        };
    }

    /// Changes if a part of any job that depends on usage changes.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// A bound of how much the priority of a job grows in this time, if its parts stay the same. It is never less than before.
    pub fn largest_rise(&self, seconds: Seconds) -> f64 {
        let PriorityWeights { age, max_age, size, fair_share, .. } = self.weights.of;
        // The result is rounded, and floating point is not exact.
        let inexact = 2.0 + (age + size + fair_share) * 1e6 * 1e-12;
        age * (seconds as f64 / max_age as f64) * 1e6 + inexact
    }
}

/// What the priority of a job is made of, besides its wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct PriorityParts {
    pub submit: Time,
    owner: i32,
    /// What its size adds.
    sized: f64,
    /// What fair share adds.
    fair: f64,
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

    /// On a machine of 8 processors.
    fn exactly(priorities: &Priorities, job: &Submission, now: Time) -> f64 {
        priorities.exactly(now, &priorities.parts(job, 8))
    }

    #[test]
    fn age_and_size_are_shares_of_their_largest_values() {
        let priorities = priorities("age_weight=1000,max_age=100s,size_weight=10", &[1]);
        assert_eq!(exactly(&priorities, &by(1, 50, 4), 50), 5.0);
        assert_eq!(exactly(&priorities, &by(1, 50, 4), 75), 255.0);
        assert_eq!(exactly(&priorities, &by(1, 50, 8), 500), 1010.0);
    }

    /// Two users with equal shares. User 1 runs on 2 processors for 300 seconds, user 2 on 1 for 600 seconds; usage halves
    /// every 300 seconds.
    #[test]
    fn usage_decays_and_is_compared_with_shares() {
        let mut priorities = priorities("fairshare_weight=1000,halflife=300s", &[1, 2]);
        priorities.on_arrival(&by(1, 0, 2));
        priorities.on_start(JobId(0), &by(1, 0, 2), 0);
        priorities.on_start(JobId(1), &by(2, 0, 1), 0);
        let both = |priorities: &Priorities| [1, 2].map(|user| exactly(priorities, &by(user, 0, 1), 0));
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
        let of = |user| exactly(&priorities, &by(user, 0, 1), 300);
        // Both used a half; the shares are 3/4 and 1/4.
        assert!((of(1) - 1000.0 * (-2.0f64 / 3.0).exp2()).abs() < 1e-9);
        assert!((of(2) - 1000.0 * (-2.0f64).exp2()).abs() < 1e-9);
        assert_eq!(of(3), 0.0);
    }
}
