//! Writes SWF logs, aligned like the archive's logs.

use std::io::{self, Write};

use super::header::Header;
use super::record::Fields;

/// The columns' widths in the archive's logs.
const WIDTHS: [usize; 18] = [5, 8, 6, 6, 4, 6, 5, 4, 6, 5, 2, 3, 3, 3, 2, 2, 2, 2];

/// Writes the comment lines of a header.
pub fn write_header(out: &mut dyn Write, header: &Header) -> io::Result<()> {
    for line in header.lines() {
        out.write_all(line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes one data line.
pub fn write_record(out: &mut dyn Write, fields: &Fields) -> io::Result<()> {
    // The longest number has 20 characters, and each number is followed by a blank or the line end.
    let mut line = [b' '; 18 * 21];
    let mut length = 0;
    let mut digits = itoa::Buffer::new();
    for (&field, width) in fields.iter().zip(WIDTHS) {
        let text = digits.format(field).as_bytes();
        let from = length + width.saturating_sub(text.len());
        line[from..from + text.len()].copy_from_slice(text);
        length = from + text.len() + 1;
    }
    line[length - 1] = b'\n';
    out.write_all(&line[..length])
}

/// Writes one data line from the texts of its fields.
pub fn write_texts<'a>(out: &mut dyn Write, fields: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
    for (at, (field, width)) in fields.zip(WIDTHS).enumerate() {
        if at > 0 {
            out.write_all(b" ")?;
        }
        for _ in field.len()..width {
            out.write_all(b" ")?;
        }
        out.write_all(field)?;
    }
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_aligned_as_texts_are() {
        let fields = |from: i64, step: i64| -> Fields { std::array::from_fn(|at| from + at as i64 * step) };
        for fields in [[-1; 18], [i64::MIN; 18], [i64::MAX; 18], fields(-9, 1), fields(9_999, 54_321), fields(1, -77)] {
            let (mut quick, mut plain) = (Vec::new(), Vec::new());
            write_record(&mut quick, &fields).unwrap();
            let texts = fields.map(|value| value.to_string());
            write_texts(&mut plain, texts.iter().map(String::as_bytes)).unwrap();
            assert_eq!(String::from_utf8(quick).unwrap(), String::from_utf8(plain).unwrap());
        }
    }
}
