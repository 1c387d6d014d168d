//! Tables of a page: figures, and what charts show.

use maud::{Markup, html};

use super::outside;
use crate::metrics::{Cell, Interval, Shown};
use crate::{Tone, with_interval, write_csv_lines};

/// Texts that are longer than this are wrapped.
const LONG: usize = 45;

/// A cell: the text that is shown, which may come from outside, and the number behind it.
#[derive(Clone, Debug, Default)]
pub struct DataCell {
    text: String,
    value: Option<f64>,
    /// The half-width of the 95% interval of this number.
    half_width: Option<f64>,
    /// What the text means for the reader.
    tone: Tone,
}

impl DataCell {
    /// A text without a number.
    pub fn text(text: impl Into<String>) -> DataCell {
        DataCell { text: text.into(), ..DataCell::default() }
    }

    /// A number as it is shown to people, or a text if there is none. Tables are sorted by the number.
    pub fn shown(text: impl Into<String>, value: impl Into<Option<f64>>) -> DataCell {
        DataCell { value: value.into().filter(|value| value.is_finite()), ..DataCell::text(text) }
    }

    /// The same cell in the colour of a gain or a loss.
    pub fn toned(self, tone: Tone) -> DataCell {
        DataCell { tone, ..self }
    }

    /// A mean with its interval.
    pub fn interval(how: Shown, mean: Interval) -> DataCell {
        DataCell { half_width: mean.half_width, ..DataCell::shown(with_interval(how, mean), mean.mean) }
    }

    /// A whole number.
    pub fn count(count: u64) -> DataCell {
        DataCell::shown(crate::text::grouped(count), count as f64)
    }

    /// A duration in seconds.
    pub fn duration(seconds: f64) -> DataCell {
        DataCell::shown(crate::time::readable_duration(seconds), seconds)
    }

    /// A share of 0 to 1, in percent.
    pub fn share(share: f64) -> DataCell {
        match share.is_finite() {
            true => DataCell::shown(format!("{:.1}%", share * 100.0), share),
            false => DataCell::text("-"),
        }
    }
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct DataTable {
    headings: Vec<String>,
    rows: Vec<Vec<DataCell>>,
    /// The number of columns that are text.
    left: usize,
    sortable: bool,
}

impl DataTable {
    /// A table whose first `left` columns are text.
    pub fn new<T: AsRef<str>>(left: usize, headings: impl IntoIterator<Item = T>) -> DataTable {
        let headings = headings.into_iter().map(|heading| heading.as_ref().to_string()).collect();
        DataTable { headings, left, ..DataTable::default() }
    }

    /// Lets the reader sort it.
    pub fn sortable(self) -> DataTable {
        DataTable { sortable: true, ..self }
    }

    /// Adds a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = DataCell>) {
        self.rows.push(row.into_iter().collect());
    }

    /// The table as CSV: numbers as they are and not as they are shown, and after a column with intervals their half-widths.
    pub fn csv(&self) -> String {
        let has_intervals =
            |at: &usize| self.rows.iter().any(|row| row.get(*at).is_some_and(|cell| cell.half_width.is_some()));
        let intervals: Vec<bool> = (0..self.headings.len()).map(|at| has_intervals(&at)).collect();
        let number = |number: Option<f64>| number.map(|number| Cell::Text(number.to_string()));
        let cells = |(cell, has_half): (&DataCell, &bool)| {
            let text = if cell.text == "-" { "" } else { &cell.text };
            let half = has_half.then(|| number(cell.half_width).unwrap_or(Cell::None));
            [Some(number(cell.value).unwrap_or_else(|| Cell::Text(text.to_string()))), half].into_iter().flatten()
        };
        let names = self.headings.iter().zip(&intervals);
        let names = names.flat_map(|(name, has_half)| [Some(name.clone()), has_half.then(|| format!("{name}_ci95"))]);
        let rows = self.rows.iter().map(|row| row.iter().zip(&intervals).flat_map(cells));
        let mut csv = Vec::new();
        write_csv_lines(&mut csv, Some(names.flatten()), rows).expect("memory can be written");
        String::from_utf8(csv).expect("cells are text")
    }

    /// The table, in a box that scrolls if the table is wider than the page.
    pub fn markup(&self) -> Markup {
        html! {
            div.scroll tabindex="0" {
                table.sortable[self.sortable] {
                    thead { tr {
                        @for (at, heading) in self.headings.iter().enumerate() {
                            th scope="col" class=[(at < self.left).then_some("name")] { (outside(heading)) }
                        }
                    } }
                    tbody {
                        @for row in &self.rows { tr {
                            @for (at, cell) in row.iter().enumerate() {
                                @if at < self.left && at == 0 { th.name scope="row" data-value=[cell.value] { (outside(&cell.text)) } }
                                @else if at < self.left { td.name data-value=[cell.value] { (outside(&cell.text)) } }
                                @else { td.long[cell.text.len() > LONG].gain[cell.tone == Tone::Gain].loss[cell.tone == Tone::Loss] data-value=[cell.value] { (outside(&cell.text)) } }
                            }
                        } }
                    }
                }
            }
        }
    }
}
