//! Job arrays, which have one place in the queue: each task that starts makes way for the next.
//!
//! A whole array has at most `bf_max_job_array_resv` reservations in a row, its entries in other partitions are void in a backfill
//! pass once a task has started, and a task that fails ends the turn of the others.

use std::collections::{BTreeMap, BTreeSet};

use super::job::{QueueEntry, SlurmJob};

impl SlurmJob {
    /// The number of its entries in the queue, in the order of job numbers. A task that waits alone has another one than its array.
    pub fn number(&self) -> u64 {
        self.array.map_or(2 * self.id, |array| 2 * array + 1)
    }

    /// Whether no other task that may start waits behind it.
    pub fn is_alone(&self) -> bool {
        self.count()[1] == 1
    }

    /// It and the tasks behind it that may start.
    fn tasks(&self) -> impl DoubleEndedIterator<Item = &SlurmJob> {
        std::iter::once(self).chain(self.behind.iter().flat_map(|behind| &behind.tasks))
    }

    /// How many tasks wait, and how many of them may start.
    fn count(&self) -> [usize; 2] {
        let behind = self.behind.as_ref();
        let ready = 1 + behind.map_or(0, |behind| behind.tasks.len());
        [ready + behind.map_or(0, |behind| behind.held as usize), ready]
    }

    /// The task with this place.
    fn task(&self, at: usize) -> Option<&SlurmJob> {
        match at {
            0 => Some(self),
            _ => self.behind.as_ref()?.tasks.get(at - 1),
        }
    }

    /// A task of the same array joins those behind this one. The first of them all is this one.
    pub(super) fn add_behind(&mut self, mut task: SlurmJob) {
        let held = task.behind.take().map_or(0, |behind| behind.held);
        if task.id < self.id {
            task.behind = self.behind.take();
            std::mem::swap(self, &mut task);
        }
        let behind = self.behind.get_or_insert_default();
        behind.held = held;
        behind.tasks.insert(behind.tasks.partition_point(|other| other.id < task.id), task);
    }

    /// The job with this number among those that wait in its entries.
    pub(super) fn find(&self, id: u64) -> Option<&SlurmJob> {
        if self.id == id {
            return Some(self);
        }
        let tasks = &self.behind.as_ref()?.tasks;
        tasks.get(tasks.binary_search_by_key(&id, |task| task.id).ok()?)
    }

    /// The same, to be changed.
    pub(super) fn find_mut(&mut self, id: u64) -> Option<&mut SlurmJob> {
        if self.id == id {
            return Some(self);
        }
        let tasks = &mut self.behind.as_mut()?.tasks;
        tasks.binary_search_by_key(&id, |task| task.id).ok().and_then(|at| tasks.get_mut(at))
    }

    /// Takes out a job that waits in its entries, if others stay there.
    pub(super) fn take(&mut self, id: u64) -> Option<SlurmJob> {
        let tasks = &mut self.behind.as_mut()?.tasks;
        if self.id != id {
            return tasks.binary_search_by_key(&id, |task| task.id).ok().and_then(|at| tasks.remove(at));
        }
        let mut next = tasks.pop_front()?;
        next.behind = self.behind.take();
        Some(std::mem::replace(self, next))
    }
}

/// What a pass has done for arrays.
#[derive(Default)]
pub(crate) struct ArrayTurns {
    /// By array.
    started: BTreeMap<u64, StartedTasks>,
    /// The array that had a reservation last, and how many it had one after the other.
    reserved: (Option<u64>, usize),
}

/// The tasks of an array that a pass has started.
#[derive(Default)]
struct StartedTasks {
    partition: usize,
    places: BTreeSet<usize>,
}

impl ArrayTurns {
    /// Whether a task has started in another partition.
    pub fn is_void(&self, entry: QueueEntry<'_>) -> bool {
        let of = entry.job.array.and_then(|array| self.started.get(&array));
        of.is_some_and(|started| started.partition != entry.partition)
    }

    fn has_started(&self, job: &SlurmJob, at: usize) -> bool {
        let of = job.array.and_then(|array| self.started.get(&array));
        of.is_some_and(|started| started.places.contains(&at))
    }

