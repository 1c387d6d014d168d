//! Writes results as tables, CSV, JSON and SWF, to standard output or to files.
//!
#![doc = include_str!("../cli/help/formats.md")]

mod best;
mod breakdown;
mod comparison;
mod data;
mod digits;
mod groups;
#[cfg(feature = "cli")]
pub mod html;
mod listing;
mod machine;
mod output;
mod packed;
mod price;
mod reasons;
mod requests;
mod rows;
mod runs;
mod schedule;
mod shown;
mod survey;
mod swept;
mod table;
mod table_cell;
mod wrap;

pub use best::{BestSetting, best_in_words, best_of, figure_in_words};
pub use breakdown::{breakdown_cells, listed_groups, write_breakdown, write_group_caption};
pub use comparison::{FEEDBACK_NOTE, write_comparison};
pub use data::{JsonRows, csv_cell, csv_line, json_line, write_csv, write_json, write_json_list};
pub use groups::{group_cells, write_groups};
pub use listing::{write_columns, write_forms};
pub use machine::{MACHINE_COLUMNS, MachineRow, down_in_words, ignored_in_words, machine_rows, write_machine};
pub use output::{Output, OutputError, abandon_unfinished, refuse_input, refuse_stdout};
pub use price::price_in_words;
pub use reasons::{hours_in_words, reason_in_words, shown_reasons, write_reasons};
pub use requests::{RequestRow, request_columns, requests_in_words, write_requests};
pub use rows::{CsvRows, write_settings};
pub use runs::write_runs;
pub use schedule::{write_log, write_schedule, write_with_estimates};
pub use shown::{percent, seeds_in_words, shown, shown_or_dash, signed_percent, with_interval};
pub use survey::{
    FINDING_COLUMNS, FindingRow, NameRow, SURVEY_COLUMNS, dropped_in_words, filling_in_words, finding_rows,
    name_columns, reading_in_words, write_findings, write_names, write_survey,
};
pub use swept::{option_cell, swept_cells, with_swept};
pub use table::{Table, named_rows};
pub use table_cell::{TableCell, Tone};
pub use wrap::{Width, text_width, wrapped, write_paragraph, write_wrapped};

pub use crate::metrics::Cell;
pub use crate::text::{counted, counted_as, grouped};
