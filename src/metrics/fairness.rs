//! Who gains and who pays: users that lose against a baseline, Jain's index, and the waits of the widest jobs.

use rustc_hash::FxHashMap;

use crate::job::Job;
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
pub struct Users {
    sums: Vec<UserSums>,
    places: FxHashMap<i32, usize>,
    /// The place of the last job's user: jobs of one user often follow each other.
    last: usize,
}

/// The users that lose against a baseline: their mean wait is more than 1.1 times the one of the baseline, and more than a
/// minute longer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losers {
    /// Their share of all users, in percent. NaN if there are none.
    pub users_pct: f64,
    /// The share of their jobs in the area of all jobs, in percent. NaN if there are none.
    pub area_pct: f64,
}

/// A user in comparison with a baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
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

impl Users {
    /// Adds a job with its wait and its bounded slowdown.
    pub(super) fn add(&mut self, job: &Job, wait: Seconds, bsld: f64) {
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

    /// Jain's index over the users' mean bounded slowdowns. NaN without users.
    pub fn jain(&self) -> f64 {
        let means = || self.sums.iter().map(|user| user.bsld / user.jobs as f64);
        let (sum, squares) = (means().sum::<f64>(), means().map(|mean| mean * mean).sum::<f64>());
        sum * sum / (self.sums.len() as f64 * squares)
    }

    /// Each user of this run in comparison with a baseline, in the order of their first jobs. Both runs must be of the same
    /// workload.
    pub fn against(&self, baseline: &Users) -> impl Iterator<Item = UserChange> {
        self.sums.iter().map(|user| {
            let base = baseline.places.get(&user.user).map(|&place| baseline.sums[place]);
            let base = base.expect("the baseline has the same users").wait_mean();
            let wait = user.wait_mean();
            let loses = wait > 1.1 * base && wait > base + MINUTE as f64;
            UserChange {
                user: user.user,
                jobs: user.jobs,
                area: user.area,
                wait_mean: wait,
                base_wait_mean: base,
                loses,
            }
        })
    }

    /// The users of this run that lose against a baseline. Both runs must be of the same workload.
    pub fn losers(&self, baseline: &Users) -> Losers {
        let (mut users, mut area, mut all_area) = (0, 0, 0);
        for user in self.against(baseline) {
            all_area += user.area;
            if user.loses {
                users += 1;
                area += user.area;
            }
        }
        Losers {
            users_pct: f64::from(users) / self.sums.len() as f64 * 100.0,
            area_pct: area as f64 / all_area as f64 * 100.0,
        }
    }
}

impl UserSums {
    fn wait_mean(&self) -> f64 {
        self.wait / self.jobs as f64
    }
}

/// The mean wait of the widest jobs that together make 1% of the area. Of jobs of one width the first ones are taken.
/// `waits` are those of `jobs`. NaN without jobs.
pub(super) fn wait_of_widest(jobs: &[Job], waits: &[f64]) -> f64 {
    let (mut by_width, mut all) = (FxHashMap::<u32, i128>::default(), 0);
    for job in jobs {
        *by_width.entry(job.submission.procs).or_default() += area(job);
        all += area(job);
    }
    let mut widths: Vec<_> = by_width.into_iter().collect();
    widths.sort_unstable_by_key(|(width, _)| std::cmp::Reverse(*width));
    // The narrowest of these jobs, and the area of all wider ones.
    let (mut narrowest, mut taken) = (0, 0);
    for (width, area) in widths {
        narrowest = width;
        if (taken + area) * 100 >= all {
            break;
        }
        taken += area;
    }
    let (mut sum, mut count) = (0.0, 0);
    for (job, wait) in jobs.iter().zip(waits) {
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

    /// Users with one job of area 100 for each of these waits. The job's slowdown is its wait.
    fn users(waits: &[(i32, i64)]) -> Users {
        let mut users = Users::default();
        for &(user, wait) in waits {
            users.add(&job(user, 10, 10), wait, wait as f64);
        }
        users
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
        assert!(Users::default().jain().is_nan());
    }

    #[test]
    fn the_widest_jobs_make_a_hundredth_of_the_area() {
        // The area is 10,000. The job of 50 processors has 50, the two of 20 have 40 each: the first of them is enough
        // with it for 90, and the second reaches 100.
        let jobs = [job(1, 1, 9860), job(1, 20, 2), job(1, 50, 1), job(1, 20, 2), job(1, 10, 1)];
        let waits = [1.0, 10.0, 100.0, 1000.0, 10_000.0];
        assert_eq!(jobs.iter().map(area).sum::<i128>(), 10_000);
        assert_eq!(wait_of_widest(&jobs, &waits), (10.0 + 100.0 + 1000.0) / 3.0);
        // One job has it all.
        assert_eq!(wait_of_widest(&jobs[..1], &waits[..1]), 1.0);
        // Jobs of one width: the first ones.
        let same = [job(1, 4, 1), job(1, 4, 100), job(1, 4, 1)];
        assert_eq!(wait_of_widest(&same, &[1.0, 3.0, 100.0]), 2.0);
        assert!(wait_of_widest(&[], &[]).is_nan());
    }
}
