//! How near simulated waits are to recorded ones, in figures.

use serde::{Deserialize, Serialize};

use super::moving::{MovingError, MovingJob, Windows};
use crate::runs::{KeptRow, PlannedRun};
use crate::stats::spearman;
use crate::time::{HOUR, MINUTE, Seconds};

/// A start within this many seconds of the recorded one is near: three measures, from strict to loose.
pub const NEAR: [Seconds; 3] = [MINUTE, 10 * MINUTE, HOUR];

/// How near the simulated waits of some jobs are to the recorded ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FidelityFigures {
    /// The number of jobs that are compared.
    pub jobs: usize,
    /// The mean recorded wait, in seconds; NaN without jobs, as the other means.
    pub recorded: f64,
    /// The mean simulated wait, in seconds.
    pub simulated: f64,
    /// The mean of |simulated start - recorded start|, in seconds.
    pub start_error: f64,
    /// How far the moving means of waits are apart. None if no window has a recorded wait.
    pub moving: Option<MovingError>,
    /// Spearman's rank correlation of simulated and recorded waits. None if all waits on one side are equal.
    pub rank_correlation: Option<f64>,
    /// The number of jobs that started at most [`NEAR`] seconds from their recorded start.
    pub near: [usize; NEAR.len()],
}

impl FidelityFigures {
    /// The figures of these jobs, which are in order of submission. Without `windows` there is no moving mean.
    pub fn of(jobs: &[MovingJob], windows: Option<&Windows>) -> FidelityFigures {
        let mean = |of: &dyn Fn(&MovingJob) -> Seconds| {
            jobs.iter().map(|job| i128::from(of(job))).sum::<i128>() as f64 / jobs.len() as f64
        };
        let apart = |job: &MovingJob| (job.simulated - job.recorded).abs();
        let column = |of: fn(&MovingJob) -> Seconds| jobs.iter().map(of).collect::<Vec<_>>();
        FidelityFigures {
            jobs: jobs.len(),
            recorded: mean(&|job| job.recorded),
            simulated: mean(&|job| job.simulated),
            start_error: mean(&apart),
            moving: windows.and_then(|windows| windows.error(jobs)),
            rank_correlation: spearman(&column(|job| job.recorded), &column(|job| job.simulated)),
            near: NEAR.map(|most| jobs.iter().filter(|job| apart(job) <= most).count()),
        }
    }

    /// The mean simulated wait less the mean recorded one, in seconds.
    pub fn difference(&self) -> f64 {
        self.simulated - self.recorded
    }

    /// The same in percent of the mean recorded wait; NaN if that is 0.
    pub fn difference_pct(&self) -> f64 {
        let percent = self.difference() / self.recorded * 100.0;
        if percent.is_finite() { percent } else { f64::NAN }
    }

    /// The share of the jobs that are near by the measure at this index of [`NEAR`], in percent.
    pub fn near_pct(&self, at: usize) -> f64 {
        self.near[at] as f64 / self.jobs as f64 * 100.0
    }

    /// By what schedules are ordered: less is nearer. It is the error of the moving mean in percent, or, where there is no
    /// moving mean, the mean distance of starts. Whether there is one depends on the log alone, so schedules of the same
    /// jobs are ordered by the same figure.
    pub fn distance(&self) -> f64 {
        self.moving.map_or(self.start_error, |moving| moving.percent)
    }

    /// The format of kept figures, which is a part of the keys of runs. The number must be raised whenever the line of the same
    /// figures changes.
    pub fn format(window: Seconds) -> String {
        format!("fidelity 2, windows of {window} s")
    }
}

impl KeptRow for FidelityFigures {
    fn relabel(&mut self, _: &PlannedRun, _: String) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::DAY;

    /// Five jobs: exact, a minute early, over a minute late, an hour early, over an hour late.
    #[test]
    fn by_hand() {
        let job = |submit, recorded, simulated| MovingJob { submit, recorded, simulated };
        let jobs = [job(0, 0, 0), job(10, 100, 40), job(20, 39, 100), job(30, 7200, 3600), job(15 * DAY, 7199, 10_800)];
        let figures = FidelityFigures::of(&jobs, Windows::within(0..15 * DAY, 14 * DAY).as_ref());
        assert_eq!(figures.jobs, 5);
        assert_eq!((figures.recorded, figures.simulated), (14_538.0 / 5.0, 14_540.0 / 5.0));
        assert!(
            (figures.difference() - 0.4).abs() < 1e-9 && (figures.difference_pct() - 200.0 / 14_538.0).abs() < 1e-9
        );
        assert_eq!(figures.start_error, (60.0 + 61.0 + 3600.0 + 3601.0) / 5.0);
        // Ranks 1 3 2 5 4 and 1 2 3 4 5: 1 - 6 * 4 / (5 * 24).
        assert!((figures.rank_correlation.unwrap() - 0.8).abs() < 1e-12);
        assert_eq!((figures.near, figures.near_pct(1)), ([2, 3, 4], 60.0));
        // 25 windows. The first has the first four jobs, with sums 7339 and 3740; the others have none of them. The last job
        // is after the last window.
        let moving = figures.moving.unwrap();
        assert_eq!(moving.windows, 1);
        assert!((moving.percent - 3599.0 / 7339.0 * 100.0).abs() < 1e-9 && moving.seconds == 3599.0 / 4.0);
        assert_eq!(figures.distance(), moving.percent);
        let short = FidelityFigures::of(&jobs, None);
        assert_eq!((short.moving, short.distance()), (None, figures.start_error));
    }

    #[test]
    fn figures_that_were_kept_are_read_again() {
        let moving = MovingError { percent: 1.0 / 3.0, seconds: 0.7, windows: 7 };
        let none = FidelityFigures::of(&[], None);
        let all = FidelityFigures { moving: Some(moving), rank_correlation: Some(0.1 + 0.2), near: [1, 2, 3], ..none };
        for figures in [none, all] {
            let read = FidelityFigures::from_line(&figures.to_line()).unwrap();
            // Not the figures themselves: NaN is not equal to NaN.
            assert_eq!(format!("{read:?}"), format!("{figures:?}"));
        }
        for line in ["", "1,2", &all.to_line().replace("0.7", "x"), &format!("{},1", all.to_line())] {
            assert!(FidelityFigures::from_line(line).is_err(), "{line}");
        }
    }

    #[test]
    fn without_jobs_nothing_is_defined() {
        let none = FidelityFigures::of(&[], None);
        assert!(none.recorded.is_nan() && none.near_pct(0).is_nan() && none.rank_correlation.is_none());
    }
}
