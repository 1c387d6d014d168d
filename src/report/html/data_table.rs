//! Tables of a page: figures, and what charts show.

use maud::{Markup, html};

use super::outside;
use crate::metrics::{Interval, Shown};
use crate::{csv_cell, with_interval};

/// Texts that are longer than this are wrapped.
const LONG: usize = 45;

/// A cell: the text that is shown, which may come from outside, and the number behind it.
#[derive(Clone, Debug, Default)]
pub struct DataCell {
    text: String,
    value: Option<f64>,
    /// The half-width of the 95% interval of this number.
    half_width: Option<f64>,
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
        let line = |cells: Vec<[String; 2]>| {
            let kept = cells.into_iter().zip(&intervals);
            let kept = kept.flat_map(|([cell, half], has_half)| [Some(cell), has_half.then_some(half)]);
            format!("{}\n", kept.flatten().collect::<Vec<_>>().join(","))
        };
        let number = |number: Option<f64>| number.map(|number| number.to_string());
        let cell = |cell: &DataCell| {
            let text = number(cell.value).unwrap_or_else(|| csv_cell(if cell.text == "-" { "" } else { &cell.text }));
            [text, number(cell.half_width).unwrap_or_default()]
        };
        let names = self.headings.iter().map(|name| [csv_cell(name), csv_cell(&format!("{name}_ci95"))]).collect();
        let rows = self.rows.iter().map(|row| line(row.iter().map(cell).collect()));
        line(names) + &rows.collect::<String>()
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
                                @else { td.long[cell.text.len() > LONG] data-value=[cell.value] { (outside(&cell.text)) } }
                            }
                        } }
                    }
                }
            }
        }
    }
}
