//! Downey's lifetimes, as Smith et al. describe them (section 4): the distribution of run times of a queue is taken to
//! be logarithmic, F(t) = b0 + b1 ln t, and a job is predicted by what is left of it for jobs of its age.

use rustc_hash::FxHashMap;

use super::board::Board;
use super::deadline;
use super::predictor::{AskedAgain, Predictor};
use super::smith::category::whole_seconds;
use crate::job::{JobId, Submission};
use crate::model::{Lifetimes, UniformLog};
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::Seconds;

pub const FORM: Form = Form {
    name: "downey",
    about: "lifetimes: run times of a queue fitted by a logarithmic distribution, of which the median or mean is taken",
    keys: &[
        Key {
            name: "by",
            kind: Kind::Choice(&["queue", "user", "executable", "none"]),
            default: "queue",
            about: "whose run times are put together",
        },
        Key {
            name: "point",
            kind: Kind::Choice(&["median", "mean"]),
            default: "median",
            about: "what is taken of the distribution, given the job's age",
        },
    ],
};

/// Jobs are predicted as if they had run for a second when they arrive, as in the paper.
const FIRST_AGE: Seconds = 1;

/// Unknown queues, users and executables (-1) are values like any other. Where a category has too little to be fitted,
/// the estimate answers at arrival, and growing steps at a missed deadline.
pub struct Downey {
    by: fn(&Submission) -> i32,
    point: fn(&UniformLog, f64) -> f64,
    categories: FxHashMap<i32, Lifetimes>,
}

impl Downey {
    pub fn new(spec: &Spec) -> Self {
        Downey {
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

    /// The lifetime of a job of this age; none past the longest there can be.
    fn ask(&self, job: &Submission, age: Seconds) -> Option<f64> {
        let life = self.categories.get(&(self.by)(job))?.fit()?;
        let age = age as f64;
        // A fit through its longest run gives that run time but for the last digits, which must not decide.
        (age < life.longest() * (1.0 - 1e-9)).then(|| (self.point)(&life, age))
    }
}

impl Predictor for Downey {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        self.predict_again(id, board);
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        self.categories.entry((self.by)(board.job(id))).or_default().add(runtime as f64);
    }

    /// The same question for the age it has reached; growing steps where the distribution has no longer jobs.
    fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
        let elapsed = board.elapsed(id);
        match self.ask(board.job(id), elapsed) {
            Some(lifetime) => board.predict(id, whole_seconds(lifetime).max(elapsed + 1)),
            None => deadline::add_increment(id, board),
        }
    }

    fn as_asked_again(&mut self) -> Option<&mut dyn AskedAgain> {
        Some(self)
    }
}

impl AskedAgain for Downey {
    fn predict_again(&mut self, id: JobId, board: &mut Board) {
        let job = board.job(id);
        let prediction = self.ask(job, board.elapsed(id).max(FIRST_AGE)).map_or(job.estimate, whole_seconds);
        board.predict_if_above_elapsed(id, prediction);
    }
}
