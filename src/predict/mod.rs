//! Runtime prediction: the four-event interface, and one file a predictor.
//!
//! [`Predictor`] is the interface, [`Board`] what predictors read and write on, [`catalog`] the list of them all.
//! [`deadline`] and [`metric`] are what several share.

mod board;
pub mod catalog;
mod constant;
pub mod deadline;
mod estimate;
mod live;
pub mod metric;
mod multiset;
mod perfect;
mod predictor;
mod ruh;
mod sbh;
mod sessions;

pub(crate) use board::Change;
pub use board::{Board, Breach, BreachKind, Stage};
pub use predictor::Predictor;
