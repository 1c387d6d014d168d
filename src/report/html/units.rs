//! Figures in the one unit that the axis and the caption of a chart name.

use crate::metrics::{Better, Column, Shown};
use crate::time::{DAY, HOUR, MINUTE};

/// A unit of a chart. Its name is empty for numbers without one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChartUnit {
    name: &'static str,
    size: f64,
}

impl ChartUnit {
    /// The unit in which figures up to `most` have few digits.
    pub fn of(how: Shown, most: f64) -> ChartUnit {
        let (name, size) = match how {
            Shown::Duration if most < 2.0 * MINUTE as f64 => ("seconds", 1.0),
            Shown::Duration if most < 2.0 * HOUR as f64 => ("minutes", MINUTE as f64),
            Shown::Duration if most < 2.0 * DAY as f64 => ("hours", HOUR as f64),
            Shown::Duration => ("days", DAY as f64),
            Shown::Fraction => ("percent", 0.01),
            Shown::Percent | Shown::Improvement => ("percent", 1.0),
            _ => ("", 1.0),
        };
        ChartUnit { name, size }
    }

    /// A figure in this unit.
    pub fn value(self, figure: f64) -> f64 {
        figure / self.size
    }

    /// The title of an axis: `mean wait (hours)`.
    pub fn axis_title(self, what: &str) -> String {
        if self.name.is_empty() { what.to_string() } else { format!("{what} ({})", self.name) }
    }

    /// The same in a sentence: `mean wait in hours`.
    pub fn in_words(self, what: &str) -> String {
        if self.name.is_empty() { what.to_string() } else { format!("{what} in {}", self.name) }
    }
}

/// Which values of a column are good, as a sentence.
pub fn better_in_words(column: &Column) -> &'static str {
    match column.better {
        Some(Better::Lower) => " Less is better.",
        Some(Better::Higher) => " More is better.",
        None => "",
    }
}

/// A text with a capital letter at its beginning.
pub fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure_in_words;
    use crate::metrics::columns::{BSLD_MEAN, RA_MEAN, WAIT_MEAN};

    #[test]
    fn an_axis_has_the_unit_of_its_caption() {
        for (column, most, value, title) in [
            (&WAIT_MEAN, 90.0, 90.0, "mean wait (seconds)"),
            (&WAIT_MEAN, 5400.0, 90.0, "mean wait (minutes)"),
            (&WAIT_MEAN, 9000.0, 2.5, "mean wait (hours)"),
            (&WAIT_MEAN, 432_000.0, 5.0, "mean wait (days)"),
            (&BSLD_MEAN, 7.0, 7.0, "mean bounded slowdown"),
            (&RA_MEAN, 0.5, 50.0, "mean relative accuracy (percent)"),
        ] {
            let (unit, what) = (ChartUnit::of(column.shown, most), figure_in_words(column));
            assert_eq!((unit.value(most), unit.axis_title(what).as_str()), (value, title));
            assert_eq!(unit.in_words(what), title.replace(" (", " in ").replace(')', ""));
        }
    }
}
