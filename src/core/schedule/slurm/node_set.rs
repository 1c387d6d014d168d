//! Sets of nodes, of which a job takes consecutive runs. A processor of a pool is a node here.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::bits::Bits;
use super::runs::{Run, Runs};

/// The nodes that a job runs on or has reserved.
pub(super) type Share = Arc<[Run]>;

/// Nodes in their order. All sets of one pass are of the same kind: the faster one for this machine and its running jobs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeSet(SetKind);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum SetKind {
    /// Takes the same time whatever is in the set.
    Bits(Bits),
    /// Takes less time and memory the fewer runs there are: for pools of millions of processors, of which bits take too much memory.
    /// The first 12,000 jobs of Curie, with 93,312 processors, take 2.6 times as long with bits.
    Runs(Runs),
}

/// Calls a method of the set of either kind.
macro_rules! call {
    ($set:expr, $method:ident($($argument:expr),*)) => {
        match $set {
            NodeSet(SetKind::Bits(set)) => set.$method($($argument),*),
            NodeSet(SetKind::Runs(set)) => set.$method($($argument),*),
        }
    };
}

/// Calls a method of one set with another set of the same kind.
macro_rules! call_with {
    ($set:expr, $method:ident, $other:expr) => {
        match ($set, $other) {
            (NodeSet(SetKind::Bits(set)), NodeSet(SetKind::Bits(other))) => set.$method(other),
            (NodeSet(SetKind::Runs(set)), NodeSet(SetKind::Runs(other))) => set.$method(other),
            _ => unreachable!("all sets of one pass are of the same kind"),
        }
    };
}

impl Default for NodeSet {
    fn default() -> NodeSet {
        NodeSet::none(0)
    }
}

impl NodeSet {
    /// The largest machine whose nodes are bits.
    const MOST_BITS: u32 = 1 << 17;
    /// Runs are faster if there are fewer than one for this number of nodes.
    const NODES_PER_RUN: usize = 128;

    /// No nodes, of a machine that has this number.
    pub fn none(nodes: usize) -> NodeSet {
        NodeSet(SetKind::Bits(Bits::none(nodes)))
    }

    /// All nodes.
    pub fn all(nodes: usize) -> NodeSet {
        NodeSet::whole(nodes as u32, true)
    }

    /// These nodes.
    pub fn of(nodes: usize, some: impl IntoIterator<Item = u32>) -> NodeSet {
        let mut set = NodeSet::none(nodes);
        some.into_iter().for_each(|node| set.insert(node));
        set
    }

    /// Whether bits are faster than runs on a machine of so many nodes, where the shares of the running jobs have this number of
    /// runs.
    pub(super) fn suits_bits(nodes: u32, runs: usize) -> bool {
        nodes <= Self::MOST_BITS && runs * Self::NODES_PER_RUN >= nodes as usize
    }

    /// All nodes of a machine, in a set of either kind.
    pub(super) fn whole(nodes: u32, is_bits: bool) -> NodeSet {
        NodeSet::of_runs(nodes, is_bits, &[Run { first: 0, length: nodes }])
    }

    fn of_runs(nodes: u32, is_bits: bool, runs: &[Run]) -> NodeSet {
        let mut set = match is_bits {
            true => NodeSet::none(nodes as usize),
            false => NodeSet(SetKind::Runs(Runs::default())),
        };
        set.add_share(runs);
        set
    }

    /// The same nodes of a machine in a set of either kind.
    pub(super) fn to_kind(&self, nodes: u32, is_bits: bool) -> NodeSet {
        NodeSet::of_runs(nodes, is_bits, &self.runs())
    }

    /// Whether the set is of the kind with bits.
    pub(super) fn is_bits(&self) -> bool {
        matches!(self.0, SetKind::Bits(_))
    }

    /// Becomes the same set as `other`, in the memory that it has.
    #[inline]
    pub(super) fn copy_from(&mut self, other: &NodeSet) {
        match (&mut self.0, &other.0) {
            (SetKind::Bits(set), SetKind::Bits(other)) => set.copy_from(other),
            (SetKind::Runs(set), SetKind::Runs(other)) => set.copy_from(other),
            (set, other) => *set = other.clone(),
        }
    }

