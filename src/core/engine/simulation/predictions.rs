//! How predictions reach the machine and the policy. Each is recorded when the predictor makes it, and applied directly
//! before the next pass.

use super::{Hidden, Simulation};
use crate::engine::error::EngineError;
use crate::engine::observer::{Event, Observer, Occasion, PredictionChange, PredictionMade};
use crate::job::JobId;
use crate::predict::{BoardChange, BoardEntry, Fault, Stage};
use crate::schedule::{Change, Move, PolicyEvent};
use crate::time::Seconds;

impl Hidden {
    /// Whether a running job is counted by its estimate: no prediction is applied. Every other job has been predicted when
    /// it arrived.
    #[inline]
    fn is_counted_by_estimate(&self) -> bool {
        self.applied == 0
    }
}

impl<O: Observer> Simulation<O> {
    /// The length that a running job is counted with.
    #[inline]
    pub(super) fn counted_length(&self, place: usize) -> Seconds {
        let hidden = &self.hidden[place];
        match hidden.is_counted_by_estimate() {
            true => self.board.at(place).job.estimate,
            false => self.machine.length(hidden.applied),
        }
    }

    /// A job that starts is counted by its estimate from now on. Returns the estimate. None: there is no such job.
    #[inline]
    pub(super) fn count_by_estimate(&mut self, id: JobId) -> Option<Seconds> {
        let place = self.board.place(id)?;
        self.hidden[place].applied = 0;
        Some(self.board.at(place).job.estimate)
    }

    /// Handles the predictions that the predictor has written on the board.
    #[inline]
    pub(super) fn absorb(&mut self, event: Occasion, cause: JobId) -> Result<(), EngineError> {
        if self.board.has_changes() { self.absorb_changes(event, cause) } else { Ok(()) }
    }

    fn absorb_changes(&mut self, event: Occasion, cause: JobId) -> Result<(), EngineError> {
        let first_made = self.observers.0.history_len();
        let mut at = 0;
        while let Some(BoardChange { job, place, old, new }) = self.board.change(at) {
            at += 1;
            if old == new {
                continue;
            }
            let time = self.now();
            let made = PredictionMade { job, time, prediction: new, event, cause };
            let place = place as usize;
            let hidden = &mut self.hidden[place];
            let change = PredictionChange { place, made, old, runtime: hidden.runtime };
            self.observers.on(time, &Event::Prediction(change), &self.machine);
            if self.scheduler.is_outside {
                self.scheduler.policy.on(&PolicyEvent::Prediction(job, new), &self.machine);
            }
            if old == 0 {
                // Applied at once: most arriving jobs are predicted only once before the pass.
                hidden.applied = new;
                self.machine.change(Change::Predict { id: job, prediction: new, is_first: true });
            } else {
                if !std::mem::replace(&mut hidden.is_changed, true) {
                    self.changed.push(job);
                }
                self.watch_deadline(job, place);
            }
        }
        let board = self.board.board();
        self.observers.0.order_history(first_made, &|job| board.arrival(job));
        self.board.forget_changes();
        let Some(fault) = self.board.fault() else { return Ok(()) };
        let (predictor, time) = (self.predictor.name.clone(), self.now());
        Err(match fault {
            Fault::Failed(why) => EngineError::PredictorFailed { predictor, why: why.clone() },
            &Fault::Invalid { job, prediction, why } => {
                EngineError::BadPrediction { predictor, job: self.number(job), time, prediction, why }
            }
        })
    }

    /// Applies the predictions that have changed to the machine and the policy's indexes.
    #[inline]
    pub(super) fn apply_predictions(&mut self) {
        // One branch, because every pass comes here and most have nothing to apply.
        if !self.changed.is_empty() | self.scheduler.by_estimates {
            self.apply_changed();
        }
    }

    /// The running jobs that have outlived their estimates are counted by their predictions from now on. They are the first
    /// in order of counted ends: a job that still runs at its estimated end outlives it, and predictions are longer than
    /// jobs have run.
    fn apply_outlived(&mut self) {
        let now = self.now();
        let outlived: Vec<JobId> =
            self.machine.running.iter().take_while(|job| job.end <= now).map(|job| job.id).collect();
        for id in outlived {
            let place = self.place(id);
            let BoardEntry { job, stage, prediction, .. } = *self.board.at(place);
            if let Stage::Running { start } = stage
                && self.hidden[place].is_counted_by_estimate()
            {
                self.hidden[place].applied = prediction;
                let to = start + self.machine.length(prediction);
                self.moves.push(Move { id, from: start + job.estimate, to });
            }
        }
        self.machine.change(Change::Recount(&mut self.moves));
    }

    #[inline(never)]
    fn apply_changed(&mut self) {
        let mut changed = std::mem::take(&mut self.changed);
        for id in changed.drain(..) {
            // The job may have left since its prediction changed.
            let Some(place) = self.board.place(id) else { continue };
            let BoardEntry { stage, prediction: new, .. } = *self.board.at(place);
            let hidden = &mut self.hidden[place];
            hidden.is_changed = false;
            if hidden.is_counted_by_estimate() {
                continue;
            }
            let old = std::mem::replace(&mut hidden.applied, new);
            if old == new {
                continue;
            }
            match stage {
                Stage::Waiting => {
                    self.machine.change(Change::Predict { id, prediction: new, is_first: false });
                    if let Some(job) = self.machine.waiting.predicted() {
                        self.scheduler.policy.on(&PolicyEvent::Change(job), &self.machine);
                    }
                }
                Stage::Running { start } => {
                    let [from, to] = [old, new].map(|prediction| start + self.machine.length(prediction));
                    self.moves.push(Move { id, from, to });
                }
                Stage::Gone => {}
            }
        }
        self.machine.change(Change::Recount(&mut self.moves));
        self.changed = changed;
        if self.scheduler.by_estimates {
            self.apply_outlived();
        }
    }
}
