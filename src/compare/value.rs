//! Two values of a column: by how much they differ, and whether that is too much.

use std::fmt;

/// The difference of two numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueChange {
    /// The second number minus the first.
    pub absolute: f64,
    /// The same in percent of the first. None if the first is 0.
    pub percent: Option<f64>,
}

impl ValueChange {
    /// From the first value to the second. None if one of them is not a number. It is 0 only if the two are the same number:
    /// decimals of up to 38 digits are compared exactly, also those that are equal as floats.
    pub fn between(first: &str, second: &str) -> Option<ValueChange> {
        let exact = exact_change(first, second);
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let (first, second) = (number(first)?, number(second)?);
        let absolute = exact.unwrap_or(second - first);
        let percent = if absolute == 0.0 { Some(0.0) } else { Some(100.0 * absolute / first.abs()) };
        Some(ValueChange { absolute, percent: percent.filter(|percent| percent.is_finite()) })
    }
}

/// The second number minus the first, computed in whole numbers. None if one of them is not a plain decimal or has too many
/// digits.
fn exact_change(first: &str, second: &str) -> Option<f64> {
    let parts = [first, second].map(|text| text.split_once('.').unwrap_or((text, "")));
    let digits = parts.iter().map(|(_, fraction)| fraction.len()).max()?;
    let scaled = |(whole, fraction): (&str, &str)| format!("{whole}{fraction:0<digits$}").parse::<i128>().ok();
    let change = scaled(parts[1])?.checked_sub(scaled(parts[0])?)?;
    Some(change as f64 / 10f64.powi(digits as i32))
}

/// How much two numbers may differ. The default is not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Tolerance {
    /// Not at all.
    #[default]
    Exact,
    /// By this number.
    Absolute(f64),
    /// By this percentage of the first number.
    Percent(f64),
}

impl Tolerance {
    /// Reads `0.1%` or a number.
    ///
    /// # Errors
    /// If the text is neither, or negative.
    pub fn parse(text: &str) -> Result<Tolerance, String> {
        let (number, is_percent) = text.strip_suffix('%').map_or((text, false), |number| (number, true));
        match number.trim().parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(match is_percent {
                true => Tolerance::Percent(number),
                false => Tolerance::Absolute(number),
            }),
            _ => Err(format!("'{text}' is not a tolerance such as 0.1% or 0.5")),
        }
    }

    /// Whether a change is not too much. Two numbers of the same value never differ too much.
    pub fn allows(self, change: &ValueChange) -> bool {
        // The decimals of a CSV are not exact in binary: 1.3 - 1.2 is a little more than 0.1.
        let within = |size: f64, limit: f64| size <= limit * (1.0 + 1e-9);
        match self {
            _ if change.absolute == 0.0 => true,
            Tolerance::Exact => false,
            Tolerance::Absolute(limit) => within(change.absolute.abs(), limit),
            Tolerance::Percent(limit) => change.percent.is_some_and(|percent| within(percent.abs(), limit)),
        }
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tolerance::Exact => f.write_str("0"),
            Tolerance::Absolute(limit) => write!(f, "{limit}"),
            Tolerance::Percent(limit) => write!(f, "{limit}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_those_of_the_first_number() {
        assert_eq!(ValueChange::between("200", "150.0"), Some(ValueChange { absolute: -50.0, percent: Some(-25.0) }));
        assert_eq!(ValueChange::between("-2", "-1"), Some(ValueChange { absolute: 1.0, percent: Some(50.0) }));
        assert_eq!(ValueChange::between("0", "3"), Some(ValueChange { absolute: 3.0, percent: None }));
        assert_eq!(ValueChange::between("0", "-0.000"), Some(ValueChange { absolute: 0.0, percent: Some(0.0) }));
        assert_eq!((ValueChange::between("", "1"), ValueChange::between("1", "NaN")), (None, None));
        // Equal as floats, and the same number in other forms.
        let change = |first, second| ValueChange::between(first, second).unwrap().absolute;
        assert_eq!(change("9007199254740992", "9007199254740993"), 1.0);
        assert_eq!(change("-9007199254740993.000", "-9007199254740993.25"), -0.25);
        assert_eq!([change("18446744073709551615", "18446744073709551614"), change("-0.5", "-.50")], [-1.0, 0.0]);
        assert_eq!([change("007.10", "7.1"), change("1e3", "1000"), change("1.3", "1.2")], [0.0, 0.0, -0.1]);
        let long = "1".repeat(60);
        assert_eq!([change(&long, &long), change("2", &long)], [0.0, 1.1111111111111112e59]);
    }

    #[test]
    fn a_tolerance_is_a_number_or_a_percentage() {
        let allows = |tolerance: &str, first, second| {
            Tolerance::parse(tolerance).unwrap().allows(&ValueChange::between(first, second).unwrap())
        };
        assert!(allows("0.1", "1.2", "1.3") && !allows("0.1", "1.2", "1.301"));
        assert!(allows("10%", "200", "220") && allows("10%", "200", "180") && !allows("10%", "200", "221"));
        assert!(allows("0", "1", "1.0") && !allows("0", "1", "1.000001") && !allows("0%", "1", "2"));
        assert!(!allows("50%", "0", "0.001"), "any change from 0 is more than a percentage");
        for wrong in ["", "%", "x", "-1", "NaN", "inf%", "1 percent"] {
            assert!(Tolerance::parse(wrong).is_err(), "{wrong}");
        }
    }
}
