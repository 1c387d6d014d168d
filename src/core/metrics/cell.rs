//! A value in a table of results, with its number of decimals.

use crate::trace::{LogId, NameKind, ShownNames};

/// A row of an output: its cells with their names.
pub type Cells = Vec<(String, Cell)>;

/// A value and its format in CSV and JSON. [`super::Shown`] is the format in tables.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Written unchanged.
    Text(String),
    /// A name of this program, which needs no quotes.
    Word(&'static str),
    /// A whole number that is not negative.
    Count(u64),
    /// A whole number, such as a time or the number of a job.
    Whole(i64),
    /// Written with three decimals.
    Seconds(f64),
    /// Written with six decimals: fractions, slowdowns, percentages.
    Real(f64),
    /// Written with as many decimals as necessary.
    Number(f64),
    /// Not defined: empty in CSV, null in JSON.
    None,
}

impl Cell {
    /// A user, group, queue or partition: its number, or its name if names are shown.
    pub fn of_name(names: &ShownNames, kind: NameKind, number: i64) -> Cell {
        names.name(kind, number).map_or(Cell::Whole(number), |name| Cell::Text(name.to_string()))
    }

    /// The text in CSV, before quoting. Empty for what is not defined or not finite.
    pub fn text(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Word(word) => word.to_string(),
            Cell::Count(count) => count.to_string(),
            Cell::Whole(number) => number.to_string(),
            Cell::Seconds(value) if value.is_finite() => plain_zero(format!("{value:.3}")),
            Cell::Real(value) if value.is_finite() => plain_zero(format!("{value:.6}")),
            Cell::Number(value) => value.to_string(),
            Cell::Seconds(_) | Cell::Real(_) | Cell::None => String::new(),
        }
    }

    /// The number rounded as it is printed. None for a text and for what is not defined.
    ///
    /// Tables, means over groups and figures of papers are computed from these numbers, so that a program that reads a
    /// printed file gets the same digits.
    pub fn printed(&self) -> Option<f64> {
        match self {
            Cell::Text(_) | Cell::Word(_) => None,
            number => number.text().parse().ok(),
        }
    }

    /// The number with all its digits. None for a text and for what is not defined.
    pub fn number(&self) -> Option<f64> {
        match *self {
            Cell::Count(count) => Some(count as f64),
            Cell::Whole(number) => Some(number as f64),
            Cell::Seconds(number) | Cell::Real(number) | Cell::Number(number) => Some(number),
            Cell::Text(_) | Cell::Word(_) | Cell::None => None,
        }
        .filter(|number| number.is_finite())
    }
}

macro_rules! cells_of {
    ($($kind:ident($value:ident: $from:ty) = $cell:expr;)*) => {
        $(impl From<$from> for Cell {
            fn from($value: $from) -> Cell {
                Cell::$kind($cell)
            }
        })*
    };
}

cells_of! {
    Text(text: String) = text;
    Word(word: &'static str) = word;
    Count(count: u64) = count;
    Count(count: u32) = count.into();
    Count(count: usize) = count as u64;
    Count(flag: bool) = flag.into();
    Whole(number: i64) = number;
    Real(number: f64) = number;
}

impl From<LogId<'_>> for Cell {
    fn from(id: LogId<'_>) -> Cell {
        match id {
            LogId::Number(number) => Cell::Whole(number),
            LogId::Text(text) => Cell::Text(text.into_owned()),
        }
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::None, Into::into)
    }
}

/// Removes the sign of -0.000000, to which a small negative number is rounded.
pub fn plain_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|b| matches!(b, b'0' | b'.')) => rest.to_string(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_fixed_decimals() {
        assert_eq!(Cell::Seconds(12.0).text(), "12.000");
        assert_eq!(Cell::Real(0.1234567).text(), "0.123457");
        assert_eq!(Cell::Real(-0.00000001).text(), "0.000000");
        assert_eq!(Cell::Real(-0.5).text(), "-0.500000");
        assert_eq!(Cell::Real(f64::NAN).text(), "");
        assert_eq!(Cell::None.text(), "");
    }

    #[test]
    fn printed_numbers_have_no_more_digits_than_their_text() {
        assert_eq!(Cell::Seconds(1.0 / 3.0).printed(), Some(0.333));
        assert_eq!(Cell::Count(7).printed(), Some(7.0));
        assert_eq!(Cell::Real(f64::NAN).printed(), None);
        assert_eq!(Cell::Text("7".to_string()).printed(), None);
    }
}
