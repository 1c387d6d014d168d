//! Predictions for a batch system that is running: its events in, predictions out, one line of JSON each.
//!
//! A [`Service`] answers the lines of `sim predict`. It has a [`LiveSystem`], which is the engine without a scheduler: the
//! batch system says what happens, and the predictor is called in the order in which [`crate::engine::Simulation`] would
//! call it. So the events of a simulation, given to a service, have the predictions of that simulation as answers.
//!
//! Events are kept, in memory and in the file of `--state`. The state of a predictor is not kept: it is what a replay of
//! the events gives. When there are too many events, the oldest ended jobs are forgotten and the system is built again from
//! the others. So memory is bounded, and a service that is started again continues exactly where it was.
//!
//! ```
//! # mod shadowtime {
//! #     pub use {shadowtime_core::*, shadowtime_studies::*};
//! # }
//! use shadowtime::predict::catalog;
//! use shadowtime::production::Service;
//!
//! let mut service = Service::new(catalog::parse("ruh:window=1").unwrap(), 1000);
//! let mut answer = |line: &str| String::from_utf8(service.answer(line.as_bytes()).unwrap().to_vec()).unwrap();
//! let arrival = r#"{"event":"arrival","time":100,"job":{"id":"17.pbs","user":"alice","procs":4,"estimate":3600}}"#;
//! assert_eq!(answer(arrival), r#"{"predict":{"17.pbs":3600}}"#);
//! assert_eq!(answer(r#"{"event":"start","time":130,"id":"17.pbs"}"#), "{}");
//! assert_eq!(answer(r#"{"event":"termination","time":430,"id":"17.pbs"}"#), "{}");
//! assert_eq!(answer(&arrival.replace("17", "18").replace("100", "500")), r#"{"predict":{"18.pbs":300}}"#);
//! ```

mod error;
mod event;
mod input;
mod learn;
mod ledger;
mod live;
mod names;
mod service;
mod state_file;

pub use error::ProductionError;
pub use event::{EventKind, JobArrival, JobEvent};
pub use input::{InputLine, LONGEST_LINE, read_line};
pub use learn::{Learned, learn};
pub use live::LiveSystem;
pub use service::{Replayed, Service};
