//! Units of time in tables, and the unit that the durations of a table are probably in.

use super::number;
use crate::time::{FOREVER, Seconds};

/// A unit of the numbers in a column of times or durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Millionths of a second.
    Microseconds,
    /// Thousandths of a second.
    Milliseconds,
    /// The unit of a column if nothing else is said.
    Seconds,
    /// 60 seconds.
    Minutes,
    /// 3,600 seconds.
    Hours,
    /// 86,400 seconds.
    Days,
}

/// All units: as written, in words, and in seconds.
const UNITS: [(TimeUnit, &str, &str, f64); 6] = [
    (TimeUnit::Microseconds, "us", "microseconds", 0.000_001),
    (TimeUnit::Milliseconds, "ms", "milliseconds", 0.001),
    (TimeUnit::Seconds, "s", "seconds", 1.0),
    (TimeUnit::Minutes, "min", "minutes", 60.0),
    (TimeUnit::Hours, "h", "hours", 3600.0),
    (TimeUnit::Days, "d", "days", 86_400.0),
];

impl TimeUnit {
    /// Reads a unit as written: `us`, `ms`, `s`, `min`, `h` or `d`.
    pub fn parse(text: &str) -> Option<TimeUnit> {
        UNITS.iter().find(|(_, written, ..)| *written == text).map(|(unit, ..)| *unit)
    }

    /// All units as written, for messages.
    pub fn all() -> String {
        UNITS.map(|(_, written, ..)| written).join(", ")
    }

    /// As written.
    pub fn written(self) -> &'static str {
        UNITS[self as usize].1
    }

    /// In words: `minutes`.
    pub fn words(self) -> &'static str {
        UNITS[self as usize].2
    }

    pub(super) fn in_seconds(self) -> f64 {
        UNITS[self as usize].3
    }

    /// The whole seconds of a number in this unit, halves up. None if the text is not a number, or is too large.
    pub(super) fn seconds(self, text: &[u8]) -> Option<Seconds> {
        number::parse(text).ok()?;
        let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
        let seconds = (value * self.in_seconds() + 0.5).floor();
        (seconds.abs() <= FOREVER as f64).then_some(seconds as Seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_unit_become_seconds() {
        for (unit, text, seconds) in [
            (TimeUnit::Minutes, "1.5", Some(90)),
            (TimeUnit::Hours, "0.0001", Some(0)),
            (TimeUnit::Days, "2", Some(172_800)),
            (TimeUnit::Milliseconds, "1700000000500", Some(1_700_000_001)),
            (TimeUnit::Minutes, "-1", Some(-60)),
            (TimeUnit::Hours, "1e30", None),
            (TimeUnit::Hours, "01:00:00", None),
        ] {
            assert_eq!(unit.seconds(text.as_bytes()), seconds, "{text}");
        }
        for (unit, written, ..) in UNITS {
            assert_eq!((TimeUnit::parse(written), unit.written()), (Some(unit), written));
        }
    }
}
