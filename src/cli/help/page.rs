//! A page of Markdown as it is printed.

use std::io::{self, Write};

use crate::cli::list::{What, forms};
use crate::report::{write_columns, write_forms};

/// Pages are at most this wide, apart from the output of commands that they show.
pub const WIDTH: usize = 100;

/// How far commands, output and files are indented.
const INDENT: &str = "    ";

/// Prints a page. Fences around commands, output and files become an indentation. A line `<!-- list: NAME -->` becomes
/// what `sim list NAME` prints, wrapped, so that a page never lacks a name or a key. Everything else is printed as it is.
pub fn write(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let mut fenced = false;
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if let Some(what) = listed(line) {
            match what {
                What::Columns => write_columns(out, INDENT, WIDTH)?,
                what => write_forms(out, INDENT, WIDTH, &forms(what))?,
            }
        } else if fenced && !line.is_empty() {
            writeln!(out, "{INDENT}{line}")?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// What a line asks to be listed.
fn listed(line: &str) -> Option<What> {
    let name = line.strip_prefix("<!-- list: ")?.strip_suffix(" -->")?;
    Some(clap::ValueEnum::from_str(name, false).expect("a page of ours lists what there is"))
}
