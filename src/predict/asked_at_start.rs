//! Any predictor, asked once more when a job starts: so are rivals compared that the log's own schedule is replayed for.

use super::board::Board;
use super::predictor::{Oracle, Predictor};
use crate::job::JobId;
use crate::time::Seconds;

pub struct AskedAtStart(Box<dyn Predictor>);

impl AskedAtStart {
    /// None if the predictor cannot be asked again.
    pub fn new(mut predictor: Box<dyn Predictor>) -> Option<AskedAtStart> {
        predictor.as_asked_again().is_some().then(|| AskedAtStart(predictor))
    }
}

impl Predictor for AskedAtStart {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        self.0.on_arrival(id, board);
    }

    fn on_start(&mut self, id: JobId, board: &mut Board) {
        self.0.on_start(id, board);
        if let Some(predictor) = self.0.as_asked_again() {
            predictor.predict_again(id, board);
        }
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        self.0.on_termination(id, runtime, board);
    }

    fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
        self.0.on_deadline_missed(id, board);
    }

    fn on_cancellation(&mut self, id: JobId, board: &mut Board) {
        self.0.on_cancellation(id, board);
    }

    fn as_oracle(&mut self) -> Option<&mut dyn Oracle> {
        self.0.as_oracle()
    }
}
