//! Who gains and who pays: users that lose against a baseline, Jain's index, and the waits of the widest jobs.

use litemap::LiteMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::stats::mean_and_half_width;
use crate::time::{MINUTE, Seconds};

/// The processor-seconds of a job.
pub(super) fn area(job: &Job) -> i128 {
    i128::from(job.submission.procs) * i128::from(job.runtime)
}

/// The sums of one user.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct UserSums {
    user: i32,
    jobs: usize,
    wait: f64,
    bsld: f64,
    area: i128,
}

/// The sums of all users of a run, in the order of their first jobs. All unknown users count as one.
#[derive(Clone, Debug, Default)]
pub struct UserTotals {
    sums: Vec<UserSums>,
    places: FxHashMap<i32, usize>,
    /// The place of the last job's user: jobs of one user often follow each other.
    last: usize,
}

/// The users that lose against a baseline: their mean wait is more than 1.1 times the one of the baseline, and more than a
/// minute longer.
///
/// In one run this happens to many by chance: EASY on shaken submissions, compared with itself, has such users too.
/// [`Losers::of_replications`] counts only those that lose by more than that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Losers {
    /// Their share of all users, in percent. NaN if there are none.
    pub users_pct: f64,
    /// The share of their jobs in the area of all jobs, in percent. NaN if there are none.
    pub area_pct: f64,
}

/// A user in comparison with a baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UserChange {
    /// The user, as a job has it; -1 if unknown.
    pub user: i32,
    /// The number of jobs.
    pub jobs: usize,
    /// The processor-seconds of these jobs.
    pub area: i128,
    /// The mean wait, in seconds.
    pub wait_mean: f64,
    /// The mean wait in the baseline, in seconds.
    pub base_wait_mean: f64,
    /// Whether the user loses; see [`Losers`].
    pub loses: bool,
}

impl UserChange {
    /// A user with these mean waits.
    pub(super) fn new(user: i32, jobs: usize, area: i128, wait_mean: f64, base_wait_mean: f64) -> UserChange {
        UserChange { user, jobs, area, wait_mean, base_wait_mean, loses: is_loss(wait_mean, base_wait_mean) }
    }
}

fn is_loss(wait_mean: f64, base: f64) -> bool {
    wait_mean > 1.1 * base && wait_mean > base + MINUTE as f64
}

impl Losers {
    fn of(users: impl Iterator<Item = (bool, f64)>) -> Losers {
        let (mut users_lose, mut all_users, mut area_lose, mut all_area) = (0u32, 0u32, 0.0, 0.0);
        for (loses, area) in users {
            (all_users, all_area) = (all_users + 1, all_area + area);
            if loses {
                (users_lose, area_lose) = (users_lose + 1, area_lose + area);
            }
        }
        Losers {
            users_pct: f64::from(users_lose) / f64::from(all_users) * 100.0,
            area_pct: area_lose / all_area * 100.0,
        }
    }

    /// The users that lose by the means over all replications, and by more than chance: the 95% interval of the paired differences of
    /// their mean waits is above 0. Each replication has the same users.
    pub fn of_replications<'a>(replications: impl Iterator<Item = &'a [UserChange]>) -> Losers {
        Losers::of_changes(replications, |changes| {
            Some(changes.iter().map(|change| change.area as f64).sum::<f64>() / changes.len() as f64)
        })
    }

    /// The same of resamples, in which a user may have several copies or none: those of one user are pooled, and users with fewer
    /// than two copies do not count. The area is that of the log, if that is known, else the mean over copies.
    pub fn of_resamples<'a>(
        resamples: impl Iterator<Item = &'a [UserChange]>,
        log: Option<&'a [UserChange]>,
    ) -> Losers {
        let area_of_log = |user: i32| log?.iter().find(|change| change.user == user).map(|change| change.area as f64);
        Losers::of_changes(resamples, |changes| {
            let mean = || changes.iter().map(|change| change.area as f64).sum::<f64>() / changes.len() as f64;
            (changes.len() > 1).then(|| area_of_log(changes[0].user).unwrap_or_else(mean))
        })
    }

    /// `area` of all changes of one user; None if the user does not count.
    fn of_changes<'a>(
        runs: impl Iterator<Item = &'a [UserChange]>,
        area: impl Fn(&[&UserChange]) -> Option<f64>,
    ) -> Losers {
        let mut by_user: LiteMap<i32, Vec<&UserChange>> = LiteMap::new();
        for change in runs.flatten() {
            by_user.entry(change.user).or_default().push(change);
        }
        Losers::of(by_user.values().filter_map(|changes| {
            let area = area(changes)?;
            let mean = |value: fn(&UserChange) -> f64| {
                changes.iter().map(|change| value(change)).sum::<f64>() / changes.len() as f64
            };
            let differences: Vec<f64> = changes.iter().map(|change| change.wait_mean - change.base_wait_mean).collect();
            let (difference, half_width) = mean_and_half_width(&differences);
            let is_certain = half_width.is_some_and(|half| difference - half > 0.0);
            let loses = is_certain && is_loss(mean(|change| change.wait_mean), mean(|change| change.base_wait_mean));
            Some((loses, area))
        }))
    }
}

