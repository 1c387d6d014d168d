//! Observers: code that is called for every event of a simulation.
//!
//! The engine alone defines the order of events ([`super::Simulation`]). The recorder, load meters, histories of waits
//! and the evaluation of templates are observers of this one stream. A log's own schedule is the same stream under the
//! scheduler `replay`.

use crate::job::{JobId, Submission};
use crate::machine::NodeShare;
use crate::schedule::View;
use crate::time::{Seconds, Time};

/// Something that observes a simulation. All methods do nothing by default.
///
/// Events come in the order of [`super::Simulation`]; their times never decrease. Unlike predictors, observers can read
/// the true runtime (as in [`Start`]). An observer cannot change the simulation.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
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
/// setting.run(&workload, Some(&mut peak), &mut |_| ()).unwrap();
/// assert!(peak.used == 0 && peak.most <= workload.procs);
/// ```
pub trait Observer {
    /// A job joins the queue. No prediction has been made for it yet.
    fn on_arrival(&mut self, _arrival: &Arrival<'_>) {}

    /// A prediction is replaced by another, or made for the first time.
    fn on_prediction(&mut self, _change: &PredictionChange) {}

    /// A job has started. Called after the pass, and after the predictor's `on_start` for all jobs that the pass started.
    fn on_start(&mut self, _start: &Start<'_>) {}

    /// The most reservations that the observer wants to see after each pass: the first in the order of the queue. To make
    /// them visible costs time, so there are none by default.
    fn wanted_reservations(&self) -> usize {
        0
    }

    /// A job still waits after a pass, and the policy has reserved a start for it. Called after the starts of the pass.
    fn on_reservation(&mut self, _reservation: &Reservation) {}

    /// Whether the observer wants to see after each pass which jobs are held by a limit. That costs time.
    fn wants_held(&self) -> bool {
        false
    }

    /// The jobs that a limit holds after a pass, by their arrival, in this order. Called before [`Observer::on_pass`].
    fn on_held(&mut self, _held: &[JobId]) {}

    /// A pass has ended. Called after its starts and reservations. The view has the jobs that still wait, and what is free.
    fn on_pass(&mut self, _view: &View<'_>) {}

    /// A running job has outlived its prediction. Called before the predictor makes a new one.
    fn on_miss(&mut self, _miss: &Miss) {}

    /// A running job is stopped to make way for another one. If it is not requeued, its end follows.
    fn on_preemption(&mut self, _preemption: &Preemption<'_>) {}

    /// A job has ended. Called before the predictor's `on_termination`.
    fn on_end(&mut self, _end: &End<'_>) {}

    /// A waiting job is withdrawn. Called before the predictor's `on_cancellation`.
    fn on_cancellation(&mut self, _cancellation: &Cancellation<'_>) {}
}

/// A job and its place in tables of the jobs in the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The job's number in order of submission.
    pub id: JobId,
    /// A small number that no other job in the system has at the same time; it is used again after the job has left. An
    /// observer can store its data about jobs in a vector indexed by it.
    pub place: usize,
}

/// A job joins the queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The job's submit time.
    pub time: Time,
    /// The job that arrives.
    pub job: Placed,
    /// What is known of the job before it runs.
    pub submission: &'a Submission,
}

/// A prediction is replaced by another.
#[derive(Clone, Copy, Debug)]
pub struct PredictionChange {
    /// The place of the predicted job, as in [`Placed`].
    pub place: usize,
    /// The new prediction.
    pub made: PredictionMade,
    /// The prediction in force until now, in seconds; 0 if there was none.
    pub old: Seconds,
    /// The true runtime of the predicted job, in seconds.
    pub runtime: Seconds,
}

/// The event at which a prediction was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A job joined the queue.
    Arrival,
    /// A job started.
    Start,
    /// A job ended.
    Termination,
    /// A running job outlived its prediction.
    Miss,
    /// A waiting job was withdrawn.
    Cancellation,
    /// A running job was stopped and waits again.
    Requeue,
}

impl Event {
    /// As written in the history of predictions.
    pub fn name(self) -> &'static str {
        match self {
            Event::Arrival => "arrival",
            Event::Start => "start",
            Event::Termination => "termination",
            Event::Miss => "miss",
            Event::Cancellation => "cancellation",
            Event::Requeue => "requeue",
        }
    }
}

/// One entry of the history of predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictionMade {
    /// The job that is predicted.
    pub job: JobId,
    /// When the prediction was made.
    pub time: Time,
    /// The predicted runtime, in seconds.
    pub prediction: Seconds,
    /// The event at which it was made.
    pub event: Event,
    /// The job of that event. It differs from `job` when the prediction was propagated.
    pub cause: JobId,
}

/// A job has started.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// The instant of the start.
    pub time: Time,
    /// The job that starts.
    pub job: Placed,
    /// What is known of the job before it runs.
    pub submission: &'a Submission,
    /// The true runtime, in seconds.
    pub runtime: Seconds,
    /// The prediction in force, in seconds.
    pub prediction: Seconds,
    /// Whether a job that arrived earlier still waits after the pass.
    pub backfilled: bool,
    /// Whether the runtime lies within the confidence interval of the prediction. None if there is no interval.
    pub inside: Option<bool>,
    /// Whether the predictor says that the prediction comes from past jobs; see
    /// [`Board::set_answered`](crate::predict::Board::set_answered).
    pub answered: bool,
    /// What it was given, by node. Empty on a pool of processors.
    pub grant: &'a [NodeShare],
}

