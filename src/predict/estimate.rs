//! Estimate: what the user says (Talby et al., Listing 2). With the `easy` scheduler this is plain EASY.

use super::board::Board;
use super::predictor::Predictor;
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
}
