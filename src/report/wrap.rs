//! Text within a given width. Widths are columns of a terminal: a Chinese character takes two, a combining accent none.

use std::borrow::Cow;
use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How wide the lines of a text may be, and whether it may have colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// The columns of the terminal.
    pub columns: usize,
    /// Whether headings are bold, gains green and losses red.
    pub has_colours: bool,
}

/// A text without colours.
impl From<usize> for Width {
    fn from(columns: usize) -> Width {
        Width { columns, has_colours: false }
    }
}

/// Stands for what was left out of a text.
const OMITTED: &str = "...";

/// The number of columns that a text takes on a terminal.
pub fn text_width(text: &str) -> usize {
    text.width()
}

/// Breaks a text between words into lines of at most `width` columns. A longer word has a line of its own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let letters = text_width(word);
        match lines.last_mut() {
            Some(line) if length + 1 + letters <= width => {
                line.push(' ');
                line.push_str(word);
                length += 1 + letters;
            }
            _ => {
                lines.push(word.to_string());
                length = letters;
            }
        }
    }
    lines
}

/// Writes a text after `start` in lines of at most `width` columns; further lines are indented by the width of `start`. A
/// text that fits into one line keeps its blanks.
pub fn write_wrapped(out: &mut dyn Write, start: &str, text: &str, width: impl Into<Width>) -> io::Result<()> {
    let Width { columns: width, .. } = width.into();
    let indent = text_width(start);
    if indent + text_width(text) <= width {
        return writeln!(out, "{}", format!("{start}{text}").trim_end());
    }
    let lines = wrapped(text, width.saturating_sub(indent));
    writeln!(out, "{}", format!("{start}{}", lines.first().map_or("", String::as_str)).trim_end())?;
    lines.iter().skip(1).try_for_each(|line| writeln!(out, "{:indent$}{line}", ""))
}

/// Writes an empty line and a text, which may take several lines.
pub fn write_paragraph(out: &mut dyn Write, text: &str, width: impl Into<Width>) -> io::Result<()> {
    writeln!(out)?;
    write_wrapped(out, "", text, width)
}

/// Shortens a text to `width` columns. Of what is kept, `head_share` is from the beginning and the rest from the end.
pub(super) fn shortened_to(text: &str, width: usize, head_share: f64) -> Cow<'_, str> {
    if text_width(text) <= width {
        return Cow::Borrowed(text);
    }
    let kept = width.saturating_sub(OMITTED.len());
    let head = prefix(text.chars(), (kept as f64 * head_share).ceil() as usize);
    let tail: String = prefix(text.chars().rev(), kept - text_width(&head)).chars().rev().collect();
    Cow::Owned(format!("{head}{}{tail}", &OMITTED[..OMITTED.len().min(width)]))
}

/// The first characters, as many as fit into `width` columns.
fn prefix(letters: impl Iterator<Item = char>, width: usize) -> String {
    let mut used = 0;
    let fits = |letter: &char| {
        used += letter.width().unwrap_or(0);
        used <= width
    };
    letters.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_filled_and_long_words_stay_whole() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("one incomprehensible two", 7), ["one", "incomprehensible", "two"]);
        assert_eq!(wrapped("  ", 7), Vec::<String>::new());
        // Each of these characters takes two columns.
        assert_eq!(wrapped("計算 機", 6), ["計算", "機"]);
    }

    #[test]
    fn further_lines_are_indented() {
        let mut out = Vec::new();
        write_wrapped(&mut out, "[1] ", "one two three", 11).unwrap();
        write_wrapped(&mut out, "[2] ", "", 11).unwrap();
        write_wrapped(&mut out, "", "as  it is", 11).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "[1] one two\n    three\n[2]\nas  it is\n");
    }

    #[test]
    fn texts_are_shortened_in_the_middle_or_at_an_end() {
        assert_eq!(shortened_to("ruh:window=2", 12, 0.5), "ruh:window=2");
        assert_eq!(shortened_to("ruh:window=2", 9, 0.5), "ruh...w=2");
        assert_eq!(shortened_to("ruh:window=2", 9, 1.0), "ruh:wi...");
        assert_eq!(shortened_to("ruh:window=2", 9, 0.0), "...ndow=2");
        assert_eq!(shortened_to("ruh:window=2", 2, 0.5), "..");
        // A character of two columns that fits only by half is left out.
        assert_eq!(shortened_to("計算機計算機", 6, 1.0), "計...");
    }
}
