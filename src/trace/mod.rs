//! From a log to a workload: SWF in and out, cleaning and shaping.
//!
//! [`read`] returns a [`Log`] with all records as written. [`clean`] makes a [`Workload`] from it and counts what each rule
//! changed. [`shape`] selects a part of it, repeats it or changes its load.
//!
#![doc = include_str!("../cli/help/logs.md")]

mod clean;
mod demo;
mod error;
mod header;
mod labels;
mod number;
mod read;
mod record;
mod shape;
mod source;
mod survey;
mod validate;
mod workload;
mod write;

pub use clean::{Cleaning, MissingEstimate, Overrun, ProcsField, clean, clean_out};
pub use demo::{demo, demo_workload};
pub use error::{FIELD_NAMES, FaultKind, LineFault, TraceError};
pub use header::Header;
pub use labels::labels;
pub use read::{Log, LogText, ReadOptions, Skipped, read};
pub use record::{Fields, Record, field_texts};
pub use shape::{Shaping, shape};
pub use source::{Source, digest};
pub use survey::{Survey, survey};
pub use validate::{Finding, Findings, validate};
pub use workload::{CleaningReport, Workload};
pub use write::{write_header, write_record, write_texts};
