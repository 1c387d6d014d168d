//! Session-Based History (Talby et al., Listing 4), and its kin without estimates (section 6).

mod active;
mod criterion;
mod late;
mod multiset;
mod sessions;
mod twins;

use std::ops::Range;

use self::active::{ActiveJobs, Group, UserJobs};
use self::criterion::Criterion;
use self::late::{Class, LateState};
use self::sessions::{Match, Search, Sessions};
use self::twins::Twins;
use crate::job::JobId;
use crate::predict::board::Board;
use crate::predict::deadline;
use crate::predict::metric::Metric;
use crate::predict::predictor::{AskedAgain, Predictor};
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::{FOREVER, Seconds, Time};

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
    history: History,
    propagate: bool,
    /// Of every job that has arrived.
    twins: Vec<Twins>,
    /// Jobs in the system by user (kept for `propagate`).
    active: ActiveJobs,
}

/// What answers for any job.
struct History {
    sessions: Sessions,
    fallback: Fallback,
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
        let sessions = Sessions::new(&criteria, search, depth, spec.duration("think"), metric);
        Sbh {
            history: History { sessions, fallback },
            propagate: spec.switch("propagate"),
            twins: Vec::new(),
            active: ActiveJobs::default(),
        }
    }

    /// Twins of a job that has arrived, and their user.
    fn twins(&self, id: JobId) -> (Twins, usize) {
        let twins = self.twins[id.index()];
        (twins, self.history.sessions.user(twins))
    }

    /// Predicts a user's jobs in the system anew, all but one that is set aside, as if one by one in order of arrival.
    ///
    /// What matches changes within a propagation only where a late job adopts another prediction. So the late jobs are
    /// gone through one by one, if any may adopt one at all, and at each such place the groups of all others are
    /// predicted as far as they arrived before it. Mostly there is no such place, and each group is predicted once.
    fn predict_others(&mut self, user: usize, board: &mut Board) {
        let Sbh { history, active, .. } = self;
        let UserJobs { late, groups } = active.of(user);
        let mut predicted_to = JobId(0);
        if history.ask(&mut late.classes, board.now()) {
            let mut none_adopted = true;
            for at in 0..late.jobs.len() {
                let Some(&Class { state, proposed, .. }) = late.adopting(at) else { continue };
                let id = late.jobs[at].id;
                board.predict(id, proposed);
                late.adopt(at);
                none_adopted = false;
                history.predict_groups(groups, predicted_to..id, board);
                predicted_to = id;
                history.sessions.change(state.twins, state.as_match(), proposed);
                if !history.ask(&mut late.classes, board.now()) {
                    break;
                }
            }
            if none_adopted {
                late.settle();
            }
        }
        history.predict_groups(groups, predicted_to..JobId(u32::MAX), board);
    }
}

impl History {
    /// The prediction for a job; if it is late, it is no match for itself.
    fn predict(&mut self, twins: Twins, late: Option<Match>) -> Seconds {
        self.sessions.find(twins, late).unwrap_or_else(|| match self.fallback {
            Fallback::Estimate => self.sessions.estimate(twins),
            Fallback::Growth { default, .. } => default,
        })
    }

    /// Predicts late jobs anew, and tells whether any of them may adopt that.
    fn ask(&mut self, classes: &mut [Class], now: Time) -> bool {
        let mut any = false;
        for class in classes.iter_mut().filter(|class| class.members > 0) {
            let proposed = self.predict(class.state.twins, Some(class.state.as_match()));
            any |= class.propose(proposed, now);
        }
        any
    }

    /// Predicts those jobs anew, none of them late, that have these ids.
    fn predict_groups(&mut self, groups: &mut [Group], ids: Range<JobId>, board: &mut Board) {
        for group in groups {
            let places = group.places(&ids);
            if places.is_empty() {
                continue;
            }
            let prediction = self.predict(group.twins, None);
            // Jobs that had run that long when this was predicted have still.
            if group.prediction == Some(prediction) {
                continue;
            }
            group.prediction = (places.len() == group.jobs.len()).then_some(prediction);
            group.jobs.range(places).for_each(|&id| board.predict_if_above_elapsed(id, prediction));
        }
    }
}

impl Predictor for Sbh {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        let twins = self.history.sessions.arrive(board.job(id), board.now());
        debug_assert_eq!(self.twins.len(), id.index(), "jobs arrive in order");
        self.twins.push(twins);
        let prediction = self.history.predict(twins, None);
        board.predict(id, prediction);
        if self.propagate {
            self.active.arrive(id, self.history.sessions.user(twins), twins, prediction);
        }
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        let (twins, user) = self.twins(id);
        let late = if self.propagate { self.active.end(id, user, twins) } else { None };
        self.history.sessions.end(twins, late.map(|state| state.as_match()), runtime, board.now());
        if self.propagate {
            self.predict_others(user, board);
        }
    }

    fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
        match self.history.fallback {
            Fallback::Estimate => deadline::raise_to_estimate(id, board),
            Fallback::Growth { factor, limit, .. } => multiply(id, factor, limit, board),
        }
        if !self.propagate {
            return;
        }
        let (twins, user) = self.twins(id);
        let (late, prediction) = (&mut self.active.of(user).late, board.prediction(id));
        if let Some(at) = late.find(id) {
            let old = late.set_aside(at);
            self.history.sessions.change(twins, old.as_match(), prediction);
            self.predict_others(user, board);
            self.active.of(user).late.put_back(at, LateState { prediction, ..old });
        } else {
            self.active.leave_group(id, user, twins);
            let when = self.history.sessions.add_running(twins, prediction);
            self.predict_others(user, board);
            let start = board.now() - board.elapsed(id);
            self.active.of(user).late.add(id, LateState { twins, prediction, when }, start);
        }
    }

    fn as_asked_again(&mut self) -> Option<&mut dyn AskedAgain> {
        Some(self)
    }

    fn on_cancellation(&mut self, id: JobId, _: &mut Board) {
        let (twins, user) = self.twins(id);
        self.history.sessions.withdraw(twins);
        if self.propagate {
            self.active.end(id, user, twins);
        }
    }
}

impl AskedAgain for Sbh {
    fn predict_again(&mut self, id: JobId, board: &mut Board) {
        let (twins, user) = self.twins(id);
        let late = &mut self.active.of(user).late;
        let at = late.find(id);
        let itself = at.map(|at| late.state(at).as_match());
        let prediction = self.history.predict(twins, itself);
        if prediction <= board.elapsed(id) {
            return;
        }
        board.predict(id, prediction);
        if let Some(at) = at {
            let old = late.set_aside(at);
            self.history.sessions.change(twins, old.as_match(), prediction);
            late.put_back(at, LateState { prediction, ..old });
        } else if self.propagate {
            self.active.note_prediction(user, twins, prediction);
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
