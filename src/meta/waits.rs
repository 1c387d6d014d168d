//! What a policy wants to hear of a site: how long would this job wait there?

use super::grid::Machine;
use super::policies::LEAST_STARTS;
use crate::job::{JobId, Submission};
use crate::time::Time;
use crate::wait::{Learning, WaitPredictor, quick_starter};

/// Somebody who watches one site and can be asked about a job before it is sent there.
///
/// Told in the order in which things happen; at one instant ends, then arrivals (asked about before they are told), then
/// starts and cancellations. Ids are the site's own, counted from 0. Asking changes nothing.
pub trait SiteWaits: Send {
    fn on_arrival(&mut self, id: JobId, job: &Submission, now: Time);
    fn on_start(&mut self, id: JobId, now: Time);
    fn on_end(&mut self, id: JobId, now: Time);
    fn on_cancellation(&mut self, id: JobId);
    /// Whether a job is predicted to start soon.
    fn is_quick(&self, job: &Submission, now: Time) -> bool;
    /// How long it is expected to wait, in seconds; none if nothing is known yet.
    fn expected_wait(&self, job: &Submission, now: Time) -> Option<f64>;
}

/// A site's history asked as Kumar and Vadhiyar do: quick starters, and two ranges with their probabilities.
pub(super) struct ByHistory {
    procs: u32,
    predictor: WaitPredictor,
}

impl ByHistory {
    pub fn new(machine: &Machine) -> ByHistory {
        // Probabilities are learned when they may first be asked for, and then as often as in the paper: every 5,000 jobs
        // that come to the site.
        let learning = Learning { first: LEAST_STARTS, ..Learning::default() };
        ByHistory { procs: machine.procs, predictor: WaitPredictor::new(machine.procs, learning, 1) }
    }
}

impl SiteWaits for ByHistory {
    fn on_arrival(&mut self, id: JobId, job: &Submission, now: Time) {
        self.predictor.on_arrival(id, job, now);
    }

    fn on_start(&mut self, id: JobId, now: Time) {
        self.predictor.on_start(id, now);
    }

    fn on_end(&mut self, id: JobId, now: Time) {
        self.predictor.on_end(id, now);
    }

    fn on_cancellation(&mut self, id: JobId) {
        self.predictor.on_cancellation(id);
    }

    fn is_quick(&self, job: &Submission, _: Time) -> bool {
        quick_starter(job, self.predictor.state().occupied(), self.procs, &self.predictor.window())
    }

    fn expected_wait(&self, job: &Submission, now: Time) -> Option<f64> {
        self.predictor.predict(job, now).map(|prediction| prediction.expected_wait())
    }
}
