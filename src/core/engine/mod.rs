//! The engine: events and their total order, observers. The only place that changes state.
//!
//! [`Simulation`] is one machine that can be stepped; [`run`] simulates a whole workload. An [`Observer`] is called for
//! every event, in the order of events.
//!
#![cfg_attr(doc, doc = include_str!("../../cli/help/how-it-works.md"))]

mod error;
mod event_queue;
mod feedback;
mod gate;
mod never;
mod observer;
mod recorder;
mod run;
mod setup;
mod simulation;

pub use error::EngineError;
pub use gate::Gate;
pub use never::NeverStarted;
pub use observer::{
    Arrival, Cancellation, End, Event, Miss, Observer, Occasion, PassEnd, Placed, PredictionChange, PredictionMade,
    Preemption, Start, Wants,
};
pub use recorder::{GivenAreas, OutageFigures, Outcome, Preempted, StoppedRuns};
pub use run::{Finished, RunRecord, run, run_simulation};
pub use setup::{EngineOptions, Named};
pub use simulation::Simulation;
