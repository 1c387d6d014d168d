//! Lists as users write them: commas, ranges and braces.

use super::range::{MOST, Range};
use super::split::{quote, split_list, unquote};
use crate::text::shortened;

/// The options with numbers as values: two dots in a value always mean a range.
const NUMERIC: [&str; 8] = ["procs", "estimates-seed", "first", "repeat", "load", "seed", "replication", "inflate"];

/// The option with names of files as values: they are only expanded in braces.
const FILES: &str = "trace";

/// The options whose value is itself a list with commas: they are not expanded. Given several times, they have several values.
const WHOLE: [&str; 2] = ["associations", "columns"];

/// The largest number of bytes in all values that one text may expand to.
const MOST_BYTES: usize = 64 << 20;

/// How deeply braces may be nested.
const DEEPEST: usize = 32;

/// The values that a text expands to, in order: `easy,sjbf`, `0.8..1.2:0.1`, `ruh:window=1..10`,
/// `ruh:window={1..3|5},cap={on|off}`.
///
/// A comma begins a new value unless `key=` follows it. Braces contain alternatives, and an alternative may be a range.
/// The last braces or range of a value change fastest. The value of a key of a spec may be a range without braces. Two
/// dots that are not between two numbers are part of the value, as in `templates=@../file`. What is in double quotes, a
/// whole value or that of a key, is not expanded.
///
/// `option` is the name of the option without dashes. It decides where a range may be: not in the name of a file
/// (`trace`), except in braces. The files of `associations` are joined: they are one value, as in the main command.
///
/// # Errors
///
/// If the text has another form, or expands to too many values.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
/// use shadowtime::spec::expand;
/// assert_eq!(expand("load", "0.9..1.1:0.1").unwrap(), ["0.9", "1", "1.1"]);
/// assert_eq!(expand("predictor", "perfect,ruh:window=2..3,cap=on").unwrap(), ["perfect", "ruh:window=2,cap=on", "ruh:window=3,cap=on"]);
/// assert_eq!(expand("predictor", "ruh:window={1..2|5}").unwrap(), ["ruh:window=1", "ruh:window=2", "ruh:window=5"]);
/// ```
pub fn expand(option: &str, text: &str) -> Result<Vec<String>, String> {
    if WHOLE.contains(&option) {
        return Ok(vec![unquote(text).unwrap_or_else(|| text.to_string())]);
    }
    let (mut values, mut bytes) = (Vec::new(), 0);
    for item in split_list(text).map_err(|error| error.to_string())? {
        if item.is_empty() {
            return Err(format!("'{}' has an empty value", shortened(text)));
        }
        let more = expand_item(option, &item)?;
        bytes += total_length(&more);
        values.extend(more);
        check_size(text, values.len(), bytes)?;
    }
    Ok(values)
}

/// The values of one item of a list.
fn expand_item(option: &str, item: &str) -> Result<Vec<String>, String> {
    if let Some(value) = unquote(item) {
        return Ok(vec![value]);
    }
    let range = match option {
        FILES => None,
        option if NUMERIC.contains(&option) && item.contains("..") && !item.contains('{') => Some(Range::parse(item)),
        _ => Range::find(item),
    };
    match range {
        Some(range) => Ok(range?.values().collect()),
        None => expand_braces(item, option != FILES),
    }
}

/// The value, quoted if necessary, so that [`expand`] returns exactly this value.
pub fn literal(option: &str, value: &str) -> String {
    match expand(option, value) {
        Ok(values) if values == [value] => value.to_string(),
        _ => quote(value),
    }
}

/// All combinations of alternatives.
fn expand_braces(text: &str, has_keys: bool) -> Result<Vec<String>, String> {
    let pieces = Pieces { text, at: 0, has_keys }.read(0).map_err(|why| match why.starts_with('\'') {
        // An error of a range begins with the text of the range.
        true => why,
        false => format!("'{}' {why}", shortened(text)),
    })?;
    make(text, &pieces)
}

