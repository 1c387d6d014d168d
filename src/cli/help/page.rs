//! A page of Markdown as it is printed.

use std::io::{self, Write};

use crate::cli::list::write_list;
use crate::report::write_wrapped;
use crate::trace::log_formats;

/// Pages are at most this wide, apart from the output of commands that they show.
pub const WIDTH: usize = 100;

/// How far commands, output and files are indented.
const INDENT: &str = "    ";

/// The line that becomes the table of formats.
const FORMATS: &str = "<!-- formats of logs -->";

/// Prints a page. Fences around commands, output and files become an indentation. A line `<!-- list: NAME -->` becomes
/// what `sim list NAME` prints, wrapped, so that a page never lacks a name or a key. Text is broken again if the terminal is
/// narrower than the page. Everything else is printed as it is.
pub fn write(out: &mut dyn Write, text: &str, width: usize) -> io::Result<()> {
    let width = width.min(WIDTH);
    let mut fenced = false;
    // The lines of a paragraph or an item that were not printed yet.
    let mut paragraph = String::new();
    for line in text.lines() {
        let is_list = line == FORMATS || listed(line).is_some();
        let is_text = !fenced && !line.starts_with("```") && !line.is_empty() && !is_list;
        let is_text = is_text && width < WIDTH && !line.starts_with(['#', '|']);
        if !is_text || mark(line) > 0 {
            end_paragraph(out, &mut paragraph, width)?;
        }
        if line.starts_with("```") {
            fenced = !fenced;
        } else if line == FORMATS {
            for (name, about) in log_formats() {
                write_wrapped(out, &format!("{INDENT}{name:<8} "), about, width)?;
            }
        } else if let Some(what) = listed(line) {
            write_list(out, INDENT, width, what)?;
        } else if is_text {
            match paragraph.is_empty() {
                true => paragraph.push_str(line),
                false => paragraph.push_str(&format!(" {}", line.trim_start())),
            }
        } else if fenced && !line.is_empty() {
            writeln!(out, "{INDENT}{line}")?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    end_paragraph(out, &mut paragraph, width)
}

fn end_paragraph(out: &mut dyn Write, paragraph: &mut String, width: usize) -> io::Result<()> {
    if !paragraph.is_empty() {
        let (start, text) = paragraph.split_at(mark(paragraph));
        write_wrapped(out, start, text, width)?;
        paragraph.clear();
    }
    Ok(())
}

/// The length of the mark with which an item of a list begins: `- ` or `1. `. 0 for other lines.
fn mark(line: &str) -> usize {
    let blanks = line.len() - line.trim_start().len();
    let text = &line[blanks..];
    let number = text.split_once(". ").filter(|(number, _)| number.parse::<u32>().is_ok());
    match (text.starts_with("- "), number) {
        (true, _) => blanks + 2,
        (_, Some((number, _))) => blanks + number.len() + 2,
        _ => 0,
    }
}

/// What a line asks to be listed.
fn listed(line: &str) -> Option<&str> {
    line.strip_prefix("<!-- list: ")?.strip_suffix(" -->")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_follows_a_narrow_terminal() {
        let page = "# A page\n\nOne two three\nfour five.\n\n- item one\n  more of it\n- b\n\n```text\nkept as it is, always\n```\n";
        let printed = |width| {
            let mut out = Vec::new();
            write(&mut out, page, width).unwrap();
            String::from_utf8(out).unwrap()
        };
        let narrow =
            "# A page\n\nOne two three four\nfive.\n\n- item one more of\n  it\n- b\n\n    kept as it is, always\n";
        assert_eq!(printed(18), narrow);
        assert_eq!(printed(160), page.replace("```text\n", "    ").replace("```\n", ""));
    }
}
