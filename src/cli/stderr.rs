//! The one place that writes text to standard error: notes, warnings and errors.
//!
//! Standard error may be a full disk, a closed pipe or a closed terminal. Results and exit codes must not depend on that, so
//! failures to write here are ignored. (`eprintln!` panics instead.)

use std::fmt::Display;
use std::io::Write;

use super::progress::without_bar;
use super::quiet::is_quiet;
use crate::text::printable_lines;

/// Writes a note, unless `--quiet` was given.
pub fn note(text: impl Display) {
    if !is_quiet() {
        line(format_args!("note: {text}"));
    }
}

/// Writes a warning about something that may make results wrong. `--quiet` does not suppress it.
pub fn warning(text: impl Display) {
    line(format_args!("warning: {text}"));
}

/// Writes why the program failed.
pub fn error(text: impl Display) {
    line(format_args!("error: {text}"));
}

/// Writes a text and a newline.
pub fn line(text: impl Display) {
    let text = format!("{text}\n");
    // One write per line, so that lines of several threads do not mix.
    without_bar(|| {
        let _ = std::io::stderr().write_all(printable_lines(&text).as_bytes());
    });
}
