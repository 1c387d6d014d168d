//! Runtimes that jobs may have: the user's estimate times a ratio of the past.

use std::sync::Arc;

use rand::RngExt;
use rustc_hash::FxHashMap;

use crate::engine::{Event, Observer};
use crate::job::Submission;
use crate::schedule::Machine;
use crate::time::{MINUTE, Seconds, Time};
use crate::wait::schedule::SiteSchedule;

/// The number of ended jobs of each user, and of all users, whose ratios are kept.
const KEPT: usize = 20;

/// With fewer ended jobs than this of its user, the runtime of a job is drawn from the jobs of all users.
const FEWEST: usize = 5;

/// The ratios of runtime to estimate of some ended jobs. A copy shares them.
pub type PastRatios = Arc<[f64]>;

/// Observes which ratios of runtime to estimate the last ended jobs had, by user.
#[derive(Clone, Debug)]
pub struct RatioHistory {
    of_user: FxHashMap<i32, PastRatios>,
    of_all: PastRatios,
}

impl Default for RatioHistory {
    fn default() -> RatioHistory {
        RatioHistory { of_user: FxHashMap::default(), of_all: PastRatios::from([]) }
    }
}

impl RatioHistory {
    /// A job has ended.
    pub fn add(&mut self, job: &Submission, runtime: Seconds) {
        let ratio = runtime as f64 / job.estimate.max(1) as f64;
        self.of_all = with(&self.of_all, ratio);
        if job.user >= 0 {
            let own = self.of_user.entry(job.user).or_insert_with(|| PastRatios::from([]));
            *own = with(own, ratio);
        }
    }

    /// Of the jobs of a schedule that have ended by `now`.
    pub fn of(schedule: &SiteSchedule<'_>, now: Time) -> RatioHistory {
        let ends = schedule.workload.jobs.iter().zip(schedule.starts).map(|(job, start)| (start + job.runtime, job));
        let mut ended: Vec<_> = ends.filter(|(end, _)| *end <= now).collect();
        ended.sort_by_key(|(end, _)| *end);
        let mut history = RatioHistory::default();
        ended.into_iter().for_each(|(_, job)| history.add(&job.submission, job.runtime));
        history
    }

    /// The ratios from which the runtime of a job is drawn.
    pub fn ratios(&self, user: i32) -> PastRatios {
        let own = self.of_user.get(&user).filter(|ratios| ratios.len() >= FEWEST);
        own.unwrap_or(&self.of_all).clone()
    }
}

impl Observer for RatioHistory {
    fn on(&mut self, _time: Time, event: &Event<'_>, _machine: &Machine) {
        if let Event::End(end) = event {
            self.add(end.submission, end.runtime);
        }
    }
}

/// These ratios and one more, without the oldest if there are too many.
fn with(ratios: &PastRatios, ratio: f64) -> PastRatios {
    ratios[(ratios.len() + 1).saturating_sub(KEPT)..].iter().copied().chain([ratio]).collect()
}

/// Draws the runtime of a job that has run for `elapsed` seconds; 0 for a job that waits. A running job has one of the
/// runtimes that are longer. If there is none, it runs as long as its estimate, or for a minute more if that is over.
pub fn draw(ratios: &[f64], estimate: Seconds, elapsed: Seconds, rng: &mut impl rand::Rng) -> Seconds {
    let runtime = |ratio: f64| ((ratio * estimate as f64).round() as Seconds).max(1);
    let possible = ratios.iter().filter(|&&ratio| runtime(ratio) > elapsed).count();
    if possible == 0 {
        return if estimate > elapsed { estimate } else { elapsed + MINUTE };
    }
    let drawn = rng.random_range(0..possible);
    let ratio = ratios.iter().filter(|&&ratio| runtime(ratio) > elapsed).nth(drawn);
    runtime(*ratio.expect("one of those counted"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;

    #[test]
    fn ratios_are_the_last_of_the_user() {
        let job = |user, estimate| Submission { user, ..Submission::new(0, 1, estimate) };
        let mut history = RatioHistory::default();
        assert!(history.ratios(1).is_empty());
        for runtime in 1..=4 {
            history.add(&job(1, 10), runtime);
        }
        history.add(&job(2, 10), 9);
        // Four jobs are too few.
        assert_eq!(*history.ratios(1), [0.1, 0.2, 0.3, 0.4, 0.9]);
        history.add(&job(1, 10), 5);
        assert_eq!(*history.ratios(1), [0.1, 0.2, 0.3, 0.4, 0.5]);
        (0..30).for_each(|runtime| history.add(&job(1, 100), runtime));
        assert_eq!((history.ratios(1).len(), history.ratios(1)[0], history.ratios(1)[19]), (20, 0.1, 0.29));
        // An unknown user has no jobs of its own.
        (0..9).for_each(|_| history.add(&job(-1, 100), 50));
        assert_eq!(history.ratios(-1)[19], 0.5);
        assert_eq!(history.ratios(-1)[10], 0.29);
    }

    #[test]
    fn running_jobs_have_longer_runtimes_than_their_age() {
        let mut rng = stream(1, "test");
        let mut drawn = |elapsed| {
            let mut all: Vec<Seconds> = (0..200).map(|_| draw(&[0.1, 0.5, 0.9, 1.2], 100, elapsed, &mut rng)).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        assert_eq!(drawn(0), [10, 50, 90, 120]);
        assert_eq!(drawn(50), [90, 120]);
        assert_eq!(drawn(119), [120]);
        // Older than all: past the estimate it runs for another minute.
        assert_eq!(drawn(120), [180]);
        assert_eq!(draw(&[0.1], 100, 30, &mut rng), 100);
        assert_eq!(draw(&[], 100, 0, &mut rng), 100);
    }
}
