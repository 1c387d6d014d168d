//! Answers of a simulation, corrected by what happened to past jobs with similar ones: for sites whose scheduler is not
//! exactly known.

use std::ops::Range;

use super::sample::{SampledWait, WaitSample};
use crate::job::Submission;
use crate::time::{Seconds, Time};

/// The number of past jobs whose waits are an answer.
const NEAREST: usize = 40;

/// What is compared: a simulated wait, an estimate, processors, each as ln(1 + x).
type Coordinates = [f64; 3];

/// A job with the wait that a simulation gave it when it arrived.
#[derive(Clone, Copy, Debug)]
pub struct SimulatedWait {
    coordinates: Coordinates,
}

impl SimulatedWait {
    /// The simulated wait and the estimate are in seconds.
    pub fn new(simulated: Seconds, estimate: Seconds, procs: u32) -> SimulatedWait {
        let coordinates = [simulated as f64, estimate as f64, f64::from(procs)].map(libm::log1p);
        SimulatedWait { coordinates }
    }

    /// The simulated wait.
    fn simulated(&self) -> Seconds {
        libm::expm1(self.coordinates[0]).round() as Seconds
    }
}

/// Jobs that have started, with what a simulation said at their arrival, and what they waited.
#[derive(Clone, Debug, Default)]
pub struct PastAnswers {
    jobs: Vec<SimulatedWait>,
    waits: Vec<Seconds>,
}

impl PastAnswers {
    /// Adds a job that has started. The latest is added last.
    pub fn push(&mut self, job: SimulatedWait, wait: Seconds) {
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

    /// How long a job still waits that has waited for `age`: the rest of the waits of those 40 of the jobs `past`, which have
    /// started, that are nearest to it and waited longer; of equally near ones the latest. The jobs of `open` still wait, each
    /// with how long it has waited: those that are as near count, too. None if fewer than 40 have started.
    ///
    /// If fewer than 40 waited longer than `age`, the 40 longest waits count. What is left of them beyond the next shorter one
    /// grows with the age: who has waited twice as long as all others may wait twice as long again.
    pub fn recalibrated(
        &self,
        past: Range<usize>,
        open: impl Iterator<Item = (SimulatedWait, Seconds)>,
        job: &SimulatedWait,
        age: Seconds,
    ) -> Option<WaitSample> {
        let (jobs, waits) = (&self.jobs[past.clone()], &self.waits[past]);
        let scales = scales(jobs);
        let distance = |other: &SimulatedWait| -> f64 {
            let apart = |at: usize| (other.coordinates[at] - job.coordinates[at]) * scales[at];
            (0..scales.len()).map(|at| apart(at) * apart(at)).sum()
        };
        let from = threshold(waits, age)?;
        let longer = |wait: Seconds| wait > from;
        let rest = |wait: Seconds| match age {
            0 => wait,
            _ => ((wait - from) as f64 * age as f64 / from as f64).round() as Seconds,
        };
        // The latest come first.
        let near = jobs.iter().zip(waits).rev().enumerate().filter(|(_, (_, wait))| longer(**wait));
        let near = near.map(|(latest, (other, wait))| (distance(other), latest, *wait));
        let mut near: Vec<(f64, usize, Seconds)> = near.collect();
        if near.len() > NEAREST {
            near.select_nth_unstable_by(NEAREST, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            near.truncate(NEAREST);
        }
        let farthest = near.iter().map(|(distance, _, _)| *distance).max_by(f64::total_cmp)?;
        let open = open.filter(|(other, waited)| longer(*waited) && distance(other) <= farthest);
        let open = open.map(|(other, waited)| SampledWait::Open(rest(waited), rest(other.simulated().max(waited))));
        let ended = near.iter().map(|(_, _, wait)| SampledWait::Ended(rest(*wait)));
        Some(WaitSample::with_open(ended.chain(open).collect()))
    }
}

/// The jobs that wait at an instant, as they are compared with past jobs.
pub struct OpenQueue {
    /// Of each job what a simulation would have said when it arrived, and how long it has waited.
    jobs: Vec<(SimulatedWait, Seconds)>,
    /// Only every n-th of them counts for the others: as many as of the jobs that have started.
    every: usize,
}

impl OpenQueue {
    /// The jobs, each with its submission and the median of its simulated waits from `now` on.
    pub fn new<'a>(now: Time, every: usize, jobs: impl Iterator<Item = (&'a Submission, Seconds)>) -> OpenQueue {
        // Of a job that has waited the simulation says the rest. Together they are about what it would have said at the arrival.
        // One that may start only later arrives then.
        let job = |(job, median): (&Submission, Seconds)| {
            let (age, delay) = ((now - job.submit).max(0), (job.submit - now).max(0));
            (SimulatedWait::new(age + median - delay, job.estimate, job.procs), age)
        };
        OpenQueue { jobs: jobs.map(job).collect(), every }
    }

    /// How long the job at this place still waits: see [`PastAnswers::recalibrated`].
    pub fn recalibrated(&self, own: usize, past: &PastAnswers, window: Range<usize>) -> Option<WaitSample> {
        let others = (0..self.jobs.len()).step_by(self.every).filter(|other| *other != own);
        let (job, age) = &self.jobs[own];
        past.recalibrated(window, others.map(|other| self.jobs[other]), job, *age)
    }
}

