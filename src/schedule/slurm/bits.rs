//! Processors as bits: fast for machines of up to some ten thousand processors.

use super::processors::Run;

/// A set of processors, one bit each.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bits {
    words: Vec<u64>,
}

impl Clone for Bits {
    fn clone(&self) -> Bits {
        Bits { words: self.words.clone() }
    }

    /// Uses the memory again.
    fn clone_from(&mut self, other: &Bits) {
        self.words.clone_from(&other.words);
    }
}

const BITS: u32 = u64::BITS;

/// The words that a run lies in, each with the bits of the run in it.
#[inline]
fn words(run: Run) -> impl Iterator<Item = (usize, u64)> {
    let end = run.first + run.length;
    (run.first / BITS..end.div_ceil(BITS)).map(move |word| {
        let low = run.first.saturating_sub(word * BITS);
        let high = (end - word * BITS).min(BITS);
        (word as usize, (u64::MAX << low) & (u64::MAX >> (BITS - high)))
    })
}

#[inline]
fn words_of(share: &[Run]) -> impl Iterator<Item = (usize, u64)> {
    share.iter().flat_map(|run| words(*run))
}

impl Bits {
    /// No processors, of a machine that has this number.
    pub fn none(procs: u32) -> Bits {
        Bits { words: vec![0; procs.div_ceil(BITS) as usize] }
    }

    pub fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    pub fn common(&self, other: &Bits) -> u32 {
        self.words.iter().zip(&other.words).map(|(word, other)| (word & other).count_ones()).sum()
    }

    pub fn gains(&self, before: &Bits, allowed: &Bits) -> bool {
        let words = self.words.iter().zip(&before.words).zip(&allowed.words);
        words.fold(0, |gained, ((word, before), allowed)| gained | (word & !before & allowed)) != 0
    }

    pub fn keep(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    pub fn is_within(&self, other: &Bits) -> bool {
        self.words.iter().zip(&other.words).all(|(word, other)| word & !other == 0)
    }

    pub fn add(&mut self, share: &[Run]) {
        words_of(share).for_each(|(word, bits)| self.words[word] |= bits);
    }

    pub fn remove(&mut self, share: &[Run]) {
        words_of(share).for_each(|(word, bits)| self.words[word] &= !bits);
    }

    pub fn meets(&self, share: &[Run]) -> bool {
        words_of(share).any(|(word, bits)| self.words[word] & bits != 0)
    }

    pub fn count_of(&self, share: &[Run]) -> u32 {
        words_of(share).map(|(word, bits)| (self.words[word] & bits).count_ones()).sum()
    }

    pub fn holds(&self, share: &[Run]) -> bool {
        words_of(share).all(|(word, bits)| self.words[word] & bits == bits)
    }

    /// The longest runs of processors in the set, in order of their numbers.
    pub fn runs(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for (word, &bits) in self.words.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                let low = left.trailing_zeros();
                let length = (!(left >> low)).trailing_zeros().min(BITS - low);
                let first = word as u32 * BITS + low;
                match runs.last_mut() {
                    Some(last) if last.first + last.length == first => last.length += length,
                    _ => runs.push(Run { first, length }),
                }
                // All bits up to the end of the run.
                left &= u64::MAX.checked_shl(low + length).unwrap_or(0);
            }
        }
        runs
    }
}
