//! Answers of a simulation, corrected by what happened to past jobs with similar ones: for sites whose scheduler is not
//! exactly known.

use std::ops::Range;

use super::sample::{SampledWait, WaitSample};
use crate::time::Seconds;

/// The number of past jobs whose waits are an answer.
const NEAREST: usize = 40;

/// What is compared: a simulated wait, an estimate, processors, each as ln(1 + x).
type Coordinates = [f64; 3];

/// A job with the wait that a simulation gave it when it arrived.
#[derive(Clone, Copy, Debug)]
pub struct Simulated {
    coordinates: Coordinates,
}

impl Simulated {
    /// The simulated wait and the estimate are in seconds.
    pub fn new(simulated: Seconds, estimate: Seconds, procs: u32) -> Simulated {
        let coordinates = [simulated as f64, estimate as f64, f64::from(procs)].map(libm::log1p);
        Simulated { coordinates }
    }
}

/// Jobs that have started, with what a simulation said at their arrival, and what they waited.
#[derive(Clone, Debug, Default)]
pub struct PastAnswers {
    jobs: Vec<Simulated>,
    waits: Vec<Seconds>,
}

impl PastAnswers {
    /// Adds a job that has started. The latest is added last.
    pub fn push(&mut self, job: Simulated, wait: Seconds) {
        self.jobs.push(job);
        self.waits.push(wait);
    }

    /// The number of jobs.
    pub fn len(&self) -> usize {
        self.waits.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.waits.is_empty()
    }

    /// The waits of those 40 of the jobs `past`, which have started, that are nearest to a job; of equally near ones the latest.
    /// The jobs of `open` still wait, each with how long it has waited: those that are as near count, too. None if none has
    /// started.
    pub fn recalibrated(
        &self,
        past: Range<usize>,
        open: impl Iterator<Item = (Simulated, Seconds)>,
        job: &Simulated,
    ) -> Option<WaitSample> {
        let (jobs, waits) = (&self.jobs[past.clone()], &self.waits[past]);
        let scales = scales(jobs);
        let distance = |other: &Simulated| -> f64 {
            let apart = |at: usize| (other.coordinates[at] - job.coordinates[at]) * scales[at];
            (0..scales.len()).map(|at| apart(at) * apart(at)).sum()
        };
        // The latest come first.
        let near = jobs.iter().zip(waits).rev().enumerate().map(|(age, (other, wait))| (distance(other), age, *wait));
        let mut near: Vec<(f64, usize, Seconds)> = near.collect();
        if near.len() > NEAREST {
            near.select_nth_unstable_by(NEAREST, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            near.truncate(NEAREST);
        }
        let farthest = near.iter().map(|(distance, _, _)| *distance).max_by(f64::total_cmp)?;
        let open = open.filter(|(other, _)| distance(other) <= farthest).map(|(_, age)| SampledWait::Open(age));
        Some(WaitSample::with_open(near.iter().map(|(_, _, wait)| SampledWait::Ended(*wait)).chain(open).collect()))
    }
}

/// One over the standard deviation of each coordinate; 0 where all jobs are equal.
fn scales(jobs: &[Simulated]) -> Coordinates {
    let count = jobs.len() as f64;
    std::array::from_fn(|at| {
        let mean = jobs.iter().map(|job| job.coordinates[at]).sum::<f64>() / count;
        let variance = jobs.iter().map(|job| (job.coordinates[at] - mean).powi(2)).sum::<f64>() / count;
        if variance > 0.0 { 1.0 / variance.sqrt() } else { 0.0 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(past: &PastAnswers, job: Simulated) -> Option<WaitSample> {
        past.recalibrated(0..past.len(), std::iter::empty(), &job)
    }

    #[test]
    fn the_nearest_answer() {
        let mut past = PastAnswers::default();
        assert!(answer(&past, Simulated::new(0, 1, 1)).is_none());
        // 40 jobs of a kind that waited twice as long as simulated, 40 of another that did not wait.
        for at in 0..40 {
            past.push(Simulated::new(at, 3600, 4), 2 * at);
            past.push(Simulated::new(5000 + at, 3600, 4), 0);
        }
        let twice = WaitSample::new((0..40).map(|at| 2 * at).collect());
        assert_eq!(answer(&past, Simulated::new(20, 3600, 4)), Some(twice));
        assert_eq!(answer(&past, Simulated::new(6000, 3600, 4)), Some(WaitSample::new(vec![0; 40])));
        // Of equally near jobs the latest count.
        let mut same = PastAnswers::default();
        (0..100).for_each(|wait| same.push(Simulated::new(10, 60, 1), wait));
        let latest = Some(WaitSample::new((60..100).collect()));
        assert_eq!(answer(&same, Simulated::new(99, 60, 1)), latest);
        // Of the jobs that still wait those count that are as near: between 0 and 39, not the one at 4,000.
        let open = [(Simulated::new(10, 3600, 4), 70), (Simulated::new(4000, 3600, 4), 80)];
        let found = past.recalibrated(0..80, open.into_iter(), &Simulated::new(20, 3600, 4));
        let waits = (0..40).map(|at| SampledWait::Ended(2 * at)).chain([SampledWait::Open(70)]);
        assert_eq!(found, Some(WaitSample::with_open(waits.collect())));
    }

    /// A coordinate counts by its spread: the estimates differ by factors of up to e, the processors by less than a hundredth
    /// of that.
    #[test]
    fn coordinates_have_the_same_weight() {
        let mut past = PastAnswers::default();
        for at in 0..100 {
            let (estimate, procs) = if at % 2 == 0 { (1000, 100_000) } else { (2700, 101_000) };
            past.push(Simulated::new(0, estimate, procs), at % 2);
        }
        // The estimate is nearer to the even ones by a little, the processors are those of the odd ones.
        assert_eq!(answer(&past, Simulated::new(0, 1600, 101_000)), Some(WaitSample::new(vec![1; 40])));
        assert_eq!(answer(&past, Simulated::new(0, 1600, 100_000)), Some(WaitSample::new(vec![0; 40])));
    }
}
