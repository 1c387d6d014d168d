//! Fair share: what users and accounts have used, and the factor that follows from it. Fair Tree compares those with the same account
//! level by level; the classic formula compares each user's use with its share of the machine.
//!
//! Slurm 22.05, `priority/multifactor`. What `Fairshare=parent` does is from the source of `fair_tree.c` and general knowledge; no
//! record has it.

use super::owners::Owners;
use crate::sort::sort_by_key;
use crate::time::{Seconds, Time};

/// How use becomes a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FairShareRule {
    /// Fair Tree, the default of Slurm.
    Tree,
    /// 2^(-use / share / dampening), with `PriorityFlags=NO_FAIR_TREE`.
    Classic {
        /// `FairShareDampeningFactor`.
        dampening: f64,
    },
}

/// A job that uses the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunningUse {
    /// Who it belongs to, as a place in [`Owners::all`].
    pub owner: usize,
    /// Its CPUs, or what it is billed for instead of them.
    pub cpus: f64,
    /// When it started.
    pub start: Time,
    /// The factor of its quality of service.
    pub factor: f64,
}

/// A user or an account.
#[derive(Clone, Debug)]
struct Member {
    is_user: bool,
    /// The account above it, which uses what it uses.
    parent: Option<usize>,
    /// The account among whose children its shares count: the next one above it that has shares of its own.
    fair_parent: usize,
    /// False: it has the fair share of `fair_parent`.
    has_shares: bool,
    /// Its part of the shares of those with the same fair parent, and of the machine.
    share: f64,
    whole_share: f64,
    /// Those whose fair parent it is, as a range of [`FairShare::children`].
    children: (usize, usize),
    /// Decayed CPU-seconds.
    usage: f64,
    /// Fair Tree: share / use among those with the same fair parent, and the factor.
    level: f64,
    factor: f64,
    /// Classic: the effective use. None: it is computed when it is first needed.
    effective: Option<f64>,
}

/// The use of all users and accounts, and their factors.
#[derive(Clone, Debug)]
pub(super) struct FairShare {
    rule: FairShareRule,
    /// By how much use decays in a second.
    decay: f64,
    /// The time from one recalculation to the next.
    period: Seconds,
    members: Vec<Member>,
    /// The members by fair parent. Each account sorts its own.
    children: Vec<u32>,
    users: u32,
    /// The last recalculation, and the one before it.
    last: Option<Time>,
    before: Option<Time>,
    /// The seconds between these, and the decay in them: most running jobs have run for all of that time.
    span: (Seconds, f64),
}

/// The rank of the next user of Fair Tree: `tied` if it is equal to the one before, else `next`.
struct UserRank {
    tied: u32,
    next: u32,
}

impl FairShare {
    pub fn new(rule: FairShareRule, decay: f64, period: Seconds, owners: &Owners) -> FairShare {
        let mut fair_share = FairShare {
            rule,
            decay,
            period,
            members: Vec::new(),
            children: Vec::new(),
            users: 0,
            last: None,
            before: None,
            span: (0, 1.0),
        };
        fair_share.grow(owners);
        fair_share
    }

    /// Adds owners that are new. Shares are always those of all that are known.
    pub fn grow(&mut self, owners: &Owners) {
        let all = owners.all();
        for owner in &all[self.members.len()..] {
            let has_shares = owner.own.shares.is_some();
            let parent_of = |at: &usize| all[*at].parent;
            let has_own = |at: &usize| *at == 0 || all[*at].own.shares.is_some();
            let fair_parent = std::iter::successors(owner.parent, parent_of).find(has_own).unwrap_or(0);
            self.members.push(Member {
                is_user: owner.is_user,
                parent: owner.parent,
                fair_parent,
                has_shares,
                share: 1.0,
                whole_share: 1.0,
                children: (0, 0),
                usage: 0.0,
                level: f64::INFINITY,
                factor: 1.0,
                effective: (!owner.is_user).then_some(0.0),
            });
        }
        self.users = self.members.iter().filter(|member| member.is_user).count() as u32;
        // An account without shares of its own is nobody's child: its children are those of the account above it.
        let is_child = |at: &usize| *at > 0 && (self.members[*at].has_shares || self.members[*at].is_user);
        self.children = (0..self.members.len()).filter(is_child).map(|at| at as u32).collect();
        sort_by_key(&mut self.children, |&at| self.members[at as usize].fair_parent);
        self.members.iter_mut().for_each(|member| member.children = (0, 0));
        let mut shares = vec![0.0; self.members.len()];
        for (place, &child) in self.children.iter().enumerate() {
            let parent = self.members[child as usize].fair_parent;
            shares[parent] += f64::from(all[child as usize].own.shares.unwrap_or(0));
            let (from, to) = &mut self.members[parent].children;
            (*from, *to) = (if *from == *to { place } else { *from }, place + 1);
        }
        for (at, owner) in all.iter().enumerate().skip(1) {
            let parent = self.members[at].fair_parent;
            let own = f64::from(owner.own.shares.unwrap_or(0));
            let share = if own > 0.0 { own / shares[parent] } else { 0.0 };
            (self.members[at].share, self.members[at].whole_share) = (share, share * self.members[parent].whole_share);
        }
    }

