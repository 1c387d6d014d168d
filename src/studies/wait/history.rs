//! The jobs that have started: the features at their arrival, and their waits.

use std::ops::Range;

use super::features::{FEATURES, Features, OCCUPIED};
use crate::job::{JobId, Submission};
use crate::time::Seconds;

/// A job with the features at its arrival.
#[derive(Clone, Copy, Debug)]
pub struct HistoryJob {
    /// Its index in the schedule.
    pub id: JobId,
    /// As it was submitted.
    pub job: Submission,
    /// The state of the site at its arrival, before it joined the queue.
    pub features: Features,
}

/// Jobs in the order in which they started. There is one column per feature, so that the distances to all jobs are a
/// few simple loops.
#[derive(Clone, Debug)]
pub struct WaitHistory {
    columns: Vec<Vec<f64>>,
    /// The sum of each job's features, for the denominator of the distance.
    sums: Vec<f64>,
    jobs: Vec<Submission>,
    ids: Vec<JobId>,
    waits: Vec<Seconds>,
    /// At least this many of the latest jobs are kept, and less than twice as many; all if None.
    keep: Option<usize>,
}

impl WaitHistory {
    /// A history of the latest `keep` jobs.
    pub fn of_latest(keep: usize) -> WaitHistory {
        WaitHistory { keep: Some(keep), ..WaitHistory::of_all() }
    }

    /// A history of all jobs.
    pub fn of_all() -> WaitHistory {
        let columns = vec![Vec::new(); FEATURES];
        let (sums, jobs, ids, waits) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        WaitHistory { columns, sums, jobs, ids, waits, keep: None }
    }

    /// Adds a job that has started after this wait.
    pub fn push(&mut self, arrived: &HistoryJob, wait: Seconds) {
        for (column, &value) in self.columns.iter_mut().zip(&arrived.features) {
            column.push(value);
        }
        self.sums.push(arrived.features.iter().sum());
        self.jobs.push(arrived.job);
        self.ids.push(arrived.id);
        self.waits.push(wait);
        // Drops half of the jobs at once, so that each job is moved at most once.
        if let Some(keep) = self.keep.filter(|&keep| self.len() >= 2 * keep.max(1)) {
            self.forget(self.len() - keep);
        }
    }

    fn forget(&mut self, oldest: usize) {
        self.columns.iter_mut().for_each(|column| drop(column.drain(..oldest)));
        self.sums.drain(..oldest);
        self.jobs.drain(..oldest);
        self.ids.drain(..oldest);
        self.waits.drain(..oldest);
    }

    /// Jobs that are kept; of a limited history this may be more than the limit.
    pub fn len(&self) -> usize {
        self.waits.len()
    }

    /// Whether no job has started yet.
    pub fn is_empty(&self) -> bool {
        self.waits.is_empty()
    }

    /// The latest `size` of the first `end` jobs.
    pub fn window(&self, end: usize, size: usize) -> HistoryWindow<'_> {
        HistoryWindow { history: self, range: end.saturating_sub(size)..end }
    }
}

/// Consecutive jobs of a history, the oldest first.
#[derive(Clone, Debug)]
pub struct HistoryWindow<'a> {
    history: &'a WaitHistory,
    range: Range<usize>,
}

impl<'a> HistoryWindow<'a> {
    /// The number of jobs.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether it has no jobs.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// One feature of all jobs, by its index in [`Features`].
    pub fn column(&self, feature: usize) -> &'a [f64] {
        &self.history.columns[feature][self.range.clone()]
    }

    /// The sum of each job's features.
    pub fn sums(&self) -> &'a [f64] {
        &self.history.sums[self.range.clone()]
    }

    /// The jobs as they were submitted.
    pub fn jobs(&self) -> &'a [Submission] {
        &self.history.jobs[self.range.clone()]
    }

    /// Their indices in the schedule.
    pub fn ids(&self) -> &'a [JobId] {
        &self.history.ids[self.range.clone()]
    }

    /// Their waits.
    pub fn waits(&self) -> &'a [Seconds] {
        &self.history.waits[self.range.clone()]
    }

    /// Processors in use at the arrival of each job.
    pub fn occupied(&self) -> &'a [f64] {
        self.column(OCCUPIED)
    }

    /// All features of the job at this index of the window.
    pub fn features(&self, at: usize) -> Features {
        std::array::from_fn(|feature| self.column(feature)[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgetting_changes_no_window() {
        let arrived = |at: u32| HistoryJob {
            id: JobId(at),
            job: Submission::new(0, at + 1, 10),
            features: std::array::from_fn(|feature| f64::from(at) + feature as f64),
        };
        let (mut all, mut latest) = (WaitHistory::of_all(), WaitHistory::of_latest(5));
        for at in 0..100 {
            all.push(&arrived(at), i64::from(at));
            latest.push(&arrived(at), i64::from(at));
            let (a, b) = (all.window(all.len(), 5), latest.window(latest.len(), 5));
            assert_eq!((a.waits(), a.sums(), a.ids(), a.jobs()), (b.waits(), b.sums(), b.ids(), b.jobs()));
            assert_eq!(a.occupied(), b.occupied());
            assert!(latest.len() < 10 && a.len() == all.len().min(5) && a.features(0) == b.features(0));
        }
        assert_eq!(all.window(50, 3).waits(), [47, 48, 49]);
    }
}
