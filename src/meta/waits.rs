//! What a policy wants to hear of a site: how long would this job wait there?

use super::policies::LEAST_STARTS;
use super::system::SiteMachine;
use crate::engine::{Arrival, Cancellation, End, Observer, Start};
use crate::job::Submission;
use crate::time::Time;
use crate::wait::{Learning, SiteOrder, WaitPredictor, quick_starter};

/// Observes one site, and can be asked about a job before it is sent there. Asking changes nothing.
pub trait SiteWaitPredictor: Observer + Send {
    /// Time goes on to this instant. Nothing has happened at it yet but ends.
    fn advance_to(&mut self, _now: Time) {}
    /// Whether a job is predicted to start soon.
    fn is_quick(&self, job: &Submission, now: Time) -> bool;
    /// How long it is expected to wait, in seconds; none if nothing is known yet.
    fn expected_wait(&self, job: &Submission, now: Time) -> Option<f64>;
}

/// A site's history asked as Kumar and Vadhiyar do: quick starters, and two ranges with their probabilities.
pub(super) struct HistoryWaits {
    procs: u32,
    predictor: SiteOrder<WaitPredictor>,
}

impl HistoryWaits {
    pub fn new(machine: &SiteMachine) -> HistoryWaits {
        // Probabilities are learned when they may first be asked for, and then as often as in the paper: every 5,000 jobs
        // that come to the site.
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
