//! Reads lists of specs. The error for several values in a wrong form, such as `ruh:window=1-10`, shows the right form.

use std::collections::BTreeSet;

use super::expand::{expand, first_of_item};
use super::list::split_list;
use super::range::Range;
use super::swept::{SweptKey, SweptKeys};
use super::{Spec, SpecError};

/// Specs of an option in the order of a list.
#[derive(Clone, Debug)]
pub struct SpecList<T> {
    /// What was read. Each is printed with the defaults of swept keys, if they were written.
    pub items: Vec<T>,
    /// The keys that have several values in the list.
    pub keys: Vec<SweptKey>,
}

/// Reads a list of specs as [`expand`] does, each with `parse`. `option` is the name of the option without dashes. An
/// option that was given several times has several texts, which are one list.
///
/// # Errors
///
/// If the list has another form, `parse` refuses a spec, or two specs mean the same. If a text seems to mean several values
/// of a key, the message shows how they are written.
///
/// ```
/// use shadowtime::{predict, spec::parse_list};
/// let read = |text| parse_list("predictor", [text], predict::catalog::parse);
/// assert_eq!(read("sbh,ruh:window=1..10").unwrap().items.len(), 11);
/// assert!(read("ruh:window=1-10").unwrap_err().to_string().ends_with("; write window=1..10"));
/// assert_eq!(read("ruh,sbh,ruh:window=3").unwrap_err().to_string(), "the predictor ruh is given twice");
/// ```
pub fn parse_list<'a, T: AsRef<Spec> + AsMut<Spec>>(
    option: &str,
    texts: impl IntoIterator<Item = &'a str>,
    parse: impl Fn(&str) -> Result<T, SpecError>,
) -> Result<SpecList<T>, SpecError> {
    let mut items: Vec<T> = Vec::new();
    for text in texts {
        if split_list(text)?.iter().any(String::is_empty) {
            // The error for an empty spec lists the valid names.
            parse("")?;
        }
        let values = expand(option, text).map_err(SpecError)?;
        let specs: Result<Vec<T>, SpecError> = values.iter().map(|value| parse(value)).collect();
        let explained = |SpecError(why)| SpecError(explain(text, why, &|value| parse(value).is_ok()));
        items.extend(specs.map_err(explained)?);
    }
    // Equal rows of results would be told apart by nothing.
    let mut seen = BTreeSet::new();
    if let Some(twice) = items.iter().map(AsRef::as_ref).find(|spec| !seen.insert(spec.to_string())) {
        return Err(SpecError(format!("the {option} {twice} is given twice")));
    }
    let swept = SweptKeys::of(items.iter().map(AsRef::as_ref));
    let mut keys = swept.columns(option);
    for item in &mut items {
        keys.iter_mut().for_each(|key| key.push(Some(item.as_ref())));
        item.as_mut().show_written(swept.names());
    }
    Ok(SpecList { items, keys })
}

/// Adds the right form to the error of a list, if its text seems to mean several values: `window=1-10`, `window=1,2`,
/// `window=[1,2]`, `window={1,2}`. `is_valid` returns whether a text is a valid item of the list; a form is only shown if
/// its values are valid.
pub fn explain(text: &str, error: String, is_valid: &dyn Fn(&str) -> bool) -> String {
    // Every value of the text is tried, which would take minutes for a list of a million.
    match (text.len() <= MOST_EXPLAINED).then(|| right_form(text, is_valid)).flatten() {
        Some(form) => format!("{error}; write {form}"),
        None => error,
    }
}

fn right_form(text: &str, is_valid: &dyn Fn(&str) -> bool) -> Option<String> {
    let items = split_list(text).ok()?;
    let mut start = 0;
    for item in &items {
        // A value begins after each `=`, or is the item itself.
        let equals = item.match_indices('=').map(|(at, _)| start + at + 1);
        let values = equals.chain((!item.contains('=')).then_some(start));
        for at in values {
            let prefix = &text[start..at];
            // Keys before it may have alternatives: the first ones are taken.
            let is_valid = |value: &str| first_of_item(&format!("{prefix}{value}")).is_some_and(|text| is_valid(&text));
            if let Some(form) = right_form_of_value(key(prefix), &text[at..], &is_valid) {
                return Some(form);
            }
        }
        start += item.len() + 1;
    }
    None
}