/// A start is reserved for a waiting job.
#[derive(Clone, Copy, Debug)]
pub struct Reservation {
    /// The instant of the pass.
    pub time: Time,
    /// The job that waits.
    pub job: Placed,
    /// The reserved start, by the predictions in force. The next pass may reserve another one.
    pub start: Time,
}

/// A running job has outlived its prediction.
#[derive(Clone, Copy, Debug)]
pub struct Miss {
    /// The instant at which the miss is handled.
    pub time: Time,
    /// The job that still runs.
    pub job: Placed,
    /// The prediction that was missed, in seconds.
    pub prediction: Seconds,
    /// The number of deadlines that the job has missed, this one included.
    pub misses: u32,
}

/// A running job is stopped to make way for another one.
#[derive(Clone, Copy, Debug)]
pub struct Preemption<'a> {
    /// The instant at which it is stopped.
    pub time: Time,
    /// The job that is stopped.
    pub job: Placed,
    /// What is known of the job before it runs.
    pub submission: &'a Submission,
    /// How long it has run, in seconds.
    pub ran: Seconds,
    /// How much longer it would have run, in seconds.
    pub left: Seconds,
    /// What it had, by node.
    pub grant: &'a [NodeShare],
    /// Whether it waits again and later runs for its whole runtime. If not, it has ended: its runtime is `ran`.
    pub is_requeued: bool,
}

/// A job has ended.
#[derive(Clone, Copy, Debug)]
pub struct End<'a> {
    /// The instant of the end.
    pub time: Time,
    /// The job that has ended.
    pub job: Placed,
    /// What was known of the job before it ran.
    pub submission: &'a Submission,
    /// The true runtime, in seconds; shorter than in the log if the job was cancelled to make way for another one.
    pub runtime: Seconds,
    /// The prediction in force at the end, in seconds.
    pub prediction: Seconds,
    /// The number of deadlines that the job has missed.
    pub misses: u32,
}

/// A waiting job is withdrawn.
#[derive(Clone, Copy, Debug)]
pub struct Cancellation<'a> {
    /// The instant of the cancellation.
    pub time: Time,
    /// The job that leaves the queue.
    pub job: Placed,
    /// What is known of the job, which never ran.
    pub submission: &'a Submission,
}

/// No observer.
impl Observer for () {}

/// The methods for events of an observer that consists of others. `each`: these are called one after the other; `some`: it is called
/// if there is one.
macro_rules! forward_events {
    (each $this:ident: $($part:expr),+) => {
        forward_events!(@all $this, each $($part),+);
    };
    (some $this:ident: $part:expr) => {
        forward_events!(@all $this, some $part);
    };
    (@call $method:ident $event:ident each $($part:expr),+) => {
        $($part.$method($event);)+
    };
    (@call $method:ident $event:ident some $part:expr) => {
        if let Some(part) = $part {
            part.$method($event);
        }
    };
    (@all $this:ident, $($parts:tt)+) => {
        fn on_arrival(&mut $this, event: &Arrival<'_>) {
            forward_events!(@call on_arrival event $($parts)+);
        }

        fn on_prediction(&mut $this, event: &PredictionChange) {
            forward_events!(@call on_prediction event $($parts)+);
        }

        fn on_start(&mut $this, event: &Start<'_>) {
            forward_events!(@call on_start event $($parts)+);
        }

        fn on_reservation(&mut $this, event: &Reservation) {
            forward_events!(@call on_reservation event $($parts)+);
        }

        fn on_held(&mut $this, held: &[JobId]) {
            forward_events!(@call on_held held $($parts)+);
        }

        fn on_pass(&mut $this, view: &View<'_>) {
            forward_events!(@call on_pass view $($parts)+);
        }

        fn on_miss(&mut $this, event: &Miss) {
            forward_events!(@call on_miss event $($parts)+);
        }

        fn on_preemption(&mut $this, event: &Preemption<'_>) {
            forward_events!(@call on_preemption event $($parts)+);
        }

        fn on_end(&mut $this, event: &End<'_>) {
            forward_events!(@call on_end event $($parts)+);
        }

        fn on_cancellation(&mut $this, event: &Cancellation<'_>) {
            forward_events!(@call on_cancellation event $($parts)+);
        }
    };
}

/// Two observers: the first is called first.
impl<A: Observer, B: Observer> Observer for (A, B) {
    forward_events!(each self: self.0, self.1);

    fn wanted_reservations(&self) -> usize {
        self.0.wanted_reservations().max(self.1.wanted_reservations())
    }

    fn wants_held(&self) -> bool {
        self.0.wants_held() || self.1.wants_held()
    }
}

/// A borrowed observer.
impl<O: Observer + ?Sized> Observer for &mut O {
    forward_events!(each self: (**self));

    fn wanted_reservations(&self) -> usize {
        (**self).wanted_reservations()
    }

    fn wants_held(&self) -> bool {
        (**self).wants_held()
    }
}

/// An observer that may be missing.
impl<O: Observer> Observer for Option<O> {
    forward_events!(some self: self);

    fn wanted_reservations(&self) -> usize {
        self.as_ref().map_or(0, Observer::wanted_reservations)
    }

    fn wants_held(&self) -> bool {
        self.as_ref().is_some_and(Observer::wants_held)
    }
}
