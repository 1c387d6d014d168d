//! A figure: what was published, what we measure.

use std::io::{self, Write};

use crate::report::{Cell, Table};
use crate::stats::mean_and_half_width;

/// One number of a paper, and ours.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Where it stands: `Table 2`, `Figure 4`, `text`.
    pub table: String,
    pub row: String,
    pub column: String,
    /// As printed (`24`, `47-53`, `>90`); empty where the paper has only a picture.
    pub published: String,
    /// On the log as it is; NaN where there is nothing to measure.
    pub measured: f64,
    /// The 95% interval over replications, if there are any.
    pub interval: Option<(f64, f64)>,
    pub note: String,
}

/// Where a figure stands: table, row and column.
pub type At<'a> = (&'a str, &'a str, &'a str);

impl Figure {
    /// One number, without an interval.
    pub fn new((table, row, column): At<'_>, published: &str, measured: f64, note: &str) -> Figure {
        let [table, row, column, published, note] = [table, row, column, published, note].map(str::to_string);
        Figure { table, row, column, published, measured, interval: None, note }
    }

    /// The same with the 95% interval of the mean over these values, if they are enough for one.
    pub fn over(self, values: &[f64]) -> Figure {
        let (mean, half) = mean_and_half_width(values);
        let interval = half.map(|half| (mean - half, mean + half)).filter(|(low, _)| low.is_finite());
        Figure { interval, ..self }
    }

    /// `study,table,row,column,published,measured,low,high,note`
    pub fn cells(&self, study: &str) -> Vec<(&'static str, Cell)> {
        let text = |text: &str| Cell::Text(text.to_string());
        let real = |value: Option<f64>| value.map_or(Cell::None, Cell::Real);
        vec![
            ("study", text(study)),
            ("table", text(&self.table)),
            ("row", text(&self.row)),
            ("column", text(&self.column)),
            ("published", text(&self.published)),
            ("measured", Cell::Real(self.measured)),
            ("low", real(self.interval.map(|(low, _)| low))),
            ("high", real(self.interval.map(|(_, high)| high))),
            ("note", text(&self.note)),
        ]
    }
}

/// Prints figures for people, a block for each table.
pub fn write_figures(out: &mut dyn Write, figures: &[Figure]) -> io::Result<()> {
    for block in figures.chunk_by(|a, b| a.table == b.table) {
        writeln!(out, "{}", block[0].table)?;
        let mut table = Table::with_remarks(2);
        table.line(["  row", "column", "published", "measured", "95% interval", "note"]);
        for figure in block {
            // A little more exact than the paper.
            let decimals = figure.published.split_once('.').map_or(1, |_| 2);
            let number = |number: f64| format!("{number:.decimals$}");
            let interval = figure.interval.map(|(low, high)| format!("{} to {}", number(low), number(high)));
            table.push(vec![
                format!("  {}", figure.row),
                figure.column.clone(),
                figure.published.clone(),
                if figure.measured.is_finite() { number(figure.measured) } else { String::new() },
                interval.unwrap_or_default(),
                figure.note.clone(),
            ]);
        }
        table.write(out)?;
        writeln!(out)?;
    }
    Ok(())
}
