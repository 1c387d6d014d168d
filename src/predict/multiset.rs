//! A set of runtimes that grows and shrinks, and its metric at any time.

use std::collections::BTreeMap;

use super::metric::Metric;
use crate::time::Seconds;

/// Runtimes of which one metric is wanted. Adding, taking out and asking cost next to nothing, however many there are,
/// and so do sets that hold nearly nothing: a log has many.
#[derive(Clone, Debug)]
pub enum Runtimes {
    /// For the median, the least and the most.
    Sorted(SortedBlocks),
    Mean(Box<Sum>),
    /// By when each was added.
    Last(BTreeMap<u64, Seconds>),
}

/// Runtimes added up.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    sum: i128,
    count: usize,
}

impl Runtimes {
    pub fn new(metric: Metric) -> Self {
        match metric {
            Metric::Median | Metric::Min | Metric::Max => Runtimes::Sorted(SortedBlocks::default()),
            Metric::Mean => Runtimes::Mean(Box::default()),
            Metric::Last => Runtimes::Last(BTreeMap::new()),
        }
    }

    /// Adds a runtime; `when` orders it among the others, each of which has another.
    pub fn add(&mut self, runtime: Seconds, when: u64) {
        match self {
            Runtimes::Sorted(blocks) => blocks.add(runtime),
            Runtimes::Mean(all) => {
                all.sum += i128::from(runtime);
                all.count += 1;
            }
            Runtimes::Last(by_time) => drop(by_time.insert(when, runtime)),
        }
    }

    /// Takes out one that was added so.
    pub fn take(&mut self, runtime: Seconds, when: u64) {
        match self {
            Runtimes::Sorted(blocks) => blocks.take(runtime),
            Runtimes::Mean(all) => {
                all.sum -= i128::from(runtime);
                all.count -= 1;
            }
            Runtimes::Last(by_time) => drop(by_time.remove(&when)),
        }
    }

    /// Takes all out; the room they took is kept for others.
    pub fn clear(&mut self) {
        match self {
            Runtimes::Sorted(blocks) => blocks.clear(),
            Runtimes::Mean(all) => **all = Sum::default(),
            Runtimes::Last(by_time) => by_time.clear(),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Runtimes::Sorted(blocks) => blocks.len(),
            Runtimes::Mean(all) => all.count,
            Runtimes::Last(by_time) => by_time.len(),
        }
    }

    /// The metric (the one the set was made for) of all but one, if one is named that was added so; None if there are no
    /// others. Medians of an even number and means are rounded down.
    pub fn metric_without(&mut self, metric: Metric, one: Option<(Seconds, u64)>) -> Option<Seconds> {
        let count = self.len() - usize::from(one.is_some());
        if count == 0 {
            return None;
        }
        Some(match self {
            Runtimes::Sorted(blocks) => {
                blocks.put_in_order();
                // From its place on, the others are one further up.
                let place = one.map_or(usize::MAX, |(runtime, _)| blocks.place_of(runtime));
                let nth = |nth: usize| blocks.nth(nth + usize::from(nth >= place));
                match metric {
                    Metric::Min => nth(0),
                    Metric::Max => nth(count - 1),
                    _ if count % 2 == 1 => nth(count / 2),
                    _ => (nth(count / 2 - 1) + nth(count / 2)).div_euclid(2),
                }
            }
            Runtimes::Mean(all) => {
                let sum = all.sum - one.map_or(0, |(runtime, _)| i128::from(runtime));
                sum.div_euclid(count as i128) as Seconds
            }
            Runtimes::Last(by_time) => {
                let mut latest = by_time.iter().rev().filter(|(when, _)| one.is_none_or(|(_, own)| **when != own));
                *latest.next().expect("there are others").1
            }
        })
    }
}

/// Numbers in order: one block while they are few, and blocks small enough to be shifted at no cost worth naming from
/// then on. (A tree would do as well; this is shorter, and faster up to a million.)
///
/// There are many more of these sets than are ever asked: a criterion is asked only where the ones before it find
/// nothing. So whoever comes while they are few waits at the end, out of order, until somebody asks.
#[derive(Clone, Debug, Default)]
pub struct SortedBlocks {
    /// All of them, while there are no blocks; in order up to `ordered`.
    few: Vec<Seconds>,
    ordered: u32,
    /// None is empty; in a box because most sets never have any.
    #[expect(clippy::box_collection, reason = "sets are many, and small ones count")]
    blocks: Option<Box<Vec<Vec<Seconds>>>>,
}

