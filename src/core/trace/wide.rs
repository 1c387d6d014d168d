//! Numbers of users, groups, executables, queues and partitions that do not fit into 32 bits.

use rustc_hash::{FxBuildHasher, FxHashMap};

/// The wide numbers of a log. Records and jobs have 32 bits for such a number, because there may be millions of them: a
/// number from 0 to 2^31 - 1 is stored as it is, an unknown one as -1, and a wider one as a code below -1. This table has
/// the numbers of the codes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WideNumbers {
    numbers: Vec<i64>,
    codes: FxHashMap<i64, i32>,
}

impl WideNumbers {
    /// No wide numbers.
    pub const NONE: &WideNumbers = &WideNumbers { numbers: Vec::new(), codes: FxHashMap::with_hasher(FxBuildHasher) };

    /// The 32 bits that stand for a number of a log. All negative numbers are unknown: -1.
    #[inline]
    pub fn code(&mut self, number: i64) -> i32 {
        match i32::try_from(number) {
            Ok(small) => small.max(-1),
            Err(_) if number < 0 => -1,
            Err(_) => self.wide_code(number),
        }
    }

    #[cold]
    fn wide_code(&mut self, number: i64) -> i32 {
        let numbers = &mut self.numbers;
        *self.codes.entry(number).or_insert_with(|| {
            numbers.push(number);
            // A log has fewer than 2^32 records, but two thousand million different wide numbers would need 32 GB.
            -1 - i32::try_from(numbers.len()).expect("fewer than 2^31 wide numbers")
        })
    }

    /// The number that a code stands for, as it was in the log; -1 if it is unknown. A code that this table does not have is
    /// returned as it is, so that different names stay different.
    pub fn number(&self, code: i32) -> i64 {
        match usize::try_from(-2 - i64::from(code)) {
            Ok(at) => self.numbers.get(at).copied().unwrap_or(code.into()),
            Err(_) => i64::from(code),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_numbers_come_back_and_unknown_ones_are_one() {
        let mut wide = WideNumbers::default();
        let numbers = [0, 7, i64::from(i32::MAX), 1 << 31, 35_012_304_659_472, i64::MAX, 1 << 31];
        let codes = numbers.map(|number| wide.code(number));
        assert_eq!(codes, [0, 7, i32::MAX, -2, -3, -4, -2]);
        assert_eq!(codes.map(|code| wide.number(code)), numbers);
        assert_eq!([-1, -2, -9, i64::MIN].map(|number| wide.code(number)), [-1; 4]);
        assert_eq!((wide.number(-1), wide.number(-9)), (-1, -9));
    }
}
