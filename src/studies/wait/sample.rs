//! A sample of waits: what may happen to a job.

use super::classes::{PerClass, WaitClass};
use crate::time::Seconds;

/// The probabilities for which answers say until when a job has started.
pub const LEVELS: [f64; 4] = [0.5, 0.8, 0.9, 0.95];

/// Waits from drawn runtimes or of past jobs. There is at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitSample {
    /// In ascending order, each with the probability that a wait is not longer.
    waits: Vec<(Seconds, f64)>,
}

/// A wait in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SampledWait {
    /// The job waited this long.
    Ended(Seconds),
    /// The job has waited for the first time and still waits. It is expected to wait for the second time in all.
    Open(Seconds, Seconds),
}

impl SampledWait {
    fn seconds(self) -> Seconds {
        match self {
            SampledWait::Ended(wait) | SampledWait::Open(wait, _) => wait,
        }
    }
}

impl WaitSample {
    /// A sample of these waits, in any order.
    ///
    /// # Panics
    /// If there are none.
    pub fn new(waits: Vec<Seconds>) -> WaitSample {
        WaitSample::with_open(waits.into_iter().map(SampledWait::Ended).collect())
    }

    /// A sample with jobs that still wait (Kaplan and Meier, "Nonparametric estimation from incomplete observations"): the
    /// probability of such a job is divided among the longer waits. Without them, samples of jobs that have started have too
    /// few long waits. If there is no longer one, it is what these jobs are expected to wait.
    ///
    /// The asked job is one more of the same kind as these. So of n waits the k-th shortest is not exceeded with
    /// probability k / (n + 1).
    ///
    /// # Panics
    /// If there are none.
    pub fn with_open(mut sampled: Vec<SampledWait>) -> WaitSample {
        assert!(!sampled.is_empty(), "a sample has at least one wait");
        // Of equal waits those that have ended come first: the others are longer.
        sampled.sort_unstable_by_key(|wait| (wait.seconds(), *wait));
        let (mut longer, mut waits) = (1.0, Vec::with_capacity(sampled.len()));
        for (at, wait) in sampled.iter().enumerate() {
            if let SampledWait::Ended(wait) = *wait {
                longer -= longer / (sampled.len() + 1 - at) as f64;
                waits.push((wait, 1.0 - longer));
            }
        }
        let longest = waits.last().map_or(Seconds::MIN, |(wait, _)| *wait);
        let beyond = sampled.iter().filter_map(|wait| match *wait {
            SampledWait::Open(age, expected) if age >= longest => Some(expected.max(age)),
            _ => None,
        });
        waits.extend(beyond.max().map(|expected| (expected, 1.0)));
        WaitSample { waits }
    }

    /// The same sample with another wait for each. A longer one must not become shorter than another.
    pub fn map(mut self, other: impl Fn(Seconds) -> Seconds) -> WaitSample {
        self.waits.iter_mut().for_each(|(wait, _)| *wait = other(*wait));
        self
    }

    /// The shortest wait that is not exceeded with this probability, or the longest one if there are too few.
    pub fn quantile(&self, probability: f64) -> Seconds {
        let at = self.waits.partition_point(|(_, reached)| *reached < probability - 1e-9);
        self.waits[at.min(self.waits.len() - 1)].0
    }

    /// The quantiles of all [`LEVELS`].
    pub fn quantiles(&self) -> [Seconds; LEVELS.len()] {
        LEVELS.map(|level| self.quantile(level))
    }

    /// The wait in the middle; of an even number of waits the longer one of two.
    pub fn median(&self) -> Seconds {
        self.quantile(0.5)
    }

    /// The most probable class.
    pub fn class(&self) -> WaitClass {
        WaitClass::of(self.median() as f64).or_more_probable(&self.probabilities())
    }

    /// The probability of each class.
    pub fn probabilities(&self) -> PerClass {
        let (mut shares, mut before) = (PerClass::default(), 0.0);
        for &(wait, reached) in &self.waits {
            shares[WaitClass::of(wait as f64).index()] += reached - before;
            before = reached;
        }
        shares.map(|share| share / before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::HOUR;

    #[test]
    fn quantiles_by_hand() {
        let sample = WaitSample::new((1..=39).rev().collect());
        // Of 39 waits the 20th is exceeded by half of all: 20 of 40 places are below it.
        assert_eq!((sample.quantiles(), sample.median()), ([20, 32, 36, 38], 20));
        let few = WaitSample::new(vec![7, 3]);
        // Two waits have three places around them; no wait of two is long enough for 80%.
        assert_eq!((few.quantiles(), few.quantile(0.3)), ([7, 7, 7, 7], 3));
        assert_eq!(WaitSample::new(vec![5]).quantiles(), [5; 4]);
        let classes = WaitSample::new(vec![0, HOUR, HOUR + 1, 30 * HOUR]).probabilities();
        let expected = [0.5, 0.25, 0.0, 0.0, 0.0, 0.25];
        assert!(classes.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-12), "{classes:?}");
    }

    /// Five places for four jobs. The first has a fifth. The second still waits, so the two above it share the rest: 4/5
    /// divided by three places, 4/15 each.
    #[test]
    fn jobs_that_still_wait_count_for_the_longer_waits() {
        use SampledWait::{Ended, Open};
        let sample = WaitSample::with_open(vec![Ended(30), Open(20, 90), Ended(10), Ended(40)]);
        let reached: Vec<_> = sample.waits.iter().map(|(wait, reached)| (*wait, (reached * 15.0).round())).collect();
        assert_eq!(reached, [(10, 3.0), (30, 7.0), (40, 11.0)]);
        // Of one that has waited longer than all others only the expected wait is known.
        let sample = WaitSample::with_open(vec![Ended(10), Open(50, 70), Ended(30), Open(40, 60)]);
        assert_eq!((sample.quantile(0.4), sample.quantile(0.41), sample.quantile(0.95)), (30, 70, 70));
        assert_eq!(WaitSample::with_open(vec![Open(5, 3)]).quantiles(), [5; 4]);
        // Equal waits: the one that has ended is the shorter.
        assert_eq!(WaitSample::with_open(vec![Open(10, 10), Ended(10)]).waits.len(), 2);
    }
}
