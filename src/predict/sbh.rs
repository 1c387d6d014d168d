//! Session-Based History (Talby et al., Listing 4), and its kin without estimates (section 6).

use std::ops::Range;

use super::board::{Board, Stage};
use super::deadline;
use super::live::{Group, Live, Runner};
use super::metric::Metric;
use super::predictor::Predictor;
use super::sessions::{Criterion, Match, Search, Sessions, Twins};
use crate::job::JobId;
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::{FOREVER, Seconds};

const CRITERIA: Kind = Kind::Text {
    what: "letters of P (processors), E (estimate), X (executable), Q (queue), or *; the best first",
    canonical: |text| Criterion::parse_list(text).map(|criteria| Criterion::print_list(&criteria)),
};
const SEARCH: Kind = Kind::Choice(&["dfs", "bfs"]);
const SESSIONS: Kind = Kind::Text {
    what: "a whole number of at least 1, or all",
    canonical: |text| match text.parse::<u64>() {
        Ok(sessions) if sessions >= 1 => Ok(sessions.to_string()),
        _ if text == "all" => Ok(text.to_string()),
        _ => Err(format!("'{text}' is not a whole number of at least 1, or all")),
    },
};
const THINK: Kind = Kind::Duration { least: 1 };
const GROWTH: Kind = Kind::Choice(&["balanced", "unbalanced"]);

const ABOUT_CRITERIA: &str = "what must be equal for a past job to count";
const ABOUT_SEARCH: &str = "first the best criterion in all sessions, or the newest session";
const ABOUT_SESSIONS: &str = "how many sessions back";
const ABOUT_THINK: &str = "a session is over when nothing comes for this long after its last job";
const ABOUT_METRIC: &str = "what is taken of the jobs that match";
const ABOUT_PROPAGATE: &str = "when a job ends or outlives its prediction, predict the user's others anew";

pub const SBH: Form = Form {
    name: "sbh",
    about: "session-based history: the median runtime of similar jobs in the user's latest session that has any",
    keys: &[
        Key { name: "criteria", kind: CRITERIA, default: "PE/P/E/*", about: ABOUT_CRITERIA },
        Key { name: "search", kind: SEARCH, default: "dfs", about: ABOUT_SEARCH },
        Key { name: "sessions", kind: SESSIONS, default: "all", about: ABOUT_SESSIONS },
        Key { name: "think", kind: THINK, default: "20m", about: ABOUT_THINK },
        Key { name: "metric", kind: Metric::KIND, default: "median", about: ABOUT_METRIC },
        Key { name: "propagate", kind: Kind::Switch, default: "on", about: ABOUT_PROPAGATE },
    ],
};

pub const SBH_NOEST: Form = Form {
    name: "sbh-noest",
    about: "session-based history without estimates: a prediction that proves too short is multiplied",
    keys: &[
        Key { name: "criteria", kind: CRITERIA, default: "PX/P/X/*", about: ABOUT_CRITERIA },
        Key { name: "search", kind: SEARCH, default: "dfs", about: ABOUT_SEARCH },
        Key { name: "sessions", kind: SESSIONS, default: "all", about: ABOUT_SESSIONS },
        Key { name: "think", kind: THINK, default: "20m", about: ABOUT_THINK },
        Key { name: "metric", kind: Metric::KIND, default: "median", about: ABOUT_METRIC },
        Key { name: "propagate", kind: Kind::Switch, default: "off", about: ABOUT_PROPAGATE },
        Key { name: "growth", kind: GROWTH, default: "balanced", about: "whether multiplying stops at the limit" },
        Key { name: "factor", kind: Kind::Real { above: 1.0 }, default: "10", about: "what a miss multiplies by" },
        Key {
            name: "limit",
            kind: Kind::Duration { least: 1 },
            default: "100h",
            about: "from here balanced predictions grow by steps",
        },
        Key {
            name: "default",
            kind: Kind::Duration { least: 1 },
            default: "1s",
            about: "the prediction if no job matches",
        },
    ],
};

