//! The queue of a site: an entry for each waiting job and partition, in the order in which passes look at them.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::job::{QueueEntry, SlurmJob};
use super::site::SlurmSite;

/// Where an entry stands: jobs that name a reservation first, then high tiers, then high priorities, then early submissions and low
/// numbers.
type EntryKey = (bool, Reverse<u32>, Reverse<i64>, i64, u64, u32);

#[derive(Clone, Copy, Debug)]
struct LineEntry {
    key: EntryKey,
    /// The place of the job in [`SlurmQueue::jobs`].
    job: u32,
    partition: u32,
}

/// A waiting job.
#[derive(Clone, Debug)]
struct LineJob {
    job: SlurmJob,
    /// By place among its partitions.
    priorities: Vec<i64>,
}

/// The waiting jobs and their entries.
#[derive(Clone, Debug, Default)]
pub struct SlurmQueue {
    jobs: Vec<Option<LineJob>>,
    /// Places that are free.
    unused: Vec<u32>,
    /// By array: the place of its first task.
    arrays: FxHashMap<u64, u32>,
    entries: Vec<LineEntry>,
    /// Whether entries may have come, moved or left since the last call of [`SlurmQueue::order`].
    is_stale: bool,
}

impl SlurmQueue {
    /// Adds a job. Returns its place. The task of an array has the place of the tasks that wait, unless it asks for something else.
    pub fn push(
        &mut self,
        mut job: SlurmJob,
        site: &SlurmSite,
        mut priority: impl FnMut(&SlurmJob, usize) -> i64,
    ) -> u32 {
        if let Some(&at) = job.array.and_then(|array| self.arrays.get(&array)) {
            match &mut self.jobs[at as usize] {
                Some(LineJob { job: first, .. }) if (first.kind, first.user) == (job.kind, job.user) => {
                    first.add_behind(job);
                    return at;
                }
                _ => (job.array, job.behind) = (None, None),
            }
        }
        let at = self.unused.pop().unwrap_or(self.jobs.len() as u32);
        self.arrays.extend(job.array.map(|array| (array, at)));
        let priorities = job.partitions.iter().map(|&partition| priority(&job, partition)).collect();
        let job = LineJob { job, priorities };
        self.is_stale = true;
        for entry in entries(&job, at, site) {
            let place = self.entries.partition_point(|other| other.key < entry.key);
            self.entries.insert(place, entry);
        }
        match self.jobs.get_mut(at as usize) {
            Some(place) => *place = Some(job),
            None => self.jobs.push(Some(job)),
        }
        at
    }

    /// Removes a job from a place. Other tasks of its array stay there. Also returns its priorities, by place among its partitions.
    pub fn remove(&mut self, at: u32, id: u64, site: &SlurmSite) -> Option<(SlurmJob, Vec<i64>)> {
        let place = self.jobs.get_mut(at as usize)?;
        let waiting = place.as_mut()?;
        if let Some(task) = waiting.job.take(id) {
            return Some((task, waiting.priorities.clone()));
        }
        let job = place.take()?;
        self.is_stale = true;
        if let Some(array) = job.job.array {
            self.arrays.remove(&array);
        }
        for entry in entries(&job, at, site) {
            let place = self.entries.binary_search_by_key(&entry.key, |other| other.key).ok();
            // Where jobs preempt others by their QOS, the order is another one.
            let place = place.or_else(|| self.entries.iter().position(|other| other.key == entry.key));
            if let Some(place) = place {
                self.entries.remove(place);
            }
        }
        self.unused.push(at);
        Some((job.job, job.priorities))
    }

    /// Computes all priorities anew. Returns whether the order has changed.
    pub fn rank(&mut self, mut priority: impl FnMut(&SlurmJob, usize) -> i64) -> bool {
        for LineJob { job, priorities } in self.jobs.iter_mut().flatten() {
            priorities.clear();
            priorities.extend(job.partitions.iter().map(|&partition| priority(job, partition)));
        }
        for LineEntry { key, job, .. } in &mut self.entries {
            let waiting = self.jobs[*job as usize].as_ref().expect("an entry is of a waiting job");
            key.2 = Reverse(waiting.priorities[key.5 as usize]);
        }
        // Most recalculations change no place.
        let has_changed = !self.entries.is_sorted_by_key(|entry| entry.key);
        if has_changed {
            self.entries.sort_unstable_by_key(|entry| entry.key);
            self.is_stale = true;
        }
        has_changed
    }

