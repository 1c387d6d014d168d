//! The moving mean of waits, and how far the simulated one is from the recorded one.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::time::{HOUR, Seconds, Time};

/// The windows of a moving mean: all of one length, one begins every hour, and each is within the time of the submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// When the first one begins: with the first submission.
    first: Time,
    /// The number of windows.
    count: i64,
    /// The hours of each of them.
    hours: i64,
}

/// A job in a moving mean.
#[derive(Clone, Copy, Debug)]
pub struct MovingJob {
    /// When it was submitted.
    pub submit: Time,
    /// Its recorded wait.
    pub recorded: Seconds,
    /// Its simulated wait.
    pub simulated: Seconds,
}

/// Windows that begin one after the other, an hour apart, and have the same jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SameWindows {
    /// When the first of them begins.
    pub begin: Time,
    /// Their number.
    pub count: i64,
    /// The number of their jobs.
    pub jobs: usize,
    /// The sum of the recorded waits of these jobs.
    pub recorded: i128,
    /// The sum of their simulated waits.
    pub simulated: i128,
}

impl SameWindows {
    /// The window that begins this many hours later, alone. It must be one of them.
    pub(super) fn later(self, hours: i64) -> SameWindows {
        debug_assert!((0..self.count).contains(&hours));
        SameWindows { begin: self.begin + hours * HOUR, count: 1, ..self }
    }

    /// The mean recorded wait and the mean simulated wait, in seconds.
    pub fn means(&self) -> (f64, f64) {
        (self.recorded as f64 / self.jobs as f64, self.simulated as f64 / self.jobs as f64)
    }
}

/// How far two moving means are apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MovingError {
    /// The number of windows in which it is measured: those with a recorded mean wait above 0.
    pub windows: u64,
    /// The mean over these windows of |simulated - recorded| / recorded, in percent.
    ///
    /// This is the "mean absolute percentage error" of the "two week moving average wait time" of Wilkinson, Jones, Richardson,
    /// Dykes and Haus, "A Fast Simulator to Enable HPC Scheduling Strategy Comparisons" (2023), Section 3.2, as the program of that
    /// paper computes it (FastSim, `scheduler/plotting.py`): jobs by the hour of their submission, a window for each hour, windows
    /// whose recorded mean is 0 left out. There the first and the last 48 windows are left out too; here they count.
    pub percent: f64,
    /// The mean over these windows of |simulated - recorded|, in seconds.
    pub seconds: f64,
}

impl Windows {
    /// The windows of this length, in seconds, within the time from the first submission to the last. None if there is none.
    /// The length is rounded down to hours.
    pub fn within(submissions: Range<Time>, length: Seconds) -> Option<Windows> {
        let (span, hours) = (submissions.end - submissions.start, length / HOUR);
        let count = (span - hours * HOUR).div_euclid(HOUR) + 1;
        (count > 0 && hours > 0).then_some(Windows { first: submissions.start, count, hours })
    }

    /// Gives all windows to `each`, those without jobs too, in their order. The jobs are in order of submission, none before
    /// the first window.
    ///
    /// The time does not depend on the number of windows, which may be large: from one window to the next, mostly no job comes
    /// or goes.
    pub fn for_each(&self, jobs: &[MovingJob], mut each: impl FnMut(SameWindows)) {
        let hour = |job: &MovingJob| (job.submit - self.first).div_euclid(HOUR);
        let (mut from, mut until, mut begin) = (0, 0, 0);
        let (mut recorded, mut simulated) = (0i128, 0i128);
        while begin < self.count {
            while let Some(job) = jobs.get(until).filter(|job| hour(job) < begin + self.hours) {
                recorded += i128::from(job.recorded);
                simulated += i128::from(job.simulated);
                until += 1;
            }
            while let Some(job) = jobs[..until].get(from).filter(|job| hour(job) < begin) {
                recorded -= i128::from(job.recorded);
                simulated -= i128::from(job.simulated);
                from += 1;
            }
            let enters = jobs.get(until).map_or(self.count, |job| hour(job) - self.hours + 1);
            let leaves = jobs[..until].get(from).map_or(self.count, |job| hour(job) + 1);
            let next = enters.min(leaves).min(self.count);
            let (time, count) = (self.first + begin * HOUR, next - begin);
            each(SameWindows { begin: time, count, jobs: until - from, recorded, simulated });
            begin = next;
        }
    }