impl UserTotals {
    /// Adds a job with its wait and its bounded slowdown.
    #[inline]
    pub fn add(&mut self, job: &Job, wait: Seconds, bsld: f64) {
        let user = job.submission.user;
        if self.sums.get(self.last).is_none_or(|last| last.user != user) {
            self.last = *self.places.entry(user).or_insert_with(|| {
                self.sums.push(UserSums { user, ..UserSums::default() });
                self.sums.len() - 1
            });
        }
        let sums = &mut self.sums[self.last];
        sums.jobs += 1;
        sums.wait += wait as f64;
        sums.bsld += bsld;
        sums.area += area(job);
    }

    /// The processor-seconds of all jobs.
    pub(super) fn area(&self) -> i128 {
        self.sums.iter().map(|user| user.area).sum()
    }

    /// Jain's index over the users' mean bounded slowdowns. NaN without users.
    pub fn jain(&self) -> f64 {
        let means = || self.sums.iter().map(|user| user.bsld / user.jobs as f64);
        let (sum, squares) = (means().sum::<f64>(), means().map(|mean| mean * mean).sum::<f64>());
        sum * sum / (self.sums.len() as f64 * squares)
    }

    /// Each user of this run in comparison with a baseline, in the order of their first jobs. Both runs must be of the same
    /// workload. Users of whom one of the runs has no jobs, because they can never start there, are left out.
    pub fn against(&self, baseline: &UserTotals) -> impl Iterator<Item = UserChange> {
        self.sums.iter().filter_map(|user| {
            let base = baseline.sums[*baseline.places.get(&user.user)?].wait_mean();
            Some(UserChange::new(user.user, user.jobs, user.area, user.wait_mean(), base))
        })
    }

    /// The users of this run that lose against a baseline. Both runs must be of the same workload.
    pub fn losers(&self, baseline: &UserTotals) -> Losers {
        Losers::of(self.against(baseline).map(|user| (user.loses, user.area as f64)))
    }
}

impl UserSums {
    fn wait_mean(&self) -> f64 {
        self.wait / self.jobs as f64
    }
}

