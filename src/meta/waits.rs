//! Predicted waits at a site, for policies: how long would this job wait there?

use super::policies::LEAST_STARTS;
use super::system::SiteMachine;
use crate::engine::{Arrival, Cancellation, End, Observer, Start};
use crate::job::Submission;
use crate::time::Time;
use crate::wait::{Learning, SiteOrder, WaitPredictor, quick_starter};

/// Observes one site, and predicts the wait of a job before it is sent there.
pub trait SiteWaitPredictor: Observer + Send {
    /// Time advances to this instant. Only the ends of this instant have been observed so far.
    fn advance_to(&mut self, _now: Time) {}
    /// Whether a job is predicted to start quickly.
    fn is_quick(&self, job: &Submission, now: Time) -> bool;
    /// How long a job is expected to wait, in seconds; None without a history.
    fn expected_wait(&self, job: &Submission, now: Time) -> Option<f64>;
}

/// Predictions from a site's history as in Kumar and Vadhiyar: quick starters, and two ranges with their probabilities.
pub(super) struct HistoryWaits {
    procs: u32,
    predictor: SiteOrder<WaitPredictor>,
}

impl HistoryWaits {
    pub fn new(machine: &SiteMachine) -> HistoryWaits {
        // Probabilities are trained when they may first be needed, and then as often as in the paper: every 5,000 jobs
        // that arrive at the site.
        let learning = Learning { first: LEAST_STARTS, ..Learning::default() };
        let predictor = WaitPredictor::new(machine.procs, learning, 1);
        HistoryWaits { procs: machine.procs, predictor: SiteOrder::new(predictor) }
    }
}

impl Observer for HistoryWaits {
    fn on_arrival(&mut self, arrival: &Arrival<'_>) {
        self.predictor.on_arrival(arrival);
    }

    fn on_start(&mut self, start: &Start<'_>) {
        self.predictor.on_start(start);
    }

    fn on_end(&mut self, end: &End<'_>) {
        self.predictor.on_end(end);
    }

    fn on_cancellation(&mut self, cancellation: &Cancellation<'_>) {
        self.predictor.on_cancellation(cancellation);
    }
}

impl SiteWaitPredictor for HistoryWaits {
    fn advance_to(&mut self, now: Time) {
        self.predictor.advance_to(now);
    }

    fn is_quick(&self, job: &Submission, _: Time) -> bool {
        let (predictor, _) = self.predictor.handler();
        quick_starter(job, predictor.state().occupied(), self.procs, &predictor.window())
    }

    fn expected_wait(&self, job: &Submission, now: Time) -> Option<f64> {
        let (predictor, ahead) = self.predictor.handler();
        predictor.predict_behind(job, ahead, now).map(|prediction| prediction.expected_wait())
    }
}
