//! Users' sessions (Talby et al., section 5.2), and an index that finds matching jobs without a search through them.
//!
//! A session ends only when none of its jobs waits or runs, so only a user's current session can change. For each
//! category (a criterion and the values it compares) the index therefore keeps the runtimes of the latest session that
//! has a match, and the metric of the session with a match before it. That metric is needed when the only match of the
//! latest session is the predicted job itself. Older sessions are never needed.
//!
//! The result must equal `search` and `matches` of tests/twins/oracle.rs, which go through all sessions.

use std::num::NonZeroU64;

use super::criterion::Criterion;
use super::job_types::{JobType, JobTypes, push_tightly};
use super::multiset::Runtimes;
use crate::job::Submission;
use crate::predict::metric::Metric;
use crate::time::{Seconds, Time};

/// The order in which criteria and sessions are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Every session for the first criterion before the second is tried: the paper's Listing 4.
    DepthFirst,
    /// Every criterion for the newest session before an older one is tried.
    BreadthFirst,
}

/// A position in the order of ends.
pub type When = NonZeroU64;

/// After the positions of all jobs that have ended.
const RUNNING: When = When::MIN.saturating_add(1 << 62);

/// A job that can match others: its runtime and its position in the order of ends. Jobs with equal values are
/// interchangeable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    pub runtime: Seconds,
    pub when: When,
}

/// All users' sessions, indexed.
#[derive(Debug)]
pub struct SessionIndex {
    search: Search,
    /// How many sessions back are searched, the current one included.
    depth: u32,
    think: Seconds,
    metric: Metric,
    types: JobTypes,
    users: Vec<SessionUser>,
    /// By category.
    matches: Vec<Matches>,
    /// Counts ends, to order them.
    clock: When,
}

#[derive(Debug, Default)]
struct SessionUser {
    /// The current session, counted from 1; 0 before the first job.
    session: u32,
    /// The number of its jobs that wait or run.
    live: u32,
    latest_termination: Time,
}

/// The two latest sessions with a match.
#[derive(Debug)]
struct Matches {
    latest: u32,
    /// 0 if there is none.
    before: u32,
    /// The runtimes of `latest`.
    runtimes: Runtimes,
    /// The metric of `before`.
    metric_before: Seconds,
}

impl SessionIndex {
    pub fn new(criteria: &[Criterion], search: Search, depth: u64, think: Seconds, metric: Metric) -> Self {
        SessionIndex {
            search,
            depth: u32::try_from(depth).unwrap_or(u32::MAX),
            think,
            metric,
            types: JobTypes::new(criteria),
            users: Vec::new(),
            matches: Vec::new(),
            clock: When::MIN,
        }
    }

    /// A job arrives: it joins its user's current session, or opens a new one.
    #[inline]
    pub fn arrive(&mut self, job: &Submission, now: Time) -> JobType {
        let job_type = self.types.type_of(job);
        while self.users.len() < self.types.known_users.len() {
            self.users.push(SessionUser::default());
        }
        while self.matches.len() < self.types.some.len() {
            let runtimes = Runtimes::new(self.metric);
            push_tightly(&mut self.matches, Matches { latest: 0, before: 0, runtimes, metric_before: 0 });
        }
        let user = &mut self.users[self.types.user(job_type)];
        let goes_on = user.session > 0 && (user.live > 0 || now - user.latest_termination < self.think);
        if !goes_on {
            user.session += 1;
            // The session has no termination yet. Until the first one, a job of it waits or runs.
            user.latest_termination = Time::MIN / 2;
        }
        user.live += 1;
        job_type
    }

    /// The user of a job type. Users are numbered in the order of their first jobs.
    pub fn user(&self, job_type: JobType) -> usize {
        self.types.user(job_type)
    }

    pub fn estimate(&self, job_type: JobType) -> Seconds {
        self.types.estimate(job_type)
    }

