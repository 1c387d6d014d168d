//! The lists of a sweep as they are written: commas, ranges and braces.

use crate::spec::{quote, split_list, unquote};

/// The options whose values can be a range.
const NUMERIC: [&str; 8] = ["procs", "estimates-seed", "first", "repeat", "load", "seed", "replication", "inflate"];

/// At most so many values come of one text.
const MOST: usize = 1_000_000;

/// The values that a text stands for, in order: `easy,sjbf`, `0.8..1.2:0.1`, `1..10`, `ruh:window={2|3},cap={on|off}`.
/// A comma begins a new value unless `key=` follows it; braces hold alternatives, the last of them changing fastest. A
/// value in double quotes is taken as it is.
///
/// ```
/// use shadowtime::sweep::expand;
/// assert_eq!(expand("load", "0.9..1.1:0.1").unwrap(), ["0.9", "1", "1.1"]);
/// assert_eq!(expand("predictor", "perfect,ruh:window={2|3},cap=on").unwrap(), ["perfect", "ruh:window=2,cap=on", "ruh:window=3,cap=on"]);
/// ```
pub fn expand(option: &str, text: &str) -> Result<Vec<String>, String> {
    let mut values = Vec::new();
    for item in split_list(text).map_err(|error| error.to_string())? {
        if item.is_empty() {
            return Err(format!("'{text}' has an empty value"));
        }
        if let Some(value) = unquote(&item) {
            values.push(value);
            continue;
        }
        match parse_range(&item).filter(|_| NUMERIC.contains(&option)) {
            Some(range) => values.extend(range?),
            None => values.extend(expand_braces(&item)?),
        }
        if values.len() > MOST {
            return Err(format!("'{text}' stands for more than {MOST} values"));
        }
    }
    Ok(values)
}

/// A value written so that [`expand`] gives it back, whatever is in it.
pub fn literal(option: &str, value: &str) -> String {
    match expand(option, value) {
        Ok(values) if values == [value] => value.to_string(),
        _ => quote(value),
    }
}

/// `from..to` or `from..to:step`, both ends included; None if it is not written like one.
fn parse_range(text: &str) -> Option<Result<Vec<String>, String>> {
    let (from, rest) = text.split_once("..")?;
    let (to, step) = rest.split_once(':').unwrap_or((rest, "1"));
    Some(range(from, to, step).map_err(|why| format!("'{text}' is not a range such as 1..10 or 0.8..1.2:0.1: {why}")))
}

/// Counts in whole units of the last decimal written, so that 0.1 added to 0.2 is 0.3.
fn range(from: &str, to: &str, step: &str) -> Result<Vec<String>, String> {
    let decimals = [from, to, step].iter().map(|text| decimals(text)).max().unwrap_or(0);
    let [from, to, step] = [units(from, decimals)?, units(to, decimals)?, units(step, decimals)?];
    if step <= 0 {
        return Err("its step is not above 0".to_string());
    }
    if from > to {
        return Err("it ends before it begins".to_string());
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

/// Every choice of alternatives.
fn expand_braces(text: &str) -> Result<Vec<String>, String> {
    let Some(open) = text.find('{') else {
        return match text.contains('}') {
            true => Err(format!("'{text}' has a '}}' without its '{{'")),
            false => Ok(vec![text.to_string()]),
        };
    };
    let (mut depth, mut from, mut alternatives, mut close) = (0, open + 1, Vec::new(), None);
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => {
                alternatives.push(&text[from..at]);
                close = Some(at);
                break;
            }
            '}' => depth -= 1,
            '|' if depth == 1 => {
                alternatives.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    let close = close.ok_or_else(|| format!("'{text}' has a '{{' without its '}}'"))?;
    let behind = expand_braces(&text[close + 1..])?;
    let mut values = Vec::new();
    for alternative in alternatives {
        for inner in expand_braces(alternative)? {
            values.extend(behind.iter().map(|rest| format!("{}{inner}{rest}", &text[..open])));
            if values.len() > MOST {
                return Err(format!("'{text}' stands for more than {MOST} values"));
            }
        }
    }
    Ok(values)
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
        // Not a number's option: a name with two dots in it.
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
    fn what_is_not_a_list() {
        for (option, text, message) in [
            ("scheduler", "easy,,sjbf", "empty value"),
            ("load", "1..0.5", "ends before it begins"),
            ("load", "1..2:0", "step is not above 0"),
            ("seed", "1..x", "'x' is not a plain number"),
            ("seed", "1..99999999", "more than 1000000 values"),
            ("predictor", "ruh:window={1|2", "without its '}'"),
            ("predictor", "ruh:window=1|2}", "without its '{'"),
        ] {
            let error = expand(option, text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
