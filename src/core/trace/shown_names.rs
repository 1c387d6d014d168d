//! How the numbers of users, groups, queues and partitions are shown: as numbers, or on request as names.
//!
//! Nothing else makes a text of such a number. A [`Workload`](crate::trace::Workload) has no names unless a command puts them
//! there, so that none can be shown by default.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::log::Log;
use super::rows::NameKind;
use crate::text::shortened;

/// The kinds that outputs show. Executables are not among them: no output shows them, and a log may have a million.
const KINDS: [NameKind; 4] = [NameKind::User, NameKind::Group, NameKind::Queue, NameKind::Partition];

/// What is shown of a number that is unknown.
const UNKNOWN: &str = "unknown";

/// The texts that are shown instead of numbers. Different numbers have different texts.
#[derive(Clone, Debug, Default)]
pub struct ShownNames {
    texts: Arc<[FxHashMap<i64, Box<str>>; NameKind::ALL.len()]>,
    /// Whether names were asked for.
    are_wanted: bool,
}

impl ShownNames {
    /// The names of a log: those of an accounting file, or those that the header of an SWF log has of queues and partitions.
    pub fn of(log: &Log) -> ShownNames {
        let mut texts: [FxHashMap<i64, Box<str>>; NameKind::ALL.len()] = Default::default();
        let is_swf = log.source.format == "swf";
        for kind in KINDS {
            let named: Vec<(i64, String)> = match kind {
                NameKind::Queue if is_swf => log.header.numbered("Queue"),
                NameKind::Partition if is_swf => log.header.numbered("Partition"),
                _ => {
                    let text = |(number, name)| (number, String::from_utf8_lossy(name).into_owned());
                    log.names.of_kind(kind).map(text).collect()
                }
            };
            // A header may name some of the numbers, and the others are shown as they are.
            texts[kind as usize] = different_texts(named, !is_swf);
        }
        ShownNames { texts: Arc::new(texts), are_wanted: true }
    }

    /// The text of a number; None if it has no name, or names were not asked for.
    pub fn name(&self, kind: NameKind, number: i64) -> Option<&str> {
        self.texts[kind as usize].get(&number).map(|text| &**text)
    }

    /// The name of a number, or the number; `unknown` for -1.
    pub fn shown(&self, kind: NameKind, number: i64) -> String {
        match self.name(kind, number) {
            Some(name) => name.to_string(),
            None if number == -1 => UNKNOWN.to_string(),
            None => number.to_string(),
        }
    }

    /// The names of copies of users: `copies` are their numbers with those of the users.
    pub(super) fn add_copies(&mut self, copies: &[(i64, i64)]) {
        if !self.are_wanted {
            return;
        }
        let text =
            |&(copy, user): &(i64, i64)| (copy, format!("{} (copy {copy})", self.shown(NameKind::User, user)).into());
        let of_copies = copies.iter().map(text).collect();
        Arc::make_mut(&mut self.texts)[NameKind::User as usize] = of_copies;
    }

    /// Whether names were asked for. The names of a machine are shown in any case.
    pub fn are_wanted(&self) -> bool {
        self.are_wanted
    }

    /// Whether there are names of this kind.
    pub fn has(&self, kind: NameKind) -> bool {
        !self.texts[kind as usize].is_empty()
    }

    /// The kinds that are shown by name, and those that are shown as numbers.
    pub fn kinds(&self) -> (Vec<NameKind>, Vec<NameKind>) {
        KINDS.into_iter().partition(|&kind| self.has(kind))
    }
}

/// Printable texts for names, numbered from 1 on, that are shown without a log: see `different_texts`.
pub fn shown_texts(names: &[String]) -> Vec<String> {
    let texts = different_texts((1..).zip(names.iter().cloned()).collect(), true);
    (1..=names.len() as i64).map(|number| texts[&number].to_string()).collect()
}

/// Printable texts for the numbers of one kind. Names that look alike, or like a number without a name, are followed by their
/// numbers: `alice (3)`. If `all_named`, there are no numbers without a name.
fn different_texts(named: Vec<(i64, String)>, all_named: bool) -> FxHashMap<i64, Box<str>> {
    let named: Vec<(i64, String)> =
        named.into_iter().map(|(number, name)| (number, shortened(name.trim()).into_owned())).collect();
    let mut alike: FxHashMap<String, u32> = FxHashMap::default();
    for (_, text) in &named {
        *alike.entry(visible(text)).or_default() += 1;
    }
    let text = |(number, text): (i64, String)| {
        let is_number = !all_named && text.parse::<i64>().is_ok();
        let is_clear = alike[&visible(&text)] == 1 && !is_number && !is_reserved(&text);
        (number, if is_clear { text } else { format!("{text} ({number})") }.trim_start().into())
    };
    named.into_iter().map(text).collect()
}

/// Whether outputs have this text for something else than a name: for the unknown, for all others together, or for a name with
/// its number.
fn is_reserved(text: &str) -> bool {
    let in_brackets = text.strip_suffix(')').and_then(|text| text.rsplit_once('('));
    let is_numbered = in_brackets.is_some_and(|(_, inside)| inside.parse::<i64>().is_ok());
    is_numbered || text.is_empty() || text == UNKNOWN || text == "-1" || text.ends_with(" others")
}

/// A text without what does not show: blanks, characters without width, and the apostrophe before a formula in CSV.
fn visible(text: &str) -> String {
    let is_hidden = |c: char| {
        c.is_whitespace()
            || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
    };
    text.trim_start_matches('\'').chars().filter(|&c| !is_hidden(c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(names: &[&str], all_named: bool) -> Vec<String> {
        let named = (1..).zip(names.iter().map(|name| name.to_string())).collect();
        let texts = different_texts(named, all_named);
        (1..=names.len() as i64).map(|number| texts[&number].to_string()).collect()
    }

    #[test]
    fn plain_names_are_shown_as_they_are() {
        assert_eq!(texts(&["alice", "Zoë", "1001", "a (b)"], true), ["alice", "Zoë", "1001", "a (b)"]);
    }

    #[test]
    fn names_that_look_alike_have_their_numbers() {
        let alike = ["bob", "bo\u{200b}b", "bob ", "=x", "'=x", "a\u{1b}", "a\\u{1b}"];
        let shown = texts(&alike, true);
        assert_eq!(shown[0], "bob (1)");
        assert_eq!(shown[2..5], ["bob (3)", "=x (4)", "'=x (5)"]);
        assert_eq!(shown[5..], ["a\\u{1b} (6)", "a\\u{1b} (7)"]);
        // Names that are equal as far as they are shown.
        let long = ["x".repeat(200), "x".repeat(201)];
        let shown = texts(&long.each_ref().map(String::as_str), true);
        assert!(shown[0].ends_with("... (1)") && shown[1].ends_with("... (2)"), "{shown:?}");
    }

    #[test]
    fn no_name_can_pass_for_another_word_of_the_output() {
        let names = ["unknown", "-1", "3 others", "", "bob", "bob (5)", "(4)"];
        let shown = ["unknown (1)", "-1 (2)", "3 others (3)", "(4)", "bob", "bob (5) (6)", "(4) (7)"];
        assert_eq!(texts(&names, true), shown);
        assert_eq!(texts(&["batch", "7"], false), ["batch", "7 (2)"]);
    }
}
