//! Where one spec of a list ends and the next begins, and values in double quotes.

use std::borrow::Cow;

use super::SpecError;

/// Splits a list of specs. A comma begins a new spec unless `key=` follows it.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
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
}
