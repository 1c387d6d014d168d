//! The running jobs by predicted end, however many: a machine of thousands of processors may run as many jobs.

use crate::job::JobId;
use crate::time::Time;

/// A running job as a policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    pub id: JobId,
    pub procs: u32,
    /// When it is predicted to end, after now; inflated, if that was asked for.
    pub end: Time,
}

/// The jobs that run, by predicted end, then by id.
#[derive(Clone, Debug, Default)]
pub struct RunningJobs {
    /// None is empty. One, unless there are many jobs: shifting half of a block costs next to nothing, shifting thousands
    /// of jobs at every start and end does not.
    blocks: Vec<Block>,
    count: usize,
    /// Scratch: those who move, and the others.
    moved: Vec<Running>,
    stayed: Vec<Running>,
}

/// A job is predicted to end at another time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub id: JobId,
    pub from: Time,
    pub to: Time,
}

#[derive(Clone, Debug, Default)]
struct Block {
    jobs: Vec<Running>,
    /// Of all of them.
    procs: i64,
}

/// What the order is by.
type Key = (Time, JobId);

fn key(job: &Running) -> Key {
    (job.end, job.id)
}

impl RunningJobs {
    const LARGEST: usize = 128;
    /// Where so many move, and one in so many of all, all are put in order again.
    const MANY: usize = 32;
    const FEW: usize = 16;

    pub fn iter(&self) -> impl Iterator<Item = &Running> + Clone {
        self.blocks.iter().flat_map(|block| &block.jobs)
    }

    /// When, by what is predicted, so many processors more will be free, all jobs that end at one time taken together;
    /// and how many that will be. None if they never will be.
    pub fn end_that_frees(&self, procs: i64) -> Option<(Time, i64)> {
        let mut freed = 0;
        let mut blocks = self.blocks.iter();
        // Whole blocks at first.
        let block = blocks.find(|block| {
            freed += block.procs;
            freed >= procs
        })?;
        freed -= block.procs;
        let last = block.jobs.iter().position(|job| {
            freed += i64::from(job.procs);
            freed >= procs
        })?;
        let end = block.jobs[last].end;
        let behind = block.jobs[last + 1..].iter().chain(blocks.flat_map(|block| &block.jobs));
        freed += behind.take_while(|job| job.end == end).map(|job| i64::from(job.procs)).sum::<i64>();
        Some((end, freed))
    }

    pub(crate) fn insert(&mut self, job: Running) {
        self.count += 1;
        let Some(at) = self.block_of(key(&job)) else {
            self.blocks.push(Block { procs: i64::from(job.procs), jobs: vec![job] });
            return;
        };
        let Block { jobs, procs } = &mut self.blocks[at];
        jobs.insert(lower_bound(jobs, key(&job)), job);
        *procs += i64::from(job.procs);
        if jobs.len() > Self::LARGEST {
            let upper = jobs.split_off(Self::LARGEST / 2);
            let moved: i64 = upper.iter().map(|job| i64::from(job.procs)).sum();
            *procs -= moved;
            self.blocks.insert(at + 1, Block { jobs: upper, procs: moved });
        }
    }