    /// Begins a recalculation: past use decays. The use of running jobs is then counted one by one.
    pub fn begin(&mut self, now: Time) {
        if let FairShareRule::Classic { .. } = self.rule {
            // Accounts have the use before this recalculation; users what they have when one of their jobs is first looked at.
            for at in 0..self.members.len() {
                let account = !self.members[at].is_user;
                self.members[at].effective = account.then(|| self.effective_use(at));
            }
        }
        let seconds = self.last.map_or(self.period, |last| now - last).max(0);
        self.span = (seconds, libm::pow(self.decay, seconds as f64));
        self.members.iter_mut().for_each(|member| member.usage *= self.span.1);
        (self.before, self.last) = (self.last, Some(now));
    }

    /// Counts what a running job has used since the recalculation before this one.
    pub fn count(&mut self, job: &RunningUse) {
        if let Some(now) = self.last {
            self.add(job, self.before, now);
        }
    }

    /// Ends a recalculation.
    pub fn finish(&mut self) {
        if self.rule == FairShareRule::Tree {
            let mut rank = UserRank { tied: self.users, next: self.users };
            self.rank_children(0, false, &mut rank);
        }
    }

    /// Counts what a job has used from the last recalculation to its end.
    pub fn count_rest(&mut self, job: &RunningUse, end: Time) {
        self.add(job, self.last, end);
    }

    fn add(&mut self, job: &RunningUse, since: Option<Time>, until: Time) {
        let seconds = until - since.map_or(job.start, |since| since.max(job.start));
        if seconds <= 0 {
            return;
        }
        let decay = match self.span {
            (span, decay) if span == seconds => decay,
            _ => libm::pow(self.decay, seconds as f64),
        };
        let used = seconds as f64 * decay * job.cpus * job.factor;
        let mut next = Some(job.owner);
        while let Some(at) = next {
            self.members[at].usage += used;
            next = self.members[at].parent;
        }
    }

    /// Fair Tree [fair_tree.c: _calc_tree_fs]: walks down from an account, those with the smallest use of their shares first.
    /// `is_tied`: the account is equal to what comes before it.
    fn rank_children(&mut self, account: usize, is_tied: bool, rank: &mut UserRank) {
        let Member { children: (from, to), usage: all, .. } = self.members[account];
        for &child in &self.children[from..to] {
            let child = &mut self.members[child as usize];
            let used = if all > 0.0 { child.usage / all } else { 0.0 };
            child.level = match (child.has_shares, child.share) {
                (false, _) => f64::INFINITY,
                (true, 0.0) => 0.0,
                (true, share) => share / used,
            };
        }
        let members = &self.members;
        self.children[from..to].sort_unstable_by(|&a, &b| {
            let (one, other) = (&members[a as usize], &members[b as usize]);
            other.level.total_cmp(&one.level).then(other.is_user.cmp(&one.is_user)).then(a.cmp(&b))
        });
        let mut before = f64::NAN;
        for place in from..to {
            let child = self.children[place] as usize;
            let is_tied = (place == from && is_tied) || self.members[child].level == before;
            before = self.members[child].level;
            if !self.members[child].is_user {
                self.rank_children(child, is_tied, rank);
                continue;
            }
            if !is_tied {
                rank.tied = rank.next;
            }
            self.members[child].factor = f64::from(rank.tied) / f64::from(self.users);
            rank.next -= 1;
        }
    }

    /// The factor of a user, from 0 to 1.
    pub fn factor(&mut self, owner: usize) -> f64 {
        let FairShareRule::Classic { dampening } = self.rule else { return self.members[owner].factor };
        let at = if self.members[owner].has_shares { owner } else { self.members[owner].fair_parent };
        let used = match self.members[at].effective {
            Some(used) => used,
            None => self.effective_use(at),
        };
        self.members[at].effective = Some(used);
        match self.members[at].whole_share {
            0.0 => 0.0,
            share => libm::exp2(-(used / share) / dampening),
        }
    }

    /// The classic effective use, in which the use of others in the same account has a part.
    fn effective_use(&self, at: usize) -> f64 {
        let (member, all) = (&self.members[at], self.members[0].usage);
        let used = if all > 0.0 { member.usage / all } else { 0.0 };
        match (member.fair_parent, at) {
            (0, _) | (_, 0) => used,
            (parent, _) => used + (self.members[parent].effective.unwrap_or(0.0) - used) * member.share,
        }
    }
}

#[cfg(test)]
mod tests;
