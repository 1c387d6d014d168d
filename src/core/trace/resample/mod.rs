//! Another year of the same site: a workload made of the users, or the weeks, of a log, drawn with replacement.
//!
//! Shaken submissions show what chance does to a schedule, but they are the same year. A resample asks how another year could
//! have been. Users of a busy machine hold back, so copies of users are not moved freely: the loads of the weeks of a resample
//! are levelled to blocks of weeks of the log ([`level`]). The method is that of Zakay and Feitelson ("Preserving user behavior
//! characteristics in trace-based simulation of parallel job scheduling"), of which only the abstract was at hand; the details
//! are this project's own.

mod copies;
mod draw;
mod form;
mod level;

pub use form::{Resample, resample_forms};

use rustc_hash::FxHashMap;

use super::error::TraceError;
use super::resampled::Resampled;
use super::workload::Workload;
use crate::job::Job;
use crate::rng::stream;
use crate::sort::sort_by_key;
use crate::text::counted;
use crate::time::{DAY, Seconds};

use copies::with_copies;
use draw::Drawn;

const WEEK: Seconds = 7 * DAY;

/// The fewest weeks of a log that can be resampled.
const LEAST_WEEKS: usize = 8;

/// The fewest users of a log whose users can be resampled.
const LEAST_USERS: usize = 10;

/// With fewer users than this, a note says that resamples are much alike.
const FEW_USERS: usize = 30;

/// With more of the area of one user than this, a note says so.
const LARGE_USER: f64 = 0.3;

/// The input of a draw: the jobs of a log by user, and its weeks.
struct Year<'a> {
    jobs: &'a [Job],
    procs: u32,
    /// The first submission.
    first: i64,
    /// The weeks of the circle.
    weeks: usize,
    /// Area in processor-seconds, over all processors from the first submission to the last.
    load: f64,
    /// In order of their numbers; all unknown users are one.
    users: Vec<YearUser>,
}

/// A user of the log.
struct YearUser {
    /// As the jobs have it; -1 if unknown.
    code: i32,
    /// The places of the jobs, in workload order.
    jobs: Vec<u32>,
    /// Processor-seconds.
    area: f64,
}

impl Year<'_> {
    fn of(workload: &Workload) -> Year<'_> {
        let jobs = &workload.jobs[..];
        let (first, length) = (workload.first_submit(), (workload.last_submit() - workload.first_submit()).max(1));
        let weeks = ((length + WEEK / 2) / WEEK) as usize;
        let (mut users, mut places) = (Vec::<YearUser>::new(), FxHashMap::default());
        for (job, at) in jobs.iter().zip(0..) {
            let code = job.submission.user;
            let place = *places.entry(code).or_insert_with(|| {
                users.push(YearUser { code, jobs: Vec::new(), area: 0.0 });
                users.len() - 1
            });
            users[place].jobs.push(at);
            users[place].area += area(job);
        }
        sort_by_key(&mut users, |user| user.code);
        let all: f64 = users.iter().map(|user| user.area).sum();
        let load = all / (f64::from(workload.procs) * length as f64);
        Year { jobs, procs: workload.procs, first, weeks, load, users }
    }

    fn area(&self) -> f64 {
        self.users.iter().map(|user| user.area).sum()
    }

    fn doubts(&self, how: &Resample) -> Vec<String> {
        let (users, all) = (self.users.len(), self.area());
        let are_drawn = matches!(how, Resample::Users { .. });
        let few = (users < FEW_USERS).then(|| {
            let then =
                if are_drawn { "resamples differ by which of them are drawn" } else { "another year may have others" };
            format!("the log has {} only: {then}", counted(users as u64, "user"))
        });
        let large = self.users.iter().find(|user| user.area > LARGE_USER * all).and_then(|user| {
            let percent = 100.0 * user.area / all;
            Some(match (user.code, are_drawn) {
                (-1, true) => format!(
                    "the unknown users have {percent:.0}% of the area of the log, and are drawn as one: resamples differ mostly by \
                     how often"
                ),
                (-1, false) => return None,
                (_, true) => format!(
                    "one user has {percent:.0}% of the area of the log: resamples differ mostly by how often this user is drawn"
                ),
                (_, false) => {
                    format!("one user has {percent:.0}% of the area of the log: another year may be without this user")
                }
            })
        });
        few.into_iter().chain(large).collect()
    }

    fn circle(&self) -> Seconds {
        self.weeks as Seconds * WEEK
    }

    /// The week of the circle in which a job is submitted.
    fn week(&self, at: u32) -> usize {
        ((self.jobs[at as usize].submission.submit - self.first) / WEEK) as usize % self.weeks
    }

    /// The load of these processor-seconds on the circle.
    fn load_of(&self, area: f64) -> f64 {
        area / (f64::from(self.procs) * self.circle() as f64)
    }

    /// Checks that it can be resampled so.
    fn check(&self, how: &Resample) -> Result<(), String> {
        if self.weeks < LEAST_WEEKS {
            let weeks = counted(self.weeks as u64, "week");
            return Err(format!("the log has {weeks}; --resample needs {LEAST_WEEKS}"));
        }
        if let Some(key) = how.block_over(self.weeks) {
            return Err(format!("--resample {how}: {key} is at most {}, the weeks of the log", self.weeks));
        }
        let all = self.area();
        let unknown = self.users.iter().find(|user| user.code == -1).map_or(0.0, |user| user.area / all);
        if matches!(how, Resample::Users { .. }) {
            let known = self.users.len();
            if known < LEAST_USERS {
                let users = counted(known as u64, "user");
                return Err(format!(
                    "the log names {users}; --resample users needs {LEAST_USERS}: use --resample weeks"
                ));
            }
            if unknown > 0.5 {
                return Err(format!(
                    "the users of {:.0}% of the area are unknown: use --resample weeks",
                    100.0 * unknown
                ));
            }
        }
        Ok(())
    }
}

