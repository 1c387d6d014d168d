//! The features of a job at its arrival, and what they need to know of its user.

use std::collections::VecDeque;
use std::f64::consts::TAU;

use crate::job::{JobId, Submission};
use crate::time::{DAY, Seconds, Time};

/// The features before products and squares.
pub const BASE: usize = 19;
/// The products of two of the features 1 to 16, and the squares of the features 1 to 18, follow them.
pub const FEATURES: usize = BASE + 16 * 15 / 2 + 18;

pub type Base = [f64; BASE];

/// The number of last jobs that have features of their own.
const LAST: usize = 3;

/// The jobs of a user.
#[derive(Default)]
pub struct LearnedUser {
    /// The last ended jobs, the newest first.
    last: VecDeque<Ended>,
    ended: i64,
    sum_runtime: i64,
    sum_procs: i64,
    last_end: Option<Time>,
    /// In order of start.
    running: Vec<RunningOfUser>,
}

#[derive(Clone, Copy)]
struct Ended {
    submit: Time,
    runtime: Seconds,
}

#[derive(Clone, Copy)]
struct RunningOfUser {
    id: JobId,
    procs: u32,
    start: Time,
}

impl LearnedUser {
    pub fn start(&mut self, id: JobId, procs: u32, now: Time) {
        self.running.push(RunningOfUser { id, procs, start: now });
    }

    pub fn requeue(&mut self, id: JobId) {
        self.running.retain(|running| running.id != id);
    }

    pub fn end(&mut self, id: JobId, job: &Submission, runtime: Seconds, now: Time) {
        self.running.retain(|running| running.id != id);
        self.last.truncate(LAST - 1);
        self.last.push_front(Ended { submit: job.submit, runtime });
        self.ended += 1;
        self.sum_runtime += runtime;
        self.sum_procs += i64::from(job.procs);
        self.last_end = Some(now);
    }

    /// The features of a job of this user that arrives now. `since_submission`: the last jobs count with the time since
    /// their submission instead of their runtimes.
    pub fn features(&self, job: &Submission, now: Time, unix_start: Time, since_submission: bool) -> Base {
        let (estimate, procs) = (job.estimate as f64, f64::from(job.procs));
        let value = |ended: &Ended| if since_submission { now - ended.submit } else { ended.runtime };
        let mut last = [estimate; LAST];
        for (feature, ended) in last.iter_mut().zip(&self.last) {
            *feature = value(ended).min(job.estimate) as f64;
        }
        let mean_of_last = |count: usize| match count.min(self.last.len()) {
            0 => estimate,
            known => last[..known].iter().sum::<f64>() / known as f64,
        };
        let mean = |sum: i64| sum as f64 / self.ended as f64;
        let elapsed = |running: &RunningOfUser| now - running.start;
        let (day, week) = (angle(unix_start + job.submit, DAY), angle(unix_start + job.submit, 7 * DAY));
        [
            1.0,
            last[0],
            last[1],
            last[2],
            estimate,
            mean_of_last(2),
            mean_of_last(3),
            if self.ended > 0 { mean(self.sum_runtime) } else { 0.0 },
            self.last_end.map_or(0.0, |end| (now - end) as f64),
            if self.ended > 0 { procs / mean(self.sum_procs) } else { 0.0 },
            self.running.iter().map(|running| i64::from(running.procs)).sum::<i64>() as f64,
            self.running.iter().map(elapsed).sum::<i64>() as f64,
            self.running.len() as f64,
            // The first to start has run longest.
            self.running.first().map_or(0.0, |running| elapsed(running) as f64),
            libm::cos(day),
            libm::sin(day),
            libm::cos(week),
            libm::sin(week),
            procs,
        ]
    }
}

/// How much of the present period has passed, as an angle.
fn angle(unix_time: Time, period: Seconds) -> f64 {
    TAU * unix_time.rem_euclid(period) as f64 / period as f64
}

/// The features with their products and squares.
pub fn expand(base: &Base) -> [f64; FEATURES] {
    let mut all = [0.0; FEATURES];
    all[..BASE].copy_from_slice(base);
    let products = (1..=16).flat_map(|i| (i + 1..=16).map(move |j| (i, j)));
    let squares = (1..=18).map(|i| (i, i));
    for (feature, (i, j)) in all[BASE..].iter_mut().zip(products.chain(squares)) {
        *feature = base[i] * base[j];
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_come_before_squares() {
        let all = expand(&std::array::from_fn(|i| i as f64));
        // 1*2, 1*3, ..., 1*16, 2*3, ..., 15*16, then the squares of 1 to 18.
        assert_eq!(all[18..22], [18.0, 2.0, 3.0, 4.0]);
        assert_eq!(all[33..36], [16.0, 6.0, 8.0]);
        assert_eq!(all[138..141], [240.0, 1.0, 4.0]);
        assert_eq!((all.len(), all[156]), (157, 324.0));
    }

    #[test]
    fn features_of_a_small_history() {
        let job = |submit, procs, estimate| Submission::new(submit, procs, estimate);
        let mut user = LearnedUser::default();
        // Thursday 1970-01-01 at 6:00: a quarter of a day and 1/28 of a week.
        let at = 6 * 3600;
        let first = user.features(&job(at, 4, 500), at, 0, false);
        assert_eq!(first[..14], [1.0, 500.0, 500.0, 500.0, 500.0, 500.0, 500.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert!(first[14].abs() < 1e-12 && first[15] == 1.0 && first[18] == 4.0);
        assert!((first[16] - 0.974_927_9).abs() < 1e-6 && (first[17] - 0.222_520_9).abs() < 1e-6);
        for (id, start) in [(0, 10), (1, 20), (2, 30), (3, 40)] {
            user.start(JobId(id), id + 1, start);
        }
        user.end(JobId(1), &job(5, 2, 900), 200, 220);
        user.end(JobId(0), &job(0, 1, 900), 700, 710);
        // At 1000: 700 is cut at 500; the mean of 500 and 200; the runtimes as they are, (200 + 700) / 2; 290 s since
        // the last end; 6 processors are 4 times the mean of 1.5; 3 + 4 processors run since 970 s and 960 s.
        let then = user.features(&job(1000, 6, 500), 1000, 0, false);
        let expected = [1.0, 500.0, 200.0, 500.0, 500.0, 350.0, 350.0, 450.0, 290.0, 4.0, 7.0, 1930.0, 2.0, 970.0];
        assert_eq!(then[..14], expected);
        // Since their submission: 1000 and 995 seconds.
        let since = user.features(&job(1000, 6, 2000), 1000, 0, true);
        assert_eq!(since[1..7], [1000.0, 995.0, 2000.0, 2000.0, 997.5, 997.5]);
    }
}
