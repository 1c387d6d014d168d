//! Estimate: the user's own estimate (Talby et al., Listing 2). With the `easy` scheduler this is plain EASY.

use super::board::Board;
use super::predictor::Predictor;
use crate::job::JobId;
use crate::spec::Form;

pub const FORM: Form = Form { name: "estimate", about: "the user's estimate; with easy, plain EASY", keys: &[] };

/// A job without an estimate in the log is predicted by the one assigned when the log was read, like a site's default
/// limit.
pub struct Estimate;

impl Predictor for Estimate {
    /// Predictions are never below the estimate, so the default rule for missed deadlines only adds increments.
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        board.predict(id, board.job(id).estimate);
    }
}