/// What stands in for estimates where a history predictor needs them.
#[derive(Clone, Copy, Debug)]
enum Fallback {
    /// The estimate itself: where nothing matches, and at a miss.
    Estimate,
    /// A constant where nothing matches; at a miss the prediction times a factor, below a limit if there is one.
    Growth { default: Seconds, factor: f64, limit: Option<Seconds> },
}

/// A job whose user is unknown (-1) is in the sessions of all such jobs, as if they were one user's. A job without an
/// estimate of its own is matched by the one it was given, so that such jobs are alike in E; with `sbh-noest` estimates
/// matter only if a criterion names E.
pub struct Sbh {
    sessions: Sessions,
    propagate: bool,
    fallback: Fallback,
    /// Of every job that has arrived.
    twins: Vec<Twins>,
    /// Jobs in the system by user, and of those that run how they match if they are late (kept for `propagate`).
    live: Live,
    /// Scratch: what one propagation has to write.
    adopted: Vec<(JobId, Seconds)>,
}

impl Sbh {
    pub fn new(spec: &Spec) -> Self {
        Sbh::with_fallback(spec, Fallback::Estimate)
    }

    pub fn without_estimates(spec: &Spec) -> Self {
        let limit = (spec.text("growth") == "balanced").then(|| spec.duration("limit"));
        let fallback = Fallback::Growth { default: spec.duration("default"), factor: spec.real("factor"), limit };
        Sbh::with_fallback(spec, fallback)
    }

    fn with_fallback(spec: &Spec, fallback: Fallback) -> Self {
        let criteria = Criterion::parse_list(spec.text("criteria")).expect("checked when it was read");
        let search = if spec.text("search") == "dfs" { Search::DepthFirst } else { Search::BreadthFirst };
        let depth = spec.text("sessions").parse().unwrap_or(u64::MAX);
        let metric = Metric::from_word(spec.text("metric"));
        Sbh {
            sessions: Sessions::new(criteria, search, depth, spec.duration("think"), metric),
            propagate: spec.switch("propagate"),
            fallback,
            twins: Vec::new(),
            live: Live::default(),
            adopted: Vec::new(),
        }
    }

    /// What the sessions say of a job; a late one is no match for itself.
    fn compute(&mut self, id: JobId, late: Option<Match>, board: &Board) -> Seconds {
        let found = self.sessions.find(self.twins[id.index()], late);
        found.unwrap_or_else(|| match self.fallback {
            Fallback::Estimate => board.job(id).estimate,
            Fallback::Growth { default, .. } => default,
        })
    }

    /// Predicts a user's jobs in the system anew, all but one, in order of arrival.
    ///
    /// What matches changes within a propagation only where a late job, which runs, adopts another prediction. So the
    /// running jobs are gone through one by one, and at each such place the groups of waiting jobs are predicted as far
    /// as they arrived before it. Mostly there is no such place, and each group is predicted once.
    fn predict_others(&mut self, but: JobId, user: usize, board: &mut Board) {
        let mut live = std::mem::take(self.live.of(user));
        let mut adopted = std::mem::take(&mut self.adopted);
        let mut predicted_to = JobId(0);
        // Jobs of an array are twins and late alike: what was found for one holds for the next, until what matches changes.
        let mut last: Option<(Twins, Option<Seconds>, Seconds)> = None;
        for runner in live.running.iter_mut().filter(|runner| runner.id != but) {
            let Runner { id, twins, late } = *runner;
            let as_late = late.map(|late| late.runtime);
            let prediction = match last {
                Some((asked, asked_as, found)) if asked == twins && asked_as == as_late => found,
                _ => self.compute(id, late, board),
            };
            last = (late.is_none() || self.sessions.orders_only_by_length()).then_some((twins, as_late, prediction));
            if prediction == board.prediction(id) || prediction <= board.elapsed(id) {
                continue;
            }
            if let Some(old) = late {
                self.predict_waiting(&mut live.groups, predicted_to..id, board, &mut adopted);
                predicted_to = id;
                runner.late = Some(self.sessions.change(twins, old, prediction));
                last = None;
            }
            adopted.push((id, prediction));
        }
        self.predict_waiting(&mut live.groups, predicted_to..JobId(u32::MAX), board, &mut adopted);
        *self.live.of(user) = live;
        // As they were adopted: in order of arrival.
        adopted.sort_unstable_by_key(|(id, _)| *id);
        for (id, prediction) in adopted.drain(..) {
            board.predict(id, prediction);
        }
        self.adopted = adopted;
    }

