//! Writes CSV with one line per job, per prediction, per step of time and the like. Such a file may have millions of lines.

use std::borrow::Borrow;
use std::io::{self, Write};

use super::data::write_csv_lines;
use crate::metrics::{Cell, Column, SEVERAL_NAME};

/// Writes rows by their columns. Each begins with labels that it does not know, such as the name of a run.
///
/// # Errors
/// If they cannot be written.
pub fn write_rows<R, const N: usize>(
    out: &mut dyn Write,
    labels: [&str; N],
    columns: &[impl Borrow<Column<R>>],
    rows: impl IntoIterator<Item = ([impl AsRef<str>; N], R)>,
) -> io::Result<()> {
    let names = labels.into_iter().chain(columns.iter().map(|column| column.borrow().name));
    let line = |(labels, row): ([_; N], R)| {
        let labels = labels.into_iter().map(|label| Cell::Text(AsRef::<str>::as_ref(&label).to_string()));
        labels.chain(columns.iter().map(|column| column.borrow().cell(&row)).collect::<Vec<_>>())
    };
    write_csv_lines(out, Some(names), rows.into_iter().map(line))
}

/// Writes the rows of one or several runs. If the runs are named, because there are several, the name is the first column.
///
/// # Errors
/// If they cannot be written.
pub fn write_settings<'a, R, I: IntoIterator<Item = R>>(
    out: &mut dyn Write,
    columns: &[impl Borrow<Column<R>>],
    runs: impl Iterator<Item = (Option<&'a str>, I)>,
) -> io::Result<()> {
    let mut runs = runs.peekable();
    match runs.peek().is_some_and(|(setting, _)| setting.is_some()) {
        true => {
            let named =
                runs.flat_map(|(name, rows)| rows.into_iter().map(move |row| ([name.unwrap_or_default()], row)));
            write_rows(out, [SEVERAL_NAME], columns, named)
        }
        false => {
            let rows = runs.flat_map(|(_, rows)| rows).map(|row| ([""; 0], row));
            write_rows(out, [], columns, rows)
        }
    }
}
