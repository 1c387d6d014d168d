//! Where a search for the earliest place in a profile can begin.

use crate::time::{Seconds, Time};

/// Places found earlier. The first 8,000 jobs of KTH with four times their load take 2.1 times as long without under `conservative`;
/// [`super::profile`] compares with a search that has none. While a profile only gets fuller, a job that is as wide as another and as
/// long cannot begin before the other one.
#[derive(Clone, Debug)]
pub(super) struct Hints {
    /// For classes of widths: pairs of a length and the earliest start of jobs that are as wide as the class or wider and as
    /// long or longer. Both ascend.
    starts: Vec<Vec<(Seconds, Time)>>,
    /// The classes that have any.
    filled: Vec<usize>,
}

/// Widths have eight classes between two powers of two. So all numbers below 16 have their own.
const FINE: u32 = 3;
const CLASSES: usize = 16 + ((u32::BITS as usize - FINE as usize - 1) << FINE) + 1;

/// More pairs are not kept of a class. They would take longer than they save.
const MOST: usize = 32;

impl Default for Hints {
    fn default() -> Hints {
        Hints { starts: vec![Vec::new(); CLASSES], filled: Vec::new() }
    }
}

impl Hints {
    pub fn clear(&mut self) {
        self.filled.drain(..).for_each(|class| self.starts[class].clear());
    }

    /// No job of this width and length can begin before this instant, if one is known.
    pub fn earliest(&self, procs: i64, length: Seconds) -> Option<Time> {
        let starts = &self.starts[class(procs).0];
        let at = starts.partition_point(|(shorter, _)| *shorter <= length);
        at.checked_sub(1).map(|at| starts[at].1)
    }

    /// The earliest place of a job is known.
    pub fn add(&mut self, procs: i64, length: Seconds, start: Time) {
        let class = class_above(procs);
        let starts = &mut self.starts[class];
        if starts.is_empty() {
            self.filled.push(class);
        }
        let at = starts.partition_point(|(shorter, _)| *shorter < length);
        if at > 0 && starts[at - 1].1 >= start {
            return;
        }
        let passed = starts[at..].iter().take_while(|(_, other)| *other <= start).count();
        match passed {
            0 if starts.len() < MOST => starts.insert(at, (length, start)),
            0 => {}
            _ => {
                starts[at] = (length, start);
                starts.drain(at + 1..at + passed);
            }
        }
    }
}

/// Jobs that have no room, so that none is searched for them: each width has a length from which on jobs as wide or wider have none.
/// The first 20,000 jobs of KTH with four times their load take 1.2 times as long without under `conservative`.
#[derive(Clone, Debug)]
pub(super) struct Roomless {
    /// By classes of widths; they descend.
    lengths: Vec<Seconds>,
}

impl Default for Roomless {
    fn default() -> Roomless {
        Roomless { lengths: vec![Seconds::MAX; CLASSES] }
    }
}

impl Roomless {
    pub fn clear(&mut self) {
        self.lengths.fill(Seconds::MAX);
    }

    pub fn contains(&self, procs: i64, length: Seconds) -> bool {
        length >= self.lengths[class(procs).0]
    }

    /// A job of this width and length has no room.
    pub fn add(&mut self, procs: i64, length: Seconds) {
        let from = class_above(procs);
        self.lengths[from..].iter_mut().take_while(|other| **other > length).for_each(|other| *other = length);
    }
}

/// The first class of which all widths are at least this one.
fn class_above(procs: i64) -> usize {
    let (class, is_narrowest) = class(procs);
    if is_narrowest { class } else { class + 1 }
}

/// The class of a width, and whether this is the narrowest of its class.
fn class(procs: i64) -> (usize, bool) {
    if procs < 16 {
        return (procs as usize, true);
    }
    let shift = procs.ilog2() - FINE;
    let class = 16 + (((shift - 1) as usize) << FINE) + (procs >> shift & 7) as usize;
    (class, procs >> shift << shift == procs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;

    #[test]
    fn classes_ascend_and_narrow_widths_have_their_own() {
        assert_eq!(
            [1, 9, 15, 16, 17, 18, 31, 32, 35, 36].map(class),
            [
                (1, true),
                (9, true),
                (15, true),
                (16, true),
                (16, false),
                (17, true),
                (23, false),
                (24, true),
                (24, false),
                (25, true)
            ]
        );
        let all = (1..5000).chain((0..32).flat_map(|bit| [(1i64 << bit) - 1, 1 << bit])).chain([u32::MAX.into()]);
        let mut all: Vec<i64> = all.filter(|procs| *procs > 0).collect();
        all.sort_unstable();
        assert!(all.is_sorted_by_key(|procs| (class(*procs).0, class_above(*procs))));
        assert!(all.iter().all(|procs| class_above(*procs) < CLASSES));
    }

    /// What is known of a job must follow from what was added. Of a job that was added itself, all of it must be known.
    #[test]
    fn nothing_is_known_that_was_not_added() {
        let mut rng = stream(1, "hints");
        let (mut hints, mut roomless) = (Hints::default(), Roomless::default());
        for _ in 0..200 {
            hints.clear();
            roomless.clear();
            let mut added: Vec<(i64, Seconds, Time)> = Vec::new();
            for _ in 0..rng.random_range(1..60) {
                let (procs, length) = (rng.random_range(1..40), rng.random_range(1..100));
                let implied = |(other, shorter, _): &&(i64, Seconds, Time)| *other <= procs && *shorter <= length;
                let latest = added.iter().filter(implied).map(|job| job.2).max();
                assert!(hints.earliest(procs, length) <= latest);
                assert!(!roomless.contains(procs, length) || latest.is_some());
                // The profile gets fuller: a job does not begin before those that are not wider and not longer.
                let start = latest.unwrap_or(-50).max(rng.random_range(-50..50));
                hints.add(procs, length, start);
                roomless.add(procs, length);
                added.push((procs, length, start));
                if class(procs).1 {
                    assert!(hints.earliest(procs, length) >= Some(start) || added.len() > MOST);
                    assert!(roomless.contains(procs, length));
                }
            }
        }
    }
}