/// `window=` of `ruh:cap=on,window=`; empty without a key.
fn key(prefix: &str) -> &str {
    prefix.rfind([':', ',', '(', '{']).map_or(prefix, |at| &prefix[at + 1..])
}

/// The right form if the text begins with several values in another form.
fn right_form_of_value(key: &str, text: &str, is_valid: &dyn Fn(&str) -> bool) -> Option<String> {
    let closing = match text.chars().next()? {
        '[' => ']',
        '(' => ')',
        '{' => '}',
        // Without brackets. Commas only separate values of a key: items of a list are separated by commas anyway.
        _ => {
            let mut values = text.split(',').take_while(|value| is_valid(value));
            let values: Vec<&str> = values.by_ref().take(MOST_READ).collect();
            // Where any text is valid, this is the next key and not another value.
            if values.iter().skip(1).any(|value| value.contains('=')) {
                return None;
            }
            return match values.len() {
                0 => {
                    let value = text.split(',').next().filter(|value| Range::find(value).is_none())?;
                    let values: Vec<&str> = value.split('|').take(MOST_READ).collect();
                    match values.len() > 1 && values.iter().all(|value| is_valid(value)) {
                        true => Some(several(key, &values)),
                        false => between(key, value, is_valid),
                    }
                }
                1 => None,
                _ if key.is_empty() => None,
                _ => Some(several(key, &values)),
            };
        }
    };
    let inside = text[1..].split(closing).next()?;
    if closing == '}' && (inside.contains('|') || Range::find(inside).is_some()) {
        // The right form: the error is elsewhere.
        return None;
    }
    let values: Vec<&str> = inside.split([',', ';', '|', ' ']).filter(|value| !value.is_empty()).collect();
    match &values[..] {
        [one] => between(key, one, is_valid),
        [_, _, ..] if values.iter().take(MOST_READ).all(|value| is_valid(value)) => Some(several(key, &values)),
        _ => None,
    }
}

/// The longest text, in bytes, for which the right form is looked for. People write shorter ones.
const MOST_EXPLAINED: usize = 1000;

/// A message shows the first values of a long list; more need not be checked.
const MOST_READ: usize = 20;

/// `window=1..10` for `1-10` and the like.
fn between(key: &str, value: &str, is_valid: &dyn Fn(&str) -> bool) -> Option<String> {
    let ends = |separator: &&str| value.split_once(*separator).filter(|(a, b)| is_valid(a) && is_valid(b));
    let (from, to) = ["...", "..=", "..", "-", ":", "–"].iter().find_map(ends)?;
    Range::between(from, to).map(|range| format!("{key}{range}"))
}

