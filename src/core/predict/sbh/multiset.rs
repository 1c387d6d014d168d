//! A multiset of runtimes that gives its metric at any time.
//!
//! Its results must equal `measure` of tests/twins/oracle.rs, which sorts.

use std::collections::BTreeMap;

use crate::predict::metric::Metric;
use crate::sorted_blocks::{Sorted, SortedBlocks};
use crate::time::Seconds;

/// Runtimes with one metric. Adding, removing and reading the metric are fast for any number of runtimes. Small sets use
/// little memory, because a log has many of them.
#[derive(Clone, Debug)]
pub enum Runtimes {
    /// At most `Few::MOST` runtimes, for the median, the minimum and the maximum.
    Few(Few),
    /// Boxed, because most sets stay small.
    Many(Box<Many>),
}

#[derive(Clone, Debug)]
pub enum Many {
    /// For the median, the minimum and the maximum.
    Sorted(SortedBlocks<Seconds>),
    /// For the mean.
    Sum { sum: i128, count: usize },
    /// For the last one: by position in the order of ends.
    Last(BTreeMap<u64, Seconds>),
}

impl Runtimes {
    pub fn new(metric: Metric) -> Self {
        match metric {
            Metric::Median | Metric::Min | Metric::Max => Runtimes::Few(Few::default()),
            Metric::Mean => Runtimes::Many(Box::new(Many::Sum { sum: 0, count: 0 })),
            Metric::Last => Runtimes::Many(Box::new(Many::Last(BTreeMap::new()))),
        }
    }

    /// Adds a runtime. `when` is its position in the order of ends and is unique.
    #[inline]
    pub fn add(&mut self, runtime: Seconds, when: u64) {
        match self {
            Runtimes::Few(few) if few.has_room() => few.add(runtime),
            _ => self.add_without_room(runtime, when),
        }
    }

    #[inline(never)]
    fn add_without_room(&mut self, runtime: Seconds, when: u64) {
        match self {
            Runtimes::Few(few) if few.numbers.len() < Few::MOST => {
                few.make_room();
                few.add(runtime);
            }
            Runtimes::Few(few) => {
                let mut blocks = SortedBlocks::of_block(few.in_order().to_vec());
                blocks.insert(runtime);
                *self = Runtimes::Many(Box::new(Many::Sorted(blocks)));
            }
            Runtimes::Many(many) => many.add(runtime, when),
        }
    }

    /// Replaces a runtime by another one; `when` as in [`Runtimes::add`].
    #[inline]
    pub fn replace(&mut self, (old, old_when): (Seconds, u64), (new, new_when): (Seconds, u64)) {
        match self {
            Runtimes::Few(few) => few.replace(old, new),
            Runtimes::Many(many) => {
                many.take(old, old_when);
                many.add(new, new_when);
            }
        }
    }

    /// Removes all runtimes. A small set keeps its memory.
    pub fn clear(&mut self) {
        match self {
            Runtimes::Few(few) => (few.len, few.ordered) = (0, 0),
            Runtimes::Many(many) => match **many {
                Many::Sorted(_) => *self = Runtimes::Few(Few::default()),
                Many::Sum { ref mut sum, ref mut count } => (*sum, *count) = (0, 0),
                Many::Last(ref mut by_time) => by_time.clear(),
            },
        }
    }

    /// The metric of all runtimes except `one`, if given. `metric` must be the one given to [`Runtimes::new`]. None if there
    /// are no other runtimes. Means, and medians of an even number, are rounded down.
    #[inline(always)]
    pub fn metric_without(&mut self, metric: Metric, one: Option<(Seconds, u64)>) -> Option<Seconds> {
        match self {
            // By far the most frequent case.
            Runtimes::Few(few) => {
                let all = few.in_order();
                let place = |runtime| all.partition_point(|&other| other < runtime);
                by_order(metric, all.len(), one.map(|(runtime, _)| place(runtime)), |nth| all[nth])
            }
            Runtimes::Many(many) => many.metric_without(metric, one),
        }
    }
}

/// The median, minimum or maximum of `count` sorted numbers, without the one at index `except` if given.
#[inline(always)]
fn by_order(metric: Metric, count: usize, except: Option<usize>, nth: impl Fn(usize) -> Seconds) -> Option<Seconds> {
    let count = count - usize::from(except.is_some());
    if count == 0 {
        return None;
    }
    // Skip the excluded index.
    let except = except.unwrap_or(usize::MAX);
    let nth = |at: usize| nth(at + usize::from(at >= except));
    Some(match metric {
        Metric::Min => nth(0),
        Metric::Max => nth(count - 1),
        _ if count % 2 == 1 => nth(count / 2),
        _ => (nth(count / 2 - 1) + nth(count / 2)).div_euclid(2),
    })
}

impl Many {
    fn add(&mut self, runtime: Seconds, when: u64) {
        match self {
            Many::Sorted(blocks) => blocks.insert(runtime),
            Many::Sum { sum, count } => (*sum, *count) = (*sum + i128::from(runtime), *count + 1),
            Many::Last(by_time) => drop(by_time.insert(when, runtime)),
        }
    }

    fn take(&mut self, runtime: Seconds, when: u64) {
        match self {
            Many::Sorted(blocks) => drop(blocks.remove(runtime)),
            Many::Sum { sum, count } => (*sum, *count) = (*sum - i128::from(runtime), *count - 1),
            Many::Last(by_time) => drop(by_time.remove(&when)),
        }
    }

