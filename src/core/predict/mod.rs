//! Runtime prediction: the four-event interface, and one file per predictor, or a folder for a large one.
//!
//! [`Predictor`] is the interface. Predictors read a [`Board`] and write predictions on it. [`catalog`] lists all of them.
//! Several of them use [`deadline`] and [`metric`].
//!
//! A predictor that is not in the catalog, for example one in another crate, can be run like this:
//!
//! ```
//! # extern crate shadowtime_core as shadowtime;
//! use shadowtime::engine::{self, EngineOptions, Named};
//! use shadowtime::job::JobId;
//! use shadowtime::metrics::{Measure, summarize};
//! use shadowtime::predict::{Board, Predictor};
//! use shadowtime::schedule::{Easy, Order};
//!
//! /// Half of the user's estimate. The other events keep their defaults.
//! struct Half;
//!
//! impl Predictor for Half {
//!     fn on_arrival(&mut self, id: JobId, board: &mut Board) {
//!         let estimate = board.job(id).estimate;
//!         board.predict(id, (estimate / 2).max(1));
//!     }
//! }
//!
//! let workload = shadowtime::trace::demo_workload();
//! let record = engine::run(
//!     workload.procs,
//!     &workload.jobs,
//!     Easy::new(Order::ShortestPrediction).into(),
//!     Named { name: "half".into(), value: Box::new(Half) },
//!     EngineOptions::default(),
//!     &mut |_| (),
//! )
//! .unwrap();
//! let summary = summarize(&workload, &record, &Measure::default());
//! assert!(summary.ra_mean > 0.2 && summary.misses > 0);
//! ```
//!
#![cfg_attr(doc, doc = include_str!("../../cli/help/predictors.md"))]

mod board;
pub mod catalog;
mod constant;
pub mod deadline;
mod downey;
mod estimate;
mod exec;
mod gibbons;
mod given;
mod kin;
mod learned;
pub mod metric;
mod perfect;
mod predictor;
mod ruh;
mod sbh;
mod smith;

pub use board::{Board, BoardKeeper, InvalidReason, Stage};
pub use board::{BoardChange, BoardEntry, Fault};
pub use given::GivenTable;
pub use predictor::{Oracle, Predictor};
pub use smith::{category, template_file, templates};

pub use crate::job::InLog;
pub use crate::trace::RunFacts;
