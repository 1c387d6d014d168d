//! The waiting jobs in the order of their priorities, kept from pass to pass: only the first ones are computed anew.

use rustc_hash::FxHashMap;

use super::priority::{Priorities, PriorityParts, Weights};
use crate::job::{JobId, Submission};
use crate::schedule::Accounts;
use crate::time::Time;

/// The waiting jobs of a pool with what their priorities depend on.
pub(super) struct RankedJobs {
    priorities: Priorities,
    ranking: PriorityRanking,
    submissions: FxHashMap<JobId, Submission>,
    procs: u32,
    /// The present pass, and how many jobs are in order for it.
    now: Time,
    ordered: usize,
}

impl RankedJobs {
    /// A pass lines up this many jobs first, and then more and more: it often stops at the first one.
    const FIRST_PORTION: usize = 8;

    pub fn new(weights: Weights, accounts: &Accounts) -> RankedJobs {
        RankedJobs {
            priorities: Priorities::new(weights, accounts),
            ranking: PriorityRanking::default(),
            submissions: FxHashMap::default(),
            procs: 0,
            now: Time::MIN,
            ordered: 0,
        }
    }

    pub fn set_machine(&mut self, procs: u32) {
        self.procs = procs;
    }

    /// A job arrives, and has a new place in the line that is ranked as this job. None: it has the place of its array.
    pub fn arrive(&mut self, id: JobId, job: &Submission, ranked_as: Option<(JobId, u32)>) {
        self.priorities.on_arrival(job);
        if let Some((first, place)) = ranked_as {
            self.ranking.on_arrival(first, job, place);
        }
        self.submissions.insert(id, *job);
    }

    pub fn start(&mut self, id: JobId, now: Time) {
        if let Some(job) = self.leave(id) {
            self.priorities.on_start(id, &job, now);
        }
    }

    pub fn end(&mut self, id: JobId, now: Time) {
        self.priorities.on_end(id, now);
    }

    pub fn leave(&mut self, id: JobId) -> Option<Submission> {
        self.submissions.remove(&id)
    }

    /// All jobs of the place that is ranked as this one have left it.
    pub fn leave_line(&mut self, ranked_as: JobId) {
        self.ranking.remove(ranked_as);
    }

    /// A pass begins.
    pub fn begin(&mut self, now: Time) {
        self.priorities.count_until(now);
        (self.now, self.ordered) = (now, 0);
    }

    /// Where the job with this number in the order is in the line.
    pub fn get(&mut self, number: usize) -> Option<u32> {
        if number >= self.ordered {
            self.ordered = (4 * self.ordered).max(Self::FIRST_PORTION).max(number + 1);
            self.ranking.first(self.ordered, &mut self.priorities, self.procs, self.now);
        }
        self.ranking.jobs.get(number).map(|job| job.place)
    }
}

/// The waiting jobs. The first of them are those that a sort of all by `Priorities::of` puts first, in the same order.
///
/// While usage stays the same, a priority only grows, and by a bounded amount. So a job that was far behind the first ones is
/// still behind them. The first 4,000 jobs of KTH with three times their load take 1.13 times as long without; a test compares with a
/// sort of all.
#[derive(Clone, Debug, Default)]
pub(super) struct PriorityRanking {
    /// In order of `least`, the largest first, then of submission, then of id.
    jobs: Vec<PriorityJob>,
    /// The jobs that have arrived since the last call of [`PriorityRanking::first`].
    newcomers: Vec<(JobId, Submission, u32)>,
    /// When the priorities of all jobs were computed, and after how many changes of the parts that depend on usage.
    ranked_at: Time,
    changes: Option<u64>,
    /// How many of the first jobs have the priorities of this instant. A pass asks for more and more of them.
    current: (Time, usize),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct PriorityJob {
    pub id: JobId,
    /// Its place in the line.
    place: u32,
    parts: PriorityParts,
    /// The priority when it was last computed. It has not become less.
    least: f64,
}

impl PriorityJob {
    fn submission(&self) -> (Time, JobId) {
        (self.parts.submit, self.id)
    }
}

impl PriorityRanking {
    /// All priorities are computed anew if this many more than twice the wanted jobs would have to be.
    const MANY: usize = 64;

    pub fn on_arrival(&mut self, id: JobId, job: &Submission, place: u32) {
        self.newcomers.push((id, *job, place));
    }

    /// A job starts or is cancelled.
    pub fn remove(&mut self, id: JobId) {
        match self.jobs.iter().position(|job| job.id == id) {
            Some(at) => {
                self.jobs.remove(at);
                self.current.1 = 0;
            }
            None => self.newcomers.retain(|(other, ..)| *other != id),
        }
    }

    /// The first `most` jobs, at least one, on a machine of `procs` processors. Usage must be counted until `now`.
    pub fn first(&mut self, most: usize, priorities: &mut Priorities, procs: u32, now: Time) -> &[PriorityJob] {
        for (id, job, place) in self.newcomers.drain(..) {
            let parts = priorities.parts(&job, procs);
            let job = PriorityJob { id, place, parts, least: priorities.at(now, &parts) };
            self.jobs.insert(self.jobs.partition_point(|other| is_before(other, &job)), job);
            self.current.1 = 0;
        }
        if self.changes != Some(priorities.changes()) {
            self.jobs.iter_mut().for_each(|job| priorities.renew(&mut job.parts));
            (self.changes, self.current.1) = (Some(priorities.changes()), 0);
            self.rank(self.jobs.len(), priorities, now);
        }
        let near = self.near(most, priorities, now);
        match near > most.saturating_mul(2).saturating_add(Self::MANY) {
            true => self.rank(self.jobs.len(), priorities, now),
            false => self.rank(near, priorities, now),
        }
        &self.jobs[..most.min(self.jobs.len())]
    }

