//! Metrics of a run: performance, accuracy, improvement over a baseline, and means over groups of runs.
//!
//! [`Summary`] has the figures of a run. [`RunRow`] is a run with its figures and those of its baseline. [`COLUMNS`] is the
//! list of what is printed.

mod cell;
pub mod columns;
mod groups;
mod improvement;
mod job;
mod measure;
mod row;
mod summary;

pub use cell::Cell;
pub use columns::{COLUMNS, Column, Shown, Source};
pub use groups::{Group, GroupMean, Groups};
pub use improvement::Better;
pub use job::{JobMetrics, PredictionRow, bounded_slowdown};
pub use measure::{Measure, Portion};
pub use row::{Baseline, LINE_FORMAT, RunLabel, RunRow};
pub use summary::{Summary, summarize};