    /// Puts the entries in the order in which passes look at them, if jobs preempt others. It must be called before a pass.
    pub fn order(&mut self, site: &SlurmSite) {
        // By tiers only entries with a reservation may have another place.
        let is_by_tiers = !site.preempts_by_qos() && !self.entries.iter().any(|entry| !entry.key.0);
        if !std::mem::take(&mut self.is_stale) || is_by_tiers || !site.preempts() {
            return;
        }
        let SlurmQueue { jobs, entries, .. } = self;
        let entry = |entry: &LineEntry| {
            let LineJob { job, .. } = jobs[entry.job as usize].as_ref().expect("an entry is of a waiting job");
            QueueEntry { job, partition: entry.partition as usize }
        };
        entries.sort_unstable_by_key(|entry| (entry.key.4, entry.key.5));
        *entries = merge_sort(entries, &|a, b| {
            site.order_by_preemption(entry(a), entry(b)).then_with(|| a.key.cmp(&b.key)).is_gt()
        });
    }

    /// The number of entries of jobs that name a reservation. They come first where nobody preempts.
    pub fn reserved(&self) -> usize {
        self.entries.iter().take_while(|entry| !entry.key.0).count()
    }

    /// A job by its place.
    pub fn job(&self, at: u32, id: u64) -> Option<&SlurmJob> {
        self.first(at)?.find(id)
    }

    /// A job by its place, to be changed in what does not concern its order.
    pub fn job_mut(&mut self, at: u32, id: u64) -> Option<&mut SlurmJob> {
        self.jobs.get_mut(at as usize)?.as_mut().and_then(|waiting| waiting.job.find_mut(id))
    }

    /// The job at a place; of an array the first task.
    pub fn first(&self, at: u32) -> Option<&SlurmJob> {
        self.jobs.get(at as usize)?.as_ref().map(|waiting| &waiting.job)
    }

    /// The entry of the job at a place that has one partition.
    pub fn only_entry(&self, at: u32) -> Option<QueueEntry<'_>> {
        self.first(at).map(|job| QueueEntry { job, partition: job.partitions[0] })
    }

    /// An entry in the order of the queue.
    pub fn entry(&self, number: usize) -> Option<QueueEntry<'_>> {
        let entry = self.entries.get(number)?;
        let waiting = self.jobs[entry.job as usize].as_ref()?;
        Some(QueueEntry { job: &waiting.job, partition: entry.partition as usize })
    }
}

/// Sorts as the C library of GNU, whose result counts where a comparison contradicts itself: of the two halves, each sorted, the
/// left one comes first unless it is after the other.
pub fn merge_sort<T: Copy>(list: &[T], is_after: &impl Fn(&T, &T) -> bool) -> Vec<T> {
    if list.len() <= 1 {
        return list.to_vec();
    }
    let (left, right) = list.split_at(list.len() / 2);
    let [left, right] = [left, right].map(|half| merge_sort(half, is_after));
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    let mut sorted = Vec::with_capacity(list.len());
    while let (Some(first), Some(second)) = (left.peek(), right.peek()) {
        sorted.extend(if is_after(first, second) { right.next() } else { left.next() });
    }
    sorted.extend(left.chain(right));
    sorted
}

fn entries(waiting: &LineJob, at: u32, site: &SlurmSite) -> impl Iterator<Item = LineEntry> {
    let LineJob { job, priorities } = waiting;
    job.partitions.iter().zip(priorities).zip(0..).map(move |((&partition, &priority), place)| {
        let tier = site.cluster.partitions[partition].priority_tier;
        let key = (job.reservation.is_none(), Reverse(tier), Reverse(priority), job.submit, job.number(), place);
        LineEntry { key, job: at, partition: partition as u32 }
    })
}
