//! Runtime prediction: the four-event interface, and one file a predictor.
//!
//! [`Predictor`] is the interface, [`Board`] what predictors read and write on, [`catalog`] the list of them all.
//! [`deadline`] and [`metric`] are what several share.

mod asked_at_start;
mod board;
pub mod catalog;
pub mod category;
mod constant;
mod criterion;
pub mod deadline;
mod downey;
mod estimate;
mod gibbons;
mod late;
mod live;
pub mod metric;
mod multiset;
mod perfect;
mod predictor;
mod ruh;
mod sbh;
mod sessions;
mod smith;
mod template_file;
pub mod templates;
mod twins;

pub use asked_at_start::AskedAtStart;
pub use board::{Board, Breach, BreachKind, Stage};
pub(crate) use board::{Change, Entry};
pub use predictor::{Oracle, Predictor};
pub use template_file::template_file;
