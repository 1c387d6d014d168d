//! A page of Markdown as it is printed.

use std::io::{self, Write};

use crate::cli::list::write_list;
use crate::report::write_wrapped;
use crate::trace::log_formats;

/// Pages are at most this wide, apart from the output of commands that they show.
const WIDTH: usize = 100;

/// How far commands, output and files are indented.
const INDENT: &str = "    ";

/// The line that becomes the table of formats.
const FORMATS: &str = "<!-- formats of logs -->";

/// Prints a page as it is written, but for two things. Fences around commands, output and files become an indentation. A line
/// `<!-- list: NAME -->` becomes what `sim list NAME` prints, so that a page never lacks a name or a key.
pub fn write(out: &mut dyn Write, text: &str, width: usize) -> io::Result<()> {
    let (width, mut is_fenced) = (width.min(WIDTH), false);
    for line in text.lines() {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
        } else if line == FORMATS {
            for (name, about) in log_formats() {
                write_wrapped(out, &format!("{INDENT}{name:<8} "), about, width)?;
            }
        } else if let Some(what) = listed(line) {
            write_list(out, INDENT, width, what)?;
        } else if is_fenced && !line.is_empty() {
            writeln!(out, "{INDENT}{line}")?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// What a line asks to be listed.
fn listed(line: &str) -> Option<&str> {
    line.strip_prefix("<!-- list: ")?.strip_suffix(" -->")
}
