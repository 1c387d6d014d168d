//! The running jobs in order of predicted end. It is fast for thousands of jobs, as large machines have them.

use crate::job::JobId;
use crate::sorted_blocks::{Block, Sorted, SortedBlocks};
use crate::time::Time;

/// A running job as a policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// The job.
    pub id: JobId,
    /// The processors it uses.
    pub procs: u32,
    /// The predicted end: the start plus the prediction multiplied by the factor `inflate`. For a policy that counts
    /// running jobs by estimates: the start plus the estimate, until the job outlives it.
    pub end: Time,
}

/// The running jobs in order of predicted end, then of id.
#[derive(Clone, Debug, Default)]
pub struct RunningJobs {
    /// Of each block, the processors of all its jobs.
    jobs: SortedBlocks<Running>,
    /// Scratch: the jobs that move, and the others.
    moved: Vec<Running>,
    stayed: Vec<Running>,
}

/// A change of a job's predicted end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub id: JobId,
    pub from: Time,
    pub to: Time,
}

impl Sorted for Running {
    type Key = (Time, JobId);
    type Summary = i64;
    const LARGEST: usize = 128;

    #[inline]
    fn key(&self) -> (Time, JobId) {
        (self.end, self.id)
    }

    /// It first compares only the ends, because few ends are equal. That saves 0.7% of the instructions of `easy`.
    #[inline]
    fn lower_bound(jobs: &[Running], key: (Time, JobId)) -> usize {
        let from = jobs.partition_point(|job| job.end < key.0);
        match jobs.get(from) {
            Some(job) if job.key() < key => from + jobs[from..].partition_point(|job| job.key() < key),
            _ => from,
        }
    }

    fn summary(jobs: &[Running]) -> i64 {
        jobs.iter().map(|job| i64::from(job.procs)).sum()
    }

    #[inline]
    fn add(&self, procs: &mut i64) {
        *procs += i64::from(self.procs);
    }

    #[inline]
    fn remove(&self, procs: &mut i64, _: &[Running]) {
        *procs -= i64::from(self.procs);
    }
}

impl RunningJobs {
    /// The number of running jobs.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether no job runs.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// All jobs are sorted again when at least `MANY` of them move and these are at least one in `SHARE` of all.
    const MANY: usize = 32;
    const SHARE: usize = 16;

    /// The jobs in order of predicted end, then of id.
    pub fn iter(&self) -> impl Iterator<Item = &Running> + Clone {
        self.jobs.iter()
    }

    /// The first predicted end by which running jobs free at least `procs` processors, and the number of processors freed
    /// by all jobs that are predicted to end by then. None if all running jobs together use fewer.
    #[inline]
    pub fn end_that_frees(&self, procs: i64) -> Option<(Time, i64)> {
        let mut freed = 0;
        let mut blocks = self.jobs.blocks().iter();
        // Find the block first, then the job in it.
        let Block { items, summary } = blocks.find(|block| {
            freed += block.summary;
            freed >= procs
        })?;
        freed -= summary;
        let last = items.iter().position(|job| {
            freed += i64::from(job.procs);
            freed >= procs
        })?;
        let end = items[last].end;
        let behind = items[last + 1..].iter().chain(blocks.flat_map(|block| &block.items));
        freed += behind.take_while(|job| job.end == end).map(|job| i64::from(job.procs)).sum::<i64>();
        Some((end, freed))
    }

    pub(crate) fn insert(&mut self, job: Running) {
        self.jobs.insert(job);
    }

    /// Removes the job that is predicted to end at `end`.
    ///
    /// # Panics
    /// If there is no such job.
    pub(crate) fn remove(&mut self, end: Time, id: JobId) -> Running {
        self.jobs.remove((end, id)).expect(FOUND)
    }