impl SortedBlocks {
    const LARGEST: usize = 512;
    /// So many are put into their places one by one; more are sorted together with all others.
    const MOST_INSERTED: usize = 8;

    fn len(&self) -> usize {
        self.blocks.as_ref().map_or(self.few.len(), |blocks| blocks.iter().map(Vec::len).sum())
    }

    fn add(&mut self, value: Seconds) {
        let Some(blocks) = &mut self.blocks else {
            self.few.push(value);
            if self.few.len() > Self::LARGEST {
                self.put_in_order();
                let upper = self.few.split_off(Self::LARGEST / 2);
                self.blocks = Some(Box::new(vec![std::mem::take(&mut self.few), upper]));
                self.ordered = 0;
            }
            return;
        };
        let at = block_of(blocks, value);
        let block = &mut blocks[at];
        block.insert(block.partition_point(|&other| other < value), value);
        if block.len() > Self::LARGEST {
            let upper = block.split_off(Self::LARGEST / 2);
            blocks.insert(at + 1, upper);
        }
    }

    fn take(&mut self, value: Seconds) {
        if let Some(blocks) = &mut self.blocks {
            let at = block_of(blocks, value);
            if let Ok(place) = blocks[at].binary_search(&value) {
                blocks[at].remove(place);
                if blocks[at].is_empty() {
                    blocks.remove(at);
                }
                if blocks.is_empty() {
                    self.clear();
                }
            }
            return;
        }
        let (in_order, others) = self.few.split_at(self.ordered as usize);
        if let Some(at) = others.iter().rposition(|&other| other == value) {
            self.few.swap_remove(in_order.len() + at);
        } else if let Ok(at) = in_order.binary_search(&value) {
            self.few.remove(at);
            self.ordered -= 1;
        }
    }

    fn clear(&mut self) {
        self.blocks = None;
        self.few.clear();
        self.ordered = 0;
    }

    /// Puts those in their places who came last: before anybody asks.
    fn put_in_order(&mut self) {
        let (from, to) = (self.ordered as usize, self.few.len());
        if to - from > Self::MOST_INSERTED {
            self.few.sort_unstable();
        } else {
            for at in from..to {
                let place = self.few[..at].partition_point(|&other| other <= self.few[at]);
                self.few[place..=at].rotate_right(1);
            }
        }
        self.ordered = to as u32;
    }

    /// How many are less than a number.
    fn place_of(&self, value: Seconds) -> usize {
        let Some(blocks) = &self.blocks else { return self.few.partition_point(|&other| other < value) };
        let at = block_of(blocks, value);
        let before: usize = blocks[..at].iter().map(Vec::len).sum();
        before + blocks[at].partition_point(|&other| other < value)
    }

    fn nth(&self, nth: usize) -> Seconds {
        let Some(blocks) = &self.blocks else { return self.few[nth] };
        let mut before = 0;
        for block in blocks.iter() {
            if nth < before + block.len() {
                return block[nth - before];
            }
            before += block.len();
        }
        unreachable!("asked for one of {} as the {nth}th", self.len())
    }
}

/// The block in which a number stands or would.
fn block_of(blocks: &[Vec<Seconds>], value: Seconds) -> usize {
    let at = blocks.partition_point(|block| block[block.len() - 1] < value);
    at.min(blocks.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;

    /// Against the metric of a plain list, over a long random history of adding and taking out.
    #[test]
    fn every_metric_is_that_of_the_plain_list() {
        for metric in [Metric::Median, Metric::Mean, Metric::Min, Metric::Max, Metric::Last] {
            let mut rng = stream(1, "multiset");
            let (mut runtimes, mut list) = (Runtimes::new(metric), Vec::new());
            assert_eq!(runtimes.metric_without(metric, None), None);
            for when in 0..6000u64 {
                if !list.is_empty() && rng.random_ratio(1, 3) {
                    let (runtime, when) = list.remove(rng.random_range(0..list.len()));
                    runtimes.take(runtime, when);
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
                        "{metric:?} but one after {when}"
                    );
                }
            }
        }
    }
}
