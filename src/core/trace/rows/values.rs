//! Values of rows: instants, durations and numbers, rounded to whole seconds as fields of SWF are.

use crate::time::{DAY, FOREVER, HOUR, MINUTE, Seconds, Time, parse_date_time};
use crate::trace::error::FaultKind;
use crate::trace::number::{self, NumberError};

/// Why a row cannot be read, and the piece of the row that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bad<'a> {
    pub kind: FaultKind,
    pub at: &'a [u8],
}

impl<'a> Bad<'a> {
    /// A value that cannot be used. `wrong` follows the name of its column in the message: "is not a number".
    pub fn value(at: &'a [u8], column: &'static str, wrong: &'static str) -> Bad<'a> {
        Bad { kind: FaultKind::Value { column, wrong }, at }
    }

    pub fn missing(at: &'a [u8], column: &'static str) -> Bad<'a> {
        Bad::value(at, column, "is missing")
    }
}

const BEFORE_1970: &str = "is before 1970";

/// Whether a text means that there is no value.
fn is_none(text: &[u8]) -> bool {
    text.is_empty() || [&b"Unknown"[..], b"None", b"N/A"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// An instant written as in ISO 8601, in Unix seconds. None if there is none. Times without a zone are UTC.
#[inline]
pub fn iso_time<'a>(text: &'a [u8], column: &'static str) -> Result<Option<Time>, Bad<'a>> {
    match parse_date_time(text) {
        Some(time) if time < 0 => Err(Bad::value(text, column, BEFORE_1970)),
        Some(time) if time <= FOREVER => Ok(Some(time)),
        None if is_none(text) => Ok(None),
        _ => Err(Bad::value(text, column, "is not a time such as 2026-01-31T12:00:00")),
    }
}

/// An instant in Unix seconds, with decimals or without, or as [`iso_time`].
pub fn any_time<'a>(text: &'a [u8], column: &'static str) -> Result<Option<Time>, Bad<'a>> {
    if number::parse(text).is_ok() {
        return seconds_since_1970(text, column).map(Some);
    }
    if !is_none(text) && parse_date_time(text).is_none() {
        return Err(Bad::value(text, column, "is not a time in Unix seconds or such as 2026-01-31T12:00:00"));
    }
    iso_time(text, column)
}

/// An instant in Unix seconds; None if it is 0.
pub fn unix_time<'a>(text: &'a [u8], column: &'static str) -> Result<Option<Time>, Bad<'a>> {
    Ok(Some(seconds_since_1970(text, column)?).filter(|&time| time > 0))
}

fn seconds_since_1970<'a>(text: &'a [u8], column: &'static str) -> Result<Time, Bad<'a>> {
    match number::parse(text) {
        Ok(number) if number.sign < 0 => Err(Bad::value(text, column, BEFORE_1970)),
        Ok(number) if number.rounded <= FOREVER => Ok(number.rounded),
        _ => Err(Bad::value(text, column, "is not a time in Unix seconds")),
    }
}

/// A duration `[D-]HH:MM:SS`, `MM:SS` or `D-HH[:MM]`, each with an optional fraction of a second. None if it is not one.
#[inline]
pub fn clock(text: &[u8]) -> Option<Seconds> {
    if let [h1, h2, b':', m1, m2, b':', s1, s2] = *text {
        // The usual form.
        let digits = [h1, h2, m1, m2, s1, s2].map(|byte| i64::from(byte.wrapping_sub(b'0')));
        if digits.iter().all(|&digit| digit <= 9) {
            let [h1, h2, m1, m2, s1, s2] = digits;
            return Some((h1 * 10 + h2) * HOUR + (m1 * 10 + m2) * MINUTE + s1 * 10 + s2);
        }
    }
    slow_clock(text)
}

fn slow_clock(text: &[u8]) -> Option<Seconds> {
    let (whole, half) = match memchr::memchr(b'.', text) {
        None => (text, 0),
        Some(at) => {
            let fraction = &text[at + 1..];
            let first = *fraction.first()?;
            (&text[..at], fraction.iter().all(u8::is_ascii_digit).then(|| i64::from(first >= b'5'))?)
        }
    };
    let number = |text: &[u8]| {
        let is_number = !text.is_empty() && text.len() <= 9 && text.iter().all(u8::is_ascii_digit);
        is_number.then(|| text.iter().fold(0, |number, byte| number * 10 + i64::from(byte - b'0')))
    };
    let (days, clock) = match memchr::memchr(b'-', whole) {
        None => (None, whole),
        Some(at) => (Some(number(&whole[..at])?), &whole[at + 1..]),
    };
    let mut parts = [0; 3];
    let mut count = 0;
    for part in clock.split(|&byte| byte == b':') {
        *parts.get_mut(count)? = number(part)?;
        count += 1;
    }
    let [a, b, c] = parts;
    let seconds = match (days, count) {
        (None, 2) => a * MINUTE + b,
        (None, 3) => a * HOUR + b * MINUTE + c,
        (Some(days), _) => days * DAY + a * HOUR + b * MINUTE + c,
        _ => return None,
    };
    Some(seconds + half).filter(|&seconds| seconds <= FOREVER)
}

/// A duration in seconds, with decimals or without, or as [`clock`]. None if there is none: empty, or negative.
pub fn duration<'a>(text: &'a [u8], column: &'static str) -> Result<Option<Seconds>, Bad<'a>> {
    if is_none(text) {
        return Ok(None);
    }
    let seconds = match number::parse(text) {
        Ok(number) if number.sign < 0 => return Ok(None),
        Ok(number) => Some(number.rounded),
        Err(_) => clock(text),
    };
    match seconds.filter(|&seconds| seconds <= FOREVER) {
        Some(seconds) => Ok(Some(seconds)),
        None => Err(Bad::value(text, column, "is not a duration in seconds or such as 1-02:03:04")),
    }
}

/// A count. None if the text is empty.
#[inline]
pub fn count<'a>(text: &'a [u8], column: &'static str) -> Result<Option<i64>, Bad<'a>> {
    if text.is_empty() {
        return Ok(None);
    }
    match number::parse(text) {
        // As a field of SWF: a positive number of processors is at least 1.
        Ok(number) if number.rounded <= i64::from(i32::MAX) => {
            Ok(Some(if number.sign > 0 { number.rounded.max(1) } else { number.rounded }))
        }
        _ => Err(Bad::value(text, column, "is not a number below 2^31")),
    }
}

/// The number at the beginning of a text, at most 2^31 - 1. None if there is none.
pub fn leading_number(text: &[u8]) -> Option<i64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match number::parse(&text[..digits]) {
        Ok(number) => Some(number.rounded.min(i64::from(i32::MAX))),
        Err(NumberError::OutOfRange) => Some(i64::from(i32::MAX)),
        Err(NumberError::NotANumber) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_of_all_forms() {
        for (text, time) in [
            ("1970-01-01T00:00:00", 0),
            ("2015-06-26T13:57:00", 1_435_327_020),
            ("2021-12-10 14:23:28", 1_639_146_208),
            ("2000-02-29T23:59:60", 951_868_800),
            ("2015-06-26T13:57:00.499Z", 1_435_327_020),
            ("2015-06-26T13:57:00.5", 1_435_327_021),
            ("2015-06-26T15:57:00+02:00", 1_435_327_020),
            ("2015-06-26T08:27:00-0530", 1_435_327_020),
        ] {
            assert_eq!(iso_time(text.as_bytes(), "Submit"), Ok(Some(time)), "{text}");
            assert_eq!(any_time(text.as_bytes(), "submit"), Ok(Some(time)), "{text}");
        }
        for text in ["", "Unknown", "None"] {
            assert_eq!(iso_time(text.as_bytes(), "Start"), Ok(None));
        }
        for text in ["2015-13-01T00:00:00", "2015-06-26", "yesterday", "2015-06-26T13:57:00+1", "2015-06-26T13:57:0x"] {
            assert!(iso_time(text.as_bytes(), "Start").is_err(), "{text}");
        }
        let early = iso_time(b"1969-12-31T23:59:59", "Start").unwrap_err();
        assert_eq!(early.kind, FaultKind::Value { column: "Start", wrong: BEFORE_1970 });
        assert_eq!(any_time(b"1535348017.5", "submit"), Ok(Some(1_535_348_018)));
        assert!(any_time(b"-3", "submit").is_err() && unix_time(b"x", "start").is_err());
        assert_eq!(unix_time(b"0", "start"), Ok(None));
    }

    #[test]
    fn durations_of_all_forms() {
        for (text, seconds) in [
            ("14:00:49", 50_449),
            ("3-00:00:00", 259_200),
            ("125-00:00:00", 10_800_000),
            ("100:00:01", 360_001),
            ("01:02", 62),
            ("00:01.277", 1),
            ("00:01.5", 2),
            ("2-12", 216_000),
            ("2-12:30", 217_800),
        ] {
            assert_eq!(clock(text.as_bytes()), Some(seconds), "{text}");
            assert_eq!(duration(text.as_bytes(), "run"), Ok(Some(seconds)), "{text}");
        }
        for text in ["", "12", "1:2:3:4", "a:b:c", "0a:00:00", "UNLIMITED", "1-", "1.", "00:01.x"] {
            assert_eq!(clock(text.as_bytes()), None, "{text}");
        }
        assert_eq!(duration(b"3632.92", "run"), Ok(Some(3633)));
        assert_eq!((duration(b"", "run"), duration(b"-1", "run")), (Ok(None), Ok(None)));
        assert!(duration(b"long", "run").is_err());
        assert_eq!(
            (count(b"0.2", "procs"), count(b"", "procs"), count(b"-1", "procs")),
            (Ok(Some(1)), Ok(None), Ok(Some(-1)))
        );
        assert!(count(b"many", "procs").is_err() && count(b"9999999999", "procs").is_err());
        assert_eq!((leading_number(b"4:ppn=8"), leading_number(b"n1:ppn=8")), (Some(4), None));
    }
}
