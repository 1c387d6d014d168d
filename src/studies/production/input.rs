//! Reads lines of bounded length.

use std::io::{self, BufRead, Read};

/// The longest line that is read, in bytes.
pub const LONGEST_LINE: usize = 1 << 20;

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputLine {
    /// A line, without its end.
    Whole,
    /// A line of more than [`LONGEST_LINE`] bytes, which was skipped.
    TooLong,
    /// The end of the input.
    End,
}

/// Reads the next line into `line`. However long the line is, no more than [`LONGEST_LINE`] bytes of it are kept.
///
/// # Errors
/// If the input cannot be read.
pub fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<InputLine> {
    line.clear();
    // One more for the end of the line.
    let most = LONGEST_LINE as u64 + 1;
    if input.by_ref().take(most).read_until(b'\n', line)? == 0 {
        return Ok(InputLine::End);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > LONGEST_LINE {
        skip_line(input)?;
        return Ok(InputLine::TooLong);
    }
    Ok(InputLine::Whole)
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let there = input.fill_buf()?;
        let end = memchr::memchr(b'\n', there);
        let (used, is_last) = (end.map_or(there.len(), |at| at + 1), end.is_some() || there.is_empty());
        input.consume(used);
        if is_last {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_skipped_and_the_last_needs_no_end() {
        let longest = "x".repeat(LONGEST_LINE);
        let text = format!("a\n\n{longest}\n{longest}y\nb\n{longest}{longest}\nlast");
        let mut input = io::BufReader::with_capacity(1000, text.as_bytes());
        let mut line = Vec::new();
        let mut next = || {
            let read = read_line(&mut input, &mut line).unwrap();
            (read, if read == InputLine::Whole { line.len() } else { 0 })
        };
        let whole = |length| (InputLine::Whole, length);
        assert_eq!([next(), next(), next()], [whole(1), whole(0), whole(LONGEST_LINE)]);
        assert_eq!([next(), next(), next()], [(InputLine::TooLong, 0), whole(1), (InputLine::TooLong, 0)]);
        assert_eq!([next(), next(), next()], [whole(4), (InputLine::End, 0), (InputLine::End, 0)]);
    }
}