    /// Takes out the job that is predicted to end then.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn remove(&mut self, end: Time, id: JobId) -> Running {
        let (at, place) = self.place((end, id));
        self.remove_at(at, place)
    }

    fn remove_at(&mut self, at: usize, place: usize) -> Running {
        self.count -= 1;
        let Block { jobs, procs } = &mut self.blocks[at];
        let job = jobs.remove(place);
        *procs -= i64::from(job.procs);
        // The last block keeps its room for those to come.
        if jobs.is_empty() && self.blocks.len() > 1 {
            self.blocks.remove(at);
        }
        job
    }

    /// Jobs are predicted to end at other times; no two moves are of one job. The list is empty afterwards.
    ///
    /// # Panics
    /// If a job is not where it moves from.
    pub(crate) fn change(&mut self, moves: &mut Vec<Move>) {
        if moves.len() < Self::MANY || moves.len() * Self::FEW < self.count {
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
        assert!(leavers.next().is_none(), "a running job stands at its predicted end");
        moved.sort_unstable_by_key(key);
        let (mut stayers, mut movers) = (stayed.drain(..).peekable(), moved.drain(..).peekable());
        let mut all = std::iter::from_fn(|| match (stayers.peek(), movers.peek()) {
            (Some(stayer), Some(mover)) if key(stayer) < key(mover) => stayers.next(),
            (_, Some(_)) => movers.next(),
            _ => stayers.next(),
        });
        // With room for others to come.
        let size = if self.count <= Self::LARGEST { Self::LARGEST } else { Self::LARGEST * 3 / 4 };
        blocks.resize_with(self.count.div_ceil(size), Block::default);
        for Block { jobs, procs } in blocks {
            jobs.clear();
            jobs.extend(all.by_ref().take(size));
            *procs = jobs.iter().map(|job| i64::from(job.procs)).sum();
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
        // Only those between the old place and the new one move.
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

    /// The block where a job stands or would; none if there are no blocks.
    fn block_of(&self, wanted: Key) -> Option<usize> {
        match self.blocks.len() {
            0 => None,
            1 => Some(0),
            blocks => {
                let last = |block: &Block| block.jobs.last().map(key);
                Some(self.blocks.partition_point(|block| last(block) < Some(wanted)).min(blocks - 1))
            }
        }
    }

    fn place(&self, wanted: Key) -> (usize, usize) {
        let block = self.block_of(wanted);
        let place = block.map(|at| (at, lower_bound(&self.blocks[at].jobs, wanted)));
        let stands = |&(at, place): &(usize, usize)| self.blocks[at].jobs.get(place).map(key) == Some(wanted);
        place.filter(stands).expect("a running job stands at its predicted end")
    }
}

/// How many of them stand before this one. First by their ends alone, of which few are equal, and by counting, a few
/// together and then one by one: among so few that is faster than halving, where each step has to wait for the last.
fn lower_bound(jobs: &[Running], wanted: Key) -> usize {
    const TOGETHER: usize = 16;
    let count = |jobs: &[Running]| jobs.iter().filter(|job| job.end < wanted.0).count();
    let (chunks, _) = jobs.as_chunks::<TOGETHER>();
    let whole = TOGETHER * chunks.iter().filter(|chunk| chunk[TOGETHER - 1].end < wanted.0).count();
    let from = whole + count(&jobs[whole..jobs.len().min(whole + TOGETHER)]);
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

    /// Against a plain list, over a long random history of starts, ends and changed predictions, with many equal ends.
    #[test]
    fn they_are_the_sorted_list() {
        let mut rng = stream(1, "running");
        let (mut running, mut plain) = (RunningJobs::default(), Vec::<Running>::new());
        for step in 0..30_000u32 {
            // Some two thousand in the middle of the history, none at its end.
            let leaves = if step < 10_000 { 2 } else { 5 };
            match rng.random_range(0..8) {
                draw if draw < leaves && !plain.is_empty() => {
                    let job = plain.swap_remove(rng.random_range(0..plain.len()));
                    assert_eq!(running.remove(job.end, job.id), job);
                }
                draw if draw % 2 == 0 && !plain.is_empty() => {
                    // One, or a few, or very many of them.
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
                    let job = Running { id: JobId(step), procs, end };
                    running.insert(job);
                    plain.push(job);
                }
            }
            if step % 61 == 0 {
                plain.sort_unstable_by_key(key);
                assert!(running.iter().eq(&plain));
                let all: i64 = plain.iter().map(|job| i64::from(job.procs)).sum();
                let wanted = rng.random_range(1..=all + 5);
                assert_eq!(running.end_that_frees(wanted), plain_end_that_frees(&plain, wanted));
            }
        }
    }

    /// By its definition: the first end by which enough jobs have ended.
    fn plain_end_that_frees(jobs: &[Running], procs: i64) -> Option<(Time, i64)> {
        let freed = |end| jobs.iter().filter(|job| job.end <= end).map(|job| i64::from(job.procs)).sum();
        jobs.iter().map(|job| (job.end, freed(job.end))).find(|(_, freed)| *freed >= procs)
    }
}
