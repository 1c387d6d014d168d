//! Downey's lifetimes, as Smith et al. describe them (section 4): the run times of a queue are assumed to have a
//! logarithmic distribution, F(t) = b0 + b1 ln t. A job is predicted by this distribution conditioned on its age.

use rustc_hash::FxHashMap;

use super::board::Board;
use super::deadline;
use super::predictor::Predictor;
use super::smith::category::whole_seconds;
use crate::job::{JobId, Submission};
use crate::model::{Lifetimes, UniformLog};
use crate::spec::{Form, Key, Spec};
use crate::time::Seconds;

pub const FORM: Form = Form {
    name: "downey",
    about: "lifetimes: the median or mean of a logarithmic distribution that is fitted to the run times of a queue",
    keys: &[
        Key::choice("by", &["queue", "user", "executable", "none"], "which jobs share one distribution"),
        Key::choice("point", &["median", "mean"], "which value of the distribution is predicted, given the job's age"),
    ],
};

/// The age at which a job is predicted when it arrives, as in the paper.
const FIRST_AGE: Seconds = 1;

/// Unknown queues, users and executables (-1) are values like any other. If a category has too few jobs for a fit, the
/// prediction is the estimate at arrival, and grows by [`deadline::add_increment`] at a missed deadline.
pub struct DowneyPredictor {
    by: fn(&Submission) -> i32,
    point: fn(&UniformLog, f64) -> f64,
    categories: FxHashMap<i32, Lifetimes>,
}

impl DowneyPredictor {
    pub fn new(spec: &Spec) -> Self {
        DowneyPredictor {
            by: match spec.text("by") {
                "queue" => |job| job.queue,
                "user" => |job| job.user,
                "executable" => |job| job.executable,
                _ => |_| 0,
            },
            point: if spec.text("point") == "mean" { UniformLog::mean_at_age } else { UniformLog::median_at_age },
            categories: FxHashMap::default(),
        }
    }

    /// The predicted runtime of a job of this age. None if the category has no fit, or the age is at least the longest
    /// run time of the fit.
    fn lifetime(&self, job: &Submission, age: Seconds) -> Option<f64> {
        let life = self.categories.get(&(self.by)(job))?.fit()?;
        let age = age as f64;
        // The fit's longest run time may differ from the longest run in the last digits, which must not matter here.
        (age < life.longest() * (1.0 - 1e-9)).then(|| (self.point)(&life, age))
    }
}

impl Predictor for DowneyPredictor {
    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        self.categories.entry((self.by)(board.job(id))).or_default().add(runtime as f64);
    }

    /// Predicts by the age that the job has reached; adds an increment if the fit has no longer run times.
    fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
        let elapsed = board.elapsed(id);
        match self.lifetime(board.job(id), elapsed) {
            Some(lifetime) => board.predict(id, whole_seconds(lifetime).max(elapsed + 1)),
            None => deadline::add_increment(id, board),
        }
    }

    fn predict_again(&mut self, id: JobId, board: &mut Board) {
        let job = board.job(id);
        let lifetime = self.lifetime(job, board.elapsed(id).max(FIRST_AGE));
        let prediction = lifetime.map_or(job.estimate, whole_seconds);
        board.set_answered(id, lifetime.is_some());
        board.predict_if_above_elapsed(id, prediction);
    }
}
