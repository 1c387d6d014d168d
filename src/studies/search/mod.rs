//! The search for good templates (Smith et al., section 2.4): which past jobs predict a log's jobs best?
//!
//! A set of templates is evaluated on the log's own schedule: a job is predicted when it started in the log, from jobs
//! that had ended in the log by then. [`Judge`] evaluates one set, [`greedy`] and [`genetic`] search for a good one in
//! the [`TemplateSpace`] of templates that a log has the fields for, and [`compare_predictors`] compares it with other
//! predictors.
//!
#![cfg_attr(doc, doc = include_str!("../../cli/help/templates.md"))]

mod categories;
mod compare;
mod genetic;
mod greedy;
mod judge;
mod search_run;
mod space;

pub use compare::{
    COMPARED_PREDICTORS, ComparedPredictor, ComparedRow, STEP_COLUMNS, compare_predictors, compared_columns,
};
pub use genetic::{Genetic, genetic};
pub use greedy::greedy;
pub use judge::{Judge, Score};
pub use search_run::{FoundSet, SearchLimits, SearchStep};
pub use space::{TemplateField, TemplateSpace};
