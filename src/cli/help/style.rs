//! Bold and underlined text in place of the signs of Markdown.

use std::io::{self, Write};

use crate::report::{text_width, write_wrapped};

/// Signs of no width for the beginning and the end of a style. They are replaced after the text is broken into lines.
const BOLD: char = '\u{2061}';
const UNDERLINED: char = '\u{2062}';
const PLAIN: char = '\u{2063}';

/// Writes a heading: in bold, or with a line below it.
pub fn write_heading(out: &mut dyn Write, text: &str, is_styled: bool) -> io::Result<()> {
    let text: String = text.split('`').collect();
    match is_styled {
        true => writeln!(out, "{}", with_escapes(&format!("{BOLD}{text}{PLAIN}"))),
        false => writeln!(out, "{text}\n{}", "-".repeat(text_width(&text))),
    }
}

/// Writes a paragraph after `start` in lines of at most `width` columns, without the signs of Markdown.
pub fn write_paragraph(out: &mut dyn Write, start: &str, text: &str, width: usize, is_styled: bool) -> io::Result<()> {
    let mut lines = Vec::new();
    write_wrapped(&mut lines, start, &marked(text, is_styled), width)?;
    out.write_all(with_escapes(&String::from_utf8_lossy(&lines)).as_bytes())
}

/// A text with the signs of styles instead of those of Markdown. Without styles, code is in quotes.
fn marked(text: &str, is_styled: bool) -> String {
    let mut result = String::new();
    for (at, part) in text.split('`').enumerate() {
        match (at % 2 == 1, is_styled) {
            (true, true) => result.extend([BOLD.to_string(), part.to_string(), PLAIN.to_string()]),
            (true, false) => result.extend(["'", part, "'"]),
            (false, _) => result.push_str(&emphasized(&without_brackets(part), is_styled)),
        }
    }
    result
}

/// Removes the brackets around addresses.
fn without_brackets(text: &str) -> String {
    let mut parts = text.split("<http");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |before, part| before + "http" + &part.replacen('>', "", 1))
}

/// Text without code: `**bold**` and `*underlined*`, where a sign is at the beginning or the end of a word.
fn emphasized(text: &str, is_styled: bool) -> String {
    let mut result = String::new();
    let mut style = None;
    let mut rest = text;
    while let Some(at) = rest.find('*') {
        let (before, from) = rest.split_at(at);
        result.push_str(before);
        let sign = if from.starts_with("**") { "**" } else { "*" };
        let after = &from[sign.len()..];
        let is_begin = !result.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric);
        match style {
            None if is_begin && after.contains(sign) => {
                style = Some(sign);
                result.extend(is_styled.then_some(if sign == "*" { UNDERLINED } else { BOLD }));
            }
            Some(open) if open == sign => {
                style = None;
                result.extend(is_styled.then_some(PLAIN));
            }
            _ => result.push_str(sign),
        }
        rest = after;
    }
    result + rest
}

/// Replaces the signs of styles by the codes of terminals. A style that goes on in the next line is ended and begun again,
/// because pagers draw each line for itself.
fn with_escapes(text: &str) -> String {
    let mut result = String::new();
    let (mut style, mut is_on) = ("", false);
    for sign in text.chars() {
        match sign {
            BOLD => style = "\x1b[1m",
            UNDERLINED => style = "\x1b[4m",
            PLAIN | '\n' => {
                result.push_str(if is_on { "\x1b[0m" } else { "" });
                is_on = false;
                if sign == PLAIN {
                    style = "";
                } else {
                    result.push('\n');
                }
            }
            letter => {
                if !is_on && !style.is_empty() && letter != ' ' {
                    result.push_str(style);
                    is_on = true;
                }
                result.push(letter);
            }
        }
    }
    result
}
