//! Runs below each other, for people: the columns that they want to see first, one line per run.

use std::io::{self, Write};

use super::shown::shown_cell;
use super::table::Table;
use crate::metrics::columns::columns;
use crate::metrics::{Column, RunRow, Source};

/// The name of a column over a table.
pub(super) fn heading(column: &Column) -> String {
    match column.source {
        Source::Improvement(of) => format!("{} gain", of.name.trim_end_matches("_mean")),
        _ => column.name.to_string(),
    }
}

/// Writes the main columns of runs, and behind them others of the caller's own, such as what a sweep varies.
pub fn write_runs(
    out: &mut dyn Write,
    with_baseline: bool,
    added: &[&str],
    rows: &[(&RunRow, Vec<String>)],
) -> io::Result<()> {
    let columns: Vec<_> = columns(with_baseline).filter(|column| column.is_main).collect();
    let mut people = Table::with_left(3);
    people
        .push(columns.iter().map(|column| heading(column)).chain(added.iter().map(|name| name.to_string())).collect());
    for (row, values) in rows {
        let cells = columns.iter().map(|column| shown_cell(column.shown, &column.cell(row)));
        people.push(cells.chain(values.iter().cloned()).collect());
    }
    people.write(out)
}
