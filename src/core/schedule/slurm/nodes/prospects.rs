//! What is known of each kind of request in a partition without a full test: on which nodes such jobs can ever run, and when sums
//! of CPUs, nodes and GPUs allow one to start. Many jobs ask for the same.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::NodeSet;
use super::choice::{Usable, UsableSums};
use super::futures::UsedWithout;
use crate::time::Time;

/// What is known of the jobs of one kind in a partition.
#[derive(Clone, Debug)]
pub struct Prospect {
    /// Where they can ever run, for the main pass and for the backfill pass.
    pub candidates: [Arc<NodeSet>; 2],
    /// Whether they can run on the idle candidates. 1,500 jobs on UB's medium cluster take 1.17 times as long without.
    pub is_ever: Option<bool>,
    /// After which change of what is used it is known whether they may start now. The first 3,000 jobs of a week of UB's medium cluster
    /// under its own slurm.conf take 1.17 times as long without.
    pub may_start: Option<(u64, bool)>,
    /// In which pass the earliest start was computed. It may be in the past. The first 4,000 jobs of that week with 1.5 times their load
    /// take 1.14 times as long without.
    pub earliest: Option<(u64, Time)>,
    /// The room for them.
    pub room: RoomOverTime,
}

/// What jobs of one kind could use of their nodes as running jobs leave. It is an upper bound for the whole pass, in which jobs only
/// start: a test on nodes of which the sums do not suffice is not made. A week of UB's medium cluster takes twice as long if it is
/// computed for each entry anew.
#[derive(Clone, Debug, Default)]
pub struct RoomOverTime {
    /// In which pass it was computed, and of what is used then.
    pub pass: Option<u64>,
    pub of: UsedWithout,
    /// By node.
    pub now: Vec<(u32, Usable)>,
    /// The ends after which it is another amount of a node: before, and after.
    pub changes: Vec<(Time, u32, [Option<Usable>; 2])>,
    /// How many running jobs have left then, and when the next one leaves. `Time::MAX` if all have left.
    pub jobs: usize,
    pub next: Time,
}

impl RoomOverTime {
    /// Nothing is known in this pass yet. The memory is used again.
    pub fn begin(&mut self, pass: u64, of: UsedWithout) {
        (self.pass, self.of, self.jobs, self.next) = (Some(pass), of, 0, Time::MIN);
        self.now.clear();
        self.changes.clear();
    }

    /// The first end of a running job after which sums may allow a job to start on these nodes: `Time::MIN` if they may now, None if
    /// they never do. `sums` are those of no nodes.
    pub fn earliest(&self, nodes: &NodeSet, mut sums: UsableSums) -> Option<Time> {
        for (_, usable) in self.now.iter().filter(|(node, _)| nodes.has(*node)) {
            sums.add(Some(usable));
        }
        if sums.are_enough() {
            return Some(Time::MIN);
        }
        let mut changes = self.changes.iter().filter(|(_, node, _)| nodes.has(*node));
        let enough = changes.find(|(.., [before, after])| {
            sums.remove(before.as_ref());
            sums.add(after.as_ref());
            sums.are_enough()
        });
        enough.map(|(end, ..)| *end)
    }
}

/// Of all kinds and partitions.
#[derive(Clone, Debug, Default)]
pub struct Prospects {
    all: FxHashMap<(usize, usize, usize), Prospect>,
    /// Each set once.
    sets: FxHashSet<Arc<NodeSet>>,
    /// The number of the present pass; the same for passes between which nothing that is used has changed.
    pass: u64,
    /// After which change of what is used that pass has begun.
    changes: u64,
}

impl Prospects {
    /// A pass begins after this change of what is used: the earliest starts found before others do not hold any more.
    pub fn begin_pass(&mut self, changes: u64) {
        self.pass += u64::from(self.changes != changes);
        self.changes = changes;
    }

    /// What is known of a kind of jobs in a partition, on one kind of nodes.
    pub fn of(&mut self, key: (usize, usize, usize), candidates: impl FnOnce() -> [NodeSet; 2]) -> &mut Prospect {
        let Prospects { all, sets, .. } = self;
        all.entry(key).or_insert_with(|| {
            let candidates = candidates().map(|set| match sets.get(&set) {
                Some(known) => Arc::clone(known),
                None => {
                    let set = Arc::new(set);
                    sets.insert(Arc::clone(&set));
                    set
                }
            });
            Prospect { candidates, is_ever: None, may_start: None, earliest: None, room: RoomOverTime::default() }
        })
    }

    /// The number of the present pass.
    pub fn pass(&self) -> u64 {
        self.pass
    }
}

impl Prospect {
    /// Whether such a job may start now, if it is known after this change.
    pub fn may_start(&self, change: u64) -> Option<bool> {
        self.may_start.filter(|(known, _)| *known == change).map(|(_, may_start)| may_start)
    }

    /// The earliest start of such a job, if it is known in this pass.
    pub fn earliest(&self, pass: u64) -> Option<Time> {
        self.earliest.filter(|(known, _)| *known == pass).map(|(_, earliest)| earliest)
    }
}