fn check_size(text: &str, values: usize, bytes: usize) -> Result<(), String> {
    let limit = match () {
        () if values > MOST => format!("{MOST} values"),
        () if bytes > MOST_BYTES => format!("{MOST_BYTES} bytes"),
        () => return Ok(()),
    };
    Err(format!("'{}' expands to more than {limit}", shortened(text)))
}

/// A part of a text: plain, a range, or alternatives, each of which is a sequence of such parts.
enum TextPiece<'a> {
    Plain(&'a str),
    Range(Range),
    Choice(Vec<Vec<TextPiece<'a>>>),
}

/// A parser of texts with braces.
struct Pieces<'a> {
    text: &'a str,
    at: usize,
    /// Whether the text can be a spec: the value of a key may then be a range.
    has_keys: bool,
}

impl<'a> Pieces<'a> {
    /// Reads up to the end of the text or, inside braces, up to the `|` or `}` that ends an alternative.
    fn read(&mut self, depth: usize) -> Result<Vec<TextPiece<'a>>, String> {
        let mut pieces = Vec::new();
        loop {
            let rest = &self.text[self.at..];
            if let Some(length) = quoted_length(rest).filter(|_| self.has_keys) {
                pieces.push(TextPiece::Plain(&rest[..length]));
                self.at += length;
                continue;
            }
            let is_end = |c: char| match c {
                '{' | '}' => true,
                '|' => depth > 0,
                // In the name of a file it is a character like others.
                '"' => self.has_keys,
                _ => false,
            };
            let length = rest.find(is_end).unwrap_or(rest.len());
            let (plain, next) = rest.split_at(length);
            self.at += length;
            // An alternative that is a range as a whole.
            let is_whole = depth > 0 && pieces.is_empty() && !next.starts_with(['{', '"']);
            match Range::find(plain).filter(|_| is_whole) {
                Some(range) => pieces.push(TextPiece::Range(range?)),
                None => self.read_plain(plain, &mut pieces)?,
            }
            match next.chars().next() {
                Some('"') if quoted_length(next).is_some() => {}
                Some('"') => return Err("has a '\"' without the one that ends it".to_string()),
                Some('{') => pieces.push(TextPiece::Choice(self.read_choice(depth + 1)?)),
                Some(_) if depth == 0 => return Err("has a '}' without its '{'".to_string()),
                None if depth > 0 => return Err("has a '{' without its '}'".to_string()),
                _ => return Ok(pieces),
            }
        }
    }

    /// Reads a text without braces. In a spec the value of a key may be a range.
    fn read_plain(&self, text: &'a str, pieces: &mut Vec<TextPiece<'a>>) -> Result<(), String> {
        // The texts before `from` are in the pieces, those before `at` have no further range.
        let (mut from, mut at) = (0, 0);
        while let Some(equals) = text[at..].find('=').filter(|_| self.has_keys) {
            at += equals + 1;
            let length = text[at..].find([',', ')', ';', '/', '=']).unwrap_or(text.len() - at);
            if let Some(range) = Range::find(&text[at..at + length]) {
                pieces.extend([TextPiece::Plain(&text[from..at]), TextPiece::Range(range?)]);
                at += length;
                from = at;
            }
        }
        if from < text.len() {
            pieces.push(TextPiece::Plain(&text[from..]));
        }
        Ok(())
    }

    /// Reads the alternatives from a `{` to its `}`.
    fn read_choice(&mut self, depth: usize) -> Result<Vec<Vec<TextPiece<'a>>>, String> {
        if depth > DEEPEST {
            return Err(format!("has braces nested more than {DEEPEST} deep"));
        }
        let mut alternatives = Vec::new();
        loop {
            // Skips the '{' or the '|'.
            self.at += 1;
            alternatives.push(self.read(depth)?);
            if self.text[self.at..].starts_with('}') {
                self.at += 1;
                return Ok(alternatives);
            }
        }
    }
}

/// The length of the text in double quotes with which a text begins, quotes included. None if it begins otherwise.
fn quoted_length(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    let inside = text.strip_prefix('"')?;
    let end = inside.find(|c| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })?;
    Some(end + 2)
}