    /// What is tried next of an entry of the queue; `at` is the place of the next task. A task beyond the limit of the array is tried
    /// as the last one that may start.
    pub fn next<'q>(&self, entry: QueueEntry<'q>, at: &mut usize) -> Option<QueueEntry<'q>> {
        let QueueEntry { job, partition } = entry;
        while self.has_started(job, *at) {
            *at += 1;
        }
        let task = job.task(*at).or_else(|| {
            let [all, ready] = job.count();
            let last = (0..ready).rev().find(|&place| !self.has_started(job, place)).filter(|_| *at < all)?;
            job.task(last)
        })?;
        *at += 1;
        Some(QueueEntry { job: task, partition })
    }

    /// The task of an entry that ends first among those that may start now.
    pub fn shortest<'q>(&self, entry: QueueEntry<'q>) -> Option<QueueEntry<'q>> {
        let QueueEntry { job, partition } = entry;
        if job.array.is_none() {
            return Some(entry);
        }
        let tasks = job.tasks().enumerate().filter(|(at, _)| !self.has_started(job, *at));
        let (_, job) = tasks.min_by_key(|(_, task)| task.planned.unwrap_or(task.limit))?;
        Some(QueueEntry { job, partition })
    }

    /// The task of an entry at this place starts.
    pub fn start(&mut self, entry: QueueEntry<'_>, at: usize) {
        if let Some(array) = entry.job.array {
            let started = self.started.entry(array).or_default();
            started.partition = entry.partition;
            started.places.insert(at);
        }
    }

    /// A task of an entry gets a reservation. Returns whether another task may have one too.
    pub fn reserve(&mut self, entry: QueueEntry<'_>, most: usize) -> bool {
        let Some(array) = entry.job.array else { return false };
        let (last, count) = self.reserved;
        let count = if last == Some(array) { count + 1 } else { 1 };
        self.reserved = (Some(array), count);
        let [all, _] = entry.job.count();
        let started = self.started.get(&array).map_or(0, |started| started.places.len());
        count < most.min(all - started)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::slurm::nodes::{SlurmParameters, SlurmSite};

    /// The tasks of array 1 with these numbers, which join it one after the other.
    fn array(numbers: &[u64]) -> SlurmJob {
        let job = SlurmJob::of_processors(1, &SlurmSite::of_pool(4, SlurmParameters::default()).cluster);
        let mut tasks = numbers.iter().map(|&id| SlurmJob { id, array: Some(1), ..job.clone() });
        let mut first = tasks.next().unwrap();
        tasks.for_each(|task| first.add_behind(task));
        first
    }

    /// A task that comes back, or was refused before, joins after later ones.
    #[test]
    fn tasks_are_in_order_of_their_numbers() {
        let mut job = array(&[5, 9, 7, 3, 8]);
        let tried = |job: &SlurmJob| {
            let (turns, mut at) = (ArrayTurns::default(), 0);
            let next = || turns.next(QueueEntry { job, partition: 0 }, &mut at).map(|entry| entry.job.id);
            std::iter::from_fn(next).collect::<Vec<_>>()
        };
        assert_eq!(tried(&job), [3, 5, 7, 8, 9]);
        for id in [7, 3, 9] {
            assert_eq!((job.find(id).map(|task| task.id), job.take(id).map(|task| task.id)), (Some(id), Some(id)));
        }
        assert_eq!(tried(&job), [5, 8]);
    }

    /// In a row an array has as many reservations as `bf_max_job_array_resv` says, and no more than tasks wait.
    #[test]
    fn an_array_has_so_many_reservations_in_a_row() {
        let job = array(&[1, 2, 3]);
        for (most, expected) in [(1, 1), (2, 2), (3, 3), (20, 3)] {
            let mut turns = ArrayTurns::default();
            let more = (1..).take_while(|_| turns.reserve(QueueEntry { job: &job, partition: 0 }, most)).count();
            assert_eq!(more + 1, expected, "{most}");
        }
        // One of them has started in this pass.
        let mut turns = ArrayTurns::default();
        let entry = QueueEntry { job: &job, partition: 0 };
        turns.start(entry, 0);
        assert_eq!([turns.reserve(entry, 20), turns.reserve(entry, 20)], [true, false]);
    }
}
