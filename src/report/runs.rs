//! Writes a table of runs: the main columns, one line per run.

use std::io::{self, Write};

use super::shown::shown_cell;
use super::table::Table;
use super::table_cell::TableCell;
use super::wrap::{Width, write_wrapped};
use crate::metrics::columns::columns;
use crate::metrics::{Cell, Column, Given, RunRow, When};

/// Explains the columns of gains, below a table that has some.
pub(super) const GAIN_NOTE: &str = "gain: improvement over the baseline; positive is better";

/// Writes the main columns of runs. `added` are the caller's own columns, such as the options that a sweep varies. They are
/// labels: without them two rows would look the same.
pub fn write_runs(
    out: &mut dyn Write,
    width: Width,
    given: Given,
    added: &[&str],
    rows: &[(&RunRow, Vec<String>)],
) -> io::Result<()> {
    let (labels, figures) = main_columns(given);
    let mut people = Table::with_left(labels.len() + added.len()).turnable();
    let heading = |column: &&Column| column.heading;
    people.headings(labels.iter().map(heading).chain(added.iter().copied()).chain(figures.iter().map(heading)));
    for (row, values) in rows {
        let labels = labels.iter().map(|column| column.cell(row).text().into());
        let added = values.iter().map(|value| value.clone().into());
        people.push(labels.chain(added).chain(figures.iter().map(|column| figure(column, row))).collect());
    }
    people.write(out, width)?;
    if given.has(When::Baseline) { write_wrapped(out, "", GAIN_NOTE, width) } else { Ok(()) }
}

/// The main columns: what was run, and the figures, each followed by its gain, so that a narrow table has both in one block.
fn main_columns(given: Given) -> (Vec<&'static Column>, Vec<&'static Column>) {
    let main = columns(given).filter(|column| column.is_main(given));
    let (figures, labels): (Vec<_>, Vec<_>) = main.partition(|column| column.is_number());
    let (gains, figures): (Vec<_>, Vec<_>) = figures.into_iter().partition(|column| column.is_gain());
    let gain_of = |column: &'static Column| gains.iter().copied().find(|gain| gain.is_gain_of(column));
    (labels, figures.into_iter().flat_map(|column| [column].into_iter().chain(gain_of(column))).collect())
}

/// A figure, or nothing if it is not defined.
fn figure(column: &Column, row: &RunRow) -> TableCell {
    match column.cell(row) {
        Cell::None => String::new().into(),
        _ if column.is_gain() => TableCell::of(column, row),
        cell => shown_cell(column.shown, &cell).into(),
    }
}
