//! Session-Based History (Talby et al., Listing 4), and its variant without estimates (section 6).

mod active;
mod criterion;
mod job_types;
mod late;
mod multiset;
mod sessions;

use std::ops::Range;

use self::active::{ActiveJobs, TypeGroup, UserJobs};
use self::criterion::Criterion;
use self::job_types::JobType;
use self::late::{ActiveJob, LateClass, LateState};
use self::sessions::{Match, Search, SessionIndex};
use crate::job::{ArrivalNumber, JobId};
use crate::predict::board::Board;
use crate::predict::deadline;
use crate::predict::metric::Metric;
use crate::predict::predictor::Predictor;
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::{FOREVER, Seconds, Time};

const fn criteria(default: &'static str) -> Key {
    let kind = Kind::Text {
        what: "letters of P (processors), E (estimate), X (executable), Q (queue), or *; the best first",
        canonical: |text| Criterion::parse_list(text).map(|criteria| Criterion::print_list(&criteria)),
    };
    Key::new("criteria", kind, default, "what must be equal for a past job to count")
}

const SEARCH: Key = Key::choice(
    "search",
    &["dfs", "bfs"],
    "what is tried first: the best criterion in all sessions (dfs), or all criteria in the newest session (bfs)",
);

const SESSIONS: Key =
    Key::new("sessions", Kind::COUNT_OR_ALL, "all", "how many sessions are searched, from the newest back");

const THINK: Key = Key::duration(
    "think",
    1,
    "20m",
    "a session is over when no job arrives for this long after the end of its last job",
);

const METRIC: Key = Key::new("metric", Metric::KIND, "median", "how the runtimes of matching jobs become a prediction");

const fn propagate(default: &'static str) -> Key {
    Key::new(
        "propagate",
        Kind::Choice(&["on", "ends", "off"]),
        default,
        "predict the user's other jobs again when one ends or outlives its prediction; ends: only when one ends",
    )
}

pub const SBH: Form = Form {
    name: "sbh",
    about: "session-based history: the median runtime of similar jobs in the user's latest session that has any",
    keys: &[criteria("PE/P/E/*"), SEARCH, SESSIONS, THINK, METRIC, propagate("on")],
};

pub const SBH_NOEST: Form = Form {
    name: "sbh-noest",
    about: "session-based history without estimates: a prediction that proves too short is multiplied",
    keys: &[
        criteria("PX/P/X/*"),
        SEARCH,
        SESSIONS,
        THINK,
        METRIC,
        propagate("off"),
        Key::choice("growth", &["balanced", "unbalanced"], "balanced: predictions are multiplied only up to the limit"),
        Key::new(
            "factor",
            Kind::Real { what: "a number above 1", fits: |number| number > 1.0 },
            "10",
            "a missed prediction is multiplied by this",
        ),
        Key::duration("limit", 1, "100h", "balanced predictions that have reached this grow by fixed steps"),
        Key::duration("default", 1, "1s", "the prediction if no job matches"),
    ],
};

/// What is predicted when no job matches, and at a missed deadline.
#[derive(Clone, Copy, Debug)]
enum Fallback {
    /// The estimate, in both cases.
    Estimate,
    /// `default` when no job matches; at a miss the prediction times `factor`, up to `limit` if there is one.
    Growth { default: Seconds, factor: f64, limit: Option<Seconds> },
}

/// All jobs of unknown users (-1) count as jobs of one user. A job without an estimate in the log is matched by the one
/// assigned to it, so that such jobs agree in E. With `sbh-noest`, estimates are used only if a criterion names E.
pub struct Sbh {
    history: SbhHistory,
    propagate: bool,
    /// Whether missed deadlines propagate too, and late jobs match.
    propagate_misses: bool,
    /// By job id. Only those of jobs that have arrived are true.
    job_types: Vec<JobType>,
    /// Jobs in the system by user (kept for `propagate`).
    active: ActiveJobs,
}

/// Makes the prediction for one job.
struct SbhHistory {
    sessions: SessionIndex,
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
        let sessions = SessionIndex::new(&criteria, search, depth, spec.duration("think"), metric);
        Sbh {
            history: SbhHistory { sessions, fallback },
            propagate: spec.text("propagate") != "off",
            propagate_misses: spec.text("propagate") == "on",
            job_types: Vec::new(),
            active: ActiveJobs::default(),
        }
    }

    /// The type and the user of a job that has arrived.
    fn type_and_user(&self, id: JobId) -> (JobType, usize) {
        let job_type = self.job_types[id.index()];
        (job_type, self.history.sessions.user(job_type))
    }

    /// Predicts a user's jobs in the system again, except one that is set aside. The result is the same as if they were
    /// predicted one by one in order of arrival.
    ///
    /// During a propagation, matches change only when a late job adopts another prediction. So this loops over the late
    /// jobs if any of them may adopt one. When one does, the jobs of all groups that arrived before it are predicted
    /// first. Usually none does, and each group is predicted once.
    fn predict_others(&mut self, user: usize, board: &mut Board) {
        let Sbh { history, active, .. } = self;
        let UserJobs { late, groups } = active.of(user);
        let mut predicted_to = ArrivalNumber(0);
        if history.propose(&mut late.classes, board.now()) {
            let mut none_adopted = true;
            for at in 0..late.jobs.len() {
                let Some(&LateClass { state, proposed, .. }) = late.adopting(at) else { continue };
                let ActiveJob { arrival, id } = late.jobs[at].job;
                board.predict(id, proposed);
                late.adopt(at);
                none_adopted = false;
                history.predict_groups(groups, predicted_to..arrival, board);
                predicted_to = arrival;
                history.sessions.change(state.job_type, state.as_match(), proposed);
                if !history.propose(&mut late.classes, board.now()) {
                    break;
                }
            }
            if none_adopted {
                late.settle();
            }
        }
        history.predict_groups(groups, predicted_to..ArrivalNumber(u32::MAX), board);
    }
}

