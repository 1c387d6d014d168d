//! Runtime prediction: the four-event interface, and one file per predictor, or a folder for a large one.
//!
//! [`Predictor`] is the interface, [`Board`] what predictors read and write on, [`catalog`] the list of them all.
//! [`deadline`] and [`metric`] are what several share.

mod asked_at_start;
mod board;
pub mod catalog;
mod constant;
pub mod deadline;
mod downey;
mod estimate;
mod gibbons;
pub mod metric;
mod perfect;
mod predictor;
mod ruh;
mod sbh;
mod smith;

pub use asked_at_start::AskedAtStart;
pub use board::{Board, BoardKeeper, Breach, BreachKind, Stage};
pub(crate) use board::{Change, Entry};
pub use predictor::{AskedAgain, Oracle, Predictor};
pub use smith::{category, template_file, templates};
