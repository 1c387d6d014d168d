//! Help texts as the language of manual pages.

use crate::cli::help::REFERENCE;
use clap_mangen::roff::{Inline, Roff, bold, roman};

/// Adds a page of `sim help` as it is printed: headings, paragraphs, items, and commands and output, which are indented.
pub fn add_page(roff: &mut Roff, page: &str) {
    let mut lines = page.lines();
    let title = lines.next().unwrap_or_default().trim_start_matches(['#', ' ']);
    roff.control("SH", ["DESCRIPTION"]);
    roff.text([bold(title)]);
    let mut writer = PageWriter { roff, indent: 4, block: PageBlock::None };
    lines.for_each(|line| writer.line(line));
    writer.end();
}

/// Adds what follows the options in the help of a command: examples and remarks. The reference to a page is left out, because
/// pages refer to others in their last section.
pub fn add_after_help(roff: &mut Roff, text: &str) {
    let mut section = "";
    let mut writer = PageWriter { roff, indent: 2, block: PageBlock::None };
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.starts_with(REFERENCE)) {
        let (next, lines) = match paragraph.strip_prefix("Examples:\n") {
            Some(examples) => ("EXAMPLES", examples),
            None if paragraph.starts_with(' ') => (section, paragraph),
            None => ("NOTES", paragraph),
        };
        if next != section {
            writer.heading(next);
            section = next;
        }
        lines.lines().for_each(|line| writer.line(line));
        writer.line("");
    }
    writer.end();
}

/// What the last lines were.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PageBlock {
    None,
    /// A paragraph or an item, whose lines are filled.
    Text,
    /// Lines that are kept as they are.
    Kept,
}

struct PageWriter<'a> {
    roff: &'a mut Roff,
    /// Lines that are indented by this many blanks are kept as they are.
    indent: usize,
    block: PageBlock,
}

impl PageWriter<'_> {
    fn line(&mut self, line: &str) {
        let blanks = line.len() - line.trim_start().len();
        if self.block == PageBlock::Kept && (line.is_empty() || blanks >= self.indent) {
            let kept = line.get(self.indent..).unwrap_or_default();
            self.roff.text([roman(kept)]);
        } else if line.is_empty() {
            self.block = PageBlock::None;
        } else if let Some(heading) = line.strip_prefix("## ") {
            self.heading(&heading.replace('`', "").to_uppercase());
        } else if blanks >= self.indent && self.block != PageBlock::Text {
            self.end();
            self.roff.control("PP", []);
            self.roff.control("EX", []);
            self.roff.text([roman(&line[self.indent..])]);
            self.block = PageBlock::Kept;
        } else {
            self.text(line.trim_start());
        }
    }

    fn text(&mut self, line: &str) {
        if self.block == PageBlock::Kept {
            self.end();
        }
        let number = line.split_once(". ").filter(|(number, _)| number.parse::<u32>().is_ok());
        let item = line.strip_prefix("- ").map(|rest| ("\u{2022}", rest)).or(number);
        match item {
            // A blank line does not come between the items of a list, so the mark decides.
            Some((mark, rest)) => {
                let mark = if mark.parse::<u32>().is_ok() { format!("{mark}.") } else { "\\(bu".to_string() };
                self.roff.control("IP", [mark.as_str(), "4"]);
                self.roff.text(inlines(rest));
            }
            None => {
                if self.block == PageBlock::None {
                    self.roff.control("PP", []);
                }
                self.roff.text(inlines(line));
            }
        }
        self.block = PageBlock::Text;
    }

    fn heading(&mut self, heading: &str) {
        self.end();
        self.roff.control("SH", [heading]);
    }

    fn end(&mut self) {
        if self.block == PageBlock::Kept {
            self.roff.control("EE", []);
        }
        self.block = PageBlock::None;
    }
}

/// A line with the text in backticks or between two asterisks in bold.
fn inlines(line: &str) -> Vec<Inline> {
    let mut all = Vec::new();
    for (at, part) in line.split('`').enumerate() {
        if at % 2 == 1 {
            all.push(bold(part));
            continue;
        }
        for (at, part) in part.split("**").enumerate().filter(|(_, part)| !part.is_empty()) {
            all.push(if at % 2 == 1 { bold(part) } else { roman(part) });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roff(add: impl FnOnce(&mut Roff)) -> String {
        let mut roff = Roff::new();
        add(&mut roff);
        roff.to_roff()
    }

    #[test]
    fn a_page_has_headings_paragraphs_items_and_examples() {
        let page = "# Waits\n\nOne `two`\nthree.\n\n    $ sim wait\n    .5\n\n    end\n\nMore:\n\n- **a** b\n  c\n- d\n1. e\n\n## `sim` again\n\nEnd.\n";
        let expected = ".SH DESCRIPTION\n\\fBWaits\\fR\n.PP\nOne \\fBtwo\\fR\nthree.\n.PP\n.EX\n$ sim wait\n\\&.5\n\nend\n\n.EE\n.PP\nMore:\n\
            .IP \\(bu 4\n\\fBa\\fR b\nc\n.IP \\(bu 4\nd\n.IP 1. 4\ne\n.SH \"SIM AGAIN\"\n.PP\nEnd.\n";
        assert_eq!(roff(|roff| add_page(roff, page)), expected);
    }

    #[test]
    fn examples_are_a_section_and_remarks_are_another() {
        let text = "Examples:\n  sim a   first\n  sim b\n\nA remark.\nMore of it.\n\nAnother one.";
        let expected = ".SH EXAMPLES\n.PP\n.EX\nsim a   first\nsim b\n\n.EE\n.SH NOTES\n.PP\nA remark.\nMore of it.\n.PP\nAnother one.\n";
        assert_eq!(roff(|roff| add_after_help(roff, text)), expected);
    }
}
