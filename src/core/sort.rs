//! Stable sorts of lists that are short or sorted once.
//!
//! The sorts of the standard library are compiled again for every type and every comparison. That took a sixth of the program
//! and of the time to build it. The sorts here share one compiled sort of places. Inner loops use the standard library.

use std::cmp::Ordering;

/// As [`slice::sort_by_key`].
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// As [`slice::sort_by`].
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let places = sorted_places(items.len(), &|a, b| compare(&items[a], &items[b]));
    take_from(items, places);
}

/// The places from 0 to `count`, in the order of what is there.
fn sorted_places(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|&a, &b| compare(a, b));
    places
}

/// Moves to each place the item that is at `places[place]`, cycle by cycle.
fn take_from<T>(items: &mut [T], mut places: Vec<usize>) {
    for first in 0..items.len() {
        let mut to = first;
        loop {
            let from = std::mem::replace(&mut places[to], to);
            if from == first {
                break;
            }
            items.swap(to, from);
            to = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::random_cases;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(random_cases(256))]

        /// Equal keys keep their order, as they do in the standard library.
        #[test]
        fn sorts_as_the_standard_library_does(keys in prop::collection::vec(0..20u8, 0..60)) {
            let mut items: Vec<(u8, usize)> = keys.into_iter().zip(0..).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
            sort_by_key(&mut items, |(key, _)| std::cmp::Reverse(*key));
            prop_assert_eq!(items, expected);
        }
    }
}