/// The values of a sequence; the last choice changes fastest. `text` is the text that has this sequence, for messages.
fn make(text: &str, pieces: &[TextPiece<'_>]) -> Result<Vec<String>, String> {
    let mut values = vec![String::new()];
    for piece in pieces {
        let endings: Vec<String> = match piece {
            TextPiece::Plain(text) => vec![text.to_string()],
            TextPiece::Range(range) => range.values().collect(),
            TextPiece::Choice(alternatives) => {
                let mut all = Vec::new();
                for pieces in alternatives {
                    all.extend(make(text, pieces)?);
                    check_size(text, all.len(), total_length(&all))?;
                }
                all
            }
        };
        // Counted before they are made. No piece makes fewer values, or shorter ones.
        let (before, after) = (values.len(), endings.len());
        check_size(text, before * after, total_length(&values) * after + total_length(&endings) * before)?;
        let with_endings = |value: &String| endings.iter().map(|ending| format!("{value}{ending}")).collect();
        values = values.iter().flat_map::<Vec<String>, _>(with_endings).collect();
    }
    Ok(values)
}

fn total_length(values: &[String]) -> usize {
    values.iter().map(String::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(option: &str, text: &str) -> Vec<String> {
        expand(option, text).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn lists_and_ranges() {
        assert_eq!(values("scheduler", "easy,sjbf"), ["easy", "sjbf"]);
        assert_eq!(values("load", "0.8..1.2:0.1"), ["0.8", "0.9", "1", "1.1", "1.2"]);
        assert_eq!(values("seed", "1..3,7,9..10"), ["1", "2", "3", "7", "9", "10"]);
        assert_eq!(values("procs", "64..256:64"), ["64", "128", "192", "256"]);
        assert_eq!(values("load", "1..1.5:0.25"), ["1", "1.25", "1.5"]);
        assert_eq!(values("load", "0.05..0.1:0.05"), ["0.05", "0.1"]);
        // Not a numeric option: two dots are part of the name.
        assert_eq!(values("trace", "../logs/a.swf"), ["../logs/a.swf"]);
    }

    #[test]
    fn braces() {
        assert_eq!(
            values("predictor", "sbh:criteria={PE/P/E/*|E/P/X},sessions={3|all}"),
            [
                "sbh:criteria=PE/P/E/*,sessions=3",
                "sbh:criteria=PE/P/E/*,sessions=all",
                "sbh:criteria=E/P/X,sessions=3",
                "sbh:criteria=E/P/X,sessions=all"
            ]
        );
        assert_eq!(values("predictor", "{ruh{|:cap=on}|perfect}"), ["ruh", "ruh:cap=on", "perfect"]);
        assert_eq!(values("predictor", "ruh:{window=2,cap=on|window=3},metric=mean,perfect").len(), 3);
        assert_eq!(values("trace", "logs/{KTH|CTC}.swf"), ["logs/KTH.swf", "logs/CTC.swf"]);
        assert_eq!(values("trace", "a|b{c{d|e}f|}{}"), ["a|bcdf", "a|bcef", "a|b"]);
        // There is no limit to the number of braces side by side.
        assert_eq!(values("trace", &"{a}".repeat(20_000)), ["a".repeat(20_000)]);
        assert_eq!(values("trace", &format!("{}x{}", "{".repeat(32), "}".repeat(32))), ["x"]);
    }

    #[test]
    fn ranges_in_specs() {
        assert_eq!(values("predictor", "ruh:window=1..3"), ["ruh:window=1", "ruh:window=2", "ruh:window=3"]);
        assert_eq!(values("method", "knn,ibl:k={1..2|9}"), ["knn", "ibl:k=1", "ibl:k=2", "ibl:k=9"]);
        assert_eq!(
            values("predictor", "a:x=0.1..0.5:0.2,y=1..2,b"),
            ["a:x=0.1,y=1", "a:x=0.1,y=2", "a:x=0.3,y=1", "a:x=0.3,y=2", "a:x=0.5,y=1", "a:x=0.5,y=2", "b"]
        );
        assert_eq!(values("predictor", "a:t=10m..20m:10m"), ["a:t=10m", "a:t=20m"]);
        assert_eq!(values("predictor", "a:{x=1..2|y=on}"), ["a:x=1", "a:x=2", "a:y=on"]);
        assert_eq!(
            values("method", "s:predictor=(ruh:window=2..3,cap=on)"),
            ["s:predictor=(ruh:window=2,cap=on)", "s:predictor=(ruh:window=3,cap=on)"]
        );
        assert_eq!(values("shake", "10s..30s:10s"), ["10s", "20s", "30s"]);
        assert_eq!(values("trace", "logs/{1..2}.swf"), ["logs/1.swf", "logs/2.swf"]);
        // Two dots that are not between two numbers.
        for plain in ["smith:templates=@../x", "smith:templates=@1..2", "a:x=..", "a:x=1..b", "1..2:3:4"] {
            assert_eq!(values("predictor", plain), [plain]);
        }
        // The name of a file.
        for plain in ["x=1..2", "1..2", "1..2/x.swf"] {
            assert_eq!(values("trace", plain), [plain]);
        }
        assert_eq!(values("predictor", "\"a:x=1..2\""), ["a:x=1..2"]);
        assert_eq!(literal("predictor", "a:x=1..2"), "\"a:x=1..2\"");
    }

    #[test]
    fn a_quoted_value_is_taken_as_it_is() {
        assert_eq!(values("trace", r#"a,"b,{c}",d"#), ["a", "b,{c}", "d"]);
        for value in ["plain.swf", "a,b.swf", "{x}.swf", "a}b", "\"q\"", "a\\,b", "x(1", "", "line\nend,"] {
            assert_eq!(values("trace", &literal("trace", value)), [value]);
        }
        assert_eq!(literal("predictor", "ruh:window=2,cap=on"), "ruh:window=2,cap=on");
        assert_eq!(
            values("predictor", r#"exec:command="a,{b|c} \"=1..2",n={1|2},{x:k="}|"|y}"#),
            [r#"exec:command="a,{b|c} \"=1..2",n=1"#, r#"exec:command="a,{b|c} \"=1..2",n=2"#, r#"x:k="}|""#, "y"]
        );
    }

    #[test]
    fn invalid_lists_are_errors() {
        for (option, text, message) in [
            ("scheduler", "easy,,sjbf", "empty value"),
            ("load", "1..0.5", "end is before its start"),
            ("load", "1..2:0", "step must be above 0"),
            ("seed", "1..x", "'x' is not a plain number"),
            ("seed", "1..99999999", "more than 1000000 values"),
            ("predictor", "ruh:window=3..1", "'3..1' is not a range such as 1..10 or 0.8..1.2:0.1: its end is before"),
            ("predictor", "ruh:window={3..1}", "'3..1' is not a range"),
            ("predictor", "a:x=1..1000,y=1..1001", "more than 1000000 values"),
            ("predictor", "ruh:window={1|2", "without its '}'"),
            ("predictor", "ruh:window=1|2}", "without its '{'"),
            ("predictor", "a}{b|c}", "without its '{'"),
            ("predictor", "{a|{b|c}", "without its '}'"),
            ("predictor", &"{0|1}".repeat(20), "more than 1000000 values"),
            ("predictor", &"{0|1}".repeat(20_000), "more than 1000000 values"),
            ("predictor", &format!("{}{}", "{0|1}".repeat(19), "x".repeat(1000)), "more than 67108864 bytes"),
            ("predictor", &"{".repeat(20_000), "nested more than 32 deep"),
            ("predictor", &format!("{}{}", "{".repeat(20_000), "}".repeat(20_000)), "nested more than 32 deep"),
            ("predictor", &"{".repeat(32), "without its '}'"),
            ("predictor", &"}".repeat(20_000), "without its '{'"),
        ] {
            let error = expand(option, text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
