//! The node space of a backfill pass: which nodes reservations leave free, and when.

use super::site::{NodeSet, SlurmSite};
use crate::time::{Seconds, Time};

/// A time in which the same nodes are free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceEntry {
    pub begin: Time,
    pub end: Time,
    pub free: NodeSet,
}

/// The list of these times.
pub struct NodeSpace {
    pub entries: Vec<SpaceEntry>,
    resolution: Seconds,
    unix_start: Time,
}

impl NodeSpace {
    /// All nodes are free until the end of the window.
    pub fn new(site: &SlurmSite, now: Time, unix_start: Time) -> NodeSpace {
        let resolution = site.parameters.resolution;
        let mut space = NodeSpace { entries: Vec::new(), resolution, unix_start };
        let (begin, end) = (space.floor(now), space.floor(now + site.parameters.window));
        space.entries.push(SpaceEntry { begin, end, free: NodeSet::all(site.len()) });
        space
    }

    /// A time rounded down.
    pub fn floor(&self, time: Time) -> Time {
        (time + self.unix_start).div_euclid(self.resolution) * self.resolution - self.unix_start
    }

    /// Takes nodes out of a time.
    pub fn reserve(&mut self, begin: Time, end: Time, nodes: &NodeSet) {
        let begin = begin.max(self.entries[0].begin);
        let end = end.max(begin + self.resolution);
        let Some(first) = self.entries.iter().position(|entry| entry.end >= begin) else { return };
        let before = first.saturating_sub(1);
        if self.entries[first].end > begin {
            self.split(first, begin);
        }
        let mut after = None;
        let mut at = first + 1;
        while at < self.entries.len() {
            if end < self.entries[at].end {
                self.split(at, end);
            }
            self.entries[at].free.take_out(nodes);
            if self.entries[at].end == end {
                after = Some(at + 1);
                break;
            }
            at += 1;
        }
        self.join(before, after);
    }

    fn split(&mut self, at: usize, time: Time) {
        let second = SpaceEntry { begin: time, ..self.entries[at].clone() };
        self.entries[at].end = time;
        self.entries.insert(at + 1, second);
    }

    /// Joins the first two equal neighbours.
    fn join(&mut self, from: usize, after: Option<usize>) {
        let mut at = from;
        while at + 1 < self.entries.len() && after != Some(at) {
            if self.entries[at].free == self.entries[at + 1].free {
                self.entries[at].end = self.entries[at + 1].end;
                self.entries.remove(at + 1);
                return;
            }
            at += 1;
        }
    }

    /// The end of the window.
    pub fn end(&self) -> Time {
        self.entries[self.entries.len() - 1].end
    }

    /// When the nodes that are free from `start` on are others, if time goes on. The end of the window goes on, too.
    pub fn border_after(&self, start: Time) -> Time {
        let last = self.entries.len() - 1;
        self.entries[..last].iter().map(|entry| entry.end).find(|&end| end > start).unwrap_or(Time::MAX)
    }

    /// When a time that ends at `end` meets the next entry.
    pub fn begin_after(&self, end: Time) -> Time {
        self.entries.iter().map(|entry| entry.begin).find(|&begin| begin > end).unwrap_or(Time::MAX)
    }

    /// Whether a reservation of nodes in a time meets another.
    pub fn overlaps(&self, begin: Time, end: Time, nodes: &NodeSet) -> bool {
        self.entries.iter().any(|entry| entry.end > begin && entry.begin < end && !nodes.is_within(&entry.free))
    }

    /// Of some nodes those that are free from `start` to `end`, and when more of the partition's nodes become free. 0 is never, as in
    /// the daemon.
    pub fn free(&self, partition: &NodeSet, start: Time, end: Time) -> (NodeSet, Option<Time>) {
        let mut free = partition.clone();
        let mut later = None;
        for (at, entry) in self.entries.iter().enumerate() {
            if entry.end > start
                && later.is_none()
                && let Some(next) = self.entries.get(at + 1)
                && NodeSet::is_more([partition, &next.free], [&free, &entry.free])
            {
                later = Some(entry.end);
            }
            if entry.end <= start {
                continue;
            }
            if entry.begin > end {
                break;
            }
            free.keep(&entry.free);
        }
        (free, later)
    }
}
