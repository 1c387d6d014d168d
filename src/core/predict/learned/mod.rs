//! Learned: a linear model of the runtime, learned job by job (Gaussier, Glesser, Reis and Trystram, "Improving
//! backfilling by using machine learning to predict running times", SC'15).
//!
//! [`features`] has what the model is given, [`nag`] the model and how it learns. Where the paper and the authors' program
//! differ, this is their program. A slow version in the tests computes the same from a list of all jobs.

mod features;
mod nag;

use rustc_hash::FxHashMap;

use super::board::Board;
use super::deadline;
use super::predictor::Predictor;
use crate::job::JobId;
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::Seconds;

use features::{Base, LearnedUser, expand};
use nag::{Loss, Nag};

pub const FORM: Form = Form {
    name: "learned",
    about: "a linear model of 157 features of the job and its user, learned job by job (Gaussier et al.)",
    keys: &[
        Key::choice(
            "loss",
            &["e", "squared", "abs"],
            "what an error costs; e: the square of what is too long, the amount of what is too short, large jobs more",
        ),
        Key::choice(
            "last",
            &["runtime", "asrun"],
            "the features of last jobs: their runtimes, or as the authors ran it, the time since their submission",
        ),
        Key { name: "eta", kind: Kind::ABOVE_0, default: "5000", about: "the size of a step of learning" },
        Key::new("lambda", Kind::AT_LEAST_0, "4000000000", "how strongly large weights are reduced"),
    ],
};

/// All jobs of unknown users (-1) count as one user's. A job without an estimate in the log counts with the one assigned
/// to it. Nothing is propagated: a job keeps the prediction of its arrival until it misses a deadline.
pub struct LearnedPredictor {
    model: Nag,
    since_submission: bool,
    users: FxHashMap<i32, LearnedUser>,
    /// The jobs in the system.
    jobs: FxHashMap<JobId, Arrived>,
}

/// What is kept of a job from its arrival to its end.
struct Arrived {
    features: Base,
    prediction: Seconds,
}

impl LearnedPredictor {
    pub fn new(spec: &Spec) -> Self {
        let loss = match spec.text("loss") {
            "squared" => Loss::Squared,
            "abs" => Loss::Absolute,
            _ => Loss::E,
        };
        LearnedPredictor {
            model: Nag::new(loss, spec.real("eta"), spec.real("lambda")),
            since_submission: spec.text("last") == "asrun",
            users: FxHashMap::default(),
            jobs: FxHashMap::default(),
        }
    }

    fn compute(&self, features: &Base, estimate: Seconds) -> Seconds {
        let value = self.model.value(&expand(features)).abs();
        (value as Seconds).clamp(1, estimate)
    }
}

impl Predictor for LearnedPredictor {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        let job = *board.job(id);
        let user = self.users.entry(job.user).or_default();
        let features = user.features(&job, board.now(), board.unix_start(), self.since_submission);
        let prediction = self.compute(&features, job.estimate);
        self.jobs.insert(id, Arrived { features, prediction });
        board.predict(id, prediction);
    }

    fn on_start(&mut self, id: JobId, board: &mut Board) {
        let job = board.job(id);
        self.users.entry(job.user).or_default().start(id, job.procs, board.now());
    }

    fn on_requeue(&mut self, id: JobId, board: &mut Board) {
        self.users.entry(board.job(id).user).or_default().requeue(id);
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        let job = *board.job(id);
        self.users.entry(job.user).or_default().end(id, &job, runtime, board.now());
        if let Some(Arrived { features, .. }) = self.jobs.remove(&id) {
            self.model.learn(&expand(&features), runtime as f64, f64::from(job.procs));
        }
    }

    /// Below the estimate, the increments are added to the first prediction and not to the last one.
    fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
        let (estimate, elapsed) = (board.job(id).estimate, board.elapsed(id));
        match self.jobs.get(&id) {
            Some(arrived) if board.prediction(id) < estimate && elapsed < estimate => {
                let longer = arrived.prediction + deadline::increment(board.misses(id));
                board.predict(id, if longer > elapsed { longer.min(estimate) } else { estimate });
            }
            _ => deadline::add_increment(id, board),
        }
    }

    fn on_cancellation(&mut self, id: JobId, _board: &mut Board) {
        self.jobs.remove(&id);
    }

    /// As in the authors' program, the features stay those of the arrival; only the model is the present one.
    fn predict_again(&mut self, id: JobId, board: &mut Board) {
        let Some(arrived) = self.jobs.get(&id) else { return };
        let prediction = self.compute(&arrived.features, board.job(id).estimate);
        if prediction > board.elapsed(id) {
            self.jobs.entry(id).and_modify(|arrived| arrived.prediction = prediction);
        }
        board.predict_if_above_elapsed(id, prediction);
    }
}
