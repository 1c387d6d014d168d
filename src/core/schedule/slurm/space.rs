//! The nodes that no reservation has taken, over time: the node space of a backfill pass.

use super::node_set::NodeSet;
use super::runs::{Run, Runs};
use crate::time::{Seconds, Time};

/// A stretch of time in which the same nodes are free of reservations. Running jobs are not looked at here.
#[derive(Clone, Debug)]
struct Stretch {
    begin: Time,
    end: Time,
    free: NodeSet,
    /// The number of nodes in `free`.
    count: u32,
    /// Whether a node that is not in `free` is free in the next stretch: a reservation ends there.
    gains: bool,
    /// The nodes of the reservations that begin here. Those that are free in the stretch before and not in this one are among
    /// them.
    taken: Runs,
}

/// The nodes that are free of reservations, from the present to the end of the window.
#[derive(Clone, Debug)]
pub(super) struct NodeSpace {
    /// They follow each other without gaps.
    stretches: Vec<Stretch>,
    all: NodeSet,
    /// Times of reservations are rounded down to multiples of this, as the clock shows them.
    resolution: Seconds,
    unix_start: Time,
    /// After a reservation only the first two equal neighbours become one, as in the daemon. Else all do.
    joins_once: bool,
}

impl NodeSpace {
    /// All these nodes are free, from `now` to `window` seconds later, both rounded down.
    pub fn new(
        all: NodeSet,
        now: Time,
        window: Seconds,
        (resolution, unix_start): (Seconds, Time),
        joins_once: bool,
    ) -> NodeSpace {
        let mut space = NodeSpace { stretches: Vec::new(), all: all.clone(), resolution, unix_start, joins_once };
        let (begin, end, count) = (space.floor(now), space.floor(now + window), all.count());
        space.stretches.push(Stretch { begin, end, free: all, count, gains: false, taken: Runs::default() });
        space
    }

    /// A time rounded down.
    pub fn floor(&self, time: Time) -> Time {
        (time + self.unix_start).div_euclid(self.resolution) * self.resolution - self.unix_start
    }

    /// The end of the window.
    pub fn end(&self) -> Time {
        self.stretches[self.stretches.len() - 1].end
    }

    /// The next instant after `from` at which a reservation ends and some of these nodes become free; None are all nodes. Slurm looks
    /// no further than to the end of the first stretch that begins after `to`.
    pub fn next_release(&self, of: Option<&NodeSet>, from: Time, to: Time) -> Option<Time> {
        let first = self.at(from);
        for (at, stretch) in self.stretches.iter().enumerate().skip(first) {
            let gains = || of.is_none_or(|of| self.stretches[at + 1].free.gains(&stretch.free, of));
            if stretch.gains && gains() {
                return Some(stretch.end);
            }
            if stretch.begin > to {
                return None;
            }
        }
        None
    }

    /// The first instant after `time` at which the free nodes change.
    pub fn next_change(&self, time: Time) -> Option<Time> {
        self.stretches.get(self.stretches.partition_point(|stretch| stretch.begin <= time)).map(|stretch| stretch.begin)
    }

    /// Puts the nodes that are free of reservations in [from, to] into `free`. Returns false, with an arbitrary `free`, if at some
    /// instant fewer than `least` are.
    pub fn free_in(&self, from: Time, to: Time, least: u32, free: &mut NodeSet) -> bool {
        let stretches = &self.stretches[self.at(from)..];
        let stretches = &stretches[..stretches.iter().take_while(|stretch| stretch.begin <= to).count()];
        if stretches.iter().any(|stretch| stretch.count < least) {
            return false;
        }
        match stretches {
            [] => free.copy_from(&self.all),
            [first, others @ ..] => {
                free.copy_from(&first.free);
                others.iter().for_each(|stretch| free.lose(&stretch.taken, &stretch.free));
            }
        }
        true
    }

    /// How many of these nodes are free of reservations from `from` to each later instant: the instants at which the number falls,
    /// with the new number.
    pub fn falls(&self, from: Time, nodes: &NodeSet, falls: &mut Vec<(Time, u32)>) {
        let mut left = nodes.clone();
        let mut count = left.count();
        falls.clear();
        let first = self.at(from);
        for (at, stretch) in self.stretches.iter().enumerate().skip(first) {
            match at == first {
                true => left.keep(&stretch.free),
                false if stretch.taken.is_empty() => continue,
                false => left.lose(&stretch.taken, &stretch.free),
            }
            let fewer = left.count();
            if fewer < count {
                falls.push((stretch.begin, fewer));
                count = fewer;
            }
            if count == 0 {
                break;
            }
        }
    }

    /// Whether a share is free of reservations in [begin, end).
    pub fn is_free(&self, begin: Time, end: Time, share: &[Run]) -> bool {
        let stretches = self.stretches[self.at(begin)..].iter();
        stretches.take_while(|stretch| stretch.begin < end).all(|stretch| stretch.free.holds(share))
    }

    /// Reserves a share from `begin` to `end`, which are multiples of the resolution, for at least one step.
    pub fn reserve(&mut self, begin: Time, end: Time, share: &[Run]) {
        let begin = begin.max(self.stretches[0].begin);
        let end = end.max(begin + self.resolution);
        if begin > self.end() {
            return;
        }
        let first = self.split(begin);
        let mut last = self.split(end);
        let size: u32 = share.iter().map(|run| run.length).sum();
        let mut is_whole = true;
        for stretch in &mut self.stretches[first..last] {
            let count = stretch.free.count_of(share);
            is_whole &= count == size;
            stretch.count -= count;
            stretch.free.remove_share(share);
        }
        if let Some(stretch) = self.stretches.get_mut(first) {
            if !is_whole {
                stretch.taken.remove(share);
            }
            stretch.taken.add(share);
        }
        // Stretches between these lose the same nodes as their neighbours, if all were free.
        for at in first.max(1)..(last + 1).min(self.stretches.len()) {
            if !is_whole || at == first || at == last {
                let [before, after] = &self.stretches[at - 1..=at] else { continue };
                self.stretches[at - 1].gains = !after.free.is_within(&before.free);
            }
        }
        let mut at = first.saturating_sub(2);
        while at < last && at + 1 < self.stretches.len() {
            let (stretch, next) = (&self.stretches[at], &self.stretches[at + 1]);
            if stretch.gains || stretch.count != next.count {
                at += 1;
                continue;
            }
            let Stretch { end, gains, .. } = self.stretches.remove(at + 1);
            (self.stretches[at].end, self.stretches[at].gains) = (end, gains);
            if self.joins_once {
                return;
            }
            last -= 1;
        }
    }

    /// The first stretch that ends after `time`.
    fn at(&self, time: Time) -> usize {
        self.stretches.partition_point(|stretch| stretch.end <= time)
    }

    /// Makes a stretch begin at `time`. Returns its place; the number of stretches if `time` is not inside the window.
    fn split(&mut self, time: Time) -> usize {
        let at = self.at(time);
        match self.stretches.get_mut(at) {
            Some(stretch) if stretch.begin < time => {
                let taken = std::mem::take(&mut stretch.taken);
                let after = Stretch { begin: time, ..stretch.clone() };
                (stretch.end, stretch.gains, stretch.taken) = (time, false, taken);
                self.stretches.insert(at + 1, after);
                at + 1
            }
            _ => at,
        }
    }
}
