//! The types of the values of keys.

use std::fmt;

use crate::similar::did_you_mean;
use crate::time::{Seconds, parse_duration, print_duration};

/// Keys of a form with values.
pub(super) type KeyValues = Vec<(&'static str, String)>;

/// The type of a key's value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A whole number.
    Whole {
        /// The smallest valid number.
        least: i64,
    },
    /// A finite number.
    Real {
        /// What is valid, for messages and lists.
        what: &'static str,
        /// Whether a finite number is valid.
        fits: fn(f64) -> bool,
    },
    /// A duration, such as `20m`.
    Duration {
        /// The shortest valid duration, in seconds.
        least: Seconds,
    },
    /// A duration that is printed as a number of seconds: for keys with the unit in their names.
    Seconds {
        /// The shortest valid duration, in seconds.
        least: Seconds,
    },
    /// `on` or `off`.
    Switch,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Another text.
    Text {
        /// What is valid, for messages and lists.
        what: &'static str,
        /// Checks a value, and returns it as it is printed: equal values must have equal texts.
        canonical: fn(&str) -> Result<String, String>,
    },
    /// A file with values of other keys of the form: they are the defaults of those that are not written.
    Defaults {
        /// What is valid, for messages and lists.
        what: &'static str,
        /// Reads the file of this name.
        read: fn(&str) -> Result<KeyValues, String>,
    },
    /// Stands for all keys that the form does not have, with any values. Only the last key of a form can be of this kind.
    Others,
}

impl Kind {
    /// A number above 0.
    pub const ABOVE_0: Kind = Kind::Real { what: "a number above 0", fits: |number| number > 0.0 };

    /// A number of at least 0.
    pub const AT_LEAST_0: Kind = Kind::Real { what: "a number of at least 0", fits: |number| number >= 0.0 };

    /// A share, both ends included.
    pub const FROM_0_TO_1: Kind =
        Kind::Real { what: "a number from 0 to 1", fits: |number| (0.0..=1.0).contains(&number) };

    /// A whole number of at least 1, or `all`.
    pub const COUNT_OR_ALL: Kind = Kind::Text {
        what: "a whole number of at least 1, or all",
        canonical: |text| match text.parse::<u64>() {
            Ok(count) if count >= 1 => Ok(count.to_string()),
            _ if text == "all" => Ok(text.to_string()),
            _ => Err(format!("'{text}' is not a whole number of at least 1, or all")),
        },
    };

    /// The value as it is printed: equal values have equal texts.
    pub(super) fn canonical(self, text: &str) -> Result<String, String> {
        let valid = match self {
            Kind::Whole { least } => text.parse::<i64>().ok().filter(|&number| number >= least).map(|n| n.to_string()),
            Kind::Real { fits, .. } => {
                let number = text.parse::<f64>().ok().filter(|&number| number.is_finite() && fits(number));
                // Adding 0 turns -0 into 0.
                number.map(|number| (number + 0.0).to_string())
            }
            Kind::Duration { least } => {
                Some(parse_duration(text)?).filter(|&seconds| seconds >= least).map(print_duration)
            }
            Kind::Seconds { least } => {
                Some(parse_duration(text)?).filter(|&seconds| seconds >= least).map(|seconds| seconds.to_string())
            }
            Kind::Switch => Some(text.to_string()).filter(|text| matches!(text.as_str(), "on" | "off")),
            Kind::Choice(words) => Some(text.to_string()).filter(|_| words.contains(&text)),
            Kind::Text { canonical, .. } => return canonical(text),
            // The file is read once all keys are known.
            Kind::Defaults { .. } | Kind::Others => Some(text.to_string()),
        };
        valid.ok_or_else(|| {
            let words = if let Kind::Choice(words) = self { words } else { &[] };
            format!("'{text}' is not {self}{}", did_you_mean(text, words.iter().copied()))
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Whole { least } => write!(f, "a whole number of at least {least}"),
            Kind::Duration { least } | Kind::Seconds { least } => {
                write!(f, "a duration of at least {}", print_duration(*least))
            }
            Kind::Switch => write!(f, "on or off"),
            Kind::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Kind::Real { what, .. } | Kind::Text { what, .. } | Kind::Defaults { what, .. } => write!(f, "{what}"),
            Kind::Others => write!(f, "any text"),
        }
    }
}
