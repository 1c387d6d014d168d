//! Ranges of numbers: `1..10`, `0.8..1.2:0.1`, `10m..30m:10m`.

/// The largest number of values of a range.
pub(super) const MOST: usize = 1_000_000;

/// A range, both ends included. Values are counted in units of the last decimal written, so that 0.1 added to 0.2 is 0.3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    from: i64,
    to: i64,
    step: i64,
    decimals: usize,
    /// The unit of durations, written after each number; empty without a unit.
    unit: String,
}

impl Range {
    /// Reads `from..to` or `from..to:step`. None if the text has another form: two dots are then part of a plain value.
    /// An error if the text has this form, but is not a range.
    pub fn find(text: &str) -> Option<Result<Range, String>> {
        let parts = parts(text)?;
        let is_number = |text: &str| number(split_unit(text).0, decimals(split_unit(text).0)).is_ok();
        parts.iter().all(|part| part.is_none_or(is_number)).then(|| Range::parse(text))
    }

    /// The same for a text that must be a range.
    pub fn parse(text: &str) -> Result<Range, String> {
        let wrong = |why: String| format!("'{text}' is not a range such as 1..10 or 0.8..1.2:0.1: {why}");
        let Some([Some(from), Some(to), step]) = parts(text) else {
            return Err(wrong("it has no '..'".to_string()));
        };
        Range::new(from, to, step).map_err(wrong)
    }

    fn new(from: &str, to: &str, step: Option<&str>) -> Result<Range, String> {
        let stepped = format!("{from}..{to}:{}", smallest_step(from, to));
        let ((from, unit), (to, unit_of_to)) = (split_unit(from), split_unit(to));
        let has_step = step.is_some();
        let (step, unit_of_step) = step.map_or(("1", unit), split_unit);
        if unit_of_to != unit || unit_of_step != unit {
            return Err("its numbers have different units".to_string());
        }
        let decimals = [from, to, step].map(decimals).into_iter().max().unwrap_or(0);
        let [from, to, step] = [number(from, decimals)?, number(to, decimals)?, number(step, decimals)?];
        if step <= 0 {
            return Err("its step must be above 0".to_string());
        }
        if from > to {
            return Err("its end is before its start".to_string());
        }
        // A range such as 0.8..1.2 would be a single value, which nobody means.
        if !has_step && (to - from) % step != 0 {
            return Err(format!("its end is not reached in steps of 1; write a step, such as {stepped}"));
        }
        let range = Range { from, to, step, decimals, unit: unit.to_string() };
        if range.count() > MOST {
            return Err(format!("it has more than {MOST} values"));
        }
        Ok(range)
    }

    /// The number of values.
    fn count(&self) -> usize {
        ((self.to - self.from) / self.step) as usize + 1
    }

    /// The values, in order.
    pub fn values(&self) -> impl Iterator<Item = String> {
        (0..self.count() as i64).map(|count| self.print(self.from + count * self.step))
    }

    fn print(&self, value: i64) -> String {
        let scale = 10i64.pow(self.decimals as u32);
        let fraction = format!("{:0width$}", value % scale, width = self.decimals);
        let number = match fraction.trim_end_matches('0') {
            _ if self.decimals == 0 => value.to_string(),
            "" => (value / scale).to_string(),
            fraction => format!("{}.{fraction}", value / scale),
        };
        number + &self.unit
    }
}

/// The texts of the two ends, and of the step if there is one.
fn parts(text: &str) -> Option<[Option<&str>; 3]> {
    let (from, rest) = text.split_once("..")?;
    let (to, step) = rest.split_once(':').map_or((rest, None), |(to, step)| (to, Some(step)));
    Some([Some(from), Some(to), step])
}

/// A number and the unit of a duration after it.
fn split_unit(text: &str) -> (&str, &str) {
    text.split_at(text.trim_end_matches(['s', 'm', 'h', 'd']).len().max(text.len().saturating_sub(1)))
}

/// One in the last decimal of two numbers, with their unit: 0.1 for 0.8 and 1.2.
fn smallest_step(from: &str, to: &str) -> String {
    let (number, unit) = split_unit(from);
    match decimals(number).max(decimals(split_unit(to).0)) {
        0 => format!("1{unit}"),
        decimals => format!("0.{:0>decimals$}{unit}", 1),
    }
}

fn decimals(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, fraction)| fraction.len())
}

fn number(text: &str, decimals: usize) -> Result<i64, String> {
    let wrong = || format!("'{text}' is not a plain number");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || whole.len() + decimals > 18 {
        return Err(wrong());
    }
    format!("{whole}{fraction:0<decimals$}").parse().map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_numbers_with_two_dots_are_a_range() {
        let values = |text| Range::find(text).map(|range| range.unwrap().values().collect::<Vec<_>>());
        assert_eq!(values("9..11").unwrap(), ["9", "10", "11"]);
        assert_eq!(values("0.8..1:0.1").unwrap(), ["0.8", "0.9", "1"]);
        assert_eq!(values("10m..30m:10m").unwrap(), ["10m", "20m", "30m"]);
        assert_eq!(values("7..7").unwrap(), ["7"]);
        for plain in
            ["", "..", "../x", "1..", "..2", "1..x", "@../1..2", "a1..2", "1...3", "1..3..2", "1..2:", "-1..2", "é..é"]
        {
            assert_eq!(values(plain), None, "{plain}");
        }
        assert_eq!(values("0.5..2.5").unwrap(), ["0.5", "1.5", "2.5"]);
        for (text, why) in [
            ("0.8..1.2", "its end is not reached in steps of 1; write a step, such as 0.8..1.2:0.1"),
            ("0.75..1", "its end is not reached in steps of 1; write a step, such as 0.75..1:0.01"),
            ("0.5h..2h", "its end is not reached in steps of 1; write a step, such as 0.5h..2h:0.1h"),
            ("3..1", "its end is before its start"),
            ("1..2:0", "its step must be above 0"),
            ("1m..2h", "its numbers have different units"),
            ("1m..2m:1", "its numbers have different units"),
            ("1..99999999", "it has more than 1000000 values"),
        ] {
            let expected = format!("'{text}' is not a range such as 1..10 or 0.8..1.2:0.1: {why}");
            assert_eq!(Range::find(text), Some(Err(expected)));
        }
    }
}
