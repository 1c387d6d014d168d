//! The set of rows that were compared: a second row of the same run must be noticed.

use rustc_hash::FxHashSet;
use twox_hash::XxHash3_128;

/// Numbers below this are kept as bits: jobs are mostly numbered from 1 on. All bits together take 32 MB.
const SMALL: u128 = 1 << 28;

/// A set of row ids, small for files of jobs.
#[derive(Default)]
pub struct SeenRows {
    bits: Vec<u64>,
    others: FxHashSet<u128>,
}

impl SeenRows {
    /// Adds a row. False if it was in the set.
    pub fn insert(&mut self, id: u128) -> bool {
        if id >= SMALL {
            return self.others.insert(id);
        }
        let (word, bit) = place(id);
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        let is_new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        is_new
    }

    pub fn contains(&self, id: u128) -> bool {
        let (word, bit) = place(id.min(SMALL));
        match id < SMALL {
            true => self.bits.get(word).is_some_and(|bits| bits & bit != 0),
            false => self.others.contains(&id),
        }
    }
}

fn place(id: u128) -> (usize, u64) {
    ((id / 64) as usize, 1 << (id % 64))
}

/// Identifies a row by its labels. A single label that is a small number is its own id, anything else has a hash.
pub fn row_id<'a>(labels: impl ExactSizeIterator<Item = &'a [u8]>) -> u128 {
    let (count, mut text) = (labels.len(), Vec::new());
    for label in labels {
        if let Some(number) = small_number(label).filter(|_| count == 1) {
            return number;
        }
        // With its length before it, so that no two sequences of texts are equal.
        text.extend((label.len() as u64).to_le_bytes());
        text.extend(label);
    }
    XxHash3_128::oneshot(&text)
}

/// A number in its shortest form: `7`, but not `07`.
fn small_number(label: &[u8]) -> Option<u128> {
    let is_plain = label.len() <= 9 && !label.starts_with(b"0") && label.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(label).ok().filter(|_| is_plain)?.parse().ok()?;
    Some(number).filter(|number| *number < SMALL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_new_once() {
        let id = |labels: &[&str]| row_id(labels.iter().map(|label| label.as_bytes()));
        let rows: [&[&str]; 9] = [
            &["7"],
            &["07"],
            &["70"],
            &["0"],
            &["easy/ruh", "7"],
            &["7", "easy/ruh"],
            &["ab", "c"],
            &["a", "bc"],
            &[""],
        ];
        let mut seen = SeenRows::default();
        for row in rows {
            assert!(!seen.contains(id(row)) && seen.insert(id(row)), "{row:?}");
        }
        for row in rows {
            assert!(seen.contains(id(row)) && !seen.insert(id(row)), "{row:?}");
        }
        assert_eq!((id(&["7"]), seen.others.len()), (7, rows.len() - 2));
        assert!(id(&["999999999"]) >= SMALL && id(&["268435455"]) == SMALL - 1);
    }
}
