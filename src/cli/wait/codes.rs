//! The users, groups and queues of a question or of a present queue, as the jobs of the log have them.

use rustc_hash::FxHashMap;

use crate::trace::{LogNames, WideNumbers};

/// Finds the numbers of names.
pub struct Codes<'a> {
    /// By kind and name. Empty for SWF, whose names are numbers.
    numbers: FxHashMap<(&'static str, &'a [u8]), i64>,
    wide: &'a mut WideNumbers,
}

impl<'a> Codes<'a> {
    /// The names of a log, and its wide numbers.
    pub fn new(names: &'a LogNames, wide: &'a mut WideNumbers) -> Codes<'a> {
        let numbers = names.rows().map(|(kind, number, name)| ((kind, name), number));
        Codes { numbers: numbers.collect(), wide }
    }

    /// Whether the log has names.
    pub fn has_names(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// The code of a name. None if the log does not have it; -1 if there is no name.
    pub fn code(&mut self, kind: &'static str, name: Option<&str>) -> Option<i32> {
        let Some(name) = name else { return Some(-1) };
        let number = match self.has_names() {
            true => self.numbers.get(&(kind, name.as_bytes())).copied(),
            false => name.parse().ok(),
        };
        number.map(|number| self.wide.code(number))
    }
}
