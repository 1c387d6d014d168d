//! The engine: events and their total order, the machine, the recorder. The only place that changes state.
//!
//! [`Simulation`] is one machine that can be stepped; [`run`] drives a whole workload through one.

mod agenda;
mod error;
mod machine;
mod recorder;
mod run;
mod setup;
mod simulation;

pub use error::EngineError;
pub use recorder::{Event, Outcome, PredictionMade};
pub use run::{Finished, RunRecord, run};
pub use setup::{EngineOptions, Named};
pub use simulation::Simulation;