    /// The longest runs, in order of their numbers.
    fn runs(&self) -> Cow<'_, [Run]> {
        match &self.0 {
            SetKind::Bits(set) => set.runs().collect::<Vec<Run>>().into(),
            SetKind::Runs(set) => set.runs().into(),
        }
    }

    /// Adds a node.
    #[inline]
    pub fn insert(&mut self, node: u32) {
        if let SetKind::Bits(set) = &mut self.0 {
            set.insert(node);
        }
    }

    /// Removes a node.
    pub fn remove(&mut self, node: u32) {
        self.remove_share(&[Run { first: node, length: 1 }]);
    }

    /// Whether it has a node.
    #[inline]
    pub fn has(&self, node: u32) -> bool {
        self.bits().has(node)
    }

    /// How many it has.
    #[inline]
    pub fn count(&self) -> u32 {
        call!(self, count())
    }

    /// Whether it has none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        call!(self, is_empty())
    }

    /// Keeps the nodes that the other has too.
    #[inline]
    pub fn keep(&mut self, other: &NodeSet) {
        call_with!(self, keep, other);
    }

    /// Removes the nodes of the other.
    pub fn take_out(&mut self, other: &NodeSet) {
        match (&mut self.0, &other.0) {
            (SetKind::Bits(set), SetKind::Bits(other)) => set.take_out(other),
            (_, _) => self.remove_share(&other.runs()),
        }
    }

    /// Adds the nodes of the other.
    pub fn add(&mut self, other: &NodeSet) {
        self.take_out(other);
        self.add_share(&other.runs());
    }

    /// The nodes of both.
    pub fn common(&self, other: &NodeSet) -> NodeSet {
        let mut both = self.clone();
        both.keep(other);
        both
    }

    /// How many both have.
    #[inline]
    pub fn count_common(&self, other: &NodeSet) -> u32 {
        call_with!(self, common, other)
    }

    /// Whether both have a node.
    #[inline]
    pub fn meets(&self, other: &NodeSet) -> bool {
        self.count_common(other) > 0
    }

    /// Whether the other has all its nodes.
    #[inline]
    pub fn is_within(&self, other: &NodeSet) -> bool {
        call_with!(self, is_within, other)
    }

    /// Whether any of the nodes that are not in `before` is allowed. Sets with runs must have all nodes of `before`.
    #[inline]
    pub(super) fn gains(&self, before: &NodeSet, allowed: &NodeSet) -> bool {
        match (&self.0, &before.0, &allowed.0) {
            (SetKind::Bits(set), SetKind::Bits(before), SetKind::Bits(allowed)) => set.gains(before, allowed),
            _ => self.count_common(allowed) > before.count_common(allowed),
        }
    }

    /// Keeps the nodes that are also in `rest`; all others are in `taken`.
    #[inline]
    pub(super) fn lose(&mut self, taken: &Runs, rest: &NodeSet) {
        match &mut self.0 {
            SetKind::Runs(set) => set.remove(taken.runs()),
            // Bits that are kept take less time than runs that are removed.
            SetKind::Bits(_) if !taken.runs().is_empty() => self.keep(rest),
            SetKind::Bits(_) => {}
        }
    }

    /// Only pools have runs, and nobody looks at their processors one by one.
    fn bits(&self) -> &Bits {
        match &self.0 {
            SetKind::Bits(set) => set,
            SetKind::Runs(_) => unreachable!("the nodes of a site are bits"),
        }
    }

    /// The nodes in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.bits().iter()
    }

    /// The nodes of both, in order.
    pub fn iter_common(&self, other: &NodeSet) -> impl Iterator<Item = u32> {
        self.bits().iter_common(other.bits())
    }

    /// Keeps the nodes for which this is true.
    pub fn retain(&mut self, keeps: impl FnMut(u32) -> bool) {
        if let SetKind::Bits(set) = &mut self.0 {
            set.retain(keeps);
        }
    }

    /// The first so many of its nodes, or all, on a machine of this many.
    pub(super) fn lowest(&self, nodes: u32, mut count: u32) -> NodeSet {
        let first = |run: &Run| {
            let length = run.length.min(count);
            count -= length;
            (length > 0).then_some(Run { length, ..*run })
        };
        let runs: Vec<Run> = self.runs().iter().map_while(first).collect();
        NodeSet::of_runs(nodes, self.is_bits(), &runs)
    }

    /// Adds the nodes of a share, none of which is in the set.
    #[inline]
    pub(super) fn add_share(&mut self, share: &[Run]) {
        call!(self, add(share));
    }

    /// Removes the nodes of a share.
    #[inline]
    pub(super) fn remove_share(&mut self, share: &[Run]) {
        call!(self, remove(share));
    }

    /// Whether any node of a share is in the set.
    #[inline]
    pub(super) fn meets_share(&self, share: &[Run]) -> bool {
        call!(self, meets(share))
    }

    /// The number of nodes of a share that are in the set.
    #[inline]
    pub(super) fn count_of(&self, share: &[Run]) -> u32 {
        call!(self, count_of(share))
    }

    /// Whether all nodes of a share are in the set.
    #[inline]
    pub(super) fn holds(&self, share: &[Run]) -> bool {
        call!(self, holds(share))
    }

    /// The share that a job of so many whole nodes gets; the set has at least as many. It is the shortest sufficient run of
    /// consecutive nodes, lowest numbers first. If none is long enough: the longest run, and then again for the other nodes.
    pub(super) fn choose(&self, nodes: u32) -> Share {
        match &self.0 {
            SetKind::Bits(set) => choose_among(set.runs(), nodes),
            SetKind::Runs(set) => choose_among(set.runs().iter().copied(), nodes),
        }
    }
}