fn area(job: &Job) -> f64 {
    job.runtime as f64 * f64::from(job.submission.procs)
}

impl Resample {
    /// Checks that a workload can be resampled so.
    ///
    /// # Errors
    /// If it is too short, or has too few users.
    pub fn check(&self, workload: &Workload) -> Result<(), TraceError> {
        Year::of(workload).check(self).map_err(|why| TraceError::unusable(&workload.label, why))
    }
}

/// Draws a resample of a workload.
///
/// # Errors
/// If the log is too short, or has too few users.
pub(super) fn resample(workload: &Workload, how: &Resample, seed: u64) -> Result<Workload, TraceError> {
    resample_like(workload, workload, how, seed)
}

/// The same jobs of a workload as those of a resample of another, which has the same jobs on another machine or with other runtimes.
///
/// # Errors
/// As [`resample`].
pub(super) fn resample_like(
    workload: &Workload,
    like: &Workload,
    how: &Resample,
    seed: u64,
) -> Result<Workload, TraceError> {
    let year = Year::of(like);
    year.check(how).map_err(|why| TraceError::unusable(&workload.label, why))?;
    let mut rng = stream(seed, "resample");
    let (drawn, draws): (Drawn, u32) = match how {
        Resample::Users { load, profile } => draw::users(&year, *load, *profile, &mut rng),
        Resample::Weeks { load, block } => draw::weeks(&year, *load, *block, &mut rng),
    };
    let load = year.load_of(drawn.area);
    let facts = Resampled {
        users: drawn.users,
        records: Vec::new(),
        weeks: year.weeks,
        draws,
        load,
        load_of_log: year.load,
        is_load_met: (load / year.load - 1.0).abs() <= how.load(),
        doubts: year.doubts(how),
    };
    Ok(with_copies(workload, drawn.jobs, facts))
}

impl Workload {
    /// What is known of it if it is a resample.
    pub fn resampled(&self) -> Option<&Resampled> {
        self.resampled.as_deref()
    }

    /// The user of the log of a job: of a resample, the user whose copy submits it.
    pub fn user_of_log(&self, job: &Job) -> i32 {
        self.resampled().map_or(job.submission.user, |resampled| resampled.user_of_log(job.submission.user))
    }
}

#[cfg(test)]
mod tests;
