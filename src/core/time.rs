//! Instants and durations in whole seconds. Logs define their own time 0.
//!
//! Durations are written `90`, `90s`, `20m`, `1h` or `2d`.

use jiff::Timestamp;
use jiff::tz::Offset;

/// An instant: seconds since the log's own origin.
pub type Time = i64;

/// A duration in whole seconds.
pub type Seconds = i64;

/// In seconds.
pub const MINUTE: Seconds = 60;
/// In seconds.
pub const HOUR: Seconds = 60 * MINUTE;
/// In seconds.
pub const DAY: Seconds = 24 * HOUR;

/// Round lengths of time, in ascending order: the steps of series, and the distances between ticks of charts.
pub const ROUND_STEPS: [Seconds; 19] = [
    1,
    10,
    MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    5 * DAY,
    10 * DAY,
    30 * DAY,
    60 * DAY,
    180 * DAY,
    360 * DAY,
];

/// The longest duration, about 2,000 years. Predictions that grow without bound stop here, and longer times in a log are
/// errors. The sum of a hundred million of them fits into an `i64`.
pub const FOREVER: Seconds = 1 << 36;

/// A duration or an instant that may be unknown. It has the size of an `i64`, because there may be millions of them.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::time::IfKnown;
/// assert_eq!(IfKnown::from(Some(7)).get(), Some(7));
/// assert_eq!(IfKnown::UNKNOWN.get(), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct IfKnown(i64);

impl IfKnown {
    /// Stored as a value that no time can have.
    pub const UNKNOWN: IfKnown = IfKnown(i64::MIN);

    /// The value in seconds. None if it is unknown.
    pub fn get(self) -> Option<i64> {
        (self != IfKnown::UNKNOWN).then_some(self.0)
    }
}

impl From<Option<i64>> for IfKnown {
    fn from(known: Option<i64>) -> Self {
        known.map_or(IfKnown::UNKNOWN, IfKnown)
    }
}

impl std::fmt::Debug for IfKnown {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(out)
    }
}

/// Reads a duration: a whole number, followed by `s` (or nothing), `m`, `h` or `d`.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::time::parse_duration;
/// assert_eq!(parse_duration("90"), Ok(90));
/// assert_eq!(parse_duration("20m"), Ok(1200));
/// assert!(parse_duration("20 minutes").is_err());
/// ```
pub fn parse_duration(text: &str) -> Result<Seconds, String> {
    let wrong = || {
        format!(
            "'{text}' is not a duration: write a whole number of seconds, or one with s, m, h or d behind it (90, 90s, 20m, 1h, 2d)"
        )
    };
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1),
        Some((at, 'm')) => (&text[..at], MINUTE),
        Some((at, 'h')) => (&text[..at], HOUR),
        Some((at, 'd')) => (&text[..at], DAY),
        _ => (text, 1),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(wrong());
    }
    let seconds = digits.parse::<Seconds>().ok().and_then(|n| n.checked_mul(unit));
    match seconds {
        Some(seconds) if seconds <= FOREVER => Ok(seconds),
        _ => Err(format!("'{text}' is too long a duration (at most {FOREVER} seconds)")),
    }
}

/// Prints a duration in the largest unit that divides it, such as `20m`. [`parse_duration`] reads it back.
pub fn print_duration(seconds: Seconds) -> String {
    match seconds {
        0 => "0s".to_string(),
        s if s % DAY == 0 => format!("{}d", s / DAY),
        s if s % HOUR == 0 => format!("{}h", s / HOUR),
        s if s % MINUTE == 0 => format!("{}m", s / MINUTE),
        s => format!("{s}s"),
    }
}

/// Prints a duration with at most two units: `3d 04h`, `2h 05m`, `3m 20s`, `12.3 s`. A dash if it is not finite.
pub fn readable_duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "-".to_string();
    }
    if seconds < 0.0 {
        return format!("-{}", readable_duration(-seconds));
    }
    // The number is rounded before the unit is chosen, so that 59.96 s becomes a minute and not 60.0 s.
    let tenths = (seconds * 10.0).round() / 10.0;
    let whole = seconds.round() as i64;
    let minutes = (seconds / MINUTE as f64).round() as i64;
    let hours = (seconds / HOUR as f64).round() as i64;
    if tenths < MINUTE as f64 {
        format!("{tenths:.1} s")
    } else if whole < HOUR {
        format!("{}m {:02}s", whole / MINUTE, whole % MINUTE)
    } else if minutes < 24 * 60 {
        format!("{}h {:02}m", minutes / 60, minutes % 60)
    } else {
        format!("{}d {:02}h", hours / 24, hours % 24)
    }
}

