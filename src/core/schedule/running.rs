//! The running jobs in order of predicted end. It is fast for thousands of jobs, as large machines have them.

use crate::job::JobId;
use crate::machine::Grant;
use crate::time::Time;

/// A running job as a policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// The job.
    pub id: JobId,
    /// What the machine has given it.
    pub grant: Grant,
    /// The predicted end: the start plus the prediction multiplied by the factor `inflate`. For a policy that counts
    /// running jobs by estimates: the start plus the estimate, until the job outlives it.
    pub end: Time,
}

impl Running {
    /// The processors it uses.
    pub fn procs(&self) -> u32 {
        self.grant.procs()
    }
}

/// The running jobs in order of predicted end, then of id.
#[derive(Clone, Debug, Default)]
pub struct RunningJobs {
    /// Sorted blocks of at most `LARGEST` jobs. Shifting jobs within a block at every start and end is fast; shifting
    /// thousands of jobs would not be. If there are several blocks, none is empty.
    blocks: Vec<RunningBlock>,
    count: usize,
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

#[derive(Clone, Debug, Default)]
struct RunningBlock {
    jobs: Vec<Running>,
    /// The sum over all jobs.
    procs: i64,
}

/// The sort key.
type EndKey = (Time, JobId);

fn key(job: &Running) -> EndKey {
    (job.end, job.id)
}

impl RunningJobs {
    /// The number of running jobs.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether no job runs.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    const LARGEST: usize = 128;
    /// All jobs are sorted again when at least `MANY` of them move and these are at least one in `SHARE` of all.
    const MANY: usize = 32;
    const SHARE: usize = 16;

    /// The jobs in order of predicted end, then of id.
    pub fn iter(&self) -> impl Iterator<Item = &Running> + Clone {
        self.blocks.iter().flat_map(|block| &block.jobs)
    }

    /// The first predicted end by which running jobs free at least `procs` processors, and the number of processors freed
    /// by all jobs that are predicted to end by then. None if all running jobs together use fewer.
    pub fn end_that_frees(&self, procs: i64) -> Option<(Time, i64)> {
        let mut freed = 0;
        let mut blocks = self.blocks.iter();
        // Find the block first, then the job in it.
        let block = blocks.find(|block| {
            freed += block.procs;
            freed >= procs
        })?;
        freed -= block.procs;
        let last = block.jobs.iter().position(|job| {
            freed += i64::from(job.procs());
            freed >= procs
        })?;
        let end = block.jobs[last].end;
        let behind = block.jobs[last + 1..].iter().chain(blocks.flat_map(|block| &block.jobs));
        freed += behind.take_while(|job| job.end == end).map(|job| i64::from(job.procs())).sum::<i64>();
        Some((end, freed))
    }

    pub(crate) fn insert(&mut self, job: Running) {
        self.count += 1;
        let Some(at) = self.block_of(key(&job)) else {
            self.blocks.push(RunningBlock { procs: i64::from(job.procs()), jobs: vec![job] });
            return;
        };
        let RunningBlock { jobs, procs } = &mut self.blocks[at];
        jobs.insert(lower_bound(jobs, key(&job)), job);
        *procs += i64::from(job.procs());
        if jobs.len() > Self::LARGEST {
            let upper = jobs.split_off(Self::LARGEST / 2);
            let moved: i64 = upper.iter().map(|job| i64::from(job.procs())).sum();
            *procs -= moved;
            self.blocks.insert(at + 1, RunningBlock { jobs: upper, procs: moved });
        }
    }

    /// Removes the job that is predicted to end at `end`.
    ///
    /// # Panics
    /// If there is no such job.
    pub(crate) fn remove(&mut self, end: Time, id: JobId) -> Running {
        let (at, place) = self.place((end, id));
        self.remove_at(at, place)
    }

    #[inline]
    fn remove_at(&mut self, at: usize, place: usize) -> Running {
        self.count -= 1;
        let RunningBlock { jobs, procs } = &mut self.blocks[at];
        let job = jobs.remove(place);
        *procs -= i64::from(job.procs());
        // The only block is kept, with its memory.
        if jobs.is_empty() && self.blocks.len() > 1 {
            self.blocks.remove(at);
        }
        job
    }

    /// Changes predicted ends; each job may have one move only. The list is empty afterwards.
    ///
    /// # Panics
    /// If a job does not have the predicted end `from`.
    pub(crate) fn change(&mut self, moves: &mut Vec<Move>) {
        if moves.len() < Self::MANY || moves.len() * Self::SHARE < self.count {
            moves.drain(..).for_each(|job| self.change_one(job));
        } else {
            self.change_many(moves);
        }
    }

