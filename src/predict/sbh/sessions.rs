//! Users' sessions (Talby et al., section 5.2), and an index that finds what matches without walking through them.
//!
//! A session is superseded only when none of its jobs waits or runs, so whatever can still change lies in a user's
//! current session. For each criterion and each set of values it compares, the index therefore keeps the runtimes of the
//! latest session that has a match, and of the one before it, which cannot change any more, only what it says: it answers
//! where the only match of the latest is the job in question itself. Older sessions are never asked again.
//!
//! What it finds must equal `search` and `matches` of tests/suite/oracle.rs, which walk through all sessions.

use std::num::NonZeroU64;

use super::criterion::Criterion;
use super::multiset::Runtimes;
use super::twins::{Register, Twins, push_tightly};
use crate::job::Submission;
use crate::predict::metric::Metric;
use crate::time::{Seconds, Time};

/// In which order criteria and sessions are gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Every session for the first criterion before the second is tried: the paper's Listing 4.
    DepthFirst,
    /// Every criterion for the newest session before an older one is tried.
    BreadthFirst,
}

/// A place in the order of ends.
pub type When = NonZeroU64;

/// Later than anything that has ended.
const RUNNING: When = When::MIN.saturating_add(1 << 62);

/// A job that matches, while it does: with which runtime, and its place in the order of ends. Equal matches are one to
/// whoever asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    pub runtime: Seconds,
    pub when: When,
}

/// All users' sessions, indexed.
#[derive(Debug)]
pub struct Sessions {
    search: Search,
    /// How many sessions back are searched, the current one included.
    depth: u32,
    think: Seconds,
    metric: Metric,
    register: Register,
    users: Vec<User>,
    /// By category.
    matches: Vec<Matches>,
    /// Counts ends, to order them.
    clock: When,
}

#[derive(Debug, Default)]
struct User {
    /// The current session, counted from 1; 0 before the first job.
    session: u32,
    /// Jobs of it that wait or run.
    live: u32,
    latest_termination: Time,
}

/// The two latest sessions with a match.
#[derive(Debug)]
struct Matches {
    latest: u32,
    /// 0 if there is none.
    before: u32,
    /// The runtimes of the latest, and what the one before says.
    runtimes: Runtimes,
    said_before: Seconds,
}

impl Sessions {
    pub fn new(criteria: &[Criterion], search: Search, depth: u64, think: Seconds, metric: Metric) -> Self {
        Sessions {
            search,
            depth: u32::try_from(depth).unwrap_or(u32::MAX),
            think,
            metric,
            register: Register::new(criteria),
            users: Vec::new(),
            matches: Vec::new(),
            clock: When::MIN,
        }
    }

    /// A job arrives: it joins its user's current session, or opens a new one.
    pub fn arrive(&mut self, job: &Submission, now: Time) -> Twins {
        let twins = self.register.twins(job);
        while self.users.len() < self.register.count_users() {
            self.users.push(User::default());
        }
        while self.matches.len() < self.register.count_categories() {
            let runtimes = Runtimes::new(self.metric);
            push_tightly(&mut self.matches, Matches { latest: 0, before: 0, runtimes, said_before: 0 });
        }
        let user = &mut self.users[self.register.user(twins)];
        let goes_on = user.session > 0 && (user.live > 0 || now - user.latest_termination < self.think);
        if !goes_on {
            user.session += 1;
            // Until one of its jobs ends there is no latest termination, but then one waits or runs.
            user.latest_termination = Time::MIN / 2;
        }
        user.live += 1;
        twins
    }

    /// Users by the order in which they first came.
    pub fn user(&self, twins: Twins) -> usize {
        self.register.user(twins)
    }

    pub fn estimate(&self, twins: Twins) -> Seconds {
        self.register.estimate(twins)
    }

    /// A job was withdrawn before it started.
    pub fn withdraw(&mut self, twins: Twins) {
        self.users[self.register.user(twins)].live -= 1;
    }

    /// A job has ended and matches from now on; if it has been late, it does no longer match as it did till now.
    pub fn end(&mut self, twins: Twins, late: Option<Match>, runtime: Seconds, now: Time) {
        let user = &mut self.users[self.register.user(twins)];
        user.live -= 1;
        user.latest_termination = now;
        self.clock = self.clock.saturating_add(1);
        let ended = Match { runtime, when: self.clock };
        match late {
            Some(late) => self.replace(twins, late, ended),
            None => self.add(twins, ended),
        }
    }

    /// A job of its user's current session matches from now on though it still runs. It will end later than all that
    /// have ended, so that it is the last of them.
    pub fn add_running(&mut self, twins: Twins, runtime: Seconds) -> When {
        self.clock = self.clock.saturating_add(1);
        // To any other metric it does not matter who is the last.
        let when = if self.metric == Metric::Last { RUNNING.saturating_add(self.clock.get()) } else { RUNNING };
        self.add(twins, Match { runtime, when });
        when
    }

    /// It matches with another runtime, as if it had done so since it began to match.
    pub fn change(&mut self, twins: Twins, old: Match, runtime: Seconds) {
        self.replace(twins, old, Match { runtime, ..old });
    }

    /// What the sessions say of a job; `itself` is how it matches, if it does, for it is no match for itself.
    pub fn find(&mut self, twins: Twins, itself: Option<Match>) -> Option<Seconds> {
        let oldest = match self.depth {
            u32::MAX => 0,
            depth => (self.users[self.register.user(twins)].session + 1).saturating_sub(depth),
        };
        let mut best = None;
        for &category in self.register.categories(twins) {
            let Some((session, found)) = self.matches[category as usize].newest(self.metric, itself) else { continue };
            match best {
                _ if session < oldest => {}
                _ if self.search == Search::DepthFirst => return Some(found),
                // Of the newest session the first criterion; a later one must be newer to be better.
                Some((newest, _)) if session <= newest => {}
                _ => best = Some((session, found)),
            }
        }
        best.map(|(_, found)| found)
    }

    fn add(&mut self, twins: Twins, Match { runtime, when }: Match) {
        let session = self.users[self.register.user(twins)].session;
        for &category in self.register.categories(twins) {
            let matches = &mut self.matches[category as usize];
            if matches.latest < session {
                matches.turn_to(session, self.metric);
            }
            matches.runtimes.add(runtime, when.get());
        }
    }

    /// A job of a user's current session matches in another way.
    fn replace(&mut self, twins: Twins, old: Match, new: Match) {
        for &category in self.register.categories(twins) {
            let runtimes = &mut self.matches[category as usize].runtimes;
            runtimes.replace((old.runtime, old.when.get()), (new.runtime, new.when.get()));
        }
    }
}

impl Matches {
    /// The newest session that has a match, and what it says; a job that matches is in the latest, and does not count
    /// for itself.
    #[inline(always)]
    fn newest(&mut self, metric: Metric, itself: Option<Match>) -> Option<(u32, Seconds)> {
        let itself = itself.map(|Match { runtime, when }| (runtime, when.get()));
        match self.runtimes.metric_without(metric, itself) {
            Some(found) => Some((self.latest, found)),
            None => (self.before > 0).then_some((self.before, self.said_before)),
        }
    }

    /// A new session has its first match.
    #[inline(never)]
    fn turn_to(&mut self, session: u32, metric: Metric) {
        // One whose matches have all gone again has nothing to say.
        if let Some((before, said)) = self.newest(metric, None) {
            (self.before, self.said_before) = (before, said);
        }
        self.latest = session;
        self.runtimes.clear();
    }
}
