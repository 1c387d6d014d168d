//! A page of Markdown as it is printed.

use std::io::{self, Write};

use crate::cli::list::{What, forms};
use crate::report::{wrapped, write_columns};
use crate::spec::Form;

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
                What::Columns => write_columns_wrapped(out)?,
                what => write_forms_wrapped(out, &forms(what))?,
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

/// The names, keys and defaults of a catalog, wrapped.
fn write_forms_wrapped(out: &mut dyn Write, forms: &[&Form]) -> io::Result<()> {
    let names = forms.iter().map(|form| form.name.len()).max().unwrap_or(0);
    for form in forms {
        write_wrapped(out, &format!("{INDENT}{:<names$}  ", form.name), form.about, WIDTH)?;
        for key in form.keys {
            let default = format!("{}={}", key.name, key.default);
            let about = format!("{}: {}", key.about, key.kind);
            // A long default has a line of its own.
            let start = format!("{INDENT}{:names$}    {default:<20}  ", "");
            if default.len() > 20 {
                writeln!(out, "{}", start.trim_end())?;
                write_wrapped(out, &format!("{INDENT}{:names$}    {:20}  ", "", ""), &about, WIDTH)?;
            } else {
                write_wrapped(out, &start, &about, WIDTH)?;
            }
        }
    }
    Ok(())
}

/// The columns of results, wrapped.
fn write_columns_wrapped(out: &mut dyn Write) -> io::Result<()> {
    let mut list = Vec::new();
    write_columns(&mut list)?;
    for line in String::from_utf8_lossy(&list).lines() {
        let about = line.find("  ").map_or("", |end| line[end..].trim_start());
        let (name, about) = line.split_at(line.len() - about.len());
        write_wrapped(out, &format!("{INDENT}{name}"), about, WIDTH)?;
    }
    Ok(())
}

/// Writes a text after `start` in lines of at most `width` characters; further lines are indented by the length of `start`.
pub fn write_wrapped(out: &mut dyn Write, start: &str, text: &str, width: usize) -> io::Result<()> {
    let indent = start.chars().count();
    let lines = wrapped(text, width.saturating_sub(indent));
    writeln!(out, "{}", format!("{start}{}", lines.first().map_or("", String::as_str)).trim_end())?;
    lines.iter().skip(1).try_for_each(|line| writeln!(out, "{:indent$}{line}", ""))
}