/// `window={1|2|3} or window=1..3`.
fn several(key: &str, values: &[&str]) -> String {
    const SHOWN: usize = 6;
    let mut shown = values[..values.len().min(SHOWN)].join("|");
    if values.len() > SHOWN {
        shown.push_str("|...");
    }
    // The alternatives of an option without keys are a plain list.
    let list = match key.is_empty() {
        true => shown.replace('|', ","),
        false => format!("{key}{{{shown}}}"),
    };
    let range = Range::find(&format!("{}..{}", values[0], values[values.len() - 1]));
    match range {
        Some(Ok(range)) if range.values().eq(values.iter().map(ToString::to_string)) => {
            format!("{list} or {key}{}..{}", values[0], values[values.len() - 1])
        }
        _ => list,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::catalog::parse;

    #[test]
    fn a_wrong_form_of_several_values_shows_the_right_one() {
        for (text, end) in [
            ("ruh:window=1-10", "window: '1-10' is not a whole number of at least 1; write window=1..10"),
            ("ruh:window=1...10", "; write window=1..10"),
            ("ruh:window=1:10", "; write window=1..10"),
            ("ruh:window=[1..10]", "; write window=1..10"),
            ("ruh:window={1-10}", "; write window=1..10"),
            ("ruh:cap=on,window=[1,2],sbh", "; write window={1|2} or window=1..2"),
            ("ruh:window=(1,2,4)", "; write window={1|2|4}"),
            ("sbh,ruh:window=1,2,3", "; write window={1|2|3} or window=1..3"),
            ("ruh:window=1,2,3,sbh", "; write window={1|2|3} or window=1..3"),
            ("ruh:window=1|2", "; write window={1|2} or window=1..2"),
            ("sbh,ruh:cap=on,window=1|5,metric=mean", "; write window={1|5}"),
            ("ruh:window={1,2}", "; write window={1|2} or window=1..2"),
            ("ruh:window=1..3,5", "; write window={1..3|5}"),
            ("ruh:window={1|2},metric=median,mean", "; write metric={median|mean}"),
            ("ruh:window=1,2,3,4,5,6,7,9", "; write window={1|2|3|4|5|6|...}"),
        ] {
            let error = parse_list("predictor", [text], parse).unwrap_err().to_string();
            assert!(error.ends_with(end), "{text}: {error}");
        }
        // Nothing that could have been meant is valid.
        for text in [
            "rhu",
            "ruh,2",
            "ruh:window=2,rhu",
            "ruh:window=a-b",
            "ruh:window=0-3",
            "ruh:win=1-3",
            "ruh:window=1..3,rhu",
            "ruh:window={1|2},rhu",
            "ruh:window={1..2},rhu",
            "ruh:window=9-3",
        ] {
            let error = parse_list("predictor", [text], parse).unwrap_err().to_string();
            assert!(!error.contains("write"), "{text}: {error}");
        }
        assert!(
            parse_list("predictor", ["ruh:window=3..1"], parse).unwrap_err().to_string().contains("before its start")
        );
    }

    #[test]
    fn one_list_of_all_texts_in_which_swept_defaults_are_printed() {
        let read = |texts: &[&str]| parse_list("predictor", texts.iter().copied(), parse);
        let list = read(&["ruh:window=2..3", "sbh"]).unwrap();
        assert_eq!(list.items.iter().map(Spec::to_string).collect::<Vec<_>>(), ["ruh:window=2", "ruh:window=3", "sbh"]);
        assert_eq!(
            (list.keys[0].column.as_str(), &list.keys[0].values[..2]),
            ("predictor.window", &["2".into(), "3".into()][..])
        );
        for twice in [&["ruh,ruh"][..], &["ruh", "ruh"], &["ruh:window={3|3}"], &["ruh", "ruh:window=1..5"]] {
            assert_eq!(read(twice).unwrap_err().to_string(), "the predictor ruh is given twice", "{twice:?}");
        }
    }

    /// The first value of each range is enough to find out what was meant.
    #[test]
    fn a_wrong_key_after_a_long_range_is_explained_at_once() {
        let tried = std::cell::Cell::new(0);
        let is_valid = |text: &str| {
            tried.set(tried.get() + 1);
            parse(text).is_ok()
        };
        explain("ruh:window=1..1000000,cap=on,metric=mea", String::new(), &is_valid);
        assert!(tried.get() < 1000, "{}", tried.get());
    }

    #[test]
    fn numbers_of_an_option_without_keys() {
        let is_valid = |text: &str| text.parse::<f64>().is_ok();
        let explained = |text| explain(text, "wrong".to_string(), &is_valid);
        assert_eq!(explained("0.8-1.2"), "wrong; write 0.8..1.2:0.1");
        assert_eq!(explained("{1,2,5}"), "wrong; write 1,2,5");
        assert_eq!(explained("1,x"), "wrong");
    }
}
