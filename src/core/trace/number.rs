//! One field of an SWF record as a whole number.

/// A number as written, rounded to the nearest whole number, halves up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    pub rounded: i64,
    /// The sign of the value as written: `0.3` is positive though it rounds to 0, `-0.3` negative.
    pub sign: i8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberError {
    NotANumber,
    OutOfRange,
}

/// Reads a field. Whole and decimal numbers are parsed fast; others, such as `1e5`, slowly.
#[inline]
pub fn parse(text: &[u8]) -> Result<Number, NumberError> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    // Up to 18 digits cannot overflow.
    if digits.is_empty() || digits.len() > 18 {
        return parse_slowly(text);
    }
    let mut magnitude: i64 = 0;
    for (at, &byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            if byte == b'.' && (at > 0 || digits.len() > 1) {
                return parse_fraction(negative, magnitude, &digits[at + 1..], text);
            }
            return parse_slowly(text);
        }
        magnitude = magnitude * 10 + i64::from(digit);
    }
    let rounded = if negative { -magnitude } else { magnitude };
    Ok(Number { rounded, sign: rounded.signum() as i8 })
}

/// The most digits that [`parse_digits`] takes.
pub const MOST_DIGITS: usize = 8;

/// Reads a number of 1 to 8 decimal digits without a loop, because the end of a loop of unknown length is a mispredicted
/// branch. The first `count` bytes of `text` are the number. None if they are not all digits, or not 1 to 8 of them.
#[inline]
pub fn parse_digits(text: [u8; MOST_DIGITS], count: usize) -> Option<u64> {
    const EVERY_BYTE: u64 = 0x0101_0101_0101_0101;
    if count == 0 || count > MOST_DIGITS {
        return None;
    }
    // Each byte becomes its digit; the first digit is the lowest byte. The shift removes the bytes after the number and
    // adds leading zeros.
    let zeros = 8 * (MOST_DIGITS - count);
    let digits = (u64::from_le_bytes(text) ^ (EVERY_BYTE * u64::from(b'0'))) << zeros;
    // The sum sets the top bit of each byte that is above 9, and `digits` has that of each byte above 0x7f. No sum carries
    // before the first such byte.
    if (digits.wrapping_add(EVERY_BYTE * (0x7f - 9)) | digits) & (EVERY_BYTE * 0x80) != 0 {
        return None;
    }
    // Combine neighbours to numbers of two, four and eight digits: the upper one plus 10, 100, 10000 times the lower one.
    let twos = (digits.wrapping_mul((10 << 8) + 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (twos.wrapping_mul((100 << 16) + 1) >> 16) & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul((10_000 << 32) + 1) >> 32)
}

/// Reads the digits after the decimal point. Exact for any number of digits.
fn parse_fraction(negative: bool, magnitude: i64, fraction: &[u8], text: &[u8]) -> Result<Number, NumberError> {
    if !fraction.iter().all(u8::is_ascii_digit) {
        return parse_slowly(text);
    }
    let first = fraction.first().map_or(0, |digit| digit - b'0');
    let more = fraction.iter().skip(1).any(|&digit| digit != b'0');
    let sign = match (magnitude, first, more, negative) {
        (0, 0, false, _) => 0,
        (.., true) => -1,
        (.., false) => 1,
    };
    // Halves are rounded up: for a negative number this is towards zero.
    let away = if negative { first > 5 || (first == 5 && more) } else { first >= 5 };
    let magnitude = magnitude + i64::from(away);
    Ok(Number { rounded: if negative { -magnitude } else { magnitude }, sign })
}

#[cold]
fn parse_slowly(text: &[u8]) -> Result<Number, NumberError> {
    let text = std::str::from_utf8(text).map_err(|_| NumberError::NotANumber)?;
    // Numbers of users may have 64 bits.
    if let Ok(rounded) = text.parse::<i64>() {
        return Ok(Number { rounded, sign: rounded.signum() as i8 });
    }
    // Rust would also read "inf", "infinity" and "nan".
    if text.bytes().any(|b| b.is_ascii_alphabetic() && !matches!(b, b'e' | b'E')) {
        return Err(NumberError::NotANumber);
    }
    let value: f64 = text.parse().map_err(|_| NumberError::NotANumber)?;
    let rounded = (value + 0.5).floor();
    // Floats above this do not represent every whole number. No time or count of a log is that large.
    if rounded.abs() >= (1i64 << 53) as f64 {
        return Err(NumberError::OutOfRange);
    }
    Ok(Number { rounded: rounded as i64, sign: if value == 0.0 { 0 } else { value.signum() as i8 } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_to_the_nearest_halves_up_and_keeps_the_sign_as_written() {
        for (text, rounded, sign) in [
            ("0", 0, 0),
            ("-0", 0, 0),
            ("-0.0", 0, 0),
            ("42", 42, 1),
            ("+42", 42, 1),
            ("-1", -1, -1),
            ("12.50", 13, 1),
            ("12.49999", 12, 1),
            ("0.3", 0, 1),
            ("-0.3", 0, -1),
            ("-0.5", 0, -1),
            ("-0.51", -1, -1),
            ("-1.5", -1, -1),
            ("-1.500001", -2, -1),
            (".5", 1, 1),
            ("7.", 7, 1),
            ("1e3", 1000, 1),
            ("2.5E1", 25, 1),
            ("000000000000000000000012", 12, 1),
            ("3.000000000000000000000000000001", 3, 1),
        ] {
            assert_eq!(parse(text.as_bytes()), Ok(Number { rounded, sign }), "{text}");
        }
    }

    #[test]
    fn what_is_no_number() {
        for text in ["", "-", ".", "abc", "1x", "1,5", "--1", "1.2.3", "nan", "inf", "-infinity", "1e", "\u{664}"] {
            assert_eq!(parse(text.as_bytes()), Err(NumberError::NotANumber), "{text}");
        }
        assert_eq!(parse(b"\xff"), Err(NumberError::NotANumber));
        for text in ["1e300", "99999999999999999999", "-1e17"] {
            assert_eq!(parse(text.as_bytes()), Err(NumberError::OutOfRange), "{text}");
        }
    }

    #[test]
    fn digits_at_once() {
        let at_once = |text: &[u8; 8], count| parse_digits(*text, count);
        for (count, value) in (1..=8).zip([9, 98, 987, 9876, 98765, 987654, 9876543, 98765432]) {
            assert_eq!(at_once(b"98765432", count), Some(value));
        }
        assert_eq!(at_once(b"00000000", 8), Some(0));
        assert_eq!((at_once(b"12345678", 0), at_once(b"12345678", 9)), (None, None));
        for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
            for at in 0..8 {
                let mut text = *b"90909090";
                text[at] = byte;
                assert_eq!(parse_digits(text, 8), None);
                assert_eq!(parse_digits(text, at), parse_digits(*b"90909090", at), "what follows does not matter");
            }
        }
    }
}
