//! Kin: a weighted mean of the runtimes of the user's recent jobs. The more similar and the more recent a past job is, the
//! more it weighs.
//!
//! [`past`] has the jobs that have ended, [`evidence`] their weights for a job, [`power_mean`] the mean, [`coefficients`] what
//! each kind of similarity counts and how that is learned, [`elementary`] fast logarithms and exponentials. A slow version in
//! the tests computes the same from a list of all jobs.

mod coefficients;
mod elementary;
mod evidence;
mod past;
mod power_mean;

use rustc_hash::FxHashMap;

use super::board::Board;
use super::predictor::Predictor;
use crate::job::{ArrivalNumber, JobId, Submission};
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::Seconds;

use coefficients::Coefficients;
use evidence::{Evidence, Past, Query};
use past::{KinClasses, KinHistory};
use power_mean::PowerMean;

pub const FORM: Form = Form {
    name: "kin",
    about: "a mean of the user's recent jobs, weighted by their similarity to the job; made for sjbf:running=estimate",
    keys: &[
        Key::new("learn", Kind::Switch, "on", "learn from each job that ends how much each kind of similarity counts"),
        Key::whole("history", 1, "32", "the number of the user's last ended jobs that count"),
        Key {
            name: "power",
            kind: Kind::ABOVE_0,
            default: "0.5",
            about: "the power of the mean; 1 is the arithmetic mean, a smaller one gives short runtimes more influence",
        },
        Key::new("propagate", Kind::Switch, "on", "when a job ends, predict its user's waiting jobs again"),
    ],
};

/// All jobs of unknown users (-1) share one history. A job without an estimate in the log counts with the one assigned to
/// it. Running jobs keep their predictions until they miss a deadline.
pub struct Kin {
    learn: bool,
    propagate: bool,
    capacity: usize,
    mean: PowerMean,
    coefficients: Coefficients,
    classes: KinClasses,
    /// By number in `numbers`.
    users: Vec<KinUser>,
    numbers: FxHashMap<i32, u32>,
    /// Scratch: what is known about one job.
    evidence: Evidence,
}

#[derive(Default)]
struct KinUser {
    history: KinHistory,
    /// Waiting jobs in order of arrival (kept for `propagate`).
    waiting: Vec<(ArrivalNumber, JobId)>,
}

impl KinUser {
    fn stop_waiting(&mut self, arrival: ArrivalNumber) {
        if let Ok(at) = self.waiting.binary_search_by_key(&arrival, |job| job.0) {
            self.waiting.remove(at);
        }
    }
}

impl Kin {
    pub fn new(spec: &Spec) -> Self {
        Kin {
            learn: spec.switch("learn"),
            propagate: spec.switch("propagate"),
            capacity: usize::try_from(spec.whole("history")).unwrap_or(usize::MAX),
            mean: PowerMean::new(spec.real("power")),
            coefficients: Coefficients::default(),
            classes: KinClasses::default(),
            users: Vec::new(),
            numbers: FxHashMap::default(),
            evidence: Evidence::default(),
        }
    }

    /// The index of a user in `users`.
    fn user(&mut self, user: i32) -> usize {
        let next = self.users.len() as u32;
        let at = *self.numbers.entry(user).or_insert(next);
        if at == next {
            self.users.push(KinUser::default());
        }
        at as usize
    }

    /// The prediction for a job of this user from all that has ended.
    fn compute(&mut self, user: usize, job: &Submission) -> Seconds {
        let Kin { mean, coefficients, classes, users, evidence, .. } = self;
        let query = Query::new(job, mean);
        let past = Past { history: &users[user].history, capacity: self.capacity, classes };
        evidence.collect(&query, &past, coefficients, mean);
        evidence.predict(&query, mean)
    }

    /// Predicts these waiting jobs of a user again. They are often a series of equal jobs, hundreds of them on a busy
    /// machine, so whatever is the same as for the job before is not computed again.
    fn compute_all(&mut self, user: usize, waiting: &[(ArrivalNumber, JobId)], board: &mut Board) {
        let Kin { mean, coefficients, classes, users, evidence, .. } = self;
        let past = Past { history: &users[user].history, capacity: self.capacity, classes };
        let mut last: Option<Query> = None;
        let mut prediction = 0;
        for &(_, id) in waiting {
            let job = *board.job(id);
            match &mut last {
                Some(last) if last.is_of_one_series(&job) => {
                    if last.job.submit != job.submit {
                        last.job = job;
                        evidence.weigh_by_time(last, &past, coefficients);
                        prediction = evidence.predict(last, mean);
                    }
                }
                _ => {
                    let query = Query::new(&job, mean);
                    evidence.collect(&query, &past, coefficients, mean);
                    prediction = evidence.predict(&query, mean);
                    last = Some(query);
                }
            }
            board.predict_if_above_elapsed(id, prediction);
        }
    }
}

impl Predictor for Kin {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        let job = *board.job(id);
        let user = self.user(job.user);
        let prediction = self.compute(user, &job);
        board.predict(id, prediction);
        if self.propagate {
            self.users[user].waiting.push((board.arrival(id), id));
        }
    }

    fn on_start(&mut self, id: JobId, board: &mut Board) {
        if self.propagate {
            let user = self.user(board.job(id).user);
            self.users[user].stop_waiting(board.arrival(id));
        }
    }

    fn on_requeue(&mut self, id: JobId, board: &mut Board) {
        if self.propagate {
            let user = self.user(board.job(id).user);
            let waiting = &mut self.users[user].waiting;
            let job = (board.arrival(id), id);
            waiting.insert(waiting.partition_point(|other| *other < job), job);
        }
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        let job = *board.job(id);
        let user = self.user(job.user);
        if self.learn {
            // From the past as it was before this job is part of it.
            let Kin { mean, coefficients, classes, users, evidence, .. } = self;
            let query = Query::new(&job, mean);
            let past = Past { history: &users[user].history, capacity: self.capacity, classes };
            evidence.collect(&query, &past, coefficients, mean);
            evidence.learn(&query, &past, runtime, coefficients);
        }
        self.users[user].history.add(&job, runtime, self.capacity, &self.mean);
        self.classes.add(&job, runtime);
        if !self.propagate || self.users[user].waiting.is_empty() {
            return;
        }
        let waiting = std::mem::take(&mut self.users[user].waiting);
        self.compute_all(user, &waiting, board);
        self.users[user].waiting = waiting;
    }

    fn on_cancellation(&mut self, id: JobId, board: &mut Board) {
        let user = self.user(board.job(id).user);
        self.users[user].stop_waiting(board.arrival(id));
    }

    fn predict_again(&mut self, id: JobId, board: &mut Board) {
        let job = *board.job(id);
        let user = self.user(job.user);
        let prediction = self.compute(user, &job);
        board.predict_if_above_elapsed(id, prediction);
    }
}
