//! Recent User History (Talby et al., Listing 3; EASY++ in Tsafrir et al.): the runtimes of the user's last jobs.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::board::Board;
use super::metric::Metric;
use super::predictor::Predictor;
use crate::job::{ArrivalNumber, JobId};
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::Seconds;

pub const FORM: Form = Form {
    name: "ruh",
    about: "recent user history: the median runtime of the user's last jobs, or the estimate while there are too few",
    keys: &[
        Key::whole("window", 1, "3", "the number of last jobs"),
        Key { name: "metric", kind: Metric::KIND, default: "median", about: "how their runtimes become a prediction" },
        Key::choice("order", &["end", "arrival"], "the last jobs by termination or by arrival"),
        Key {
            name: "propagate",
            kind: Kind::Switch,
            default: "off",
            about: "when a job ends, predict its user's other waiting and running jobs again",
        },
        Key::new("running", Kind::Switch, "off", "the user's running jobs count too, with their predictions"),
        Key { name: "cap", kind: Kind::Switch, default: "off", about: "never predict more than the estimate" },
    ],
};

pub const EASY_PLUS_PLUS: Form =
    Form { name: "easy++", about: "the same as ruh:window=2,metric=mean,cap=on (Tsafrir et al.)", keys: &[] };

/// All jobs of unknown users (-1) share one history. A job without an estimate in the log is predicted like any other; the
/// estimate assigned to it is used while the history is too short.
pub struct Ruh {
    window: usize,
    metric: Metric,
    by_arrival: bool,
    propagate: bool,
    running: bool,
    cap: bool,
    users: FxHashMap<i32, RuhUser>,
    /// Scratch: the runtimes of one prediction.
    recent: Vec<Seconds>,
}

#[derive(Default)]
struct RuhUser {
    /// The runtimes of the last terminated jobs, at most `window` of them, in order of termination or of arrival.
    terminated: VecDeque<Seconds>,
    /// The places of these jobs in the order of arrival (kept for `order=arrival`).
    terminated_arrivals: VecDeque<ArrivalNumber>,
    /// Jobs in the system in order of arrival (kept for `propagate`).
    live: Vec<JobId>,
    /// Running jobs in order of start (kept for `running`).
    running: Vec<JobId>,
}

impl Ruh {
    pub fn new(spec: &Spec) -> Self {
        Ruh {
            window: usize::try_from(spec.whole("window")).unwrap_or(usize::MAX),
            metric: Metric::from_word(spec.text("metric")),
            by_arrival: spec.text("order") == "arrival",
            propagate: spec.switch("propagate"),
            running: spec.switch("running"),
            cap: spec.switch("cap"),
            users: FxHashMap::default(),
            recent: Vec::new(),
        }
    }

    pub fn easy_plus_plus() -> Self {
        let spec = Spec::parse("ruh:window=2,metric=mean,cap=on", "predictor", &[&FORM]);
        Ruh::new(&spec.expect("a valid spec"))
    }

    /// The prediction for a job from its user's present history.
    fn compute(&mut self, id: JobId, board: &Board) -> Seconds {
        let recent = self.recent_metric(board.job(id).user, id, board);
        self.prediction(recent, id, board)
    }

    /// The prediction for a job, given the result of `recent_metric`.
    fn prediction(&self, recent: Option<Seconds>, id: JobId, board: &Board) -> Seconds {
        let estimate = board.job(id).estimate;
        match recent {
            None => estimate,
            Some(recent) if self.cap => recent.min(estimate),
            Some(recent) => recent,
        }
    }

    /// The metric of the user's last jobs except `id`. None while there are too few.
    fn recent_metric(&mut self, user: i32, id: JobId, board: &Board) -> Option<Seconds> {
        let user = self.users.get(&user)?;
        // The last `window` jobs of a list: the terminated jobs, followed by the other running ones.
        let others = || user.running.iter().filter(|&&other| other != id);
        let running = others().count();
        let from_running = running.min(self.window);
        let from_terminated = self.window - from_running;
        if user.terminated.len() < from_terminated {
            return None;
        }
        self.recent.clear();
        self.recent.extend(user.terminated.range(user.terminated.len() - from_terminated..));
        self.recent.extend(others().skip(running - from_running).map(|&other| board.prediction(other)));
        Some(self.metric.of(&mut self.recent))
    }
}

impl Predictor for Ruh {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        let prediction = self.compute(id, board);
        board.predict(id, prediction);
        if self.propagate {
            self.users.entry(board.job(id).user).or_default().live.push(id);
        }
    }

    fn on_start(&mut self, id: JobId, board: &mut Board) {
        if self.running {
            self.users.entry(board.job(id).user).or_default().running.push(id);
        }
    }

    fn on_requeue(&mut self, id: JobId, board: &mut Board) {
        self.users.entry(board.job(id).user).or_default().running.retain(|&other| other != id);
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        let user = self.users.entry(board.job(id).user).or_default();
        let mut place = user.terminated.len();
        if self.by_arrival {
            let arrival = board.arrival(id);
            place = user.terminated_arrivals.partition_point(|&other| other < arrival);
            user.terminated_arrivals.insert(place, arrival);
            if user.terminated_arrivals.len() > self.window {
                user.terminated_arrivals.pop_front();
            }
        }
        user.terminated.insert(place, runtime);
        if user.terminated.len() > self.window {
            user.terminated.pop_front();
        }
        user.running.retain(|&other| other != id);
        if !self.propagate {
            return;
        }
        user.live.retain(|&other| other != id);
        let (live, user) = (std::mem::take(&mut user.live), board.job(id).user);
        // Equal for all jobs unless running jobs count, because a running job does not count for itself.
        let mut recent = self.recent_metric(user, id, board);
        for &other in &live {
            if self.running {
                recent = self.recent_metric(user, other, board);
            }
            board.predict_if_above_elapsed(other, self.prediction(recent, other, board));
        }
        self.users.entry(user).or_default().live = live;
    }

    fn predict_again(&mut self, id: JobId, board: &mut Board) {
        let prediction = self.compute(id, board);
        board.predict_if_above_elapsed(id, prediction);
    }

    fn on_cancellation(&mut self, id: JobId, board: &mut Board) {
        if let Some(user) = self.users.get_mut(&board.job(id).user) {
            user.live.retain(|&other| other != id);
        }
    }
}
