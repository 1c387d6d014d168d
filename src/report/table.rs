//! Text tables with aligned columns.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::text::printable;

/// A table. The first columns are aligned to the left, the others to the right.
#[derive(Clone, Debug)]
pub struct Table {
    lines: Vec<Vec<String>>,
    left: usize,
    /// The last column is also aligned to the left.
    text_last: bool,
}

impl Default for Table {
    fn default() -> Self {
        Table::with_left(1)
    }
}

impl Table {
    /// A table with this number of columns aligned to the left.
    pub fn with_left(left: usize) -> Table {
        Table { lines: Vec::new(), left, text_last: false }
    }

    /// As [`Table::with_left`], with a last column of remarks, which is aligned to the left too.
    pub fn with_remarks(left: usize) -> Table {
        Table { text_last: true, ..Table::with_left(left) }
    }

    /// Adds a line, as [`Table::push`].
    pub fn line<const N: usize>(&mut self, cells: [&str; N]) {
        self.push(cells.map(str::to_string).to_vec());
    }

    /// Adds a line. Control characters in cells are escaped, because texts may come from input files.
    pub fn push(&mut self, mut cells: Vec<String>) {
        for cell in &mut cells {
            if let Cow::Owned(shown) = printable(cell) {
                *cell = shown;
            }
        }
        self.lines.push(cells);
    }

    /// Writes all lines, without trailing blanks.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.lines.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        for line in &self.lines {
            let mut text = String::new();
            for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
                text.push_str(if column == 0 { "" } else { "  " });
                match column < self.left || (self.text_last && column + 1 == columns) {
                    true => text.push_str(&format!("{cell:<width$}")),
                    false => text.push_str(&format!("{cell:>width$}")),
                }
            }
            writeln!(out, "{}", text.trim_end())?;
        }
        Ok(())
    }
}

/// A whole number with separated thousands: 28,476.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A fraction as a percentage with one decimal: 69.9%. A dash if it is not finite.
pub fn percent(fraction: f64) -> String {
    if fraction.is_finite() { format!("{:.1}%", fraction * 100.0) } else { "-".to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::default();
        table.line(["", "a", "long"]);
        table.line(["name", "12.5", "x"]);
        table.line(["n"]);
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "         a  long\nname  12.5     x\nn\n");
    }

    #[test]
    fn text_from_outside_cannot_control_the_terminal() {
        let mut table = Table::default();
        table.line(["a\u{1b}[2J", "\u{202e}1"]);
        table.push(vec!["b\nc".to_string(), "2".to_string()]);
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a\\u{1b}[2J  \\u{202e}1\nb\\nc                2\n");
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(28_476_123), "28,476,123");
        assert_eq!(percent(0.6994), "69.9%");
        assert_eq!(percent(f64::NAN), "-");
    }
}
