//! Observers: code that is called for every event of a simulation.
//!
//! The engine alone defines the order of events ([`super::Simulation`]). The recorder, load meters, histories of waits
//! and the evaluation of templates are observers of this one stream. A log's own schedule is the same stream under the
//! scheduler `replay`.

use std::cell::Cell;

use crate::job::{JobId, Submission};
use crate::machine::NodeShare;
use crate::machine::associations::LimitName;
use crate::schedule::Machine;
use crate::time::{Seconds, Time};

/// Something that observes a simulation.
///
/// Events come in the order of [`super::Simulation`]; their times never decrease. Unlike predictors, observers can read
/// the true runtime (as in [`Start`]). An observer cannot change the simulation.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::engine::{Event, Observer};
/// use shadowtime::experiment::Setting;
/// use shadowtime::schedule::Machine;
/// use shadowtime::time::Time;
///
/// /// The most processors in use at once.
/// #[derive(Default)]
/// struct Peak {
///     used: u32,
///     most: u32,
/// }
///
/// impl Observer for Peak {
///     fn on(&mut self, _time: Time, event: &Event<'_>, _machine: &Machine) {
///         match event {
///             Event::Start(start) => {
///                 self.used += start.submission.procs;
///                 self.most = self.most.max(self.used);
///             }
///             Event::End(end) => self.used -= end.submission.procs,
///             _ => {}
///         }
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
    /// An event at an instant.
    fn on(&mut self, time: Time, event: &Event<'_>, machine: &Machine);
}

/// An event of a simulation, as observers see it.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The simulation begins, before its first instant. What an observer wants to be told beside the other events, it says here.
    Begin(&'a Wants),
    /// A job joins the queue. No prediction has been made for it yet.
    Arrival(Arrival<'a>),
    /// A prediction is replaced by another, or made for the first time.
    Prediction(PredictionChange),
    /// A job has started. It comes after the pass, and after the predictor's `on_start` for all jobs that the pass started.
    Start(Start<'a>),
    /// A pass has ended. It comes after its starts. `machine` has the jobs that still wait, and what is free.
    Pass(PassEnd<'a>),
    /// A running job has outlived its prediction. It comes before the predictor makes a new one.
    Miss(Miss),
    /// A running job is stopped to make way for another one, or by an outage. If it is not requeued, its end follows.
    Preemption(Preemption<'a>),
    /// A job has ended. It comes before the predictor's `on_termination`.
    End(End<'a>),
    /// A waiting job is withdrawn. It comes before the predictor's `on_cancellation`.
    Cancellation(Cancellation<'a>),
    /// Outages are announced, begin or end. `machine` has them. It comes before the preemptions of jobs that stop because of them.
    Outages,
}

/// What observers want to be told after each pass. To find it costs time, so without a word it is nothing.
#[derive(Clone, Debug, Default)]
pub struct Wants {
    held: Cell<bool>,
}

impl Wants {
    /// Which jobs a limit holds.
    pub fn held(&self) {
        self.held.set(true);
    }

    pub(super) fn wants_held(&self) -> bool {
        self.held.get()
    }
}

/// A job and its place in tables of the jobs in the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The job.
    pub id: JobId,
    /// A small number that no other job in the system has at the same time; it is used again after the job has left. An
    /// observer can store its data about jobs in a vector indexed by it.
    pub place: usize,
}

/// A job joins the queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
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
pub enum Occasion {
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

impl Occasion {
    /// As written in the history of predictions.
    pub fn name(self) -> &'static str {
        match self {
            Occasion::Arrival => "arrival",
            Occasion::Start => "start",
            Occasion::Termination => "termination",
            Occasion::Miss => "miss",
            Occasion::Cancellation => "cancellation",
            Occasion::Requeue => "requeue",
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
    pub event: Occasion,
    /// The job of that event. It differs from `job` when the prediction was propagated.
    pub cause: JobId,
}

/// A job has started.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
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

/// A pass has ended.
#[derive(Clone, Copy, Debug)]
pub struct PassEnd<'a> {
    /// The jobs that a limit holds, in workload order, each with the first such limit, if an observer wants to see them.
    pub held: &'a [(JobId, LimitName)],
}

/// A running job has outlived its prediction.
#[derive(Clone, Copy, Debug)]
pub struct Miss {
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
    /// The job that leaves the queue.
    pub job: Placed,
    /// What is known of the job, which never ran.
    pub submission: &'a Submission,
}

/// No observer.
impl Observer for () {
    #[inline(always)]
    fn on(&mut self, _time: Time, _event: &Event<'_>, _machine: &Machine) {}
}

/// Two observers: the first is called first.
impl<A: Observer, B: Observer> Observer for (A, B) {
    #[inline(always)]
    fn on(&mut self, time: Time, event: &Event<'_>, machine: &Machine) {
        self.0.on(time, event, machine);
        self.1.on(time, event, machine);
    }
}

/// A borrowed observer.
impl<O: Observer + ?Sized> Observer for &mut O {
    fn on(&mut self, time: Time, event: &Event<'_>, machine: &Machine) {
        (**self).on(time, event, machine);
    }
}

/// An observer that may be missing.
impl<O: Observer> Observer for Option<O> {
    fn on(&mut self, time: Time, event: &Event<'_>, machine: &Machine) {
        self.iter_mut().for_each(|observer| observer.on(time, event, machine));
    }
}
