//! Nodes as bits: fast for machines of up to some ten thousand nodes.

use std::ops::Range;

use fixedbitset::FixedBitSet;

use super::runs::Run;

/// A set of nodes, one bit each. All sets of a machine have the same length.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Bits(FixedBitSet);

fn range(run: &Run) -> Range<usize> {
    run.first as usize..run.first as usize + run.length as usize
}

impl Bits {
    /// No nodes, of a machine that has this number.
    pub fn none(nodes: usize) -> Bits {
        Bits(FixedBitSet::with_capacity(nodes))
    }

    #[inline]
    pub fn insert(&mut self, node: u32) {
        self.0.insert(node as usize);
    }

    #[inline]
    pub fn has(&self, node: u32) -> bool {
        self.0.contains(node as usize)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_clear()
    }

    #[inline]
    pub fn take_out(&mut self, other: &Bits) {
        self.0.difference_with(&other.0);
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.ones().map(|node| node as u32)
    }

    pub fn iter_common(&self, other: &Bits) -> impl Iterator<Item = u32> {
        let words = self.0.as_slice().iter().zip(other.0.as_slice()).map(|(word, other)| word & other);
        words.enumerate().flat_map(|(at, mut left)| {
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(at as u32 * usize::BITS + bit)
            })
        })
    }

    pub fn retain(&mut self, mut keeps: impl FnMut(u32) -> bool) {
        for (at, word) in self.0.as_mut_slice().iter_mut().enumerate() {
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                if !keeps(at as u32 * usize::BITS + bit) {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    #[inline]
    pub fn copy_from(&mut self, other: &Bits) {
        self.0.clone_from(&other.0);
    }

    #[inline]
    pub fn count(&self) -> u32 {
        self.0.count_ones(..) as u32
    }

    #[inline]
    pub fn common(&self, other: &Bits) -> u32 {
        let words = self.0.as_slice().iter().zip(other.0.as_slice());
        words.map(|(word, other)| (word & other).count_ones()).sum()
    }

    #[inline]
    pub fn gains(&self, before: &Bits, allowed: &Bits) -> bool {
        let words = self.0.as_slice().iter().zip(before.0.as_slice()).zip(allowed.0.as_slice());
        words.fold(0, |gained, ((word, before), allowed)| gained | (word & !before & allowed)) != 0
    }

    #[inline]
    pub fn keep(&mut self, other: &Bits) {
        let words = self.0.as_mut_slice().iter_mut().zip(other.0.as_slice());
        words.for_each(|(word, other)| *word &= other);
    }

    #[inline]
    pub fn is_within(&self, other: &Bits) -> bool {
        let mut words = self.0.as_slice().iter().zip(other.0.as_slice());
        words.all(|(word, other)| word & !other == 0)
    }

    #[inline]
    pub fn add(&mut self, share: &[Run]) {
        share.iter().for_each(|run| self.0.insert_range(range(run)));
    }

    #[inline]
    pub fn remove(&mut self, share: &[Run]) {
        share.iter().for_each(|run| self.0.remove_range(range(run)));
    }

    #[inline]
    pub fn meets(&self, share: &[Run]) -> bool {
        share.iter().any(|run| self.0.contains_any_in_range(range(run)))
    }

    #[inline]
    pub fn count_of(&self, share: &[Run]) -> u32 {
        share.iter().map(|run| self.0.count_ones(range(run)) as u32).sum()
    }

    #[inline]
    pub fn holds(&self, share: &[Run]) -> bool {
        share.iter().all(|run| self.0.contains_all_in_range(range(run)))
    }

    /// The longest runs of nodes in the set, in order of their numbers.
    pub fn runs(&self) -> impl Iterator<Item = Run> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let first = self.next(at, 0)?;
            at = self.next(first, usize::MAX).unwrap_or(self.0.len());
            Some(Run { first: first as u32, length: (at - first) as u32 })
        })
    }

    /// The first node from this one on whose bit differs from those of `other`, which are all alike. Whole words are passed at once.
    fn next(&self, from: usize, other: usize) -> Option<usize> {
        const BITS: usize = usize::BITS as usize;
        let words = self.0.as_slice();
        let mut word = from / BITS;
        let mut left = (words.get(word)? ^ other) & (usize::MAX << (from % BITS));
        while left == 0 {
            word += 1;
            left = words.get(word)? ^ other;
        }
        Some(word * BITS + left.trailing_zeros() as usize)
    }
}
