//! Writes results as tables, CSV, JSON and SWF, to standard output or to files.
//!
#![doc = include_str!("../cli/help/formats.md")]

mod data;
mod digits;
mod groups;
mod jobs;
mod listing;
mod output;
mod packed;
mod runs;
mod schedule;
mod shown;
mod summary;
mod survey;
mod table;
mod wrap;

pub use data::{csv_cell, csv_line, write_csv, write_json, write_json_list};
pub use groups::{group_cells, write_groups};
pub use jobs::{PlacedRow, write_jobs, write_placed_jobs, write_predictions};
pub use listing::{write_columns, write_forms};
pub use output::{Output, OutputError, abandon_unfinished, refuse_stdout, temporary_folder, written_path};
pub use runs::write_runs;
pub use schedule::{write_log, write_schedule, write_sorted_log, write_with_estimates};
pub use summary::write_summary;
pub use survey::{dropped_in_words, reading_in_words, survey_row, write_findings, write_names, write_survey};
pub use table::{Table, grouped, percent};
pub use wrap::wrapped;

pub use crate::metrics::Cell;
