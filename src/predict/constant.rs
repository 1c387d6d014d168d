//! Constant: the same prediction for all (Talby et al., Listing 2 and section 7). No information at all.

use super::board::Board;
use super::deadline;
use super::predictor::{AskedAgain, Predictor};
use crate::job::JobId;
use crate::spec::{Form, Key, Kind, Spec};
use crate::time::Seconds;

pub const FORM: Form = Form {
    name: "constant",
    about: "the same for all jobs, growing while a job outlives it; uses no information",
    keys: &[Key {
        name: "seconds",
        kind: Kind::Seconds { least: 1 },
        default: "1",
        about: "the prediction at arrival",
    }],
};

/// Unknown users and missing estimates are nothing to it.
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

    /// Never the estimate: that would be information.
    fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
        deadline::add_increment(id, board);
    }

    fn as_asked_again(&mut self) -> Option<&mut dyn AskedAgain> {
        Some(self)
    }
}

/// It says the same whenever it is asked: what was written at the arrival holds.
impl AskedAgain for Constant {
    fn predict_again(&mut self, _id: JobId, _board: &mut Board) {}
}
