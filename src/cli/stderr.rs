//! The one place that writes text to standard error: notes, warnings and errors.
//!
//! Standard error may be a full disk, a pipe whose reader is gone or a terminal that was closed. Results and exit codes
//! must not depend on that, so failures to write here are ignored. (`eprintln!` panics instead.)

use std::borrow::Cow;
use std::fmt::Display;
use std::io::Write;

/// Writes a line for people who did not ask for quiet.
pub fn note(text: impl Display) {
    line(format_args!("note: {text}"));
}

/// Writes a line about something that may make results wrong.
pub fn warning(text: impl Display) {
    line(format_args!("warning: {text}"));
}

/// Writes the line that says why the program failed.
pub fn error(text: impl Display) {
    line(format_args!("error: {text}"));
}

/// Writes a text and a newline.
pub fn line(text: impl Display) {
    let text = format!("{text}\n");
    // In one write, so that lines of several threads do not mix.
    let _ = std::io::stderr().write_all(visible(&text).as_bytes());
}

/// The text with an escape such as `\u{1b}` in place of each character that could change what a terminal shows: names and
/// headers of logs may hold any bytes.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match is_hidden(character) {
            true => visible.extend(character.escape_default()),
            false => visible.push(character),
        }
    }
    Cow::Owned(visible)
}

/// Whether a character is a control character, newline and tab excepted, or changes the direction of the text (the
/// Unicode property Bidi_Control).
fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_visible() {
        assert_eq!(visible("a\x1b[31mb\rc\u{202e}d\u{9b}e\u{7f}"), r"a\u{1b}[31mb\rc\u{202e}d\u{9b}e\u{7f}");
        for plain in ["", "note: 5,000 jobs\n\tof Zoë, 神威", "'\"\\"] {
            assert!(matches!(visible(plain), Cow::Borrowed(text) if text == plain), "{plain}");
        }
    }
}
