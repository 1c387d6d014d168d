//! Writes results as tables, CSV, JSON and SWF, to standard output or to files.
//!
#![cfg_attr(doc, doc = include_str!("../cli/help/formats.md"))]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod best;
mod breakdown;
mod comparison;
mod groups;
#[cfg(feature = "html")]
pub mod html;
mod listing;
mod machine;
mod price;
mod ranking;
mod reasons;
mod requests;
mod runs;
mod shown;
mod survey;
mod swept;
mod table;
mod table_cell;
mod wrap;

pub use best::{BestSetting, best_in_words, best_of, figure_in_words};
pub use breakdown::{breakdown_cells, listed_groups, write_breakdown, write_group_caption};
pub use comparison::{AS_IT_IS, FEEDBACK_NOTE, write_comparison};
pub use groups::{group_cells, write_groups};
pub use listing::{write_columns, write_forms};
pub use machine::{down_in_words, ignored_in_words};
pub use price::price_in_words;
pub use ranking::{ranked, write_ranking};
pub use reasons::{hours_in_words, reason_in_words, shown_reasons, write_reasons};
pub use requests::{RequestRow, request_columns, requests_in_words, write_requests};
pub use runs::write_runs;
pub use shown::{percent, seeds_in_words, shown, shown_or_dash, signed_percent, with_interval};
pub use survey::{
    FINDING_COLUMNS, FindingRow, NameRow, cleaning_in_words, dropped_in_words, filling_in_words, finding_rows,
    name_columns, reading_in_words, survey_columns, write_findings, write_names, write_survey,
};
pub use swept::{option_cell, swept_cells, with_swept};
pub use table::{Table, named_rows};
pub use table_cell::{TableCell, Tone};
pub use wrap::{Width, text_width, wrapped, write_paragraph, write_wrapped};

pub use shadowtime_core::metrics::Cell;
pub use shadowtime_core::output::*;
pub use shadowtime_core::text::{counted, counted_as, grouped};

// The floors below, under the names that they have in the whole program.
use shadowtime_core::{metrics, request, sort, spec, stats, text, time, trace};
