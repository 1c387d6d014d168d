//! Writes a table of runs: the main columns, one line per run.

use std::io::{self, Write};

use super::shown::shown_cell;
use super::table::Table;
use crate::metrics::columns::columns;
use crate::metrics::{Column, RunRow, Source};

/// The heading of a column in a table.
pub(super) fn heading(column: &Column) -> String {
    match column.source {
        Source::Improvement(of) => format!("{} gain", of.name.trim_end_matches("_mean")),
        _ => column.name.to_string(),
    }
}

/// Writes the main columns of runs, followed by the caller's own columns, such as the options that a sweep varies.
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
