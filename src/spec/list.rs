//! Lists of specs: where one ends and the next begins, and values in double quotes.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::expand::expand;
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
/// If the list has another form, `parse` refuses a spec, or two specs mean the same.
///
/// ```
/// use shadowtime::{predict, spec::parse_list};
/// let read = |text| parse_list("predictor", [text], predict::catalog::parse);
/// assert_eq!(read("sbh,ruh:window=1..10").unwrap().items.len(), 11);
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
        for value in expand(option, text).map_err(SpecError)? {
            items.push(parse(&value)?);
        }
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

/// Splits a list of specs. A comma begins a new spec unless `key=` follows it.
///
/// ```
/// use shadowtime::spec::split_list;
/// assert_eq!(split_list("estimate,ruh:window=2,cap=on,perfect").unwrap(), ["estimate", "ruh:window=2,cap=on", "perfect"]);
/// ```
pub fn split_list(text: &str) -> Result<Vec<String>, SpecError> {
    let pieces = split_at_commas(text).map_err(|why| SpecError(format!("'{text}': {why}")))?;
    let mut items: Vec<String> = Vec::new();
    for piece in pieces {
        match items.last_mut() {
            Some(item) if piece.split_once('=').is_some_and(|(key, _)| is_key(key)) => {
                item.push(',');
                item.push_str(piece);
            }
            _ => items.push(piece.to_string()),
        }
    }
    Ok(items)
}

/// Whether a text can be the name of a key.
pub(super) fn is_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// The value of a key as it is printed: in double quotes if it has braces, quotes, two dots, commas that are not in
/// parentheses, or a parenthesis without its partner. Equals signs need none, because the first one ends the key.
pub(super) fn quote_if_needed(value: &str) -> Cow<'_, str> {
    let has_marks = value.contains(['{', '}', '"']) || value.contains("..");
    let is_one = split_at_commas(value).is_ok_and(|pieces| pieces.len() == 1);
    if is_one && !has_marks { value.into() } else { quote(value).into() }
}

/// The text in double quotes, with a backslash before each quote and backslash in it.
pub fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Reverses [`quote`]. None if the text is not one quoted text.
pub fn unquote(text: &str) -> Option<String> {
    let inside = text.strip_prefix('"')?.strip_suffix('"')?;
    let (mut plain, mut rest) = (String::new(), inside.chars());
    while let Some(c) = rest.next() {
        match c {
            '\\' => plain.push(rest.next()?),
            '"' => return None,
            c => plain.push(c),
        }
    }
    Some(plain)
}

/// Splits at commas, except those in parentheses, in double quotes, and in braces, in which a sweep has alternatives.
pub(super) fn split_at_commas(text: &str) -> Result<Vec<&str>, String> {
    let (mut pieces, mut depth, mut braces, mut from) = (Vec::new(), 0usize, 0usize, 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' => depth += 1,
            ')' if depth == 0 => return Err(format!("a ')' without its '(' at '{}'", &text[at..])),
            ')' => depth -= 1,
            '{' => braces += 1,
            '}' => braces = braces.saturating_sub(1),
            ',' if depth == 0 && braces == 0 => {
                pieces.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err("a '(' without its ')'".to_string());
    }
    if is_quoted {
        return Err("a '\"' without the one that ends it".to_string());
    }
    pieces.push(&text[from..]);
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_split_at_commas_that_no_key_follows() {
        assert_eq!(split_list("easy,sjbf").unwrap(), ["easy", "sjbf"]);
        assert_eq!(split_list("rich:set=(a,b),cap=on,plain").unwrap(), ["rich:set=(a,b),cap=on", "plain"]);
        assert_eq!(split_list("plain,rich:cap=on").unwrap(), ["plain", "rich:cap=on"]);
        assert!(split_list("rich:set=(a").is_err());
        assert_eq!(split_list(r#"a,"b,c{\",)",d"#).unwrap(), ["a", r#""b,c{\",)""#, "d"]);
        assert!(split_list(r#"a,"b"#).is_err() && split_list(r#""b\""#).is_err());
        for text in ["", "plain", r#"a "b" \ {c}"#] {
            assert_eq!(unquote(&quote(text)).as_deref(), Some(text));
        }
        assert!(unquote("a").is_none() && unquote(r#""a"b""#).is_none() && unquote("\"").is_none());
    }

    #[test]
    fn one_list_of_all_texts_in_which_swept_defaults_are_printed() {
        let read = |texts: &[&str]| parse_list("predictor", texts.iter().copied(), crate::predict::catalog::parse);
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
}
