//! Reports as one HTML file.
//!
//! `comparison` and `sweep` are kinds of reports; those of a study and of a queue are in the rooms of these. Each makes a `page` of
//! figures and tables. The charts of a comparison are in `charts`, with a list of all of them; `bars` and `curves` are used by
//! several reports. `frame` draws the axes around a chart, `axis` finds their ticks, `svg` writes shapes, for pages and for files
//! of their own (`chart_files`).

mod axis;
mod bars;
mod chart_files;
mod charts;
mod comparison;
mod curves;
mod data_table;
mod figure;
mod frame;
mod page;
mod svg;
mod sweep;
mod swept_lines;
mod text_width;
mod units;
mod years;

pub use chart_files::{ChartFile, WrittenReport};
pub use charts::{GanttColors, GanttData, GanttSetting, PicturedSetting, watch_for_charts};
pub use comparison::ComparisonReport;
pub use page::Fact;
pub use sweep::SweepReport;

pub use axis::ChartAxis;
pub use data_table::{DataCell, DataTable};
pub use figure::{ChartFigure, ChartPicture, Mark, figures as figures_markup};
pub use frame::{Frame, TALL};
pub use page::{Page, PageSection};
pub use svg::Ink;
pub use years::years_chart;

use crate::text::printable;

/// The most characters of a text from outside.
const MOST_CHARACTERS: usize = 200;

/// A text that may come from outside: control characters and those that change the direction of text are written out, and a
/// long text is cut. The page escapes it.
pub fn outside(text: &str) -> String {
    let text = printable(text);
    match text.char_indices().nth(MOST_CHARACTERS) {
        None => text.into_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}
