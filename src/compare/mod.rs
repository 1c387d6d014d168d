//! The comparison of two outputs: which figures differ, and by how much.
//!
//! The outputs are CSV files of `sim`, `sim sweep`, `--jobs-out` and the like. Their headers tell what they are, and which
//! columns say what was run: rows that agree in those columns belong together. [`Comparison::open`] reads the headers,
//! [`Comparison::run`] compares the rows. Files with their rows in the same order are compared without loading them.

mod difference;
mod gains;
mod input;
mod matching;
mod outputs;
mod seen;
mod value;

pub use difference::{DIFFERENCE_COLUMNS, Difference};
pub use gains::JobGains;
pub use input::CompareError;
pub use matching::{Comparison, DifferenceCounts};
pub use outputs::{KnownOutput, RowKind, known_outputs};
pub use value::{Tolerance, ValueChange};
