//! Tables of a page: figures, and what charts show.

use maud::{Markup, html};

use super::outside;

/// Texts that are longer than this are wrapped.
const LONG: usize = 45;

/// A cell: the text that is shown, and the number behind it.
#[derive(Clone, Debug, Default)]
pub struct DataCell {
    text: String,
    value: Option<f64>,
}

impl DataCell {
    /// A text without a number. It may come from outside.
    pub fn text(text: impl AsRef<str>) -> DataCell {
        DataCell { text: outside(text.as_ref()), value: None }
    }

    /// A number as it is shown to people. Tables are sorted by the number.
    pub fn shown(text: impl AsRef<str>, value: f64) -> DataCell {
        DataCell { text: outside(text.as_ref()), value: value.is_finite().then_some(value) }
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
        let headings = headings.into_iter().map(|heading| outside(heading.as_ref())).collect();
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

    /// The table, in a box that scrolls if the table is wider than the page.
    pub fn markup(&self) -> Markup {
        html! {
            div.scroll tabindex="0" {
                table.sortable[self.sortable] {
                    thead { tr {
                        @for (at, heading) in self.headings.iter().enumerate() {
                            th scope="col" class=[(at < self.left).then_some("name")] { (heading) }
                        }
                    } }
                    tbody {
                        @for row in &self.rows { tr {
                            @for (at, cell) in row.iter().enumerate() {
                                @if at < self.left && at == 0 { th.name scope="row" data-value=[cell.value] { (cell.text) } }
                                @else if at < self.left { td.name data-value=[cell.value] { (cell.text) } }
                                @else { td.long[cell.text.len() > LONG] data-value=[cell.value] { (cell.text) } }
                            }
                        } }
                    }
                }
            }
        }
    }
}
