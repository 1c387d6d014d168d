//! Users' sessions (Talby et al., section 5.2), and an index that finds what matches without walking through them.
//!
//! A session is superseded only when none of its jobs waits or runs, so whatever can still change lies in a user's
//! current session. For each criterion and each set of values it compares, the index therefore keeps the runtimes of the
//! latest session that has a match, and of the one before it, which cannot change any more, only what it says: it answers
//! where the only match of the latest is the job in question itself. Older sessions are never asked again.

use std::ops::Range;

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

/// Twins: jobs that no criterion can tell apart, for they agree in user and estimate, and in whatever else any of the
/// criteria compares. (Where nothing matches a job, its estimate may have to stand in.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Twins(u32);

impl Twins {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// All users' sessions, indexed.
#[derive(Debug)]
pub struct Sessions {
    criteria: Vec<Criterion>,
    /// What any of them compares, and the estimate.
    any: Criterion,
    search: Search,
    /// How many sessions back are searched, the current one included.
    depth: u64,
    think: Seconds,
    users: Vec<User>,
    /// By twins: their user, and for each criterion where in `matches` their category is. Twins are looked up once, when
    /// a job arrives; whatever happens to it later goes straight to its place.
    user_of: Vec<u32>,
    places: Vec<u32>,
    matches: Vec<Matches>,
    known_users: FxHashMap<i32, u32>,
    known_twins: FxHashMap<(i32, Compared), Twins>,
    known_categories: FxHashMap<Category, u32>,
    metric: Metric,
    /// Counts matches, to order them.
    clock: u64,
}

#[derive(Debug, Default)]
struct User {
    /// The current session, counted from 1; 0 before the first job.
    session: u32,
    /// Jobs of it that wait or run.
    live: u32,
    latest_termination: Time,
}

/// The values that criteria compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Compared {
    procs: u32,
    executable: i32,
    queue: i32,
    estimate: Seconds,
}

