//! One experiment: a workload under one scheduler with one predictor. What the main command runs, and what larger
//! studies run many of.
//!
//! [`Options`] is everything that changes a result, [`Setting`] a scheduler with a predictor, [`simulate`] the run.

mod options;
mod prepare;
mod run;
mod values;

pub use options::{OPTIONS, OptionForm, Options, Section, refuse_overruled, what_draws};
pub use run::{Setting, simulate};
