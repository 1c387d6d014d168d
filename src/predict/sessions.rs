//! Users' sessions (Talby et al., section 5.2), and an index that finds what matches without walking through them.
//!
//! A session is superseded only when none of its jobs waits or runs, so whatever can still change lies in a user's
//! current session. For each criterion and each set of values it compares, the index therefore keeps the runtimes of the
//! two latest sessions that have a match: the latest answers, and the one before it where the only match of the latest
//! is the job in question itself. Older sessions are never asked again.

use rustc_hash::FxHashMap;

use super::metric::Metric;
use super::multiset::Runtimes;
use crate::job::Submission;
use crate::time::{Seconds, Time};

/// What must be equal for a job to match: the number of processors, the estimate, the executable, the queue. Nothing at
/// all is `*`, which any job matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Criterion {
    pub procs: bool,
    pub estimate: bool,
    pub executable: bool,
    pub queue: bool,
}

impl Criterion {
    /// Reads a list such as `PE/P/E/*`.
    pub fn parse_list(text: &str) -> Result<Vec<Criterion>, String> {
        text.split('/').map(Criterion::parse).collect()
    }

    /// Prints a list so that equal lists look equal: letters in the order P, E, X, Q.
    pub fn print_list(criteria: &[Criterion]) -> String {
        criteria.iter().map(Criterion::print).collect::<Vec<_>>().join("/")
    }

    fn parse(text: &str) -> Result<Criterion, String> {
        let known =
            "a criterion is * or letters of P (processors), E (estimate), X (executable), Q (queue), as in PE/P/*";
        if text == "*" {
            return Ok(Criterion::default());
        }
        if text.is_empty() {
            return Err(format!("a criterion is empty; {known}"));
        }
        let mut criterion = Criterion::default();
        for letter in text.chars() {
            let place = match letter {
                'P' => &mut criterion.procs,
                'E' => &mut criterion.estimate,
                'X' => &mut criterion.executable,
                'Q' => &mut criterion.queue,
                _ => return Err(format!("'{text}' has a '{letter}'; {known}")),
            };
            if std::mem::replace(place, true) {
                return Err(format!("'{text}' has '{letter}' twice; {known}"));
            }
        }
        Ok(criterion)
    }

    fn print(&self) -> String {
        let letters = [(self.procs, 'P'), (self.estimate, 'E'), (self.executable, 'X'), (self.queue, 'Q')];
        let text: String = letters.into_iter().filter(|(has, _)| *has).map(|(_, letter)| letter).collect();
        if text.is_empty() { "*".to_string() } else { text }
    }
}

/// In which order criteria and sessions are gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Every session for the first criterion before the second is tried: the paper's Listing 4.
    DepthFirst,
    /// Every criterion for the newest session before an older one is tried.
    BreadthFirst,
}

/// Later than anything that has ended.
const RUNNING: u64 = 1 << 63;

/// A job that matches, while it does: with which runtime, and its place in the order of ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    pub runtime: Seconds,
    pub when: u64,
}

/// All users' sessions, indexed.
#[derive(Debug)]
pub struct Sessions {
    criteria: Vec<Criterion>,
    search: Search,
    /// How many sessions back are searched, the current one included.
    depth: u64,
    think: Seconds,
    metric: Metric,
    users: FxHashMap<i32, User>,
    index: FxHashMap<Category, Matches>,
    /// Counts matches, to order them.
    clock: u64,
}

#[derive(Debug, Default)]
struct User {
    /// The current session, counted from 1; 0 before the first job.
    session: u64,
    /// Jobs of it that wait or run.
    live: u32,
    latest_termination: Time,
}

/// The values that a criterion compares, all else 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Category {
    user: i32,
    criterion: u32,
    procs: u32,
    executable: i32,
    queue: i32,
    estimate: Seconds,
}

/// The two latest sessions with a match.
#[derive(Debug)]
struct Matches {
    latest: (u64, Runtimes),
    before: Option<(u64, Runtimes)>,
}

impl Sessions {
    pub fn new(criteria: Vec<Criterion>, search: Search, depth: u64, think: Seconds, metric: Metric) -> Self {
        Sessions {
            criteria,
            search,
            depth,
            think,
            metric,
            users: FxHashMap::default(),
            index: FxHashMap::default(),
            clock: 0,
        }
    }

    /// A job arrives: it joins its user's current session, or opens a new one.
    pub fn arrive(&mut self, job: &Submission, now: Time) {
        let user = self.users.entry(job.user).or_default();
        let goes_on = user.session > 0 && (user.live > 0 || now - user.latest_termination < self.think);
        if !goes_on {
            user.session += 1;
            // Until one of its jobs ends there is no latest termination, but then one waits or runs.
            user.latest_termination = Time::MIN / 2;
        }
        user.live += 1;
    }

