//! Qualities of service, accounts and users, each with its limits and what is used of them.

use rustc_hash::FxHashMap;

use super::super::owners::Owner;
use super::used::Used;
use crate::machine::associations::{Limits, QualityOfService};
use crate::text::printable;

/// A quality of service.
#[derive(Clone, Debug)]
pub(super) struct QosLimits {
    pub limits: Limits,
    pub usage_factor: f64,
    pub deny_on_limit: bool,
    pub used: Used,
    /// What each user uses of it.
    pub users: FxHashMap<i64, Used>,
    /// What each account uses of it, without those below.
    pub accounts: FxHashMap<usize, Used>,
    /// Whether it has limits.
    pub is_limited: bool,
}

impl QosLimits {
    pub fn new(qos: &QualityOfService) -> QosLimits {
        QosLimits {
            limits: qos.limits.clone(),
            usage_factor: qos.usage_factor,
            deny_on_limit: qos.deny_on_limit,
            used: Used::default(),
            users: FxHashMap::default(),
            accounts: FxHashMap::default(),
            is_limited: qos.limits != Limits::default(),
        }
    }

    /// Changes what is used: in all, by a user and by an account.
    pub fn count(&mut self, user: i64, account: usize, change: impl Fn(&mut Used)) {
        if self.is_limited {
            change(&mut self.used);
            change(self.users.entry(user).or_default());
            change(self.accounts.entry(account).or_default());
        }
    }
}

/// An account, or a user in an account.
#[derive(Clone, Debug)]
pub(super) struct OwnerLimits {
    /// In words: `user ann`.
    pub name: String,
    /// Those of single jobs and users are those of the account above where there are none.
    pub limits: Limits,
    /// Whether it has limits.
    pub is_limited: bool,
    /// Whether it or an account above has limits.
    pub is_within_limits: bool,
    pub parent: Option<usize>,
    /// The account of jobs.
    pub account: usize,
    pub used: Used,
}

impl OwnerLimits {
    /// An owner at a place, below another.
    pub fn new(at: usize, owner: &Owner, above: Option<&OwnerLimits>) -> OwnerLimits {
        let mut limits = owner.own.limits.clone();
        if let Some(OwnerLimits { limits: above, .. }) = above {
            limits.max_jobs = limits.max_jobs.or(above.max_jobs);
            limits.max_submit_jobs = limits.max_submit_jobs.or(above.max_submit_jobs);
            limits.max_wall = limits.max_wall.or(above.max_wall);
            limits.max_tres_per_job = limits.max_tres_per_job.or(&above.max_tres_per_job);
            limits.max_tres_per_node = limits.max_tres_per_node.or(&above.max_tres_per_node);
            limits.max_tres_minutes_per_job = limits.max_tres_minutes_per_job.or(&above.max_tres_minutes_per_job);
        }
        let account = owner.parent.filter(|_| owner.is_user).unwrap_or(at);
        let is_limited = limits != Limits::default();
        let kind = if owner.is_user { "user" } else { "account" };
        OwnerLimits {
            name: format!("{kind} {}", printable(&owner.name)),
            limits,
            is_limited,
            is_within_limits: is_limited || above.is_some_and(|above| above.is_within_limits),
            parent: owner.parent,
            account,
            used: Used::default(),
        }
    }
}
