//! Perfect: the runtime itself (Talby et al., Listing 2). What better information can gain at most.

use super::board::Board;
use super::predictor::{AskedAgain, Oracle, Predictor};
use crate::job::JobId;
use crate::spec::Form;
use crate::time::Seconds;

pub const FORM: Form = Form { name: "perfect", about: "the runtime itself, as no one can know it", keys: &[] };

/// Knows the runtimes because it is told them: the one oracle.
pub struct Perfect;

impl Oracle for Perfect {
    fn on_arrival_knowing(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        board.predict(id, runtime);
    }
}

impl Predictor for Perfect {
    fn on_arrival(&mut self, _id: JobId, _board: &mut Board) {
        unreachable!("an oracle is told the runtime");
    }

    fn as_oracle(&mut self) -> Option<&mut dyn Oracle> {
        Some(self)
    }

    fn as_asked_again(&mut self) -> Option<&mut dyn AskedAgain> {
        Some(self)
    }
}

/// The truth does not change: what was written at the arrival holds.
impl AskedAgain for Perfect {
    fn predict_again(&mut self, _id: JobId, _board: &mut Board) {}
}