impl SbhHistory {
    /// The prediction for a job. A late job does not match itself: `late` is its own match.
    fn predict(&mut self, job_type: JobType, late: Option<Match>) -> Seconds {
        self.sessions.find(job_type, late).unwrap_or_else(|| match self.fallback {
            Fallback::Estimate => self.sessions.estimate(job_type),
            Fallback::Growth { default, .. } => default,
        })
    }

    /// Computes new predictions for late jobs. Returns whether any job may adopt one.
    fn propose(&mut self, classes: &mut [LateClass], now: Time) -> bool {
        let mut any = false;
        for class in classes.iter_mut().filter(|class| class.members > 0) {
            let proposed = self.predict(class.state.job_type, Some(class.state.as_match()));
            any |= class.propose(proposed, now);
        }
        any
    }

    /// Predicts the jobs of the groups again that arrived in this range.
    fn predict_groups(&mut self, groups: &mut [TypeGroup], range: Range<ArrivalNumber>, board: &mut Board) {
        for group in groups {
            let places = group.places(&range);
            if places.is_empty() {
                continue;
            }
            let prediction = self.predict(group.job_type, None);
            // Nothing changes: jobs that had run that long when this was predicted still have.
            if group.prediction == Some(prediction) {
                continue;
            }
            group.prediction = (places.len() == group.jobs.len()).then_some(prediction);
            group.jobs.range(places).for_each(|job| board.predict_if_above_elapsed(job.id, prediction));
        }
    }
}

impl Predictor for Sbh {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        let job_type = self.history.sessions.arrive(board.job(id), board.now());
        id.store(&mut self.job_types, job_type, job_type);
        let prediction = self.history.predict(job_type, None);
        board.predict(id, prediction);
        if self.propagate {
            self.active.arrive(active(id, board), self.history.sessions.user(job_type), job_type, prediction);
        }
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        let (job_type, user) = self.type_and_user(id);
        let late = if self.propagate { self.active.end(active(id, board), user, job_type) } else { None };
        self.history.sessions.end(job_type, late.map(|state| state.as_match()), runtime, board.now());
        if self.propagate {
            self.predict_others(user, board);
        }
    }

    fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
        match self.history.fallback {
            Fallback::Estimate => deadline::raise_to_estimate(id, board),
            Fallback::Growth { factor, limit, .. } => multiply(id, factor, limit, board),
        }
        // Without propagation of misses a late job stays in its group. The group's own prediction is not above the time
        // that the job has run, or the job would not have missed it: so there is nothing to adopt that was skipped.
        if !self.propagate_misses {
            return;
        }
        let (job_type, user) = self.type_and_user(id);
        let (job, prediction) = (active(id, board), board.prediction(id));
        let late = &mut self.active.of(user).late;
        if let Some(at) = late.find(job) {
            let old = late.set_aside(at);
            self.history.sessions.change(job_type, old.as_match(), prediction);
            self.predict_others(user, board);
            self.active.of(user).late.put_back(at, LateState { prediction, ..old });
        } else {
            self.active.leave_group(job, user, job_type);
            let when = self.history.sessions.add_running(job_type, prediction);
            self.predict_others(user, board);
            let start = board.now() - board.elapsed(id);
            self.active.of(user).late.add(job, LateState { job_type, prediction, when }, start);
        }
    }

    fn predict_again(&mut self, id: JobId, board: &mut Board) {
        let (job_type, user) = self.type_and_user(id);
        let late = &mut self.active.of(user).late;
        let at = late.find(active(id, board));
        let itself = at.map(|at| late.state(at).as_match());
        let prediction = self.history.predict(job_type, itself);
        if prediction <= board.elapsed(id) {
            return;
        }
        board.predict(id, prediction);
        if let Some(at) = at {
            let old = late.set_aside(at);
            self.history.sessions.change(job_type, old.as_match(), prediction);
            late.put_back(at, LateState { prediction, ..old });
        } else if self.propagate {
            self.active.note_prediction(user, job_type, prediction);
        }
    }

    fn on_cancellation(&mut self, id: JobId, board: &mut Board) {
        let (job_type, user) = self.type_and_user(id);
        self.history.sessions.withdraw(job_type);
        if self.propagate {
            self.active.end(active(id, board), user, job_type);
        }
    }
}

/// A job in the system.
fn active(id: JobId, board: &Board) -> ActiveJob {
    ActiveJob { arrival: board.arrival(id), id }
}

/// Multiplies a late job's prediction by the factor, rounded down, up to the limit; from the limit on it adds increments
/// (Talby et al., section 6: "balanced" has a limit, "unbalanced" has none).
fn multiply(id: JobId, factor: f64, limit: Option<Seconds>, board: &mut Board) {
    let prediction = board.prediction(id);
    if limit.is_some_and(|limit| prediction >= limit) {
        return deadline::add_increment(id, board);
    }
    // Exact as a float: a prediction has at most 37 bits.
    let product = (prediction as f64 * factor).floor().min(FOREVER as f64) as Seconds;
    let grown = product.min(limit.unwrap_or(FOREVER));
    board.predict(id, grown.max(board.elapsed(id) + 1));
}
