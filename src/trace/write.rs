//! SWF out: aligned as the archive's logs are.

use std::io::{self, Write};

use super::header::Header;
use super::record::Fields;

/// The columns' widths in the archive's logs.
const WIDTHS: [usize; 18] = [5, 8, 6, 6, 4, 6, 5, 4, 6, 5, 2, 3, 3, 3, 2, 2, 2, 2];

pub fn write_header(out: &mut dyn Write, header: &Header) -> io::Result<()> {
    for line in header.lines() {
        out.write_all(line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

pub fn write_record(out: &mut dyn Write, fields: &Fields) -> io::Result<()> {
    let texts = fields.map(|value| value.to_string());
    write_texts(out, texts.iter().map(String::as_bytes))
}

/// Writes fields as they are spelled.
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
