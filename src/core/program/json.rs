//! Parts of the lines of JSON that programs read and write.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};

use crate::job::ArrivalNumber;

/// The version of the protocols.
pub const PROTOCOL: u32 = 1;

/// The largest number in lines: the largest whole number that is exact in every language.
pub const LARGEST: i64 = 1 << 53;

/// The id of a job in lines: its place in the order of arrival, counted from 1.
pub fn id(job: ArrivalNumber) -> u64 {
    u64::from(job.0) + 1
}

/// The job of an id. None if no job can have it.
pub fn arrival(id: &str) -> Option<ArrivalNumber> {
    // A number in another form, such as `007`, is not an id.
    let is_plain = id.starts_with(|c: char| ('1'..='9').contains(&c));
    id.parse::<u64>().ok().filter(|_| is_plain).and_then(|id| u32::try_from(id - 1).ok()).map(ArrivalNumber)
}

/// Appends the id of a job, in quotes.
pub fn push_id(line: &mut Vec<u8>, job: ArrivalNumber) {
    line.push(b'"');
    push_number(line, id(job) as i64);
    line.push(b'"');
}

/// Appends a number.
pub fn push_number(line: &mut Vec<u8>, number: i64) {
    line.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends fields with numbers, each after a comma.
pub fn push_fields(line: &mut Vec<u8>, fields: &[(&str, i64)]) {
    for (name, value) in fields {
        line.extend_from_slice(b",\"");
        line.extend_from_slice(name.as_bytes());
        line.extend_from_slice(b"\":");
        push_number(line, *value);
    }
}

/// Reads a line that is a JSON object.
///
/// # Errors
/// If it is not, with a message.
pub fn read<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, String> {
    // The fields of a struct could also be read from an array.
    if line.trim_ascii_start().starts_with(b"[") {
        return Err("this is an array".to_string());
    }
    // The number of the line is always 1.
    serde_json::from_slice(line).map_err(|error| error.to_string().replace(" at line 1 column", " at column"))
}

/// A text in a line, such as an id.
#[derive(Debug, Deserialize)]
pub struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

/// Reads a whole number of seconds, from `least` to [`LARGEST`]. `what` says what it is.
///
/// # Errors
/// If it is none.
pub fn seconds<'a, D: Deserializer<'a>>(deserializer: D, least: i64, what: &'static str) -> Result<i64, D::Error> {
    struct WholeNumber(i64, &'static str);

    impl Visitor<'_> for WholeNumber {
        type Value = i64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{}, which is a whole number of seconds from {} to {LARGEST}", self.1, self.0)
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<i64, E> {
            match (self.0..=LARGEST).contains(&number) {
                true => Ok(number),
                false => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
            }
        }

        /// Languages with one kind of numbers write 3600.0.
        fn visit_f64<E: de::Error>(self, number: f64) -> Result<i64, E> {
            match number.fract() == 0.0 && (self.0 as f64..=LARGEST as f64).contains(&number) {
                true => Ok(number as i64),
                false => Err(E::invalid_value(de::Unexpected::Float(number), &self)),
            }
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<i64, E> {
            self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
        }
    }

    deserializer.deserialize_i64(WholeNumber(least, what))
}

/// Reads the entries of an object in the order of the line. `what` says what they are.
///
/// # Errors
/// If it is not an object, or a value cannot be read.
pub fn pairs<'a, T: Deserialize<'a>, D: Deserializer<'a>>(
    deserializer: D,
    what: &'static str,
) -> Result<Vec<(Cow<'a, str>, T)>, D::Error> {
    struct Pairs<T>(&'static str, PhantomData<T>);

    impl<'a, T: Deserialize<'a>> Visitor<'a> for Pairs<T> {
        type Value = Vec<(Cow<'a, str>, T)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }

        fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut pairs = Vec::new();
            while let Some((Text(name), value)) = map.next_entry()? {
                pairs.push((name, value));
            }
            Ok(pairs)
        }
    }

    deserializer.deserialize_map(Pairs(what, PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbers_from_1_and_nothing_else() {
        for number in [0, 7, u32::MAX - 1] {
            let number = ArrivalNumber(number);
            assert_eq!(arrival(&id(number).to_string()), Some(number));
        }
        for text in ["", "0", "01", "+1", "-1", "1 ", "x", "4294967297", "99999999999999999999"] {
            assert_eq!(arrival(text), None, "{text}");
        }
    }
}
