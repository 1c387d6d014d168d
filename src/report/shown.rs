//! Formats numbers for tables.

use crate::metrics::{Cell, Column, Interval, Shown, plain_zero};
use crate::text::grouped;
use crate::time::readable_duration;

/// A cell of a table: a formatted number, an unchanged text, or nothing if it is not defined.
pub fn shown_cell(how: Shown, cell: &Cell) -> String {
    match cell.printed() {
        Some(number) if how != Shown::AsPrinted => shown(how, number),
        _ => cell.text(),
    }
}

/// The value of a column in a table; a dash if it is not defined.
pub fn shown_or_dash<R>(column: &Column<R>, row: &R) -> String {
    match column.shown {
        Shown::AsPrinted => column.cell(row).text(),
        how => shown(how, column.cell(row).printed().unwrap_or(f64::NAN)),
    }
}

/// A formatted number with its unit; a dash if it is not finite. For [`Shown::ShareOfJobs`] only the count, because the share
/// needs the number of jobs.
pub fn shown(how: Shown, number: f64) -> String {
    match how {
        _ if !number.is_finite() => "-".to_string(),
        Shown::AsPrinted => number.to_string(),
        Shown::Duration => readable_duration(number),
        Shown::Slowdown => decimals(number, 2),
        Shown::Index => decimals(number, 3),
        Shown::Fraction => percent(number),
        Shown::Percent => percent(number / 100.0),
        Shown::Improvement => signed_percent(number),
        Shown::Hours if number.abs() < MANY_HOURS => format!("{} h", decimals(number, 2)),
        Shown::Hours => format!("{}{} h", if number < 0.0 { "-" } else { "" }, grouped(number.abs().round() as u64)),
        Shown::Count | Shown::ShareOfJobs => grouped(number as u64),
    }
}

/// From so many on, hours have no decimals.
const MANY_HOURS: f64 = 100.0;

/// A mean with the half-width of its interval, if it has one.
pub fn with_interval(how: Shown, Interval { mean, half_width }: Interval) -> String {
    add_half_width(shown(how, mean), how, Interval { mean, half_width })
}

/// The text of a mean, followed by the half-width of its interval.
pub fn add_half_width(text: String, how: Shown, Interval { mean, half_width }: Interval) -> String {
    match half_width {
        Some(half) if mean.is_finite() => format!("{text} +- {}", shown(how, half)),
        _ => text,
    }
}

/// The seeds of this number of shaken copies.
pub fn seeds_in_words(copies: u64) -> String {
    if copies == 1 { "seed 1".to_string() } else { format!("seeds 1 to {copies}") }
}

/// A count with its share of `all`.
pub fn with_share(part: u64, all: u64) -> String {
    format!("{} ({})", grouped(part), percent(part as f64 / all as f64))
}

/// Above this a percentage says that something is many times as large, and its digits say no more. CSV and JSON have them.
const MOST_PERCENT: f64 = 1000.0;

/// A change in percent with its sign; no sign if it rounds to 0. Large ones are not shown in full: `>+1000%`, `<-1000%`.
pub fn signed_percent(percent: f64) -> String {
    match percent {
        _ if percent.abs() < 0.05 => "0.0%".to_string(),
        _ if percent > MOST_PERCENT => format!(">+{MOST_PERCENT}%"),
        _ if percent < -MOST_PERCENT => format!("<-{MOST_PERCENT}%"),
        _ => format!("{percent:+.1}%"),
    }
}

/// A fraction as a percentage with one decimal: 69.9%. A dash if it is not finite. Large ones are not shown in full: `>1000%`.
pub fn percent(fraction: f64) -> String {
    match fraction * 100.0 {
        _ if !fraction.is_finite() => "-".to_string(),
        percent if percent > MOST_PERCENT => format!(">{MOST_PERCENT}%"),
        percent if percent < -MOST_PERCENT => format!("<-{MOST_PERCENT}%"),
        percent => format!("{}%", decimals(percent, 1)),
    }
}

/// A number with this many decimals, without the sign of -0.0.
fn decimals(number: f64, decimals: usize) -> String {
    plain_zero(format!("{number:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_their_units() {
        for (how, number, text) in [
            (Shown::Duration, 3900.0, "1h 05m"),
            (Shown::Slowdown, 2.345, "2.35"),
            (Shown::Fraction, 0.6994, "69.9%"),
            (Shown::Percent, 66.66, "66.7%"),
            (Shown::Improvement, -0.04, "0.0%"),
            (Shown::Improvement, -12.34, "-12.3%"),
            (Shown::Improvement, 12.34, "+12.3%"),
            (Shown::Count, 28476.0, "28,476"),
            (Shown::Slowdown, f64::NAN, "-"),
        ] {
            assert_eq!(shown(how, number), text);
        }
        assert_eq!(shown_cell(Shown::Duration, &Cell::Seconds(59.9996)), "1m 00s");
        assert_eq!(shown_cell(Shown::AsPrinted, &Cell::Seconds(1.0)), "1.000");
        assert_eq!(shown_cell(Shown::Duration, &Cell::None), "");
        assert_eq!(with_share(1500, 2000), "1,500 (75.0%)");
        assert_eq!([signed_percent(3.12), signed_percent(-0.01), signed_percent(-5.0)], ["+3.1%", "0.0%", "-5.0%"]);
    }

    #[test]
    fn shares_in_percent() {
        assert_eq!(percent(0.6994), "69.9%");
        assert_eq!(percent(f64::NAN), "-");
        assert_eq!([percent(-0.0001), percent(9.999), percent(12358.708)], ["0.0%", "999.9%", ">1000%"]);
        assert_eq!([signed_percent(61298.7), signed_percent(-1235.8)], [">+1000%", "<-1000%"]);
        assert_eq!([shown(Shown::Index, -0.0001), shown(Shown::Slowdown, -0.0)], ["0.000", "0.00"]);
    }
}
