//! A wrapper for predictors that predicts every job again when it starts. `sim search` uses it to compare predictors on
//! the log's own schedule.

use super::board::Board;
use super::predictor::{Oracle, Predictor};
use crate::job::JobId;
use crate::time::Seconds;
use crate::trace::RunFacts;

/// A predictor that also predicts each job again at its start.
pub struct PredictAtStart(pub Box<dyn Predictor>);

impl Predictor for PredictAtStart {
    fn on_begin(&mut self, facts: &RunFacts) {
        self.0.on_begin(facts);
    }

    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        self.0.on_arrival(id, board);
    }

    fn on_start(&mut self, id: JobId, board: &mut Board) {
        self.0.on_start(id, board);
        self.0.predict_again(id, board);
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        self.0.on_termination(id, runtime, board);
    }

    fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
        self.0.on_deadline_missed(id, board);
    }

    fn on_requeue(&mut self, id: JobId, board: &mut Board) {
        self.0.on_requeue(id, board);
    }

    fn on_cancellation(&mut self, id: JobId, board: &mut Board) {
        self.0.on_cancellation(id, board);
    }

    fn as_oracle(&mut self) -> Option<&mut dyn Oracle> {
        self.0.as_oracle()
    }
}
