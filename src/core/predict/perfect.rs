//! Perfect: the runtime itself (Talby et al., Listing 2). It shows the most that better predictions can gain.

use super::board::Board;
use super::predictor::{Oracle, Predictor};
use crate::job::JobId;
use crate::spec::Form;
use crate::time::Seconds;

pub const FORM: Form = Form { name: "perfect", about: "the true runtime, which is unknown in practice", keys: &[] };

/// The only oracle of the catalog.
pub struct Perfect;

impl Oracle for Perfect {
    fn on_arrival_with_runtime(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        board.predict(id, runtime);
    }
}

impl Predictor for Perfect {
    fn as_oracle(&mut self) -> Option<&mut dyn Oracle> {
        Some(self)
    }
}