    /// A job has ended.
    pub fn end(&mut self, job: &Submission, now: Time) {
        let user = self.users.entry(job.user).or_default();
        user.live -= 1;
        user.latest_termination = now;
    }

    /// A job was withdrawn before it started.
    pub fn withdraw(&mut self, job: &Submission) {
        self.users.entry(job.user).or_default().live -= 1;
    }

    /// A job of its user's current session has ended and matches from now on.
    pub fn add(&mut self, job: &Submission, runtime: Seconds) {
        self.clock += 1;
        self.add_as(job, Match { runtime, when: self.clock });
    }

    /// A job of its user's current session matches from now on though it still runs. It will end later than all that
    /// have ended, so that it is the last of them.
    pub fn add_running(&mut self, job: &Submission, prediction: Seconds) -> Match {
        self.clock += 1;
        let made = Match { runtime: prediction, when: RUNNING + self.clock };
        self.add_as(job, made);
        made
    }

    /// It does not match any more, or with another runtime.
    pub fn take(&mut self, job: &Submission, Match { runtime, when }: Match) {
        for criterion in 0..self.criteria.len() {
            if let Some(matches) = self.index.get_mut(&self.category(job, criterion)) {
                matches.latest.1.take(runtime, when);
            }
        }
    }

    /// It matches with another runtime, as if it had done so since it began to match.
    pub fn change(&mut self, job: &Submission, old: Match, runtime: Seconds) -> Match {
        let new = Match { runtime, ..old };
        self.take(job, old);
        self.add_as(job, new);
        new
    }

    /// What the sessions say of a job; `itself` is how it matches, if it does, for it is no match for itself.
    pub fn find(&mut self, job: &Submission, itself: Option<Match>) -> Option<Seconds> {
        if let Some(itself) = itself {
            self.take(job, itself);
        }
        let session = self.users.get(&job.user).map_or(0, |user| user.session);
        let oldest = (session + 1).saturating_sub(self.depth);
        let found = (0..self.criteria.len()).filter_map(|criterion| {
            let matches = self.index.get(&self.category(job, criterion))?;
            let (session, runtimes) = matches.newest()?;
            (session >= oldest).then_some((session, runtimes))
        });
        let best = match self.search {
            Search::DepthFirst => found.into_iter().next(),
            // Of the newest session the first criterion; a later one must be newer to be better.
            Search::BreadthFirst => found.reduce(|best, other| if other.0 > best.0 { other } else { best }),
        };
        let answer = best.and_then(|(_, runtimes)| runtimes.metric());
        if let Some(itself) = itself {
            self.add_as(job, itself);
        }
        answer
    }

    fn add_as(&mut self, job: &Submission, Match { runtime, when }: Match) {
        let session = self.users.get(&job.user).map_or(0, |user| user.session);
        for criterion in 0..self.criteria.len() {
            let fresh = || (session, Runtimes::new(self.metric));
            let category = self.category(job, criterion);
            let matches = self.index.entry(category).or_insert_with(|| Matches { latest: fresh(), before: None });
            if matches.latest.0 < session {
                // One whose matches have all gone again has nothing to say.
                let old = std::mem::replace(&mut matches.latest, (session, Runtimes::new(self.metric)));
                if !old.1.is_empty() {
                    matches.before = Some(old);
                }
            }
            matches.latest.1.add(runtime, when);
        }
    }

    fn category(&self, job: &Submission, criterion: usize) -> Category {
        let compared = self.criteria[criterion];
        Category {
            user: job.user,
            criterion: criterion as u32,
            procs: if compared.procs { job.procs } else { 0 },
            executable: if compared.executable { job.executable } else { 0 },
            queue: if compared.queue { job.queue } else { 0 },
            estimate: if compared.estimate { job.estimate } else { 0 },
        }
    }
}

impl Matches {
    /// The newest session that has a match.
    fn newest(&self) -> Option<(u64, &Runtimes)> {
        let newest = if self.latest.1.is_empty() { self.before.as_ref() } else { Some(&self.latest) };
        newest.map(|(session, runtimes)| (*session, runtimes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_are_printed_so_that_equal_ones_look_equal() {
        for (text, printed) in [("PE/P/E/*", "PE/P/E/*"), ("XEP/QP", "PEX/PQ"), ("*", "*")] {
            let criteria = Criterion::parse_list(text).unwrap();
            assert_eq!(Criterion::print_list(&criteria), printed);
        }
        for (text, message) in [
            ("", "empty"),
            ("PE//P", "empty"),
            ("P*", "has a '*'"),
            ("PP", "twice"),
            ("pe", "has a 'p'"),
            ("*/Z", "'Z'"),
        ] {
            let error = Criterion::parse_list(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
