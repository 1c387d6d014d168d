//! A page of Markdown as it is printed.

use std::io::{self, IsTerminal, Write};

use super::style;
use crate::cli::color;
use crate::cli::list::write_list;
use crate::report::write_wrapped;
use crate::trace::log_formats;

/// Pages are at most this wide, apart from the output of commands that they show.
pub const WIDTH: usize = 100;

/// How far commands, output and files are indented.
const INDENT: &str = "    ";

/// The sign of a quotation.
const QUOTED: &str = "> ";

/// The line that becomes the table of formats.
const FORMATS: &str = "<!-- formats of logs -->";

/// How the Markdown of a page looks when it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// As it is written, for files, pipes and programs.
    AsWritten,
    /// For a terminal: without the signs of Markdown. Headings and code are bold if `is_styled`; otherwise headings are
    /// underlined by a second line, and code is in quotes.
    Set { is_styled: bool },
}

impl Look {
    /// The look on standard output.
    pub fn of_stdout() -> Look {
        match io::stdout().is_terminal() {
            true => Look::Set { is_styled: color::of_stdout() },
            false => Look::AsWritten,
        }
    }
}

/// Prints a page. Fences around commands, output and files become an indentation. A line `<!-- list: NAME -->` becomes
/// what `sim list NAME` prints, wrapped, so that a page never lacks a name or a key. Text is broken again if the terminal is
/// narrower than the page, or if it is set. Everything else is printed as it is.
pub fn write(out: &mut dyn Write, text: &str, width: usize, look: Look) -> io::Result<()> {
    let width = width.min(WIDTH);
    let is_broken = width < WIDTH || look != Look::AsWritten;
    let mut fenced = false;
    // The lines of a paragraph or an item that were not printed yet.
    let mut paragraph = String::new();
    for line in text.lines() {
        let is_list = line == FORMATS || listed(line).is_some();
        let is_text = !fenced && !line.starts_with("```") && !line.is_empty() && !is_list;
        let is_heading = is_text && line.starts_with('#');
        let is_text = is_text && is_broken && !line.starts_with(['#', '|']);
        let is_quotation_going_on = paragraph.starts_with(QUOTED) && line.starts_with(QUOTED);
        if !is_text || (mark(line) > 0 && !is_quotation_going_on) {
            end_paragraph(out, &mut paragraph, width, look)?;
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
            // A quotation of several lines has its sign on each.
            let line = if paragraph.starts_with(QUOTED) { line.strip_prefix(QUOTED).unwrap_or(line) } else { line };
            match paragraph.is_empty() {
                true => paragraph.push_str(line),
                false => paragraph.push_str(&format!(" {}", line.trim_start())),
            }
        } else if fenced && !line.is_empty() {
            writeln!(out, "{INDENT}{line}")?;
        } else if let (true, Look::Set { is_styled }) = (is_heading, look) {
            style::write_heading(out, line.trim_start_matches(['#', ' ']), is_styled)?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    end_paragraph(out, &mut paragraph, width, look)
}

fn end_paragraph(out: &mut dyn Write, paragraph: &mut String, width: usize, look: Look) -> io::Result<()> {
    if !paragraph.is_empty() {
        let (start, text) = paragraph.split_at(mark(paragraph));
        match look {
            Look::AsWritten => write_wrapped(out, start, text, width)?,
            Look::Set { is_styled } => {
                style::write_paragraph(out, if start == QUOTED { INDENT } else { start }, text, width, is_styled)?;
            }
        }
        paragraph.clear();
    }
    Ok(())
}

/// The length of the mark with which an item of a list or a quotation begins: `- `, `1. ` or `> `. 0 for other lines.
fn mark(line: &str) -> usize {
    let blanks = line.len() - line.trim_start().len();
    let text = &line[blanks..];
    let number = text.split_once(". ").filter(|(number, _)| number.parse::<u32>().is_ok());
    match (text.starts_with("- ") || line.starts_with(QUOTED), number) {
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

    fn written(page: &str, width: usize, look: Look) -> String {
        let mut out = Vec::new();
        write(&mut out, page, width, look).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_page_is_set_without_signs_of_markdown() {
        let page = "# A `page`\n\nOne `two\nthree` **four** 2*3*4 and\n*five*.\n\n> who\n> what\n\n- `a|b` c\n  <http://d>\n\n```text\n# `kept`\n```\n";
        let plain = "A page\n------\n\nOne 'two three' four\n2*3*4 and five.\n\n    who what\n\n- 'a|b' c http://d\n\n    # `kept`\n";
        assert_eq!(written(page, 20, Look::Set { is_styled: false }), plain);
        let styled = "\x1b[1mA page\x1b[0m\n\nOne \x1b[1mtwo three\x1b[0m \x1b[1mfour\x1b[0m\n2*3*4 and \x1b[4mfive\x1b[0m.\n\n    who what\n\n\
            - \x1b[1ma|b\x1b[0m c http://d\n\n    # `kept`\n";
        assert_eq!(written(page, 20, Look::Set { is_styled: true }), styled);
        // A style ends with its line, and begins again in the next one: pagers draw each line for itself.
        let split = written("- a `b c` d\n", 5, Look::Set { is_styled: true });
        assert_eq!(split, "- a \x1b[1mb\x1b[0m\n  \x1b[1mc\x1b[0m d\n");
    }

    #[test]
    fn text_follows_a_narrow_terminal() {
        let page = "# A page\n\nOne two three\nfour five.\n\n- item one\n  more of it\n- b\n\n```text\nkept as it is, always\n```\n";
        let printed = |width| written(page, width, Look::AsWritten);
        let narrow =
            "# A page\n\nOne two three four\nfive.\n\n- item one more of\n  it\n- b\n\n    kept as it is, always\n";
        assert_eq!(printed(18), narrow);
        assert_eq!(printed(160), page.replace("```text\n", "    ").replace("```\n", ""));
    }
}