    /// A job was withdrawn before it started.
    pub fn withdraw(&mut self, job_type: JobType) {
        self.users[self.types.user(job_type)].live -= 1;
    }

    /// A job has ended and matches with its runtime from now on. `late` is its match until now, if it was late.
    #[inline]
    pub fn end(&mut self, job_type: JobType, late: Option<Match>, runtime: Seconds, now: Time) {
        let user = &mut self.users[self.types.user(job_type)];
        user.live -= 1;
        user.latest_termination = now;
        self.clock = self.clock.saturating_add(1);
        let ended = Match { runtime, when: self.clock };
        match late {
            Some(late) => self.replace(job_type, late, ended),
            None => self.add(job_type, ended),
        }
    }

    /// A running job of its user's current session matches from now on. In the order of ends it comes after all jobs that
    /// have ended.
    pub fn add_running(&mut self, job_type: JobType, runtime: Seconds) -> When {
        self.clock = self.clock.saturating_add(1);
        // Other metrics do not depend on the order.
        let when = if self.metric == Metric::Last { RUNNING.saturating_add(self.clock.get()) } else { RUNNING };
        self.add(job_type, Match { runtime, when });
        when
    }

    /// Changes the runtime with which a running job matches. Its position in the order of ends stays.
    pub fn change(&mut self, job_type: JobType, old: Match, runtime: Seconds) {
        self.replace(job_type, old, Match { runtime, ..old });
    }

    /// The metric of the jobs that match a job. `itself` is the job's own match, if it has one, which does not count. None
    /// if no job matches.
    pub fn find(&mut self, job_type: JobType, itself: Option<Match>) -> Option<Seconds> {
        let oldest = match self.depth {
            u32::MAX => 0,
            depth => (self.users[self.types.user(job_type)].session + 1).saturating_sub(depth),
        };
        let mut best = None;
        for &category in self.types.categories(job_type) {
            let Some((session, found)) = self.matches[category as usize].newest(self.metric, itself) else { continue };
            match best {
                _ if session < oldest => {}
                _ if self.search == Search::DepthFirst => return Some(found),
                // In the newest session the first criterion counts, so a later criterion must find a newer session.
                Some((newest, _)) if session <= newest => {}
                _ => best = Some((session, found)),
            }
        }
        best.map(|(_, found)| found)
    }

    fn add(&mut self, job_type: JobType, Match { runtime, when }: Match) {
        let session = self.users[self.types.user(job_type)].session;
        for &category in self.types.categories(job_type) {
            let matches = &mut self.matches[category as usize];
            if matches.latest < session {
                matches.turn_to(session, self.metric);
            }
            matches.runtimes.add(runtime, when.get());
        }
    }

    /// Replaces the match of a job in its user's current session.
    fn replace(&mut self, job_type: JobType, old: Match, new: Match) {
        for &category in self.types.categories(job_type) {
            let runtimes = &mut self.matches[category as usize].runtimes;
            runtimes.replace((old.runtime, old.when.get()), (new.runtime, new.when.get()));
        }
    }
}

impl Matches {
    /// The newest session that has a match other than `itself`, and its metric.
    #[inline(always)]
    fn newest(&mut self, metric: Metric, itself: Option<Match>) -> Option<(u32, Seconds)> {
        let itself = itself.map(|Match { runtime, when }| (runtime, when.get()));
        match self.runtimes.metric_without(metric, itself) {
            Some(found) => Some((self.latest, found)),
            None => (self.before > 0).then_some((self.before, self.metric_before)),
        }
    }

    /// A new session has its first match.
    #[inline(never)]
    fn turn_to(&mut self, session: u32, metric: Metric) {
        // The latest session may have lost all its matches; `newest` is then the one before.
        if let Some((before, metric_before)) = self.newest(metric, None) {
            (self.before, self.metric_before) = (before, metric_before);
        }
        self.latest = session;
        self.runtimes.clear();
    }
}
