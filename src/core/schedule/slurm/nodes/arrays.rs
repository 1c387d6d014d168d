//! Job arrays, of which each task that starts makes way for the next. They are a part of what records of the daemon are made of.
//!
//! Simulations have none: there each task is a job with its own entry, number and prediction, and the gate before the queue keeps
//! back those beyond the limit of their array. Once a log is read, the tasks of an array without a limit are not known to belong
//! together. What is different: a whole array has at most `bf_max_job_array_resv` reservations, its entries in other partitions are
//! void once a task has started, and a task that fails ends the turn of the others.

use std::collections::BTreeMap;

use super::job::QueueEntry;

/// The tasks of a job array that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayTasks {
    /// Tasks that have not started.
    pub left: u32,
    /// Tasks that run.
    pub running: u32,
    /// The most that run at once. 0: no limit.
    pub most: u32,
}

impl ArrayTasks {
    pub(super) fn is_closed(&self) -> bool {
        self.left == 0 || (self.most > 0 && self.running >= self.most)
    }

    pub(super) fn start(&mut self) {
        (self.left, self.running) = (self.left - 1, self.running + 1);
    }
}

/// What a backfill pass has done for arrays.
#[derive(Default)]
pub(crate) struct ArrayTurns {
    /// In which partition a task has started.
    partitions: BTreeMap<u64, usize>,
    /// The array that had a reservation last, and how many it had one after the other.
    reserved: (Option<u64>, u32),
}

impl ArrayTurns {
    /// Whether a task has started in another partition.
    pub fn is_void(&self, entry: QueueEntry<'_>) -> bool {
        self.partitions.get(&entry.job.id).is_some_and(|&other| other != entry.partition)
    }

    /// A task starts.
    pub fn start(&mut self, entry: QueueEntry<'_>) {
        self.partitions.insert(entry.job.id, entry.partition);
    }

    /// A task gets a reservation. Returns whether another task may have one too.
    pub fn reserve(&mut self, entry: QueueEntry<'_>, array: &ArrayTasks, most: u32) -> bool {
        let (last, count) = self.reserved;
        let count = if last == Some(entry.job.id) { count + 1 } else { 1 };
        self.reserved = (Some(entry.job.id), count);
        count < most.min(array.left)
    }
}