/// The mean wait of the widest jobs that together make 1% of the area. Of jobs of one width the first ones are taken.
/// `waits` are those of `jobs`, `all` is the area of these. NaN without jobs.
pub(super) fn wait_of_widest<'a>(jobs: impl Iterator<Item = &'a Job>, waits: &[f64], all: i128) -> f64 {
    // The areas of the widest of the jobs so far, by width, and their sum. Most jobs are narrower and are not counted.
    let (mut by_width, mut taken, mut narrowest) = (LiteMap::<u32, i128>::new(), 0, 0);
    let mut counted = Vec::new();
    for (job, wait) in jobs.zip(waits) {
        if job.submission.procs < narrowest {
            continue;
        }
        counted.push((job, wait));
        *by_width.entry(job.submission.procs).or_default() += area(job);
        taken += area(job);
        while let Some((&width, &area)) = by_width.first().filter(|_| taken * 100 >= all) {
            narrowest = width;
            if (taken - area) * 100 < all {
                break;
            }
            by_width.remove(&width);
            taken -= area;
        }
    }
    // The area of all jobs that are wider than the narrowest of these.
    taken -= by_width.get(&narrowest).unwrap_or(&0);
    let (mut sum, mut count) = (0.0, 0);
    for (job, wait) in counted {
        let width = job.submission.procs;
        if width > narrowest || (width == narrowest && taken * 100 < all) {
            sum += wait;
            count += 1;
            taken += if width == narrowest { area(job) } else { 0 };
        }
    }
    sum / f64::from(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Submission;

    fn job(user: i32, procs: u32, runtime: i64) -> Job {
        let submission = Submission { user, ..Submission::new(0, procs, runtime) };
        Job::new(submission, runtime)
    }

    fn widest(jobs: &[Job], waits: &[f64]) -> f64 {
        wait_of_widest(jobs.iter(), waits, jobs.iter().map(area).sum())
    }

    /// Users with one job of area 100 for each of these waits. The job's slowdown is its wait.
    fn users(waits: &[(i32, i64)]) -> UserTotals {
        let mut users = UserTotals::default();
        for &(user, wait) in waits {
            users.add(&job(user, 10, 10), wait, wait as f64);
        }
        users
    }

    /// Of five users, by three replications with mean waits of 1,000 s in the baseline: the first always waits 200 s more; the second
    /// 500, 600 and -400 s, which may be chance (t of 2 degrees of freedom is 4.30: 233 +- 1366 s); the third always 50 s more, which
    /// is less than a tenth; the fourth 150, 100 and 110 s, of which one alone is not a loss; the fifth gains.
    #[test]
    fn users_lose_by_more_than_chance() {
        let losses = [[200, 200, 200], [500, 600, -400], [50, 50, 50], [150, 100, 110], [-300, -200, -100]];
        let replication = |number: usize| -> Vec<UserChange> {
            let change = |(user, loss): (usize, &[i32; 3])| {
                UserChange::new(user as i32, 1, 100 << user, f64::from(1000 + loss[number]), 1000.0)
            };
            losses.iter().enumerate().map(change).collect()
        };
        let all = [0, 1, 2].map(replication);
        let losers = Losers::of_replications(all.iter().map(Vec::as_slice));
        assert_eq!(losers, Losers { users_pct: 40.0, area_pct: 9.0 / 31.0 * 100.0 });
        let one = Losers::of_replications(all[..1].iter().map(Vec::as_slice));
        assert_eq!(one, Losers::default(), "one run says nothing about chance");
    }

    /// User 1 has three copies in two resamples, which lose 200 s each; user 2 one copy, which does not count; user 3 two that gain.
    #[test]
    fn copies_of_a_user_are_pooled() {
        let change = |user, loss: f64| UserChange::new(user, 1, 10, 1000.0 + loss, 1000.0);
        let resamples = [
            vec![change(1, 200.0), change(1, 201.0), change(2, 500.0)],
            vec![change(1, 199.0), change(3, -50.0), change(3, -60.0)],
        ];
        let log = [UserChange::new(1, 1, 300, 0.0, 0.0), UserChange::new(3, 1, 100, 0.0, 0.0)];
        let losers = |log| Losers::of_resamples(resamples.iter().map(Vec::as_slice), log);
        assert_eq!(losers(Some(&log[..])), Losers { users_pct: 50.0, area_pct: 75.0 });
        assert_eq!(losers(None), Losers { users_pct: 50.0, area_pct: 50.0 });
    }

    #[test]
    fn users_lose_by_a_tenth_and_a_minute() {
        // User 1: 600 to 661 s, a tenth and a minute more. User 2: 600 to 660 s, just a tenth. User 3: a second to a
        // minute, many times more but less than a minute. User 4: 10,000 to 10,900 s, less than a tenth. User 5 gains.
        let base = users(&[(1, 600), (2, 600), (3, 1), (4, 10_000), (5, 900), (5, 100)]);
        let run = users(&[(5, 100), (5, 100), (4, 10_900), (3, 60), (2, 660), (1, 661)]);
        let losers = run.losers(&base);
        assert_eq!((losers.users_pct, losers.area_pct), (20.0, 1.0 / 6.0 * 100.0));
        assert_eq!(base.losers(&base).users_pct, 0.0);
    }

    #[test]
    fn jain_is_one_if_all_are_equal() {
        assert_eq!(users(&[(1, 5), (2, 4), (2, 6)]).jain(), 1.0);
        // (1 + 3)^2 / (2 (1 + 9)).
        assert_eq!(users(&[(1, 1), (2, 2), (2, 4)]).jain(), 0.8);
        assert!(UserTotals::default().jain().is_nan());
    }

    #[test]
    fn the_widest_jobs_make_a_hundredth_of_the_area() {
        // The area is 10,000. The job of 50 processors has 50, the two of 20 have 40 each: the first of them is enough
        // with it for 90, and the second reaches 100.
        let jobs = [job(1, 1, 9860), job(1, 20, 2), job(1, 50, 1), job(1, 20, 2), job(1, 10, 1)];
        let waits = [1.0, 10.0, 100.0, 1000.0, 10_000.0];
        assert_eq!(jobs.iter().map(area).sum::<i128>(), 10_000);
        assert_eq!(widest(&jobs, &waits), (10.0 + 100.0 + 1000.0) / 3.0);
        // The widest job has just a hundredth.
        assert_eq!(widest(&[job(1, 1, 990), job(1, 10, 1)], &[1.0, 10.0]), 10.0);
        // One job has it all.
        assert_eq!(widest(&jobs[..1], &waits[..1]), 1.0);
        // Jobs of one width: the first ones.
        let same = [job(1, 4, 1), job(1, 4, 100), job(1, 4, 1)];
        assert_eq!(widest(&same, &[1.0, 3.0, 100.0]), 2.0);
        assert!(widest(&[], &[]).is_nan());
    }
}