/// [`NodeSet::choose`] among these runs, which are in order of their numbers. No run behind one that has just as many nodes is looked
/// at.
fn choose_among(all: impl Iterator<Item = Run>, nodes: u32) -> Share {
    let (mut runs, mut shortest): (Vec<Run>, Option<Run>) = (Vec::with_capacity(64), None);
    for run in all {
        if run.length >= nodes && shortest.is_none_or(|shortest| run.length < shortest.length) {
            shortest = Some(run);
            if run.length == nodes {
                break;
            }
        }
        runs.push(run);
    }
    if let Some(Run { first, .. }) = shortest {
        return [Run { first, length: nodes }].into();
    }
    // Longest first, then lowest numbers first.
    let mut runs: BinaryHeap<_> = runs.into_iter().map(|run| (run.length, Reverse(run.first))).collect();
    let mut share = Vec::new();
    let mut needed = nodes;
    while let Some(&(length, Reverse(first))) = runs.peek()
        && length < needed
    {
        runs.pop();
        share.push(Run { first, length });
        needed -= length;
    }
    let sufficient = runs.iter().filter(|(length, _)| *length >= needed);
    let shortest = sufficient.min_by_key(|&&(length, Reverse(first))| (length, first));
    let &(_, Reverse(first)) = shortest.expect("the set has enough nodes");
    share.push(Run { first, length: needed });
    share.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;

    /// Of both kinds.
    fn sets(procs: u32, runs: &[(u32, u32)]) -> [NodeSet; 2] {
        let share: Share = runs.iter().map(|&(first, length)| Run { first, length }).collect();
        let mut sets = [true, false].map(|is_bits| NodeSet::of_runs(procs, is_bits, &[]));
        sets.iter_mut().for_each(|set| set.add_share(&share));
        sets
    }

    fn chosen(set: &NodeSet, procs: u32) -> Vec<(u32, u32)> {
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
                assert_eq!(left.count_common(&right), kept.count());
                assert_eq!(left.is_within(&right), both == a);
                assert!(kept.is_within(&left) && kept.is_within(&right));
                assert_eq!(left.gains(&kept, &left), kept != left);
                assert!(!left.gains(&kept, &right));
                assert_eq!(left.count() as usize, a.iter().filter(|is_in| **is_in).count());
                for wanted in (1..=left.count()).step_by(3) {
                    let share = left.choose(wanted);
                    let plain = plain_choice(&a, wanted);
                    let mut rest = left.clone();
                    rest.remove_share(&share);
                    let others: Vec<bool> = a.iter().zip(&plain).map(|(is_in, taken)| *is_in && !taken).collect();
                    assert_eq!(rest, numbered(&others), "case {case}: {wanted} of {a:?}");
                    assert!(left.holds(&share) && !rest.meets_share(&share));
                    assert_eq!(right.count_of(&share), right.count_common(&numbered(&plain)));
                    assert_eq!(right.meets_share(&share), right.count_of(&share) > 0);
                    assert_eq!(right.holds(&share), numbered(&plain).is_within(&right));
                    // What is not there can be removed too.
                    let (mut fewer, mut expected) = (right.clone(), b.clone());
                    fewer.remove_share(&share);
                    (0..expected.len()).for_each(|at| expected[at] &= !plain[at]);
                    assert_eq!(fewer, numbered(&expected));
                }
            }
        }
        assert_eq!((NodeSet::whole(130, true).count(), NodeSet::whole(u32::MAX, false).count()), (130, u32::MAX));
    }
}
