//! Nodes as bits: fast for machines of up to some ten thousand nodes.

use std::array::from_fn;

use super::runs::Run;

/// A set of nodes, one bit each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Bits {
    words: Vec<u64>,
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

/// Words that are counted together.
const LANES: usize = 4;
const BLOCK: usize = 7 * LANES;
type Lanes = [u64; LANES];

/// The sum of three bits at each place: the low bits and the high bits.
#[inline]
fn add_bits(a: Lanes, b: Lanes, c: Lanes) -> (Lanes, Lanes) {
    let low = from_fn(|at| a[at] ^ b[at] ^ c[at]);
    let high = from_fn(|at| (a[at] & b[at]) | ((a[at] ^ b[at]) & c[at]));
    (low, high)
}

/// The number of bits that are in both. Bits are added before they are counted (Harley and Seal: Hacker's Delight, 5-1): without
/// an instruction that counts them, which not every processor has, counting takes longer than adding.
#[inline]
fn common_in(block: &[u64; BLOCK], other: &[u64; BLOCK]) -> u32 {
    let both = |row: usize| from_fn(|at| block[row * LANES + at] & other[row * LANES + at]);
    let count = |lanes: Lanes| lanes.map(u64::count_ones).iter().sum::<u32>();
    let (ones, twos_a) = add_bits(both(0), both(1), both(2));
    let (ones, twos_b) = add_bits(ones, both(3), both(4));
    let (ones, twos_c) = add_bits(ones, both(5), both(6));
    let (twos, fours) = add_bits(twos_a, twos_b, twos_c);
    count(ones) + 2 * count(twos) + 4 * count(fours)
}

impl Bits {
    /// No nodes, of a machine that has this number.
    pub fn none(nodes: usize) -> Bits {
        Bits { words: vec![0; nodes.div_ceil(BITS as usize)] }
    }

    pub fn insert(&mut self, node: u32) {
        self.words[(node / BITS) as usize] |= 1 << (node % BITS);
    }

    #[inline]
    pub fn has(&self, node: u32) -> bool {
        self.words[(node / BITS) as usize] >> (node % BITS) & 1 == 1
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    pub fn take_out(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let next = |left: &u64| Some(left & (left - 1)).filter(|left| *left != 0);
            std::iter::successors(Some(*word).filter(|word| *word != 0), next)
                .map(move |left| at as u32 * BITS + left.trailing_zeros())
        })
    }

    pub fn retain(&mut self, mut keeps: impl FnMut(u32) -> bool) {
        for (at, word) in self.words.iter_mut().enumerate() {
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                if !keeps(at as u32 * BITS + bit) {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    pub fn copy_from(&mut self, other: &Bits) {
        self.words.clone_from(&other.words);
    }

    pub fn count(&self) -> u32 {
        self.common(self)
    }

    pub fn common(&self, other: &Bits) -> u32 {
        let (blocks, rest) = self.words.as_chunks();
        let (other_blocks, other_rest) = other.words.as_chunks();
        let in_blocks: u32 = blocks.iter().zip(other_blocks).map(|(block, other)| common_in(block, other)).sum();
        in_blocks + rest.iter().zip(other_rest).map(|(word, other)| (word & other).count_ones()).sum::<u32>()
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

    /// The longest runs of nodes in the set, in order of their numbers.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;

    #[test]
    fn bits_of_whole_blocks_are_counted_too() {
        let mut rng = stream(1, "bits");
        for words in 0..5 * BLOCK {
            let mut draw = || Bits { words: (0..words).map(|_| rng.random()).collect() };
            let (left, right) = (draw(), draw());
            let is_in = |bits: &Bits, at: usize| bits.words[at / 64] >> (at % 64) & 1 == 1;
            let both = (0..words * 64).filter(|&at| is_in(&left, at) && is_in(&right, at)).count();
            assert_eq!((left.common(&right) as usize, left.common(&left)), (both, left.count()));
            assert_eq!(left.count() as usize, (0..words * 64).filter(|&at| is_in(&left, at)).count());
        }
    }
}
