//! One experiment: a workload, a scheduler and a predictor. The main command runs one; larger studies run many.
//!
//! [`Options`] has everything that changes a result, [`Setting`] is a scheduler with a predictor, [`simulate`] runs it.

mod options;
mod prepare;
mod run;
mod values;

pub use options::{OPTIONS, OptionForm, Options, Section, refuse_overruled, what_draws};
pub use run::{Setting, simulate};
