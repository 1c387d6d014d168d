//! Estimate: what the user says (Talby et al., Listing 2). With the `easy` scheduler this is plain EASY.

use super::board::Board;
use super::predictor::{AskedAgain, Predictor};
use crate::job::JobId;
use crate::spec::Form;

pub const FORM: Form = Form { name: "estimate", about: "the user's estimate; with easy, plain EASY", keys: &[] };

/// A job without an estimate of its own is predicted by the one it was given, as a site's default limit would be.
pub struct Estimate;

impl Predictor for Estimate {
    /// A prediction is then never below the estimate, so the common rule for missed deadlines adds increments only.
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        board.predict(id, board.job(id).estimate);
    }

    fn as_asked_again(&mut self) -> Option<&mut dyn AskedAgain> {
        Some(self)
    }
}

/// It says the same whenever it is asked: what was written at the arrival holds.
impl AskedAgain for Estimate {
    fn predict_again(&mut self, _id: JobId, _board: &mut Board) {}
}
