//! What a policy wants to hear of a site: how long would this job wait there?

use crate::job::{JobId, Submission};
use crate::time::Time;

/// What is expected of a job at a site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectation {
    /// It is predicted to start soon: within an hour, say.
    pub quick: bool,
    /// The expected wait in seconds.
    pub wait: f64,
}

/// Somebody who watches one site and can be asked about a job before it is sent there.
///
/// Told in the order in which things happen; at one instant ends, then arrivals (asked about before they are told), then
/// starts and cancellations. Ids are the site's own, counted from 0. Asking changes nothing.
pub trait SiteWaits: Send {
    fn on_arrival(&mut self, id: JobId, job: &Submission, now: Time);
    fn on_start(&mut self, id: JobId, now: Time);
    fn on_end(&mut self, id: JobId, now: Time);
    fn on_cancellation(&mut self, id: JobId);
    /// None if nothing is known yet.
    fn expect(&self, job: &Submission, now: Time) -> Option<Expectation>;
}
