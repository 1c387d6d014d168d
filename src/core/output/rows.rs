//! Writes CSV with one line per job, per prediction, per step of time and the like. Such a file may have millions of lines.

use std::io::{self, Write};

use super::data::csv_cell;
use super::digits::CsvLine;
use crate::metrics::{Column, SEVERAL_NAME};

/// Lines of CSV that are written one by one. Each begins with labels that its row does not know, such as the name of a run.
pub struct CsvRows<'a, R> {
    out: &'a mut dyn Write,
    columns: &'a [Column<R>],
    line: CsvLine,
}

impl<'a, R> CsvRows<'a, R> {
    /// Writes the line of names.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(out: &'a mut dyn Write, labels: &[&str], columns: &'a [Column<R>]) -> io::Result<CsvRows<'a, R>> {
        let names: Vec<&str> = labels.iter().copied().chain(columns.iter().map(|column| column.name)).collect();
        writeln!(out, "{}", names.join(","))?;
        Ok(CsvRows { out, columns, line: CsvLine::default() })
    }

    /// Writes a row. The labels are cells of CSV: see [`csv_cell`].
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn row(&mut self, labels: &[&str], row: &R) -> io::Result<()> {
        labels.iter().for_each(|label| self.line.word(label));
        self.columns.iter().for_each(|column| self.line.cell(&column.cell(row)));
        self.line.end(self.out)
    }
}

/// Writes the rows of one or several runs. If the runs are named, because there are several, the name is the first column.
///
/// # Errors
/// If they cannot be written.
pub fn write_settings<'a, R, I: IntoIterator<Item = R>>(
    out: &mut dyn Write,
    columns: &[Column<R>],
    runs: impl Iterator<Item = (Option<&'a str>, I)>,
) -> io::Result<()> {
    let mut runs = runs.peekable();
    let is_named = runs.peek().is_some_and(|(setting, _)| setting.is_some());
    let mut lines = CsvRows::begin(out, if is_named { &[SEVERAL_NAME] } else { &[] }, columns)?;
    for (setting, rows) in runs {
        let setting = setting.map(csv_cell);
        let labels: Vec<&str> = setting.iter().map(String::as_str).collect();
        rows.into_iter().try_for_each(|row| lines.row(&labels, &row))?;
    }
    Ok(())
}
