//! Fast formatting of numbers, for files with one line per job.

use crate::metrics::Cell;

/// The text of a number, as [`Cell::text`] has it. The buffer is used again.
pub fn number_text<'a>(buffer: &'a mut Vec<u8>, cell: &Cell) -> &'a [u8] {
    buffer.clear();
    match cell {
        Cell::Count(count) => buffer.extend_from_slice(itoa::Buffer::new().format(*count).as_bytes()),
        Cell::Whole(number) => buffer.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
        Cell::Seconds(number) => push_fixed(buffer, *number, 3),
        Cell::Real(number) => push_fixed(buffer, *number, 6),
        Cell::Text(_) | Cell::Word(_) | Cell::Number(_) => buffer.extend_from_slice(cell.text().as_bytes()),
        Cell::None => {}
    }
    buffer
}

/// As `{:.decimals}` prints it (the exact value rounded to the nearest, halves to even), but without the sign of -0.
fn push_fixed(text: &mut Vec<u8>, number: f64, decimals: u32) {
    if !number.is_finite() {
        return;
    }
    // The number is mantissa x 2^-shift. From here on everything is computed in whole numbers.
    let bits = number.abs().to_bits();
    let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let (mantissa, shift) = if exponent == 0 { (fraction, 1074) } else { (fraction | 1 << 52, 1075 - exponent) };
    let ten = 10u64.pow(decimals);
    if shift < 0 || number.abs() >= (u64::MAX / 4 / ten) as f64 {
        text.extend_from_slice(format!("{number:.*}", decimals as usize).as_bytes());
        return;
    }
    let scaled = u128::from(mantissa) * u128::from(ten);
    let rounded = match shift {
        0 => scaled as u64,
        1..=126 => {
            let (whole, rest, half) = (scaled >> shift, scaled & ((1 << shift) - 1), 1u128 << (shift - 1));
            (whole + u128::from(rest > half || (rest == half && whole % 2 == 1))) as u64
        }
        // Too small to have a visible digit.
        _ => 0,
    };
    if number < 0.0 && rounded > 0 {
        text.push(b'-');
    }
    text.extend_from_slice(itoa::Buffer::new().format(rounded / ten).as_bytes());
    text.push(b'.');
    let mut digits = [b'0'; 20];
    let mut rest = rounded % ten;
    for digit in digits[..decimals as usize].iter_mut().rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    text.extend_from_slice(&digits[..decimals as usize]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;

    #[test]
    fn numbers_are_printed_as_the_standard_library_prints_them() {
        let mut rng = stream(1, "digits");
        let check = |number: f64| {
            for decimals in [3, 6] {
                let mut text = Vec::new();
                push_fixed(&mut text, number, decimals);
                let expected = format!("{number:.*}", decimals as usize);
                let nothing = expected.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
                let expected = if nothing { expected.trim_start_matches('-') } else { &expected };
                assert_eq!(String::from_utf8(text).unwrap(), expected, "{number:e}");
            }
        };
        for number in
            [0.0, -0.0, 1.0, 0.5, 0.0078125, 0.0234375, 2.5e-7, 5e-324, 1e15, 1e300, -1e-9, 0.9999995, 123.4565]
        {
            check(number);
            check(-number);
        }
        for _ in 0..100_000 {
            let any = f64::from_bits(rng.random());
            check(if any.is_finite() { any } else { 0.1 });
            check(rng.random_range(0.0..1.0) * 10f64.powi(rng.random_range(-8..14)));
            // Halves, which are rounded to even.
            check(f64::from(rng.random_range(0..1_000_000)) / 128.0);
        }
        let mut text = Vec::new();
        push_fixed(&mut text, f64::NAN, 3);
        push_fixed(&mut text, f64::INFINITY, 3);
        assert!(text.is_empty());
    }
}
