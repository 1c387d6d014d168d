//! The search for good templates (Smith et al., section 2.4): which past jobs predict a log's jobs best?
//!
//! A set of templates is judged on the log's own schedule: a job is predicted when the log says it started, from jobs
//! that the log says had ended by then. [`Judge`] does that for one set, [`greedy`] and [`genetic`] look for a good one
//! in the [`Space`] of templates that a log has the fields for, and [`compare_predictors`] shows it beside other predictors.
//!
#![doc = include_str!("../cli/help/templates.md")]

mod categories;
mod compare;
mod genetic;
mod greedy;
mod judge;
mod search_run;
mod space;

pub use compare::{COMPARED_PREDICTORS, ComparedPredictor, compare_predictors};
pub use genetic::{Genetic, genetic};
pub use greedy::greedy;
pub use judge::{Judge, Score};
pub use search_run::{Found, Limits, SearchStep};
pub use space::Space;
