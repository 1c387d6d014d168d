//! The lists of a sweep as users write them: commas, ranges and braces.

use crate::spec::{quote, split_list, unquote};
use crate::text::shortened;

/// The options with values that can be a range.
const NUMERIC: [&str; 8] = ["procs", "estimates-seed", "first", "repeat", "load", "seed", "replication", "inflate"];

/// The largest number of values, and of bytes in all of them, that one text may expand to.
const MOST: usize = 1_000_000;
const MOST_BYTES: u64 = 64 << 20;

/// How deeply braces may be nested.
const DEEPEST: usize = 32;

/// The values that a text expands to, in order: `easy,sjbf`, `0.8..1.2:0.1`, `1..10`, `ruh:window={2|3},cap={on|off}`.
/// A comma begins a new value unless `key=` follows it. Braces contain alternatives; those of the last braces change
/// fastest. A value in double quotes is not expanded.
///
/// # Errors
///
/// If the text has another form, or expands to too many values.
///
/// ```
/// use shadowtime::sweep::expand;
/// assert_eq!(expand("load", "0.9..1.1:0.1").unwrap(), ["0.9", "1", "1.1"]);
/// assert_eq!(expand("predictor", "perfect,ruh:window={2|3},cap=on").unwrap(), ["perfect", "ruh:window=2,cap=on", "ruh:window=3,cap=on"]);
/// ```
pub fn expand(option: &str, text: &str) -> Result<Vec<String>, String> {
    let (mut values, mut bytes) = (Vec::new(), 0);
    for item in split_list(text).map_err(|error| error.to_string())? {
        if item.is_empty() {
            return Err(format!("'{text}' has an empty value"));
        }
        let more = match (unquote(&item), parse_range(&item).filter(|_| NUMERIC.contains(&option))) {
            (Some(value), _) => vec![value],
            (None, Some(range)) => range?,
            (None, None) => expand_braces(&item)?,
        };
        bytes += more.iter().map(|value| value.len() as u64).sum::<u64>();
        values.extend(more);
        check_size(text, ExpansionSize { values: values.len() as u64, bytes })?;
    }
    Ok(values)
}

/// The value, quoted if necessary, so that [`expand`] returns exactly this value.
pub fn literal(option: &str, value: &str) -> String {
    match expand(option, value) {
        Ok(values) if values == [value] => value.to_string(),
        _ => quote(value),
    }
}

/// `from..to` or `from..to:step`, both ends included; None if the text has no `..`.
fn parse_range(text: &str) -> Option<Result<Vec<String>, String>> {
    let (from, rest) = text.split_once("..")?;
    let (to, step) = rest.split_once(':').unwrap_or((rest, "1"));
    Some(range(from, to, step).map_err(|why| format!("'{text}' is not a range such as 1..10 or 0.8..1.2:0.1: {why}")))
}

/// Counts in units of the last decimal written, so that 0.1 added to 0.2 is 0.3.
fn range(from: &str, to: &str, step: &str) -> Result<Vec<String>, String> {
    let decimals = [from, to, step].iter().map(|text| decimals(text)).max().unwrap_or(0);
    let [from, to, step] = [units(from, decimals)?, units(to, decimals)?, units(step, decimals)?];
    if step <= 0 {
        return Err("its step must be above 0".to_string());
    }
    if from > to {
        return Err("its end is before its start".to_string());
    }
    if (to - from) / step >= MOST as i64 {
        return Err(format!("it has more than {MOST} values"));
    }
    let values = (0..).map(|count| from + count * step).take_while(|&value| value <= to);
    Ok(values.map(|value| print_units(value, decimals)).collect())
}

fn decimals(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, fraction)| fraction.len())
}

fn units(text: &str, decimals: usize) -> Result<i64, String> {
    let wrong = || format!("'{text}' is not a plain number");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || whole.len() + decimals > 18 {
        return Err(wrong());
    }
    format!("{whole}{fraction:0<decimals$}").parse().map_err(|_| wrong())
}

fn print_units(value: i64, decimals: usize) -> String {
    let scale = 10i64.pow(decimals as u32);
    let fraction = format!("{:0width$}", value % scale, width = decimals);
    match fraction.trim_end_matches('0') {
        _ if decimals == 0 => value.to_string(),
        "" => (value / scale).to_string(),
        fraction => format!("{}.{fraction}", value / scale),
    }
}

/// All combinations of alternatives. They are counted before they are made.
fn expand_braces(text: &str) -> Result<Vec<String>, String> {
    let pieces = Pieces { text, at: 0 }.read(0).map_err(|why| format!("'{}' {why}", shortened(text)))?;
    check_size(text, ExpansionSize::of_sequence(&pieces))?;
    Ok(make(&pieces))
}