/// The UTC date of a Unix time: `1996-09-23`.
pub fn date(unix: i64) -> String {
    // The calendar ends in the year 9999.
    let unix = unix.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
    let time = Timestamp::from_second(unix).expect("the time is within the calendar");
    Offset::UTC.to_datetime(time).date().to_string()
}

/// The Unix time of `2026-01-31T12:00:00`, with an optional fraction and zone. None if it is not such a time.
///
/// A table has several times in each row. With jiff's calendar, reading one with three takes 1.10 times the instructions.
#[inline]
pub fn parse_date_time(text: &[u8]) -> Option<Time> {
    let (fixed, rest) = text.split_at_checked(19)?;
    let number = |from: usize, to: usize| {
        fixed[from..to].iter().try_fold(0i64, |number, &byte| {
            let digit = byte.wrapping_sub(b'0');
            (digit <= 9).then(|| number * 10 + i64::from(digit))
        })
    };
    let separators = [fixed[4], fixed[7], fixed[13], fixed[16]];
    if separators != *b"--::" || !matches!(fixed[10], b'T' | b't' | b' ') {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !(1..=12).contains(&month) || !(1..=days_of(year, month)).contains(&day) {
        return None;
    }
    // 24:00:00 is the end of a day, and a leap second is second 60.
    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    let time = days_from_civil(year, month, day) * DAY + hour * HOUR + minute * MINUTE + second;
    if rest.is_empty() { Some(time) } else { Some(time + parse_fraction_and_zone(rest)?) }
}

/// What the text after the seconds adds to a time: a fraction from a half on is a second, and a zone is subtracted.
fn parse_fraction_and_zone(mut rest: &[u8]) -> Option<Seconds> {
    let mut seconds = 0;
    if let [b'.' | b',', fraction @ ..] = rest {
        let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        seconds += i64::from(*fraction.first().filter(|_| digits > 0)? >= b'5');
        rest = &fraction[digits..];
    }
    let (sign, zone) = match rest {
        [] | [b'Z' | b'z'] => return Some(seconds),
        [b'+', zone @ ..] => (1, zone),
        [b'-', zone @ ..] => (-1, zone),
        _ => return None,
    };
    let digits: Vec<i64> = zone.iter().filter(|&&byte| byte != b':').map(|&byte| i64::from(byte) - 48).collect();
    let number = |pair: &[i64]| pair.iter().all(|digit| (0..=9).contains(digit)).then(|| pair[0] * 10 + pair[1]);
    let offset = match digits[..] {
        [a, b] => number(&[a, b])? * HOUR,
        [a, b, c, d] => number(&[a, b])? * HOUR + number(&[c, d])? * MINUTE,
        _ => return None,
    };
    Some(seconds - sign * offset)
}

/// The number of days of a month.
fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days from 1970-01-01 to a date of the Gregorian calendar, counted in eras of 400 years from 0000-03-01.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_written_back() {
        for (text, seconds, back) in [
            ("0", 0, "0s"),
            ("90", 90, "90s"),
            ("90s", 90, "90s"),
            ("20m", 1200, "20m"),
            ("120m", 7200, "2h"),
            ("1h", 3600, "1h"),
            ("2d", 172_800, "2d"),
        ] {
            assert_eq!(parse_duration(text), Ok(seconds));
            assert_eq!(print_duration(seconds), back);
            assert_eq!(parse_duration(back), Ok(seconds));
        }
        for text in ["", "m", "-5", "1.5h", "5x", "1 h", "٣m", "99999999999999999999", "99999999999d"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_are_readable() {
        for (seconds, text) in [
            (0.0, "0.0 s"),
            (59.94, "59.9 s"),
            (59.96, "1m 00s"),
            (3599.4, "59m 59s"),
            (3599.6, "1h 00m"),
            (6852.0, "1h 54m"),
            (86_399.0, "1d 00h"),
            (100_000.0, "1d 04h"),
            (-75.0, "-1m 15s"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(readable_duration(seconds), text);
        }
    }

    #[test]
    fn dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(843_480_031), "1996-09-23");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(-1), "1969-12-31");
    }
}
