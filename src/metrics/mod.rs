//! From the record of a run to numbers: performance, accuracy, and improvement over a baseline.

mod improvement;
mod job;
mod measure;
mod summary;

pub use improvement::Improvement;
pub use job::{JobMetrics, PredictionRow, bounded_slowdown};
pub use measure::{Measure, Portion};
pub use summary::{Summary, summarize};