    /// How far the moving means are apart. None if no window has a recorded mean wait above 0.
    pub fn error(&self, jobs: &[MovingJob]) -> Option<MovingError> {
        let (mut windows, mut shares, mut seconds) = (0, 0.0, 0.0);
        self.for_each(jobs, |same| {
            if same.recorded > 0 {
                let apart = (same.simulated - same.recorded).unsigned_abs() as f64;
                windows += same.count as u64;
                shares += same.count as f64 * (apart / same.recorded as f64);
                seconds += same.count as f64 * (apart / same.jobs as f64);
            }
        });
        let all = windows as f64;
        (windows > 0).then(|| MovingError { windows, percent: shares / all * 100.0, seconds: seconds / all })
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::rng::stream;
    use crate::time::DAY;

    fn job(submit: Time, recorded: Seconds, simulated: Seconds) -> MovingJob {
        MovingJob { submit, recorded, simulated }
    }

    #[test]
    fn windows_are_whole_and_begin_every_hour() {
        let count = |span, length| Windows::within(50..50 + span, length).map_or(0, |windows| windows.count);
        assert_eq!([count(14 * DAY - 1, 14 * DAY), count(14 * DAY, 14 * DAY)], [0, 1]);
        assert_eq!([count(14 * DAY + HOUR - 1, 14 * DAY), count(14 * DAY + HOUR, 14 * DAY)], [1, 2]);
        assert_eq!(count(0, HOUR), 0);
    }

    /// Windows of two hours from a first submission at 100: [0 h, 2 h), [1 h, 3 h) and [2 h, 4 h).
    #[test]
    fn by_hand() {
        let jobs = [job(100, 60, 30), job(100 + HOUR, 20, 50), job(100 + 4 * HOUR, 10, 0)];
        let windows = Windows::within(100..100 + 4 * HOUR, 2 * HOUR).unwrap();
        let mut seen = Vec::new();
        windows.for_each(&jobs, |same| seen.push((same.begin, same.count, same.jobs, same.recorded, same.simulated)));
        // The last job is in none of them: its window would end after it.
        assert_eq!(seen, [(100, 1, 2, 80, 80), (3700, 1, 1, 20, 50), (7300, 1, 0, 0, 0)]);
        // Means 40 and 40, then 20 and 50. The third window has no jobs.
        let error = windows.error(&jobs).unwrap();
        assert_eq!(error, MovingError { windows: 2, percent: 75.0, seconds: 15.0 });
        assert_eq!(windows.error(&[job(100, 0, 5)]), None);
    }

    /// Each window is computed from all jobs, as the definition says.
    #[test]
    fn as_a_slow_reference() {
        let mut rng = stream(1, "moving");
        for _ in 0..300 {
            let first = rng.random_range(0..10_000);
            let mut jobs: Vec<MovingJob> = (0..rng.random_range(1..60))
                .map(|_| {
                    let wait = if rng.random_range(0..3) == 0 { 0 } else { rng.random_range(0..5000) };
                    job(first + rng.random_range(0..40 * HOUR), wait, rng.random_range(0..5000))
                })
                .collect();
            jobs.sort_by_key(|job| job.submit);
            let (first, last) = (jobs[0].submit, jobs[jobs.len() - 1].submit);
            let hours = rng.random_range(1..20);
            let (mut means, mut begin) = (Vec::new(), first);
            while begin + hours * HOUR <= last {
                let within: Vec<_> =
                    jobs.iter().filter(|job| (begin..begin + hours * HOUR).contains(&job.submit)).collect();
                let mean = |wait: fn(&MovingJob) -> Seconds| {
                    within.iter().map(|job| wait(job) as f64).sum::<f64>() / within.len() as f64
                };
                means.push((mean(|job| job.recorded), mean(|job| job.simulated)));
                begin += HOUR;
            }
            let Some(windows) = Windows::within(first..last, hours * HOUR) else {
                assert!(means.is_empty());
                continue;
            };
            assert_eq!(windows.count as usize, means.len());
            means.retain(|(recorded, _)| *recorded > 0.0);
            let Some(error) = windows.error(&jobs) else {
                assert!(means.is_empty());
                continue;
            };
            let of_all = |apart: fn(f64, f64) -> f64| {
                means.iter().map(|&(recorded, simulated)| apart(recorded, simulated)).sum::<f64>() / means.len() as f64
            };
            assert_eq!(error.windows as usize, means.len());
            assert!((error.percent - of_all(|r, s| (s - r).abs() / r * 100.0)).abs() < 1e-6 * (1.0 + error.percent));
            assert!((error.seconds - of_all(|r, s| (s - r).abs())).abs() < 1e-6 * (1.0 + error.seconds));
        }
    }

    #[test]
    fn a_long_time_without_jobs_takes_no_time() {
        let last = 1i64 << 55;
        let jobs = [job(0, 10, 20), job(last, 10, 10)];
        let error = Windows::within(0..last, 14 * DAY).unwrap().error(&jobs).unwrap();
        // The second job is in none or in one window, by where the last one begins.
        assert!(error.windows <= 2 && error.percent > 40.0, "{error:?}");
    }
}
