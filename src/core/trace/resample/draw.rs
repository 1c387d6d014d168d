//! The draws: which jobs of the log a resample has, in which copy, and when they are submitted.

use std::collections::hash_map::Entry;

use rand::{Rng, RngExt};
use rustc_hash::FxHashMap;

use super::level::{blocks, level};
use super::{WEEK, Year, YearUser, area};
use crate::time::Seconds;

/// How often is drawn until the load is near enough.
const MOST_DRAWS: u32 = 1000;

/// A user is long-term from this number of weeks between the first and the last submission on, or from half of the log on.
const LONG_TERM_WEEKS: Seconds = 12;

/// A job of a resample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnJob {
    /// Its place in the workload that is resampled.
    pub at: u32,
    /// The copy of a user that submits it, from 0.
    pub copy: u32,
    /// Seconds from the first submission of the log to its submission.
    pub since: Seconds,
}

/// The result of a draw.
#[derive(Debug, Default)]
pub struct Drawn {
    pub jobs: Vec<DrawnJob>,
    /// By copy: the user of the log.
    pub users: Vec<i32>,
    /// Processor-seconds.
    pub area: f64,
}

/// Draws until the area is that of a load near the log's, and takes the nearest if that does not happen. Also returns the number of
/// draws.
fn near_load<T>(year: &Year<'_>, tolerance: f64, mut draw: impl FnMut() -> (T, f64)) -> (T, f64, u32) {
    let off = |area: f64| (year.load_of(area) / year.load - 1.0).abs();
    let mut nearest: Option<(T, f64)> = None;
    for draws in 1..=MOST_DRAWS {
        let (drawn, area) = draw();
        if off(area) <= tolerance {
            return (drawn, area, draws);
        }
        if nearest.as_ref().is_none_or(|(_, other)| off(area) < off(*other)) {
            nearest = Some((drawn, area));
        }
    }
    let (drawn, area) = nearest.expect("at least one draw");
    (drawn, area, MOST_DRAWS)
}

/// As many long-term and as many temporary users as the log has of each, each copy moved around a circle of weeks. Weekly loads
/// follow blocks of `profile` weeks of the log; 0: the moves are free.
pub fn users(year: &Year<'_>, tolerance: f64, profile: usize, rng: &mut impl Rng) -> (Drawn, u32) {
    let submit = |at: u32| year.jobs[at as usize].submission.submit;
    let is_long_term = |user: &usize| {
        let jobs = &year.users[*user].jobs;
        // Twice, so that half of an odd number of weeks is whole.
        2 * (submit(jobs[jobs.len() - 1]) - submit(jobs[0])) >= (2 * LONG_TERM_WEEKS).min(year.weeks as Seconds) * WEEK
    };
    let (long_term, temporary): (Vec<usize>, Vec<usize>) = (0..year.users.len()).partition(is_long_term);
    let (copies, area, draws) = near_load(year, tolerance, || {
        let mut copies = Vec::with_capacity(year.users.len());
        for users in [&long_term, &temporary] {
            copies.extend(users.iter().map(|_| users[rng.random_range(0..users.len())]));
        }
        let area = copies.iter().map(|&user: &usize| year.users[user].area).sum();
        (copies, area)
    });
    let mut moves: Vec<usize> = copies.iter().map(|_| rng.random_range(0..year.weeks)).collect();
    if profile > 0 {
        level(year, &copies, &mut moves, profile, rng);
    }
    let mut drawn = Drawn { area, ..Drawn::default() };
    for ((&user, &moved), copy) in copies.iter().zip(&moves).zip(0..) {
        let YearUser { code, jobs, .. } = &year.users[user];
        drawn.users.push(*code);
        let since = |at: u32| (submit(at) - year.first + moved as Seconds * WEEK) % year.circle();
        drawn.jobs.extend(jobs.iter().map(|&at| DrawnJob { at, copy, since: since(at) }));
    }
    (drawn, draws)
}

/// Blocks of weeks, one after the other. When a week is drawn again its users are others, else predictors would know its jobs.
pub fn weeks(year: &Year<'_>, tolerance: f64, block: usize, rng: &mut impl Rng) -> (Drawn, u32) {
    let mut by_week = vec![(Vec::new(), 0.0); year.weeks];
    for (job, at) in year.jobs.iter().zip(0..) {
        let week = ((job.submission.submit - year.first) / WEEK) as usize;
        // Jobs after the last whole week belong to it.
        let (jobs, sum) = &mut by_week[week.min(year.weeks - 1)];
        jobs.push(at);
        *sum += area(job);
    }
    let (picked, area, draws) = near_load(year, tolerance, || {
        let picked = blocks(year.weeks, block, rng);
        let area = picked.iter().map(|&week| by_week[week].1).sum();
        (picked, area)
    });
    let mut drawn = Drawn { area, ..Drawn::default() };
    let (mut times, mut copies) = (vec![0u32; year.weeks], FxHashMap::default());
    for (place, &week) in picked.iter().enumerate() {
        for &at in &by_week[week].0 {
            let submission = &year.jobs[at as usize].submission;
            let new = drawn.users.len() as u32;
            let copy = match copies.entry((submission.user, times[week])) {
                Entry::Occupied(old) => *old.get(),
                Entry::Vacant(entry) => {
                    drawn.users.push(submission.user);
                    *entry.insert(new)
                }
            };
            let since = submission.submit - year.first + (place as Seconds - week as Seconds) * WEEK;
            drawn.jobs.push(DrawnJob { at, copy, since });
        }
        times[week] += 1;
    }
    (drawn, draws)
}
