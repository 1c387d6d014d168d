//! Text for people: texts from input files (names of files, headers of logs) made safe to print, and counts of things.
//!
//! A header can contain anything: escapes that move a terminal's cursor, characters that change the direction of text, or
//! a formula that a spreadsheet would run. [`printable`] is for terminals, [`csv_text`] for cells of CSV.

use std::borrow::Cow;

/// The text on one line, with escapes such as `\u{1b}` or `\n` for control characters and for characters that change the
/// direction of text.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::text::printable;
/// assert_eq!(printable("KTH SP2"), "KTH SP2");
/// assert_eq!(printable("red: \u{1b}[31m"), "red: \\u{1b}[31m");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    written_out(text, is_unprintable)
}

/// As [`printable`], but newlines and tabs are kept.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    written_out(text, |c| is_unprintable(c) && !matches!(c, '\n' | '\t'))
}

fn written_out(text: &str, is_hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_hidden(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Control characters, and the characters by which Unicode changes the direction of text.
fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text for a cell of CSV, before quoting: printable, and with an apostrophe before it if a spreadsheet would read it as a
/// formula. Numbers are unchanged.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::text::csv_text;
/// assert_eq!(csv_text("=HYPERLINK(1)"), "'=HYPERLINK(1)");
/// assert_eq!(csv_text("-12.5"), "-12.5");
/// ```
pub fn csv_text(text: &str) -> Cow<'_, str> {
    let shown = printable(text);
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number(text) {
        true => Cow::Owned(format!("'{shown}")),
        false => shown,
    }
}

/// Only digits count, not words such as `-inf`, which a spreadsheet would evaluate.
fn is_number(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')) && text.parse::<f64>().is_ok()
}

/// Escapes line ends and tabs, so that the text can be one field of a line. [`unescape_line`] reverses it.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    match text.contains(['\\', '\n', '\r', '\t']) {
        false => Cow::Borrowed(text),
        true => Cow::Owned(text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t")),
    }
}

/// Reverses [`escape_line`].
pub fn unescape_line(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        plain.push(match c {
            '\\' => match rest.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    plain
}

/// The first 100 characters of a text, printable, for messages.
pub fn shortened(text: &str) -> Cow<'_, str> {
    const MOST: usize = 100;
    match text.char_indices().nth(MOST) {
        None => printable(text),
        Some((end, _)) => Cow::Owned(format!("{}...", printable(&text[..end]))),
    }
}

/// A whole number with separated thousands: 28,476.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things: `1 job`, `28,476 jobs`.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::text::counted;
/// assert_eq!(counted(1, "record"), "1 record");
/// assert_eq!(counted(2345, "faulty line"), "2,345 faulty lines");
/// assert_eq!(counted(2, "factory"), "2 factories");
/// ```
pub fn counted(number: u64, thing: &str) -> String {
    format!("{} {}", grouped(number), plural(number, thing))
}

/// A list in a sentence.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::text::joined_with_and;
/// assert_eq!(joined_with_and(&["users", "groups", "queues"]), "users, groups and queues");
/// assert_eq!(joined_with_and(&["users"]), "users");
/// ```
pub fn joined_with_and(words: &[impl AsRef<str>]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => words.concat(),
    }
}

/// A number of things in a sentence whose other words depend on the number too.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::text::counted_as;
/// assert_eq!(counted_as(1, "job was held", "jobs were held"), "1 job was held");
/// assert_eq!(counted_as(2, "job was held", "jobs were held"), "2 jobs were held");
/// ```
pub fn counted_as(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// The word for one thing or for several: `job` or `jobs`. The last word of `thing` gets the ending.
pub fn plural(number: u64, thing: &str) -> Cow<'_, str> {
    if number == 1 {
        return Cow::Borrowed(thing);
    }
    match thing.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u'])) {
        Some(stem) => Cow::Owned(format!("{stem}ies")),
        None if thing.ends_with('s') => Cow::Owned(format!("{thing}es")),
        None => Cow::Owned(format!("{thing}s")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_controls_a_terminal_is_left() {
        for (text, shown) in [
            ("", ""),
            ("Zürich (R1), 64 CPUs", "Zürich (R1), 64 CPUs"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("a\nb\r\tc\0", "a\\nb\\r\\tc\\u{0}"),
            ("\u{9b}31m\u{7f}", "\\u{9b}31m\\u{7f}"),
            ("abc\u{202e}fws.\u{2066}\u{200f}", "abc\\u{202e}fws.\\u{2066}\\u{200f}"),
        ] {
            assert_eq!(printable(text), shown);
            assert_eq!(printable(shown), shown);
        }
        assert_eq!(printable_lines("a\n\tb\r\u{1b}[2J"), "a\n\tb\\r\\u{1b}[2J");
    }

    #[test]
    fn formulas_are_text_and_numbers_are_numbers() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
            ("-", "'-"),
            ("-inf", "'-inf"),
            ("-1+2", "'-1+2"),
            ("\t=1", "'\\t=1"),
            ("\r=1", "'\\r=1"),
            ("a\nb", "a\\nb"),
            ("-5", "-5"),
            ("+1.5e-3", "+1.5e-3"),
            ("easy++", "easy++"),
            ("a=b", "a=b"),
        ] {
            assert_eq!(csv_text(text), cell);
        }
        // Unescaping gives the original text.
        assert_eq!(csv_text("'=1+1"), "'=1+1");
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(28_476_123), "28,476,123");
        assert_eq!([counted(0, "job"), counted(1, "job"), counted(1000, "job")], ["0 jobs", "1 job", "1,000 jobs"]);
        assert_eq!(
            [plural(2, "day"), plural(2, "query"), plural(2, "class"), plural(1, "class")],
            ["days", "queries", "classes", "class"]
        );
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened(&"ü".repeat(101)), format!("{}...", "ü".repeat(100)));
    }
}