/// The wait beyond which past waits say how long a job still waits that has waited for `age`. None if they are too few.
fn threshold(waits: &[Seconds], age: Seconds) -> Option<Seconds> {
    if age == 0 {
        // All count, those of nothing too.
        return (waits.len() >= NEAREST).then_some(-1);
    }
    if waits.iter().filter(|wait| **wait > age).count() >= NEAREST {
        return Some(age);
    }
    let mut longest = waits.to_vec();
    let at = longest.len().checked_sub(NEAREST + 1)?;
    let (_, next, _) = longest.select_nth_unstable(at);
    Some(*next).filter(|next| *next > 0)
}

/// One over the standard deviation of each coordinate; 0 where all jobs are equal, but for errors of rounding.
fn scales(jobs: &[SimulatedWait]) -> Coordinates {
    let count = jobs.len() as f64;
    std::array::from_fn(|at| {
        let mean = jobs.iter().map(|job| job.coordinates[at]).sum::<f64>() / count;
        let variance = jobs.iter().map(|job| (job.coordinates[at] - mean).powi(2)).sum::<f64>() / count;
        if variance > 1e-12 { 1.0 / variance.sqrt() } else { 0.0 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(past: &PastAnswers, job: SimulatedWait) -> Option<WaitSample> {
        past.recalibrated(0..past.len(), std::iter::empty(), &job, 0)
    }

    #[test]
    fn the_nearest_answer() {
        let mut past = PastAnswers::default();
        assert!(answer(&past, SimulatedWait::new(0, 1, 1)).is_none());
        // 40 jobs of a kind that waited twice as long as simulated, 40 of another that did not wait.
        for at in 0..40 {
            past.push(SimulatedWait::new(at, 3600, 4), 2 * at);
            past.push(SimulatedWait::new(5000 + at, 3600, 4), 0);
        }
        let twice = WaitSample::new((0..40).map(|at| 2 * at).collect());
        assert_eq!(answer(&past, SimulatedWait::new(20, 3600, 4)), Some(twice));
        assert_eq!(answer(&past, SimulatedWait::new(6000, 3600, 4)), Some(WaitSample::new(vec![0; 40])));
        // Of equally near jobs the latest count.
        let mut same = PastAnswers::default();
        (0..100).for_each(|wait| same.push(SimulatedWait::new(10, 60, 1), wait));
        let latest = Some(WaitSample::new((60..100).collect()));
        assert_eq!(answer(&same, SimulatedWait::new(99, 60, 1)), latest);
        // Of the jobs that still wait those count that are as near: between 0 and 39, not the one at 4,000.
        let open = [(SimulatedWait::new(10, 3600, 4), 70), (SimulatedWait::new(4000, 3600, 4), 80)];
        let found = past.recalibrated(0..80, open.into_iter(), &SimulatedWait::new(20, 3600, 4), 0);
        let waits = (0..40).map(|at| SampledWait::Ended(2 * at)).chain([SampledWait::Open(70, 70)]);
        assert_eq!(found, Some(WaitSample::with_open(waits.collect())));
        // Fewer than 40 say nothing.
        assert!(past.recalibrated(0..39, std::iter::empty(), &SimulatedWait::new(20, 3600, 4), 0).is_none());
        // For a job that has waited 30 s only longer waits count, and what is left of them.
        let mut late = PastAnswers::default();
        (1..=80).for_each(|wait| late.push(SimulatedWait::new(10, 60, 1), wait));
        let open = [(SimulatedWait::new(100, 60, 1), 20), (SimulatedWait::new(90, 60, 1), 75)];
        let found = late.recalibrated(0..80, open.into_iter(), &SimulatedWait::new(10, 60, 1), 30);
        let waits = (11..=50).map(SampledWait::Ended).chain([SampledWait::Open(45, 60)]);
        assert_eq!(found, Some(WaitSample::with_open(waits.collect())));
        // Only 30 waited for longer than 50 s, 40 for longer than 40 s: 1 to 40 s more. At 50 s it is a quarter more.
        let found = late.recalibrated(0..80, std::iter::empty(), &SimulatedWait::new(10, 60, 1), 50);
        let waits = (1..=40).map(|wait| (f64::from(wait) * 1.25).round() as Seconds);
        assert_eq!(found, Some(WaitSample::new(waits.collect())));
    }

    /// A coordinate counts by its spread: the estimates differ by factors of up to e, the processors by less than a hundredth
    /// of that.
    #[test]
    fn coordinates_have_the_same_weight() {
        let mut past = PastAnswers::default();
        for at in 0..100 {
            let (estimate, procs) = if at % 2 == 0 { (1000, 100_000) } else { (2700, 101_000) };
            past.push(SimulatedWait::new(0, estimate, procs), at % 2);
        }
        // The estimate is nearer to the even ones by a little, the processors are those of the odd ones.
        assert_eq!(answer(&past, SimulatedWait::new(0, 1600, 101_000)), Some(WaitSample::new(vec![1; 40])));
        assert_eq!(answer(&past, SimulatedWait::new(0, 1600, 100_000)), Some(WaitSample::new(vec![0; 40])));
    }
}