fn check_size(text: &str, size: ExpansionSize) -> Result<(), String> {
    let limit = match size {
        ExpansionSize { values, .. } if values > MOST as u64 => format!("{MOST} values"),
        ExpansionSize { bytes, .. } if bytes > MOST_BYTES => format!("{MOST_BYTES} bytes"),
        _ => return Ok(()),
    };
    Err(format!("'{}' expands to more than {limit}", shortened(text)))
}

/// A part of a text: plain, or alternatives, each of which is a sequence of such parts.
enum Piece<'a> {
    Plain(&'a str),
    Choice(Vec<Vec<Piece<'a>>>),
}

/// A parser of texts with braces.
struct Pieces<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Pieces<'a> {
    /// Reads up to the end of the text or, inside braces, up to the `|` or `}` that ends an alternative.
    fn read(&mut self, depth: usize) -> Result<Vec<Piece<'a>>, String> {
        let mut pieces = Vec::new();
        loop {
            let rest = &self.text[self.at..];
            let ends = if depth == 0 { &['{', '}'][..] } else { &['{', '}', '|'] };
            let length = rest.find(ends).unwrap_or(rest.len());
            if length > 0 {
                pieces.push(Piece::Plain(&rest[..length]));
            }
            self.at += length;
            match rest[length..].chars().next() {
                Some('{') => pieces.push(Piece::Choice(self.read_choice(depth + 1)?)),
                Some(_) if depth == 0 => return Err("has a '}' without its '{'".to_string()),
                None if depth > 0 => return Err("has a '{' without its '}'".to_string()),
                _ => return Ok(pieces),
            }
        }
    }

    /// Reads the alternatives from a `{` to its `}`.
    fn read_choice(&mut self, depth: usize) -> Result<Vec<Vec<Piece<'a>>>, String> {
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

/// The number of values and their total length. Both saturate.
#[derive(Clone, Copy)]
struct ExpansionSize {
    values: u64,
    bytes: u64,
}

impl ExpansionSize {
    fn of_sequence(pieces: &[Piece<'_>]) -> ExpansionSize {
        pieces.iter().map(ExpansionSize::of_piece).fold(ExpansionSize { values: 1, bytes: 0 }, |all, next| {
            ExpansionSize {
                values: all.values.saturating_mul(next.values),
                bytes: all.bytes.saturating_mul(next.values).saturating_add(next.bytes.saturating_mul(all.values)),
            }
        })
    }

    fn of_piece(piece: &Piece<'_>) -> ExpansionSize {
        match piece {
            Piece::Plain(text) => ExpansionSize { values: 1, bytes: text.len() as u64 },
            Piece::Choice(alternatives) => alternatives.iter().map(|pieces| ExpansionSize::of_sequence(pieces)).fold(
                ExpansionSize { values: 0, bytes: 0 },
                |all, next| ExpansionSize {
                    values: all.values.saturating_add(next.values),
                    bytes: all.bytes.saturating_add(next.bytes),
                },
            ),
        }
    }
}

/// The values of a sequence; the last choice changes fastest.
fn make(pieces: &[Piece<'_>]) -> Vec<String> {
    let mut values = vec![String::new()];
    for piece in pieces {
        match piece {
            Piece::Plain(text) => values.iter_mut().for_each(|value| value.push_str(text)),
            Piece::Choice(alternatives) => {
                let endings: Vec<String> = alternatives.iter().flat_map(|pieces| make(pieces)).collect();
                let with_endings = |value: &String| endings.iter().map(|ending| format!("{value}{ending}")).collect();
                values = values.iter().flat_map::<Vec<String>, _>(with_endings).collect();
            }
        }
    }
    values
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
    fn a_quoted_value_is_taken_as_it_is() {
        assert_eq!(values("trace", r#"a,"b,{c}",d"#), ["a", "b,{c}", "d"]);
        for value in ["plain.swf", "a,b.swf", "{x}.swf", "a}b", "\"q\"", "a\\,b", "x(1", "", "line\nend,"] {
            assert_eq!(values("trace", &literal("trace", value)), [value]);
        }
        assert_eq!(literal("predictor", "ruh:window=2,cap=on"), "ruh:window=2,cap=on");
    }

    #[test]
    fn invalid_lists_are_errors() {
        for (option, text, message) in [
            ("scheduler", "easy,,sjbf", "empty value"),
            ("load", "1..0.5", "end is before its start"),
            ("load", "1..2:0", "step must be above 0"),
            ("seed", "1..x", "'x' is not a plain number"),
            ("seed", "1..99999999", "more than 1000000 values"),
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
