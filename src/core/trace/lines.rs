//! Cuts a log into lines without a copy.

use std::io::{self, ErrorKind, Read};
use std::ops::Range;

use super::error::{FaultKind, LineFault, TraceError};
use super::record::QUICK_WINDOW;
use super::source::{BUFFER, Digesting};

/// The most bytes of a line. Lines of logs are far shorter, but a binary file may be one "line" of any length.
pub const LONGEST_LINE: usize = 1 << 20;

/// The most bytes of a log that are looked at to tell its format.
const HEAD: usize = 1 << 16;

/// UTF-8's mark at the beginning of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The lines of an input. A byte order mark before the first one is skipped. If the first 64 KiB have carriage returns and
/// no newline, lines end with carriage returns, as those of old Macs did: each becomes a newline.
pub struct RawLines {
    input: Digesting,
    name: String,
    /// The bytes read last, and space after them. Lines are parsed in it without a copy.
    buffer: Vec<u8>,
    /// The part of the buffer that is not yet split into lines.
    rest: Range<usize>,
    /// The input has no more bytes.
    ended: bool,
    /// The failure of a read that was ahead of the lines. It is returned after the lines before it.
    failure: Option<io::Error>,
    /// Carriage returns are line ends.
    ends_with_returns: bool,
    number: u64,
}

impl RawLines {
    /// Reads the first bytes, skips a byte order mark, and tells how lines end.
    pub fn new(input: Digesting, name: String) -> Self {
        let (buffer, rest, failure) = (Vec::new(), 0..0, None);
        let mut lines =
            RawLines { input, name, buffer, rest, ended: false, failure, ends_with_returns: false, number: 0 };
        while lines.rest.len() < HEAD && !lines.ended && lines.failure.is_none() {
            lines.read_more();
        }
        if lines.head().starts_with(BYTE_ORDER_MARK) {
            lines.rest.start += BYTE_ORDER_MARK.len();
        }
        let head = &mut lines.buffer[lines.rest.clone()];
        let is_return_inside = |at: usize| at + 1 < head.len();
        if memchr::memchr(b'\n', head).is_none() && memchr::memchr(b'\r', head).is_some_and(is_return_inside) {
            lines.ends_with_returns = true;
            returns_to_newlines(head);
        }
        lines
    }

    /// The hash of the bytes that were read, if it is computed.
    pub fn digest(&self) -> Option<u128> {
        self.input.digest()
    }

    /// The name of the log in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of the line cut last, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The bytes of the buffer. Lines are ranges of it until the next one is cut.
    pub fn buffer(&self) -> &[u8] {
        &self.buffer
    }

    /// The first bytes of the log, up to 64 KiB, before any line is cut.
    pub fn head(&self) -> &[u8] {
        &self.buffer[self.rest.clone()]
    }

    /// Cuts the next line. Returns its range in the buffer, without the line end.
    pub fn cut(&mut self) -> Result<Option<Range<usize>>, TraceError> {
        loop {
            let rest = &self.buffer[self.rest.clone()];
            let rest = &rest[..rest.len().min(LONGEST_LINE)];
            let start = self.rest.start;
            let (length, end) = match memchr::memchr(b'\n', rest) {
                Some(length) => (length, 1),
                None if rest.len() == LONGEST_LINE => {
                    let (kind, text) = (FaultKind::TOO_LONG, outline(rest));
                    let fault = LineFault { line: self.number + 1, column: 1, kind, text };
                    return Err(TraceError::Line { name: self.name.clone(), fault });
                }
                None if self.failure.is_some() => {
                    let error = self.failure.take().expect("it was just seen");
                    return Err(TraceError::Read { name: self.name.clone(), lines: self.number, error });
                }
                None if !self.ended => {
                    self.read_more();
                    continue;
                }
                None if rest.is_empty() => return Ok(None),
                None => (rest.len(), 0),
            };
            self.rest.start += length + end;
            self.number += 1;
            return Ok(Some(start..start + length));
        }
    }

    /// Moves the rest to the front of the buffer and reads more bytes after it.
    fn read_more(&mut self) {
        self.buffer.copy_within(self.rest.clone(), 0);
        self.rest = 0..self.rest.len();
        let room = self.rest.end..self.rest.end + BUFFER;
        // `parse_quickly` reads this many bytes, also for the last line.
        self.buffer.resize(self.buffer.len().max(room.end + QUICK_WINDOW), 0);
        match self.input.read(&mut self.buffer[room.clone()]) {
            Ok(0) => self.ended = true,
            Ok(count) => {
                self.rest.end += count;
                if self.ends_with_returns {
                    returns_to_newlines(&mut self.buffer[room.start..self.rest.end]);
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => self.failure = Some(error),
        }
    }
}

/// Everything that is not yet cut.
impl Read for RawLines {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if !self.rest.is_empty() {
            let count = self.rest.len().min(out.len());
            out[..count].copy_from_slice(&self.buffer[self.rest.start..self.rest.start + count]);
            self.rest.start += count;
            return Ok(count);
        }
        match self.failure.take() {
            Some(error) => Err(error),
            None if self.ended => Ok(0),
            None => {
                let count = self.input.read(out)?;
                if self.ends_with_returns {
                    returns_to_newlines(&mut out[..count]);
                }
                Ok(count)
            }
        }
    }
}

fn returns_to_newlines(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
}

/// The pieces of a line after each carriage return inside it. One that begins like a row shows that line ends are mixed.
pub fn after_returns(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    memchr::memchr_iter(b'\r', line).map(|at| &line[at + 1..])
}

/// The form of a row for a message, without the names in it: `x` for each letter, `0` for each digit.
pub fn outline(row: &[u8]) -> String {
    let form = |c: char| match c {
        _ if c.is_alphabetic() => 'x',
        _ if c.is_numeric() => '0',
        _ => c,
    };
    let text = String::from_utf8_lossy(row);
    shorten(text.chars().take(1000).map(form).collect::<String>().as_bytes())
}

/// A piece of a line for a message: shortened, with escapes for what cannot be printed.
pub fn shorten(text: &[u8]) -> String {
    const LONGEST: usize = 60;
    let cut = &text[..text.len().min(LONGEST)];
    let plain = match std::str::from_utf8(cut) {
        Ok(text) => text.escape_debug().to_string(),
        // A character may be cut in two.
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => {
            String::from_utf8_lossy(&cut[..error.valid_up_to()]).escape_debug().to_string()
        }
        Err(_) => cut.escape_ascii().to_string(),
    };
    if text.len() > LONGEST { format!("{plain}...") } else { plain }
}
