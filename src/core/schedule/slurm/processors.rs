//! Sets of numbered processors, of which a job takes consecutive runs.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::bits::Bits;
use super::runs::{Run, Runs};

/// The processors that a job runs on or has reserved.
pub(super) type Share = Arc<[Run]>;

/// Processors in the order of their numbers. All sets of one pass are of the same kind: the faster one for this machine and its
/// running jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProcessorSet {
    /// Takes the same time whatever is in the set.
    Bits(Bits),
    /// Takes less time and memory the fewer runs there are.
    Runs(Runs),
}

/// Calls a method of the set of either kind.
macro_rules! call {
    ($set:expr, $method:ident($($argument:expr),*)) => {
        match $set {
            ProcessorSet::Bits(set) => set.$method($($argument),*),
            ProcessorSet::Runs(set) => set.$method($($argument),*),
        }
    };
}

/// Calls a method of one set with another set of the same kind.
macro_rules! call_with {
    ($set:expr, $method:ident, $other:expr) => {
        match ($set, $other) {
            (ProcessorSet::Bits(set), ProcessorSet::Bits(other)) => set.$method(other),
            (ProcessorSet::Runs(set), ProcessorSet::Runs(other)) => set.$method(other),
            _ => unreachable!("all sets of one pass are of the same kind"),
        }
    };
}

impl ProcessorSet {
    /// The largest machine whose processors are bits.
    const MOST_BITS: u32 = 1 << 17;
    /// Runs are faster if there are fewer than one for this number of processors.
    const PROCS_PER_RUN: usize = 128;

    /// Whether bits are faster than runs on a machine of `procs` processors, where the shares of the running jobs have this
    /// number of runs.
    pub fn suits_bits(procs: u32, runs: usize) -> bool {
        procs <= Self::MOST_BITS && runs * Self::PROCS_PER_RUN >= procs as usize
    }

    /// No processors, of a machine that has this number.
    pub fn none(procs: u32, is_bits: bool) -> ProcessorSet {
        match is_bits {
            true => ProcessorSet::Bits(Bits::none(procs)),
            false => ProcessorSet::Runs(Runs::default()),
        }
    }

    /// All processors of a machine.
    pub fn all(procs: u32, is_bits: bool) -> ProcessorSet {
        let mut set = ProcessorSet::none(procs, is_bits);
        set.add(&[Run { first: 0, length: procs }]);
        set
    }

    /// Becomes the same set as `other`, in the memory that it has.
    pub fn copy_from(&mut self, other: &ProcessorSet) {
        call_with!(self, copy_from, other);
    }

    /// Whether the set is of the kind with bits.
    pub fn is_bits(&self) -> bool {
        matches!(self, ProcessorSet::Bits(_))
    }

    /// The same processors of a machine of `procs` in a set of either kind.
    pub fn to_kind(&self, procs: u32, is_bits: bool) -> ProcessorSet {
        let mut set = ProcessorSet::none(procs, is_bits);
        set.add(&self.runs());
        set
    }

