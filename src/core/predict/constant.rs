//! Constant: the same prediction for all jobs (Talby et al., Listing 2 and section 7). It uses no information.

use super::board::Board;
use super::deadline;
use super::predictor::Predictor;
use crate::job::JobId;
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::Seconds;

pub const FORM: Form = Form {
    name: "constant",
    about: "the same for all jobs, growing while a job outlives it; uses no information",
    keys: &[Key::new("seconds", Kind::Seconds { least: 1 }, "1", "the prediction at arrival")],
};

/// Does not use the user or the estimate of a job, so both may be unknown.
pub struct Constant {
    seconds: Seconds,
}

impl Constant {
    pub fn new(spec: &Spec) -> Self {
        Constant { seconds: spec.duration("seconds") }
    }
}

impl Predictor for Constant {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        board.predict(id, self.seconds);
    }

    /// Does not use the estimate, because this predictor uses no information.
    fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
        deadline::add_increment(id, board);
    }
}
