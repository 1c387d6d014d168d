//! The document around the parts of a report.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::outside;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("sort.js");

/// The hashes of the style sheet and of the script, which a browser compares before it uses them. A test computes them.
const STYLE_HASH: &str = "NSgSYnkoEnH+5A3C10QIl364Ad5pKn8srMjBqfXc+e4=";
const SCRIPT_HASH: &str = "bzX1hrPesPPF2OfdzqHvkf8pesAowj83QK36gGis+/A=";

/// A page before it is written.
pub struct Page {
    /// The heading. May come from outside.
    pub title: String,
    /// What came out, in a line or two that are read first: the second is smaller.
    pub result: Vec<Markup>,
    /// How sure this is and what else is to be known, below it.
    pub remark: Markup,
    /// What was run: names and values. Values may come from outside.
    pub facts: Vec<Fact>,
    /// The parts below.
    pub sections: Vec<PageSection>,
}

/// A line of what was run.
pub struct Fact {
    /// What it is.
    pub name: &'static str,
    /// May come from outside.
    pub value: String,
    /// Whether it is something to type.
    pub is_code: bool,
}

impl Fact {
    /// A value to read.
    pub fn new(name: &'static str, value: impl Into<String>) -> Fact {
        Fact { name, value: value.into(), is_code: false }
    }

    /// A value to type.
    pub fn code(name: &'static str, value: impl Into<String>) -> Fact {
        Fact { is_code: true, ..Fact::new(name, value) }
    }
}

/// A part of a page.
pub struct PageSection {
    /// Its heading.
    pub title: String,
    /// What is below the heading.
    pub content: Markup,
}

impl Page {
    /// The HTML of the page. It has nothing that a browser would fetch.
    pub fn write(&self) -> String {
        let policy = format!("default-src 'none'; style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'");
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (outside(&self.title)) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    main {
                        header {
                            h1 { (outside(&self.title)) }
                            @for line in &self.result { p.result { (line) } }
                            div.about {
                                div.note { (self.remark) }
                                dl { @for fact in &self.facts {
                                    dt { (fact.name) }
                                    dd { @if fact.is_code { code { (outside(&fact.value)) } } @else { (outside(&fact.value)) } }
                                } }
                            }
                        }
                        @for section in &self.sections { section { h2 { (outside(&section.title)) } (section.content) } }
                        footer { "Shadowtime " (env!("CARGO_PKG_VERSION")) ". Same input, same page." }
                    }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        page.into_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    /// As RFC 4648 defines it.
    fn base64(bytes: &[u8]) -> String {
        const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let group = |bytes: &[u8]| {
            let bits = bytes.iter().chain([&0, &0]).take(3).fold(0u32, |bits, &byte| bits << 8 | u32::from(byte));
            let letter = |at: usize| match at <= bytes.len() {
                true => char::from(LETTERS[(bits >> (18 - 6 * at)) as usize % 64]),
                false => '=',
            };
            (0..4).map(letter).collect::<String>()
        };
        bytes.chunks(3).map(group).collect()
    }

    #[test]
    fn the_policy_has_the_hashes_of_the_style_and_the_script() {
        assert_eq!([&b""[..], b"f", b"fo", b"foo"].map(base64), ["", "Zg==", "Zm8=", "Zm9v"]);
        assert_eq!(base64(&Sha256::digest(STYLE)), STYLE_HASH, "the style sheet has changed: use this hash");
        assert_eq!(base64(&Sha256::digest(SCRIPT)), SCRIPT_HASH, "the script has changed: use this hash");
    }
}