    fn change_many(&mut self, moves: &mut Vec<Move>) {
        let RunningJobs { blocks, moved, stayed, .. } = self;
        moves.sort_unstable_by_key(|job| (job.from, job.id));
        let mut leavers = moves.drain(..).peekable();
        for job in blocks.iter().flat_map(|block| &block.jobs) {
            match leavers.next_if(|leaver| (leaver.from, leaver.id) == key(job)) {
                Some(leaver) => moved.push(Running { end: leaver.to, ..*job }),
                None => stayed.push(*job),
            }
        }
        assert!(leavers.next().is_none(), "a running job is found by its predicted end");
        moved.sort_unstable_by_key(key);
        let (mut stayers, mut movers) = (stayed.drain(..).peekable(), moved.drain(..).peekable());
        let mut all = std::iter::from_fn(|| match (stayers.peek(), movers.peek()) {
            (Some(stayer), Some(mover)) if key(stayer) < key(mover) => stayers.next(),
            (_, Some(_)) => movers.next(),
            _ => stayers.next(),
        });
        // Blocks are not filled, so that the next insertions do not split them.
        let size = if self.count <= Self::LARGEST { Self::LARGEST } else { Self::LARGEST * 3 / 4 };
        blocks.resize_with(self.count.div_ceil(size), RunningBlock::default);
        for RunningBlock { jobs, procs } in blocks {
            jobs.clear();
            jobs.extend(all.by_ref().take(size));
            *procs = jobs.iter().map(|job| i64::from(job.procs())).sum();
        }
    }

    fn change_one(&mut self, Move { id, from: end, to: new }: Move) {
        let (at, from) = self.place((end, id));
        if self.block_of((new, id)) != Some(at) {
            let job = self.remove_at(at, from);
            self.insert(Running { end: new, ..job });
            return;
        }
        let jobs = &mut self.blocks[at].jobs;
        let job = jobs[from];
        // Only the jobs between the old place and the new one are shifted.
        let to = if new > end {
            let to = from + lower_bound(&jobs[from + 1..], (new, id));
            jobs.copy_within(from + 1..=to, from);
            to
        } else {
            let to = lower_bound(&jobs[..from], (new, id));
            jobs.copy_within(to..from, to + 1);
            to
        };
        jobs[to] = Running { end: new, ..job };
    }

    /// The index of the block that contains a key or into which it would be inserted. None if there are no blocks.
    fn block_of(&self, wanted: EndKey) -> Option<usize> {
        match self.blocks.len() {
            0 => None,
            1 => Some(0),
            blocks => {
                let last = |block: &RunningBlock| block.jobs.last().map(key);
                Some(self.blocks.partition_point(|block| last(block) < Some(wanted)).min(blocks - 1))
            }
        }
    }

    #[inline]
    fn place(&self, wanted: EndKey) -> (usize, usize) {
        let block = self.block_of(wanted);
        let place = block.map(|at| (at, lower_bound(&self.blocks[at].jobs, wanted)));
        let found = |&(at, place): &(usize, usize)| self.blocks[at].jobs.get(place).map(key) == Some(wanted);
        place.filter(found).expect("a running job is found by its predicted end")
    }
}

/// The number of jobs before `wanted`. It first compares only the ends, because few ends are equal.
#[inline]
fn lower_bound(jobs: &[Running], wanted: EndKey) -> usize {
    let from = jobs.partition_point(|job| job.end < wanted.0);
    match jobs.get(from) {
        Some(job) if key(job) < wanted => from + jobs[from..].partition_point(|job| key(job) < wanted),
        _ => from,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;

    /// Compares with a plain list, over a long random history of starts, ends and changed predictions, with many equal
    /// ends.
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
                    // Moves one job, a few or all.
                    let count = [1, 1, 20, plain.len()][rng.random_range(0..4)].min(plain.len());
                    let from = rng.random_range(0..=plain.len() - count);
                    let mut moves: Vec<Move> = Vec::new();
                    for job in &mut plain[from..from + count] {
                        let to = rng.random_range(0..3000);
                        moves.push(Move { id: job.id, from: job.end, to });
                        job.end = to;
                    }
                    running.change(&mut moves);
                    assert!(moves.is_empty());
                }
                _ => {
                    let (procs, end) = (rng.random_range(1..100), rng.random_range(0..3000));
                    let job = Running { id: JobId(step), grant: Grant::of_procs(procs), end };
                    running.insert(job);
                    plain.push(job);
                }
            }
            if step % 61 == 0 {
                plain.sort_unstable_by_key(key);
                assert!(running.iter().eq(&plain));
                let all: i64 = plain.iter().map(|job| i64::from(job.procs())).sum();
                let wanted = rng.random_range(1..=all + 5);
                assert_eq!(running.end_that_frees(wanted), plain_end_that_frees(&plain, wanted));
            }
        }
    }

    /// The definition: the first end by which enough processors are free.
    fn plain_end_that_frees(jobs: &[Running], procs: i64) -> Option<(Time, i64)> {
        let freed = |end| jobs.iter().filter(|job| job.end <= end).map(|job| i64::from(job.procs())).sum();
        jobs.iter().map(|job| (job.end, freed(job.end))).find(|(_, freed)| *freed >= procs)
    }
}
