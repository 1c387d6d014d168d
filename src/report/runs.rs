//! Writes a table of runs: the main columns, one line per run.

use std::io::{self, Write};

use super::shown::shown_cell;
use super::table::Table;
use super::wrap::write_wrapped;
use crate::metrics::RunRow;
use crate::metrics::columns::columns;

/// Explains the columns of gains, below a table that has some.
pub(super) const GAIN_NOTE: &str = "gain: improvement over the baseline; positive is better";

/// Writes the main columns of runs, followed by the caller's own columns, such as the options that a sweep varies.
pub fn write_runs(
    out: &mut dyn Write,
    width: usize,
    with_baseline: bool,
    added: &[&str],
    rows: &[(&RunRow, Vec<String>)],
) -> io::Result<()> {
    let columns: Vec<_> = columns(with_baseline).filter(|column| column.is_main(with_baseline)).collect();
    let mut people = Table::with_left(3).turnable();
    people.headings(columns.iter().map(|column| column.heading).chain(added.iter().copied()));
    for (row, values) in rows {
        let cells = columns.iter().map(|column| shown_cell(column.shown, &column.cell(row)));
        people.push(cells.chain(values.iter().cloned()).collect());
    }
    people.write(out, width)?;
    if with_baseline { write_wrapped(out, "", GAIN_NOTE, width) } else { Ok(()) }
}
