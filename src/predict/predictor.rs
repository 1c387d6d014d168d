//! The predictor interface (Talby et al., Listing 1) and its contract.

use super::board::Board;
use super::deadline;
use crate::job::JobId;
use crate::time::Seconds;

/// A runtime predictor: four events and cancellation, at each of which it may write predictions for any waiting or running
/// jobs on the [`Board`].
///
/// The contract, which the engine checks: a prediction for the job itself at its arrival and at a missed deadline, and
/// every prediction at least a second and more than the job has run already. A predictor that breaks it ends the
/// simulation with an error that names the predictor, the job and the time.
///
/// The job's submission is `board.job(id)`. The runtime of a job is first told in [`Predictor::on_termination`];
/// nothing else a predictor can reach knows it.
///
/// The paper's events return lists of predictions; here they are written one by one, so that each is in force before
/// the next is computed.
pub trait Predictor: Send {
    /// A job arrives: predict it.
    fn on_arrival(&mut self, id: JobId, board: &mut Board);

    /// A job starts. By default nothing changes.
    fn on_start(&mut self, _id: JobId, _board: &mut Board) {}

    /// A job has ended after `runtime` seconds; it is already gone from the system. By default nothing changes.
    fn on_termination(&mut self, _id: JobId, _runtime: Seconds, _board: &mut Board) {}

    /// A running job has outlived its prediction: predict it anew. By default a prediction below the user's estimate
    /// is raised to the estimate, any other by growing steps.
    fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
        deadline::raise_to_estimate(id, board);
    }

    /// A waiting job was withdrawn; it is already gone. No log has such an event and the paper does not know it, but a
    /// job queued at several machines is withdrawn from all but one. By default nothing changes.
    fn on_cancellation(&mut self, _id: JobId, _board: &mut Board) {}

    /// This predictor as an oracle, if it is one: the engine then tells it the runtime of each job that arrives, instead of
    /// calling [`Predictor::on_arrival`].
    fn as_oracle(&mut self) -> Option<&mut dyn Oracle> {
        None
    }

    /// This predictor as one that can be asked again, if it is one.
    fn as_asked_again(&mut self) -> Option<&mut dyn AskedAgain> {
        None
    }
}

/// A predictor that can be asked about a job in the system once more, with what it has learned since the arrival.
pub trait AskedAgain {
    /// Predict a waiting job, or one that has just started, as if it arrived now.
    fn predict_again(&mut self, id: JobId, board: &mut Board);
}

/// A predictor that knows the truth, as none of a real machine could. It is another trait, so that no other predictor can
/// come by a runtime before its job has ended.
pub trait Oracle {
    /// A job arrives that will run for `runtime` seconds: predict it.
    fn on_arrival_knowing(&mut self, id: JobId, runtime: Seconds, board: &mut Board);
}
