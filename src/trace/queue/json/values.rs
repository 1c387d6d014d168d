//! The values of `squeue --json`, which have several shapes.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::time::{FOREVER, Time};
use crate::trace::lines::shorten;

/// A text of any bytes: job names need not be UTF-8.
pub struct Text(pub Vec<u8>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct AnyBytes;
        impl Visitor<'_> for AnyBytes {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Text, E> {
                Ok(Text(bytes.to_vec()))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text(text.into()))
            }
        }
        input.deserialize_bytes(AnyBytes)
    }
}

/// One word, or a list of words.
#[derive(Default)]
pub struct Words(pub Vec<String>);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct AnyWords;
        impl<'de> Visitor<'de> for AnyWords {
            type Value = Words;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word or a list of words")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Words, E> {
                Ok(Words(vec![word.to_string()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Words, A::Error> {
                let mut words = Vec::new();
                while let Some(word) = seq.next_element()? {
                    words.push(word);
                }
                Ok(Words(words))
            }
        }
        input.deserialize_any(AnyWords)
    }
}

/// A number. None if it is not set or infinite.
#[derive(Default)]
pub struct Number(Option<i64>);

impl Number {
    pub fn get(&self) -> Option<i64> {
        self.0
    }

    pub fn positive(&self) -> Option<i64> {
        self.0.filter(|&number| number > 0)
    }

    /// An instant in Unix seconds. Slurm writes 0 where there is none.
    pub fn time(&self) -> Option<Time> {
        self.positive().filter(|&time| time <= FOREVER)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(AnyNumber)
    }
}

struct AnyNumber;

impl<'de> Visitor<'de> for AnyNumber {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Number, E> {
        Ok(Number(None))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Number, E> {
        // The last values of 32 and of 64 bits mean "infinite" and "not set".
        const LAST: [u64; 4] = [u32::MAX as u64, u32::MAX as u64 - 1, u64::MAX, u64::MAX - 1];
        Ok(Number(i64::try_from(number).ok().filter(|_| !LAST.contains(&number))))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Number, E> {
        Ok(Number(Some(number)))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Number, E> {
        Ok(Number(number.is_finite().then_some(number.round() as i64)))
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Number, E> {
        match word {
            "Infinity" | "" => Ok(Number(None)),
            _ => word
                .parse()
                .map(|number| Number(Some(number)))
                .map_err(|_| de::Error::custom(format!("\"{}\" is not a number", shorten(word.as_bytes())))),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Number, A::Error> {
        #[derive(Deserialize)]
        struct Parts {
            #[serde(default)]
            set: bool,
            #[serde(default)]
            infinite: bool,
            #[serde(default)]
            number: Number,
        }
        let parts = Parts::deserialize(de::value::MapAccessDeserializer::new(map))?;
        Ok(if parts.set && !parts.infinite { parts.number } else { Number(None) })
    }
}