/// A user's jobs with the same values of what one criterion compares; all else is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Category {
    user: i32,
    criterion: u32,
    compared: Compared,
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
    pub fn new(criteria: Vec<Criterion>, search: Search, depth: u64, think: Seconds, metric: Metric) -> Self {
        let any = |compares: fn(&Criterion) -> bool| criteria.iter().any(compares);
        let (procs, executable, queue) = (any(|c| c.procs), any(|c| c.executable), any(|c| c.queue));
        Sessions {
            any: Criterion { procs, estimate: true, executable, queue },
            criteria,
            search,
            depth,
            think,
            users: Vec::new(),
            user_of: Vec::new(),
            places: Vec::new(),
            matches: Vec::new(),
            known_users: FxHashMap::default(),
            known_twins: FxHashMap::default(),
            known_categories: FxHashMap::default(),
            metric,
            clock: 0,
        }
    }

    /// A job arrives: it joins its user's current session, or opens a new one.
    pub fn arrive(&mut self, job: &Submission, now: Time) -> Twins {
        let twins = self.twins(job);
        let user = &mut self.users[self.user_of[twins.index()] as usize];
        let goes_on = user.session > 0 && (user.live > 0 || now - user.latest_termination < self.think);
        if !goes_on {
            user.session += 1;
            // Until one of its jobs ends there is no latest termination, but then one waits or runs.
            user.latest_termination = Time::MIN / 2;
        }
        user.live += 1;
        twins
    }

    /// Whether equal runtimes are one to the metric, whenever they ended.
    pub fn orders_only_by_length(&self) -> bool {
        self.metric != Metric::Last
    }

    /// Users by the order in which they first came.
    pub fn user(&self, twins: Twins) -> usize {
        self.user_of[twins.index()] as usize
    }

    /// A job has ended.
    pub fn end(&mut self, twins: Twins, now: Time) {
        let user = &mut self.users[self.user_of[twins.index()] as usize];
        user.live -= 1;
        user.latest_termination = now;
    }

    /// A job was withdrawn before it started.
    pub fn withdraw(&mut self, twins: Twins) {
        self.users[self.user_of[twins.index()] as usize].live -= 1;
    }

    /// A job of its user's current session has ended and matches from now on.
    pub fn add(&mut self, twins: Twins, runtime: Seconds) {
        self.clock += 1;
        self.add_as(twins, Match { runtime, when: self.clock });
    }

    /// A job of its user's current session matches from now on though it still runs. It will end later than all that
    /// have ended, so that it is the last of them.
    pub fn add_running(&mut self, twins: Twins, prediction: Seconds) -> Match {
        self.clock += 1;
        let made = Match { runtime: prediction, when: RUNNING + self.clock };
        self.add_as(twins, made);
        made
    }

    /// It does not match any more, or with another runtime.
    pub fn take(&mut self, twins: Twins, Match { runtime, when }: Match) {
        for place in self.places(twins) {
            self.matches[self.places[place] as usize].runtimes.take(runtime, when);
        }
    }

    /// It matches with another runtime, as if it had done so since it began to match.
    pub fn change(&mut self, twins: Twins, old: Match, runtime: Seconds) -> Match {
        let new = Match { runtime, ..old };
        self.take(twins, old);
        self.add_as(twins, new);
        new
    }

    /// What the sessions say of a job; `itself` is how it matches, if it does, for it is no match for itself.
    pub fn find(&mut self, twins: Twins, itself: Option<Match>) -> Option<Seconds> {
        let session = self.users[self.user_of[twins.index()] as usize].session;
        let oldest = (u64::from(session) + 1).saturating_sub(self.depth);
        let (places, matches, metric) = (self.places(twins), &mut self.matches, self.metric);
        let found = self.places[places].iter().filter_map(|place| {
            let (session, found) = matches[*place as usize].newest(metric, itself)?;
            (u64::from(session) >= oldest).then_some((session, found))
        });
        let best = match self.search {
            Search::DepthFirst => found.into_iter().next(),
            // Of the newest session the first criterion; a later one must be newer to be better.
            Search::BreadthFirst => found.reduce(|best, other| if other.0 > best.0 { other } else { best }),
        };
        best.map(|(_, found)| found)
    }

    fn add_as(&mut self, twins: Twins, Match { runtime, when }: Match) {
        let session = self.users[self.user_of[twins.index()] as usize].session;
        for place in self.places(twins) {
            let matches = &mut self.matches[self.places[place] as usize];
            if matches.latest < session {
                // One whose matches have all gone again has nothing to say.
                if let Some((before, said)) = matches.newest(self.metric, None) {
                    (matches.before, matches.said_before) = (before, said);
                }
                matches.latest = session;
                matches.runtimes.clear();
            }
            matches.runtimes.add(runtime, when);
        }
    }

    fn places(&self, twins: Twins) -> Range<usize> {
        let criteria = self.criteria.len();
        twins.index() * criteria..(twins.index() + 1) * criteria
    }

    fn twins(&mut self, job: &Submission) -> Twins {
        let Submission { procs, executable, queue, estimate, .. } = *job;
        let compared = self.any.of_interest(Compared { procs, executable, queue, estimate });
        if let Some(&twins) = self.known_twins.get(&(job.user, compared)) {
            return twins;
        }
        let twins = Twins(self.user_of.len() as u32);
        self.known_twins.insert((job.user, compared), twins);
        let user = *self.known_users.entry(job.user).or_insert_with(|| {
            self.users.push(User::default());
            self.users.len() as u32 - 1
        });
        self.user_of.push(user);
        for (number, criterion) in self.criteria.iter().enumerate() {
            let category =
                Category { user: job.user, criterion: number as u32, compared: criterion.of_interest(compared) };
            let place = *self.known_categories.entry(category).or_insert_with(|| {
                // Growing by a quarter, not to the double: they are most of what this predictor holds.
                if self.matches.len() == self.matches.capacity() {
                    self.matches.reserve_exact(self.matches.len() / 4 + 16);
                }
                let runtimes = Runtimes::new(self.metric);
                self.matches.push(Matches { latest: 0, before: 0, runtimes, said_before: 0 });
                self.matches.len() as u32 - 1
            });
            self.places.push(place);
        }
        twins
    }
}

impl Criterion {
    /// The values that it compares, all else 0.
    fn of_interest(&self, all: Compared) -> Compared {
        Compared {
            procs: if self.procs { all.procs } else { 0 },
            executable: if self.executable { all.executable } else { 0 },
            queue: if self.queue { all.queue } else { 0 },
            estimate: if self.estimate { all.estimate } else { 0 },
        }
    }
}

impl Matches {
    /// The newest session that has a match, and what it says; a job that matches is in the latest, and does not count
    /// for itself.
    fn newest(&mut self, metric: Metric, itself: Option<Match>) -> Option<(u32, Seconds)> {
        let itself = itself.map(|Match { runtime, when }| (runtime, when));
        match self.runtimes.metric_without(metric, itself) {
            Some(found) => Some((self.latest, found)),
            None => (self.before > 0).then_some((self.before, self.said_before)),
        }
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