    /// The number of jobs that can be among the first `most` now.
    fn near(&self, most: usize, priorities: &Priorities, now: Time) -> usize {
        if most >= self.jobs.len() {
            return self.jobs.len();
        }
        // At least `most` jobs have this priority or a larger one.
        let enough = self.jobs[most - 1].least;
        let rise = priorities.largest_rise(now - self.ranked_at);
        self.jobs.partition_point(|job| job.least + rise >= enough)
    }

    /// Computes the priorities of the first `count` jobs, and sorts these.
    fn rank(&mut self, count: usize, priorities: &Priorities, now: Time) {
        if count == self.jobs.len() {
            self.ranked_at = now;
        }
        let known = if self.current.0 == now { self.current.1 } else { 0 };
        self.current = (now, count.max(known));
        let jobs = &mut self.jobs[..count];
        jobs.iter_mut().skip(known).for_each(|job| job.least = priorities.at(now, &job.parts));
        if !jobs.is_sorted_by(is_before) {
            jobs.sort_unstable_by(|a, b| b.least.total_cmp(&a.least).then(a.submission().cmp(&b.submission())));
        }
    }
}

fn is_before(a: &PriorityJob, b: &PriorityJob) -> bool {
    a.least > b.least || a.least == b.least && a.submission() < b.submission()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use crate::schedule::Accounts;
    use crate::schedule::catalog;
    use crate::schedule::slurm::priority::Weights;
    use rand::RngExt;

    /// Compares with a sort of all jobs, over long random histories in which priorities of all kinds change.
    #[test]
    fn the_first_jobs_are_those_of_a_sort() {
        let weights = [
            "age_weight=1000,size_weight=1000,fairshare_weight=1000,max_age=1h",
            "age_weight=5,max_age=3h",
            "fairshare_weight=1000,halflife=10m",
            "size_weight=3",
            "age_weight=900000000,size_weight=7,fairshare_weight=1,max_age=40s",
            "",
        ];
        let mut rng = stream(1, "ranking");
        for keys in weights {
            let comma = if keys.is_empty() { "" } else { "," };
            let spec = catalog::parse(&format!("slurm:order=multifactor{comma}{keys}")).unwrap();
            let mut priorities = Priorities::new(Weights::of(&spec), &Accounts::default());
            let (mut ranking, mut plain) = (PriorityRanking::default(), Vec::<(JobId, Submission)>::new());
            let mut running: Vec<JobId> = Vec::new();
            let mut now = 1000;
            for step in 0..1500 {
                now += [0, 1, 30, 200][rng.random_range(0..4)];
                for id in (0..rng.random_range(0..3)).map(|n| JobId(4 * step + n)) {
                    let job =
                        Submission { user: rng.random_range(0..6), ..Submission::new(now, rng.random_range(1..9), 60) };
                    priorities.on_arrival(&job);
                    ranking.on_arrival(id, &job, 0);
                    plain.push((id, job));
                }
                if rng.random_range(0..10) < 6 && !plain.is_empty() {
                    let (id, job) = plain.remove(rng.random_range(0..plain.len()));
                    ranking.remove(id);
                    priorities.on_start(id, &job, now);
                    running.push(id);
                }
                if running.len() > 20 {
                    priorities.on_end(running.swap_remove(rng.random_range(0..20)), now);
                }
                if plain.is_empty() || step % 5 == 0 {
                    continue;
                }
                priorities.count_until(now);
                let of = |job: &Submission| priorities.of(job, 8, now);
                plain.sort_by(|(a, one), (b, other)| of(other).total_cmp(&of(one)).then(a.cmp(b)));
                let most = [1, 3, 40, usize::MAX][rng.random_range(0..4)];
                let first: Vec<JobId> = ranking.first(most, &mut priorities, 8, now).iter().map(|job| job.id).collect();
                let expected: Vec<JobId> = plain.iter().take(most).map(|(id, _)| *id).collect();
                assert_eq!(first, expected, "{keys}, step {step}");
            }
            assert!(plain.len() > 300, "{}", plain.len());
        }
    }

    /// Thousands wait, and a pass computes few priorities anew.
    #[test]
    fn jobs_that_are_far_behind_are_not_looked_at() {
        let spec =
            catalog::parse("slurm:order=multifactor,age_weight=1000,size_weight=1000,fairshare_weight=1000").unwrap();
        let mut priorities = Priorities::new(Weights::of(&spec), &Accounts::default());
        let mut ranking = PriorityRanking::default();
        for id in 0..5000u32 {
            let job = Submission { user: id as i32 % 7, ..Submission::new(i64::from(id) * 60, 1 + id % 13, 60) };
            priorities.on_arrival(&job);
            ranking.on_arrival(JobId(id), &job, 0);
        }
        ranking.first(1, &mut priorities, 64, 300_000);
        for (most, bound) in [(1, 40), (500, 600)] {
            let near = ranking.near(most, &priorities, 300_299);
            assert!((most..bound).contains(&near), "{near}");
        }
    }
}
