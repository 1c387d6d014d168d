//! Writes rows as CSV and JSON and jobs as SWF, to standard output or to files. Such a file may have millions of lines.

mod data;
mod destination;
mod digits;
mod of_runs;
mod packed;
mod rows;
mod schedule;

pub use data::{JsonRows, csv_line, json_line, write_csv, write_csv_lines, write_json, write_json_list};
pub use destination::{Output, OutputError, abandon_unfinished, refuse_input, refuse_stdout};
pub use of_runs::{RunOutput, write_jobs, write_predictions, write_series, write_swf};
pub use rows::{write_rows, write_settings};
pub use schedule::{write_log, write_resample, write_with_estimates};