    fn metric_without(&self, metric: Metric, one: Option<(Seconds, u64)>) -> Option<Seconds> {
        match self {
            Many::Sorted(blocks) => {
                let before = |at: usize| blocks.blocks()[..at].iter().map(|block| block.items.len()).sum::<usize>();
                let except = one.map(|(runtime, _)| {
                    let (at, place) = blocks.place(runtime);
                    before(at) + place
                });
                by_order(metric, blocks.len(), except, |nth| *blocks.get(nth).expect("a place in the list"))
            }
            Many::Sum { sum, count } => {
                let count = count - usize::from(one.is_some());
                let sum = sum - one.map_or(0, |(runtime, _)| i128::from(runtime));
                (count > 0).then(|| sum.div_euclid(count as i128) as Seconds)
            }
            Many::Last(by_time) => {
                let mut latest = by_time.iter().rev().filter(|(when, _)| one.is_none_or(|(_, own)| **when != own));
                latest.next().map(|(_, runtime)| *runtime)
            }
        }
    }
}

/// At most `MOST` numbers.
///
/// The metric of most of these sets is never read, because a criterion is used only if the ones before it find nothing. So
/// new numbers are appended unsorted, and sorted when the metric is read.
#[derive(Clone, Debug, Default)]
pub struct Few {
    /// The first `len` are in use, the first `ordered` are sorted. (A vector would use eight bytes each for its length and
    /// capacity.)
    numbers: Box<[Seconds]>,
    len: u32,
    ordered: u32,
}

impl Few {
    const MOST: usize = 512;
    /// At most this number of unsorted numbers are inserted one by one; if there are more, all are sorted.
    const MOST_INSERTED: usize = 8;

    #[inline]
    fn has_room(&self) -> bool {
        (self.len as usize) < self.numbers.len()
    }

    #[inline]
    fn add(&mut self, value: Seconds) {
        self.numbers[self.len as usize] = value;
        self.len += 1;
    }

    fn make_room(&mut self) {
        let len = self.numbers.len();
        let mut more = Vec::with_capacity((2 * len).max(1));
        more.extend_from_slice(&self.numbers);
        more.resize(more.capacity(), 0);
        self.numbers = more.into_boxed_slice();
    }

    fn replace(&mut self, old: Seconds, new: Seconds) {
        let numbers = &mut self.numbers[..self.len as usize];
        let (in_order, others) = numbers.split_at_mut(self.ordered as usize);
        if let Some(other) = others.iter_mut().rfind(|other| **other == old) {
            *other = new;
        } else if let Ok(at) = in_order.binary_search(&old) {
            numbers.copy_within(at + 1.., at);
            numbers[numbers.len() - 1] = new;
            self.ordered -= 1;
        }
    }

    /// All numbers in ascending order. Sorts them if necessary.
    #[inline(always)]
    fn in_order(&mut self) -> &[Seconds] {
        if self.ordered < self.len && self.len > 1 {
            self.put_in_order();
        }
        &self.numbers[..self.len as usize]
    }

    #[inline(never)]
    fn put_in_order(&mut self) {
        let numbers = &mut self.numbers[..self.len as usize];
        let ordered = std::mem::replace(&mut self.ordered, self.len) as usize;
        if numbers.len() - ordered > Self::MOST_INSERTED {
            return numbers.sort_unstable();
        }
        for end in ordered + 1..=numbers.len() {
            insert_last(&mut numbers[..end]);
        }
    }
}

/// Inserts the last number into the others, which are sorted.
fn insert_last(numbers: &mut [Seconds]) {
    let Some((last, others)) = numbers.split_last_mut() else { return };
    if others.len() > 16 {
        let (value, end) = (*last, others.len());
        let place = others.partition_point(|other| *other <= value);
        numbers.copy_within(place..end, place + 1);
        numbers[place] = value;
        return;
    }
    // For few numbers it is faster to go through all of them than to branch on where to stop.
    for other in others {
        (*other, *last) = ((*other).min(*last), (*other).max(*last));
    }
}

impl Sorted for Seconds {
    type Key = Seconds;
    type Summary = ();
    const LARGEST: usize = 512;

    #[inline]
    fn key(&self) -> Seconds {
        *self
    }

    fn summary(_: &[Seconds]) {}

    fn add(&self, (): &mut ()) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;

    /// Compares with the metric of a plain list, over a long random history of adding and removing.
    #[test]
    fn every_metric_is_that_of_the_plain_list() {
        for metric in [Metric::Median, Metric::Mean, Metric::Min, Metric::Max, Metric::Last] {
            let mut rng = stream(1, "multiset");
            let (mut runtimes, mut list) = (Runtimes::new(metric), Vec::new());
            assert_eq!(runtimes.metric_without(metric, None), None);
            for when in 0..6000u64 {
                if !list.is_empty() && rng.random_ratio(1, 3) {
                    let one = rng.random_range(0..list.len());
                    let new = (rng.random_range(1..500), when);
                    runtimes.replace(list[one], new);
                    list.remove(one);
                    list.push(new);
                } else {
                    let runtime = rng.random_range(1..500) * rng.random_range(1..500);
                    runtimes.add(runtime, when);
                    list.push((runtime, when));
                }
                if when % 2500 == 2499 {
                    runtimes.clear();
                    list.clear();
                }
                let mut plain: Vec<Seconds> = list.iter().map(|(runtime, _)| *runtime).collect();
                let expected = if plain.is_empty() { None } else { Some(metric.of(&mut plain)) };
                assert_eq!(runtimes.metric_without(metric, None), expected, "{metric:?} after {when}");
                if !list.is_empty() {
                    let one = rng.random_range(0..list.len());
                    let mut others: Vec<Seconds> = list.iter().map(|(runtime, _)| *runtime).collect();
                    others.remove(one);
                    let expected = if others.is_empty() { None } else { Some(metric.of(&mut others)) };
                    assert_eq!(
                        runtimes.metric_without(metric, Some(list[one])),
                        expected,
                        "{metric:?} without one after {when}"
                    );
                }
            }
        }
    }
}
