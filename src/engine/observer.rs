//! Observers: whoever wants to know what happens in a simulation.
//!
//! The engine is the only place that says what happens in which order ([`super::Simulation`]). The recorder, load meters,
//! histories of waits, the judge of templates and writers of events are observers of that one stream; a log's own schedule
//! is the same stream under the scheduler `replay`.

use crate::job::{JobId, Submission};
use crate::time::{Seconds, Time};

use super::recorder::PredictionMade;

/// Something that observes a simulation. All methods do nothing by default.
///
/// Events come in the order of [`super::Simulation`], their times never decrease. Observers may know the truth (a
/// [`Start`] has the runtime), unlike predictors; what they observe never changes the simulation.
///
/// ```
/// use shadowtime::engine::{End, Observer, Start};
/// use shadowtime::experiment::Setting;
///
/// /// The most processors in use at once.
/// #[derive(Default)]
/// struct Peak {
///     used: u32,
///     most: u32,
/// }
///
/// impl Observer for Peak {
///     fn on_start(&mut self, start: &Start<'_>) {
///         self.used += start.submission.procs;
///         self.most = self.most.max(self.used);
///     }
///
///     fn on_end(&mut self, end: &End<'_>) {
///         self.used -= end.submission.procs;
///     }
/// }
///
/// let workload = shadowtime::trace::demo_workload();
/// let setting = Setting::parse("easy", "estimate").unwrap();
/// let mut peak = Peak::default();
/// setting.run(&workload, &mut peak, &mut |_| ()).unwrap();
/// assert!(peak.used == 0 && peak.most <= workload.procs);
/// ```
pub trait Observer {
    /// A job joins the queue. No prediction has been made for it yet.
    fn on_arrival(&mut self, _arrival: &Arrival<'_>) {}

    /// A prediction is replaced by another, or made for the first time.
    fn on_prediction(&mut self, _change: &PredictionChange) {}

    /// A job has started. Told after the pass that started it, when the predictor has heard of all its starts.
    fn on_start(&mut self, _start: &Start<'_>) {}

    /// A running job has outlived its prediction. Told before the predictor is asked for another.
    fn on_miss(&mut self, _miss: &Miss) {}

    /// A job has ended. Told before the predictor hears of it.
    fn on_end(&mut self, _end: &End<'_>) {}

    /// A waiting job is withdrawn. Told before the predictor hears of it.
    fn on_cancellation(&mut self, _cancellation: &Cancellation<'_>) {}
}

/// A job and its place: a small number that no other job in the system has at the same time, so that an observer can keep
/// what it knows of jobs in a vector. Jobs that have left make room for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    pub id: JobId,
    pub place: usize,
}

/// A job joins the queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    pub time: Time,
    pub job: Placed,
    pub submission: &'a Submission,
}

/// A prediction is replaced by another.
#[derive(Clone, Copy, Debug)]
pub struct PredictionChange {
    pub place: usize,
    pub made: PredictionMade,
    /// The prediction that held until now; 0 if there was none.
    pub old: Seconds,
    pub runtime: Seconds,
}

/// A job has started.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    pub time: Time,
    pub job: Placed,
    pub submission: &'a Submission,
    pub runtime: Seconds,
    /// The prediction in force.
    pub prediction: Seconds,
    /// Whether a job that arrived earlier still waits after the pass.
    pub backfilled: bool,
    /// Whether the runtime lies within the confidence interval of the prediction, if that has one.
    pub inside: Option<bool>,
}

/// A running job has outlived its prediction.
#[derive(Clone, Copy, Debug)]
pub struct Miss {
    pub time: Time,
    pub job: Placed,
    /// The prediction that was missed, and how many the job has missed with this one.
    pub prediction: Seconds,
    pub misses: u32,
}

/// A job has ended.
#[derive(Clone, Copy, Debug)]
pub struct End<'a> {
    pub time: Time,
    pub job: Placed,
    pub submission: &'a Submission,
    pub runtime: Seconds,
    /// The prediction in force, and how many deadlines the job has missed.
    pub prediction: Seconds,
    pub misses: u32,
}

/// A waiting job is withdrawn.
#[derive(Clone, Copy, Debug)]
pub struct Cancellation<'a> {
    pub time: Time,
    pub job: Placed,
    pub submission: &'a Submission,
}

/// Nobody observes.
impl Observer for () {}

/// Two observers: the first hears of everything first.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn on_arrival(&mut self, arrival: &Arrival<'_>) {
        self.0.on_arrival(arrival);
        self.1.on_arrival(arrival);
    }

    fn on_prediction(&mut self, change: &PredictionChange) {
        self.0.on_prediction(change);
        self.1.on_prediction(change);
    }

    fn on_start(&mut self, start: &Start<'_>) {
        self.0.on_start(start);
        self.1.on_start(start);
    }

    fn on_miss(&mut self, miss: &Miss) {
        self.0.on_miss(miss);
        self.1.on_miss(miss);
    }

    fn on_end(&mut self, end: &End<'_>) {
        self.0.on_end(end);
        self.1.on_end(end);
    }

    fn on_cancellation(&mut self, cancellation: &Cancellation<'_>) {
        self.0.on_cancellation(cancellation);
        self.1.on_cancellation(cancellation);
    }
}

/// An observer that someone else keeps.
impl<O: Observer + ?Sized> Observer for &mut O {
    fn on_arrival(&mut self, arrival: &Arrival<'_>) {
        (**self).on_arrival(arrival);
    }

    fn on_prediction(&mut self, change: &PredictionChange) {
        (**self).on_prediction(change);
    }

    fn on_start(&mut self, start: &Start<'_>) {
        (**self).on_start(start);
    }

    fn on_miss(&mut self, miss: &Miss) {
        (**self).on_miss(miss);
    }

    fn on_end(&mut self, end: &End<'_>) {
        (**self).on_end(end);
    }

    fn on_cancellation(&mut self, cancellation: &Cancellation<'_>) {
        (**self).on_cancellation(cancellation);
    }
}
