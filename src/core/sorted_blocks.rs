//! Sorted lists that change in the middle: of thousands of items, of which single ones are inserted and removed.
//!
//! The items are in blocks. Shifting the items of one block is fast; shifting thousands of items would not be. Of each block a
//! summary is kept, so that a search through all items goes from block to block.

use std::fmt::Debug;

/// An item of a [`SortedBlocks`].
pub trait Sorted: Copy {
    /// What items are sorted by. Equal keys are allowed.
    type Key: Copy + PartialOrd;
    /// What is known of all items of a block.
    type Summary: Copy + Debug;
    /// The most items of a block.
    const LARGEST: usize;

    /// Its key.
    fn key(&self) -> Self::Key;

    /// The number of items before those with this key.
    #[inline]
    fn lower_bound(items: &[Self], key: Self::Key) -> usize {
        items.partition_point(|item| item.key() < key)
    }

    /// The summary of these items.
    fn summary(items: &[Self]) -> Self::Summary;

    /// The item comes into a block with this summary.
    fn add(&self, summary: &mut Self::Summary);

    /// The item has left a block with this summary; the others are these.
    fn remove(&self, summary: &mut Self::Summary, others: &[Self]) {
        *summary = Self::summary(others);
    }
}

/// A sorted list.
#[derive(Clone, Debug)]
pub struct SortedBlocks<T: Sorted> {
    /// At least one. Only the only one may be empty; it keeps its memory.
    blocks: Vec<Block<T>>,
    len: usize,
}

/// Neighbours in a [`SortedBlocks`].
#[derive(Clone, Debug)]
pub struct Block<T: Sorted> {
    /// In ascending order.
    pub items: Vec<T>,
    /// Of the items.
    pub summary: T::Summary,
}

impl<T: Sorted> Block<T> {
    fn new(items: Vec<T>) -> Block<T> {
        Block { summary: T::summary(&items), items }
    }

    #[inline]
    fn last(&self) -> Option<T::Key> {
        self.items.last().map(T::key)
    }
}

impl<T: Sorted> Default for SortedBlocks<T> {
    fn default() -> Self {
        Self::of_block(Vec::new())
    }
}

impl<T: Sorted> SortedBlocks<T> {
    /// A list of a few sorted items, at most [`Sorted::LARGEST`].
    pub fn of_block(items: Vec<T>) -> Self {
        SortedBlocks { len: items.len(), blocks: vec![Block::new(items)] }
    }

    /// The number of items.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no items.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All blocks, in order.
    #[inline]
    pub fn blocks(&self) -> &[Block<T>] {
        &self.blocks
    }

