//! Names of users, groups, executables, queues and partitions, and the numbers that predictors get for them.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

/// The names that have been seen. A name that is a number from 0 to 2^31 - 1 keeps it, so that a log in SWF and its events
/// have the same numbers. Any other name gets a number below -1. -1 is an unknown name.
///
/// All kinds of names share one table: predictors compare a user only with users, and a queue only with queues.
#[derive(Debug, Default)]
pub struct Names {
    texts: Vec<Box<str>>,
    codes: FxHashMap<Box<str>, i32>,
}

impl Names {
    /// The number of a name, which is a new one if the name is new.
    pub fn code(&mut self, name: Option<&str>) -> i32 {
        let Some(name) = name else { return -1 };
        self.known_code(name).unwrap_or_else(|| {
            self.texts.push(name.into());
            // More names than this would need hundreds of gigabytes.
            let code = -1 - i32::try_from(self.texts.len()).expect("fewer than 2^31 names");
            self.codes.insert(name.into(), code);
            code
        })
    }

    /// The number of a name. None if the name is new.
    pub fn known_code(&self, name: &str) -> Option<i32> {
        plain_number(name).or_else(|| self.codes.get(name).copied())
    }

    /// The name of a number; None if it is unknown.
    pub fn name(&self, code: i32) -> Option<Cow<'_, str>> {
        match code {
            -1 => None,
            0.. => Some(Cow::Owned(code.to_string())),
            _ => Some(Cow::Borrowed(&self.texts[(-2 - i64::from(code)) as usize])),
        }
    }
}

/// The number that is written exactly like this.
fn plain_number(name: &str) -> Option<i32> {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
    if is_plain { name.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_and_other_names_come_back() {
        let mut names = Names::default();
        let texts = ["alice", "7", "0", "2147483647", "2147483648", "007", "alice", "-3", "+7", "bob"];
        let codes = texts.map(|name| names.code(Some(name)));
        assert_eq!(codes, [-2, 7, 0, i32::MAX, -3, -4, -2, -5, -6, -7]);
        assert_eq!(codes.map(|code| names.name(code).unwrap().into_owned()), texts);
        assert_eq!((names.code(None), names.name(-1)), (-1, None));
        assert_eq!((names.known_code("bob"), names.known_code("carol")), (Some(-7), None));
    }
}