    /// Predicts those waiting jobs anew that have these ids.
    fn predict_waiting(
        &mut self,
        groups: &mut [Group],
        ids: Range<JobId>,
        board: &Board,
        adopted: &mut Vec<(JobId, Seconds)>,
    ) {
        for group in groups {
            let from = group.jobs.partition_point(|id| *id < ids.start);
            let to = group.jobs.partition_point(|id| *id < ids.end);
            if from == to {
                continue;
            }
            // Any of them stands for all.
            let prediction = self.compute(group.jobs[from], None, board);
            if group.prediction == Some(prediction) {
                continue;
            }
            let differs = |id: &JobId| board.prediction(*id) != prediction;
            adopted.extend(group.jobs.range(from..to).copied().filter(differs).map(|id| (id, prediction)));
            group.prediction = (to - from == group.jobs.len()).then_some(prediction);
        }
    }
}

impl Predictor for Sbh {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        let twins = self.sessions.arrive(board.job(id), board.now());
        debug_assert_eq!(self.twins.len(), id.index(), "jobs arrive in order");
        self.twins.push(twins);
        let prediction = self.compute(id, None, board);
        board.predict(id, prediction);
        if self.propagate {
            self.live.wait(id, self.sessions.user(twins), twins, prediction);
        }
    }

    fn on_start(&mut self, id: JobId, _: &mut Board) {
        if self.propagate {
            let twins = self.twins[id.index()];
            self.live.start(id, self.sessions.user(twins), twins);
        }
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        let twins = self.twins[id.index()];
        let user = self.sessions.user(twins);
        let runner = if self.propagate { self.live.end(id, user) } else { None };
        if let Some(late) = runner.and_then(|runner| runner.late) {
            self.sessions.take(twins, late);
        }
        self.sessions.add(twins, runtime);
        self.sessions.end(twins, board.now());
        if self.propagate {
            self.predict_others(id, user, board);
        }
    }

    fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
        match self.fallback {
            Fallback::Estimate => deadline::raise_to_estimate(id, board),
            Fallback::Growth { factor, limit, .. } => multiply(id, factor, limit, board),
        }
        if !self.propagate {
            return;
        }
        debug_assert_ne!(board.stage(id), Stage::Gone);
        let (twins, prediction) = (self.twins[id.index()], board.prediction(id));
        let user = self.sessions.user(twins);
        if let Some(runner) = self.live.runner(id, user) {
            runner.late = Some(match runner.late {
                None => self.sessions.add_running(twins, prediction),
                Some(old) => self.sessions.change(twins, old, prediction),
            });
        }
        self.predict_others(id, user, board);
    }

    fn predict_again(&mut self, id: JobId, board: &mut Board) {
        let user = self.sessions.user(self.twins[id.index()]);
        let late = self.live.runner(id, user).and_then(|runner| runner.late);
        let prediction = self.compute(id, late, board);
        board.predict_if_above_elapsed(id, prediction);
    }

    fn on_cancellation(&mut self, id: JobId, _: &mut Board) {
        let twins = self.twins[id.index()];
        self.sessions.withdraw(twins);
        if self.propagate {
            self.live.withdraw(id, self.sessions.user(twins), twins);
        }
    }
}

/// A late job's prediction times the factor, rounded down, but not beyond the limit; increments from the limit on
/// (Talby et al., section 6: "balanced" has a limit, "unbalanced" has none).
fn multiply(id: JobId, factor: f64, limit: Option<Seconds>, board: &mut Board) {
    let prediction = board.prediction(id);
    if limit.is_some_and(|limit| prediction >= limit) {
        return deadline::add_increment(id, board);
    }
    // Far below what a float can hold exactly: a prediction has 37 bits at most.
    let product = (prediction as f64 * factor).floor().min(FOREVER as f64) as Seconds;
    let grown = product.min(limit.unwrap_or(FOREVER));
    board.predict(id, grown.max(board.elapsed(id) + 1));
}
