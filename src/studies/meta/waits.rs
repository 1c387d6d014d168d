//! Predicted waits at a site, for policies: how long would this job wait there?

use super::policies::LEAST_STARTS;
use super::system::SiteMachine;
use crate::engine::Observer;
use crate::job::Submission;
use crate::time::Time;
use crate::wait::{Learning, SiteOrder, WaitPredictor};

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
pub(super) fn history_waits(machine: &SiteMachine) -> SiteOrder<WaitPredictor> {
    // Probabilities are trained when they may first be needed, and then as often as in the paper: every 5,000 jobs that
    // arrive at the site.
    let learning = Learning { first: LEAST_STARTS, ..Learning::default() };
    SiteOrder::new(WaitPredictor::new(machine.procs, learning, 1))
}

impl SiteWaitPredictor for SiteOrder<WaitPredictor> {
    fn advance_to(&mut self, now: Time) {
        SiteOrder::advance_to(self, now);
    }

    fn is_quick(&self, job: &Submission, _: Time) -> bool {
        self.handler().0.is_quick(job)
    }

    fn expected_wait(&self, job: &Submission, now: Time) -> Option<f64> {
        let (predictor, ahead) = self.handler();
        predictor.predict_behind(job, ahead, now).map(|prediction| prediction.expected_wait())
    }
}