    /// Changes predicted ends; each job may have one move only. The list is empty afterwards.
    ///
    /// # Panics
    /// If a job does not have the predicted end `from`.
    pub(crate) fn change(&mut self, moves: &mut Vec<Move>) {
        if moves.len() < Self::MANY || moves.len() * Self::SHARE < self.len() {
            for Move { id, from, to } in moves.drain(..) {
                self.jobs.change((from, id), |job| Running { end: to, ..job }).expect(FOUND);
            }
        } else {
            self.change_many(moves);
        }
    }

    fn change_many(&mut self, moves: &mut Vec<Move>) {
        let RunningJobs { jobs, moved, stayed } = self;
        moves.sort_unstable_by_key(|job| (job.from, job.id));
        let mut leavers = moves.drain(..).peekable();
        for job in jobs.iter() {
            match leavers.next_if(|leaver| (leaver.from, leaver.id) == job.key()) {
                Some(leaver) => moved.push(Running { end: leaver.to, ..*job }),
                None => stayed.push(*job),
            }
        }
        assert!(leavers.next().is_none(), "{FOUND}");
        moved.sort_unstable_by_key(Running::key);
        let (mut stayers, mut movers) = (stayed.drain(..).peekable(), moved.drain(..).peekable());
        jobs.refill(std::iter::from_fn(|| match (stayers.peek(), movers.peek()) {
            (Some(stayer), Some(mover)) if stayer.key() < mover.key() => stayers.next(),
            (_, Some(_)) => movers.next(),
            _ => stayers.next(),
        }));
    }
}

const FOUND: &str = "a running job is found by its predicted end";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;

    /// Compares with a plain list, over a long random history of starts, ends and changed predictions, with many equal
    /// ends: about ten jobs have the same.
    #[test]
    fn running_jobs_equal_the_sorted_list() {
        let mut rng = stream(1, "running");
        let (mut running, mut plain) = (RunningJobs::default(), Vec::<Running>::new());
        for step in 0..30_000u32 {
            // About two thousand jobs in the middle of the history, none at its end.
            let leaves = if step < 10_000 { 2 } else { 5 };
            match rng.random_range(0..8) {
                draw if draw < leaves && !plain.is_empty() => {
                    let job = plain.swap_remove(rng.random_range(0..plain.len()));
                    assert_eq!(running.remove(job.end, job.id), job);
                }
                draw if draw % 2 == 0 && !plain.is_empty() => {
                    // Moves one job, a few, half of them or all.
                    let count = [1, 1, 20, plain.len().div_ceil(2), plain.len()][rng.random_range(0..5)];
                    let count = count.min(plain.len());
                    let from = rng.random_range(0..=plain.len() - count);
                    let mut moves: Vec<Move> = Vec::new();
                    for job in &mut plain[from..from + count] {
                        let to = rng.random_range(0..200);
                        moves.push(Move { id: job.id, from: job.end, to });
                        job.end = to;
                    }
                    running.change(&mut moves);
                    assert!(moves.is_empty());
                }
                _ => {
                    let (procs, end) = (rng.random_range(1..100), rng.random_range(0..200));
                    let job = Running { id: JobId(step), procs, end };
                    running.insert(job);
                    plain.push(job);
                }
            }
            if step % 61 == 0 {
                plain.sort_unstable_by_key(Running::key);
                assert!(running.iter().eq(&plain));
                let all: i64 = plain.iter().map(|job| i64::from(job.procs)).sum();
                let wanted = rng.random_range(1..=all + 5);
                assert_eq!(running.end_that_frees(wanted), plain_end_that_frees(&plain, wanted));
            }
        }
    }

    /// The definition: the first end by which enough processors are free.
    fn plain_end_that_frees(jobs: &[Running], procs: i64) -> Option<(Time, i64)> {
        let freed = |end| jobs.iter().filter(|job| job.end <= end).map(|job| i64::from(job.procs)).sum();
        jobs.iter().map(|job| (job.end, freed(job.end))).find(|(_, freed)| *freed >= procs)
    }
}