    /// The longest runs, in order of their numbers.
    fn runs(&self) -> Cow<'_, [Run]> {
        match self {
            ProcessorSet::Bits(set) => set.runs().into(),
            ProcessorSet::Runs(set) => set.runs().into(),
        }
    }

    /// The number of processors.
    pub fn count(&self) -> u32 {
        call!(self, count())
    }

    /// The number of processors that are also in `other`.
    pub fn common(&self, other: &ProcessorSet) -> u32 {
        call_with!(self, common, other)
    }

    /// Whether any of the processors that are not in `before` is allowed. All processors of `before` are in the set.
    pub fn gains(&self, before: &ProcessorSet, allowed: &ProcessorSet) -> bool {
        match (self, before, allowed) {
            (ProcessorSet::Bits(set), ProcessorSet::Bits(before), ProcessorSet::Bits(allowed)) => {
                set.gains(before, allowed)
            }
            _ => self.common(allowed) > before.common(allowed),
        }
    }

    /// Keeps the processors that are also in `other`.
    #[inline]
    pub fn keep(&mut self, other: &ProcessorSet) {
        call_with!(self, keep, other);
    }

    /// Keeps the processors that are also in `rest`; all others are in `taken`.
    pub fn lose(&mut self, taken: &Runs, rest: &ProcessorSet) {
        match self {
            ProcessorSet::Runs(set) => set.remove(taken.runs()),
            // Bits that are kept take less time than runs that are removed.
            ProcessorSet::Bits(_) if !taken.runs().is_empty() => self.keep(rest),
            ProcessorSet::Bits(_) => {}
        }
    }

    /// Whether all processors are also in `other`.
    pub fn is_within(&self, other: &ProcessorSet) -> bool {
        call_with!(self, is_within, other)
    }

    /// Adds the processors of a share, none of which is in the set.
    pub fn add(&mut self, share: &[Run]) {
        call!(self, add(share));
    }

    /// Removes the processors of a share.
    pub fn remove(&mut self, share: &[Run]) {
        call!(self, remove(share));
    }

    /// Whether any processor of a share is in the set.
    pub fn meets(&self, share: &[Run]) -> bool {
        call!(self, meets(share))
    }

    /// The number of processors of a share that are in the set.
    #[inline]
    pub fn count_of(&self, share: &[Run]) -> u32 {
        call!(self, count_of(share))
    }

    /// Whether all processors of a share are in the set.
    pub fn holds(&self, share: &[Run]) -> bool {
        call!(self, holds(share))
    }

    /// The share that a job of `procs` processors gets; the set has at least as many. It is the shortest sufficient run of
    /// consecutive processors, lowest numbers first. If none is long enough: the longest run, and then again for the other
    /// processors.
    pub fn choose(&self, procs: u32) -> Share {
        let runs = self.runs();
        let sufficient = runs.iter().filter(|run| run.length >= procs);
        if let Some(&Run { first, .. }) = sufficient.min_by_key(|run| (run.length, run.first)) {
            return [Run { first, length: procs }].into();
        }
        // Longest first, then lowest numbers first.
        let mut runs: BinaryHeap<_> = runs.iter().map(|run| (run.length, Reverse(run.first))).collect();
        let mut share = Vec::new();
        let mut needed = procs;
        while let Some(&(length, Reverse(first))) = runs.peek()
            && length < needed
        {
            runs.pop();
            share.push(Run { first, length });
            needed -= length;
        }
        let sufficient = runs.iter().filter(|(length, _)| *length >= needed);
        let shortest = sufficient.min_by_key(|&&(length, Reverse(first))| (length, first));
        let &(_, Reverse(first)) = shortest.expect("the set has enough processors");
        share.push(Run { first, length: needed });
        share.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;

    /// Of both kinds.
    fn sets(procs: u32, runs: &[(u32, u32)]) -> [ProcessorSet; 2] {
        let share: Share = runs.iter().map(|&(first, length)| Run { first, length }).collect();
        let mut sets = [ProcessorSet::Bits(Bits::none(procs)), ProcessorSet::Runs(Runs::default())];
        sets.iter_mut().for_each(|set| set.add(&share));
        sets
    }

    fn chosen(set: &ProcessorSet, procs: u32) -> Vec<(u32, u32)> {
        set.choose(procs).iter().map(|run| (run.first, run.length)).collect()
    }

    #[test]
    fn a_job_takes_the_shortest_sufficient_run_or_the_longest_ones() {
        for free in sets(200, &[(0, 3), (10, 5), (60, 8), (100, 5), (150, 4)]) {
            assert_eq!(chosen(&free, 8), [(60, 8)]);
            assert_eq!(chosen(&free, 5), [(10, 5)]);
            assert_eq!(chosen(&free, 4), [(150, 4)]);
            assert_eq!(chosen(&free, 1), [(0, 1)]);
            // The longest run has 8; of the other 2 the shortest sufficient run has 3.
            assert_eq!(chosen(&free, 10), [(60, 8), (0, 2)]);
            assert_eq!(chosen(&free, 17), [(60, 8), (10, 5), (150, 4)]);
            assert_eq!(chosen(&free, 25), [(60, 8), (10, 5), (100, 5), (150, 4), (0, 3)]);
        }
    }

    /// The definition, on a list of numbers.
    fn plain_choice(free: &[bool], procs: u32) -> Vec<bool> {
        let (mut free, mut share, mut needed) = (free.to_vec(), vec![false; free.len()], procs as usize);
        while needed > 0 {
            let mut runs: Vec<(usize, usize)> = Vec::new();
            for at in (0..free.len()).filter(|&at| free[at]) {
                match runs.last_mut() {
                    Some((first, length)) if *first + *length == at => *length += 1,
                    _ => runs.push((at, 1)),
                }
            }
            let sufficient = runs.iter().filter(|run| run.1 >= needed).min_by_key(|run| (run.1, run.0));
            let longest = runs.iter().min_by_key(|run| (std::cmp::Reverse(run.1), run.0));
            let &(first, length) = sufficient.or(longest).expect("enough processors");
            let taken = length.min(needed);
            needed -= taken;
            for at in first..first + taken {
                (free[at], share[at]) = (false, true);
            }
        }
        share
    }

    #[test]
    fn the_set_is_a_plain_list_of_numbers() {
        let mut rng = stream(1, "processors");
        for case in 0..2000 {
            let procs = rng.random_range(1..200u32);
            let density = rng.random_range(0.05..1.0);
            let mut draw = || -> Vec<bool> { (0..procs).map(|_| rng.random_bool(density)).collect() };
            let (a, b) = (draw(), draw());
            for kind in 0..2 {
                let numbered = |list: &[bool]| {
                    let single: Vec<(u32, u32)> =
                        (0..list.len()).filter(|&at| list[at]).map(|at| (at as u32, 1)).collect();
                    sets(procs, &single)[kind].clone()
                };
                let (left, right) = (numbered(&a), numbered(&b));
                let both: Vec<bool> = a.iter().zip(&b).map(|(a, b)| *a && *b).collect();
                let mut kept = left.clone();
                kept.keep(&right);
                assert_eq!(kept, numbered(&both), "case {case}");
                assert_eq!(left.common(&right), kept.count());
                assert_eq!(left.is_within(&right), both == a);
                assert!(kept.is_within(&left) && kept.is_within(&right));
                assert_eq!(left.gains(&kept, &left), kept != left);
                assert!(!left.gains(&kept, &right));
                assert_eq!(left.count() as usize, a.iter().filter(|is_in| **is_in).count());
                for wanted in (1..=left.count()).step_by(3) {
                    let share = left.choose(wanted);
                    let plain = plain_choice(&a, wanted);
                    let mut rest = left.clone();
                    rest.remove(&share);
                    let others: Vec<bool> = a.iter().zip(&plain).map(|(is_in, taken)| *is_in && !taken).collect();
                    assert_eq!(rest, numbered(&others), "case {case}: {wanted} of {a:?}");
                    assert!(left.holds(&share) && !rest.meets(&share));
                    assert_eq!(right.count_of(&share), right.common(&numbered(&plain)));
                    assert_eq!(right.meets(&share), right.count_of(&share) > 0);
                    assert_eq!(right.holds(&share), numbered(&plain).is_within(&right));
                    // What is not there can be removed too.
                    let (mut fewer, mut expected) = (right.clone(), b.clone());
                    fewer.remove(&share);
                    (0..expected.len()).for_each(|at| expected[at] &= !plain[at]);
                    assert_eq!(fewer, numbered(&expected));
                }
            }
        }
        assert_eq!((ProcessorSet::all(130, true).count(), ProcessorSet::all(u32::MAX, false).count()), (130, u32::MAX));
    }
}
