//! The predictor interface (Talby et al., Listing 1) and its contract.

use super::board::Board;
use super::deadline;
use crate::job::JobId;
use crate::time::Seconds;
use crate::trace::RunFacts;

/// A runtime predictor. It is called at four kinds of events and at cancellations. At each of them it may write
/// predictions for any waiting or running jobs on the [`Board`].
///
/// The engine checks this contract: at its arrival and at a missed deadline, the job itself must be predicted; every
/// prediction must be at least one second and more than the job has already run. If a predictor breaks the contract, the
/// simulation ends with an error that names the predictor, the job and the time.
///
/// The job's submission is `board.job(id)`. A predictor gets the runtime of a job in [`Predictor::on_termination`] and
/// cannot read it anywhere else.
///
/// The paper's events return lists of predictions; here they are written one by one, so that each is in force before
/// the next is computed.
pub trait Predictor: Send {
    /// A simulation begins. Called once, before all other events. By default nothing happens.
    fn on_begin(&mut self, _facts: &RunFacts) {}

    /// A job arrives: predict it. By default that is [`Predictor::predict_again`]: a predictor has one of both, or it is an
    /// [`Oracle`].
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        self.predict_again(id, board);
    }

    /// A job starts. By default nothing changes.
    fn on_start(&mut self, _id: JobId, _board: &mut Board) {}

    /// A job has ended after `runtime` seconds; it is already gone from the system. By default nothing changes.
    fn on_termination(&mut self, _id: JobId, _runtime: Seconds, _board: &mut Board) {}

    /// A running job has outlived its prediction: predict it again. By default a prediction below the user's estimate
    /// is raised to the estimate, and any other grows by the increments of [`deadline`].
    fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
        deadline::raise_to_estimate(id, board);
    }

    /// A waiting job was withdrawn; it is already gone. Neither logs nor the paper have such an event, but a job that is
    /// queued at several machines is withdrawn from all but one. By default nothing changes.
    fn on_cancellation(&mut self, _id: JobId, _board: &mut Board) {}

    /// A running job was stopped to make way for another one, and waits again. It has not ended: nothing is known of its runtime
    /// but that it is longer. Its next start is a start like the first. By default nothing changes.
    fn on_requeue(&mut self, _id: JobId, _board: &mut Board) {}

    /// This predictor as an oracle, if it is one: the engine then calls [`Oracle::on_arrival_with_runtime`] instead of
    /// [`Predictor::on_arrival`].
    fn as_oracle(&mut self) -> Option<&mut dyn Oracle> {
        None
    }

    /// Predict a waiting job, or one that has just started, as if it arrived now, with the history since its arrival. By default
    /// the prediction stays: it does not depend on history, or the program that makes it answers starts itself.
    fn predict_again(&mut self, _id: JobId, _board: &mut Board) {}
}

/// A predictor that gets the true runtime at arrival, which is impossible on a real machine. It is a separate trait, so
/// that no other predictor gets a runtime before the job has ended.
pub trait Oracle {
    /// A job arrives that will run for `runtime` seconds: predict it.
    fn on_arrival_with_runtime(&mut self, id: JobId, runtime: Seconds, board: &mut Board);
}