    /// All items, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> + Clone {
        self.blocks.iter().flat_map(|block| &block.items)
    }

    /// The item before which there are `nth`.
    pub fn get(&self, mut nth: usize) -> Option<&T> {
        for Block { items, .. } in &self.blocks {
            if nth < items.len() {
                return Some(&items[nth]);
            }
            nth -= items.len();
        }
        None
    }

    /// Where the first item is whose key is not less, or where it would be: its block, and its place there.
    #[inline]
    pub fn place(&self, key: T::Key) -> (usize, usize) {
        let at = self.block_of(key);
        (at, T::lower_bound(&self.blocks[at].items, key))
    }

    /// Inserts an item, before those with an equal key.
    #[inline]
    pub fn insert(&mut self, item: T) {
        let place = self.place(item.key());
        self.insert_at(place, item);
    }

    /// Inserts an item at its [`SortedBlocks::place`].
    #[inline]
    pub fn insert_at(&mut self, (at, place): (usize, usize), item: T) {
        self.len += 1;
        let count = self.blocks.len();
        let Block { items, summary } = &mut self.blocks[at];
        // Ascending keys fill one block after the other. In other blocks than the last the place is before an item.
        if place == T::LARGEST {
            debug_assert_eq!(at + 1, count, "the place of an item");
            self.blocks.push(Block::new(vec![item]));
            return;
        }
        items.insert(place, item);
        item.add(summary);
        if items.len() > T::LARGEST {
            self.split(at);
        }
    }

    #[cold]
    fn split(&mut self, at: usize) {
        let Block { items, summary } = &mut self.blocks[at];
        let upper = items.split_off(T::LARGEST / 2);
        *summary = T::summary(items);
        self.blocks.insert(at + 1, Block::new(upper));
    }

    /// Removes an item with this key.
    #[inline]
    pub fn remove(&mut self, key: T::Key) -> Option<T> {
        let found = self.find(key)?;
        Some(self.remove_at(found))
    }

    #[inline]
    fn remove_at(&mut self, (at, place): (usize, usize)) -> T {
        self.len -= 1;
        let Block { items, summary } = &mut self.blocks[at];
        let item = items.remove(place);
        item.remove(summary, items);
        if items.is_empty() && self.blocks.len() > 1 {
            self.blocks.remove(at);
        }
        item
    }

    /// Gives an item with this key another key. `change` must not change what the item adds to a summary. None if there is no
    /// such item.
    #[inline]
    pub fn change(&mut self, key: T::Key, change: impl FnOnce(T) -> T) -> Option<()> {
        let (at, from) = self.find(key)?;
        let new = change(self.blocks[at].items[from]);
        if self.block_of(new.key()) != at {
            self.remove_at((at, from));
            self.insert(new);
            return Some(());
        }
        // Only the items between the old place and the new one are shifted.
        let items = &mut self.blocks[at].items;
        let to = if new.key() > key {
            let to = from + T::lower_bound(&items[from + 1..], new.key());
            items.copy_within(from + 1..=to, from);
            to
        } else {
            let to = T::lower_bound(&items[..from], new.key());
            items.copy_within(to..from, to + 1);
            to
        };
        items[to] = new;
        Some(())
    }

    /// Replaces all items by as many others, which are sorted.
    pub fn refill(&mut self, mut sorted: impl Iterator<Item = T>) {
        // Blocks are not filled, so that the next insertions do not split them.
        let size = if self.len <= T::LARGEST { T::LARGEST } else { T::LARGEST * 3 / 4 };
        self.blocks.resize_with(self.len.div_ceil(size).max(1), || Block::new(Vec::new()));
        for Block { items, summary } in &mut self.blocks {
            items.clear();
            items.extend(sorted.by_ref().take(size));
            *summary = T::summary(items);
        }
    }

    /// The block that contains a key, or into which it would be inserted.
    #[inline]
    fn block_of(&self, key: T::Key) -> usize {
        match self.blocks.len() {
            1 => 0,
            blocks => self.blocks.partition_point(|block| block.last() < Some(key)).min(blocks - 1),
        }
    }

    #[inline]
    fn find(&self, key: T::Key) -> Option<(usize, usize)> {
        let (at, place) = self.place(key);
        let found = self.blocks[at].items.get(place).is_some_and(|item| item.key() == key);
        found.then_some((at, place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;

    /// A key, and what it adds to the sum of its block.
    type Pair = (u32, i64);

    impl Sorted for Pair {
        type Key = u32;
        type Summary = i64;
        const LARGEST: usize = 8;

        fn key(&self) -> u32 {
            self.0
        }

        fn summary(items: &[Pair]) -> i64 {
            items.iter().map(|pair| pair.1).sum()
        }

        fn add(&self, sum: &mut i64) {
            *sum += self.1;
        }
    }

    /// Compares with a plain list, over a long random history of insertions, removals and other keys, many of them equal.
    /// (What is equal has the same summand, so that it does not matter which of it is removed.)
    #[test]
    fn blocks_equal_the_sorted_list() {
        let mut rng = stream(1, "sorted blocks");
        let (mut blocks, mut plain) = (SortedBlocks::<Pair>::default(), Vec::<Pair>::new());
        for step in 0..20_000 {
            // Thousands of items in the middle of the history, none at its end.
            let leaves = if step < 8000 { 2 } else { 5 };
            // In one half of the history the keys ascend.
            let key = if step % 4000 < 2000 { step / 10 } else { rng.random_range(0..2000) };
            let one = if plain.is_empty() { None } else { Some(rng.random_range(0..plain.len())) };
            match (rng.random_range(0..8), one) {
                (draw, Some(one)) if draw < leaves => assert_eq!(blocks.remove(plain[one].0), Some(plain.remove(one))),
                (5, Some(one)) => {
                    let (old, summand) = plain.remove(one);
                    // The summand belongs to the key: only to keys of the same summand.
                    let new = (key / 7 * 7 + (old % 7), summand);
                    assert_eq!(blocks.change(old, |(_, summand)| (new.0, summand)), Some(()));
                    plain.push(new);
                }
                (6, _) if step % 50 == 0 => blocks.refill(plain.iter().copied()),
                _ => {
                    blocks.insert((key, (key % 7).into()));
                    plain.push((key, (key % 7).into()));
                }
            }
            plain.sort_unstable();
            assert!(blocks.iter().eq(&plain));
            assert_eq!((blocks.len(), blocks.is_empty()), (plain.len(), plain.is_empty()));
            let (at, place) = blocks.place(key);
            let before: usize = blocks.blocks()[..at].iter().map(|block| block.items.len()).sum();
            assert_eq!(before + place, plain.iter().filter(|pair| pair.0 < key).count());
            assert_eq!(blocks.get(before + place), plain.get(before + place));
            if !plain.iter().any(|pair| pair.0 == key) {
                assert_eq!((blocks.remove(key), blocks.change(key, |pair| pair)), (None, None));
            }
            for block in blocks.blocks() {
                assert_eq!(block.summary, Pair::summary(&block.items));
                assert!(block.items.len() <= Pair::LARGEST && (!block.items.is_empty() || blocks.is_empty()));
            }
        }
        assert!(plain.is_empty());
    }
}
