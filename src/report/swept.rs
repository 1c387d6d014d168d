//! Columns for the keys of specs that have several values in a list.

use crate::metrics::{Cell, Cells};
use crate::spec::SweptKey;

/// The cells of the swept keys in the row of the list's value at this index.
pub fn swept_cells(keys: &[SweptKey], at: usize) -> impl Iterator<Item = (String, Cell)> {
    keys.iter().map(move |key| (key.column.clone(), option_cell(&key.values[at])))
}

/// Adds the cells of swept keys to a row. Its last column, such as `options`, stays the last.
pub fn with_swept(mut row: Cells, swept: impl IntoIterator<Item = (String, Cell)>) -> Cells {
    let last = row.pop();
    row.extend(swept.into_iter().chain(last));
    row
}

/// The value of an option or of a key: a number if its text is that of a number, not defined if it is empty. In CSV it has
/// the same text.
pub fn option_cell(text: &str) -> Cell {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    match number.map(Cell::Number) {
        _ if text.is_empty() => Cell::None,
        Some(cell) if cell.text() == text => cell,
        _ => Cell::Text(text.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_text() {
        for text in ["", "3", "0.25", "1e3", "007", "inf", "NaN", "on", "18446744073709551615", "-0"] {
            assert_eq!(option_cell(text).text(), text);
        }
        assert_eq!([option_cell("3"), option_cell("1h")], [Cell::Number(3.0), Cell::Text("1h".into())]);
        assert_eq!(option_cell("18446744073709551615"), Cell::Text("18446744073709551615".into()));
    }
}
