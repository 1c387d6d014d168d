//! The daily cycle of arrivals: a clock that runs fast in busy hours and slowly at night.
//!
//! A day has 48 half hours, each with a weight; the mean of the weights is 1. *Weighted* seconds pass at the rate of the
//! weight. So a day has as many weighted seconds as real ones, and equal gaps in weighted time are short in a busy half
//! hour and long in a quiet one.

use crate::time::{DAY, MINUTE};

/// Half hours in a day (the authors' BUCKETS).
pub const BUCKETS: usize = 48;

const BUCKET_SECONDS: f64 = (30 * MINUTE) as f64;
const DAY_SECONDS: f64 = DAY as f64;

/// The first bucket of the day that the gamma distribution describes (the authors' CYCLIC_DAY_START): the 11th half hour,
/// from five o'clock on.
const CYCLIC_DAY_START: usize = 11;

/// The weights of the half hours of a day.
#[derive(Clone, Debug, PartialEq)]
pub struct DailyCycle {
    /// The weighted seconds from midnight to the beginning of each half hour, and to the end of the last.
    before: [f64; BUCKETS + 1],
    weights: [f64; BUCKETS],
}

impl DailyCycle {
    /// Lublin and Feitelson: the weight of half hour i is the mass of a gamma distribution between i - 1/2 and i + 1/2,
    /// divided by the mean of all weights. i goes from 11 to 58; numbers above 48 are the hours after midnight.
    pub fn gamma(shape: f64, scale: f64) -> DailyCycle {
        let mut weights = [0.0; BUCKETS];
        for i in CYCLIC_DAY_START..BUCKETS + CYCLIC_DAY_START {
            weights[(i - 1) % BUCKETS] = gamma_mass(shape, scale, i as f64 - 0.5, i as f64 + 0.5);
        }
        DailyCycle::new(weights)
    }

    /// A cycle of any positive weights.
    fn new(weights: [f64; BUCKETS]) -> DailyCycle {
        let mean = weights.iter().sum::<f64>() / BUCKETS as f64;
        let weights = weights.map(|weight| weight / mean);
        let mut before = [0.0; BUCKETS + 1];
        for (at, weight) in weights.iter().enumerate() {
            before[at + 1] = before[at] + weight * BUCKET_SECONDS;
        }
        // Corrects the rounding error of the sum: a weighted day must be exactly a day, or time would drift.
        before[BUCKETS] = DAY_SECONDS;
        DailyCycle { before, weights }
    }

    /// The weights of the half hours from midnight on; their mean is 1.
    pub fn weights(&self) -> &[f64; BUCKETS] {
        &self.weights
    }

    /// Converts weighted seconds since a midnight to real seconds since that midnight.
    pub fn real(&self, weighted: f64) -> f64 {
        let days = libm::floor(weighted / DAY_SECONDS);
        let rest = weighted - days * DAY_SECONDS;
        let bucket = self.before[1..BUCKETS].partition_point(|&before| before <= rest);
        let within = (rest - self.before[bucket]) / (self.before[bucket + 1] - self.before[bucket]);
        days * DAY_SECONDS + (bucket as f64 + within) * BUCKET_SECONDS
    }

    /// Converts real seconds since a midnight to weighted seconds: the inverse of [`real`](Self::real).
    pub fn weighted(&self, real: f64) -> f64 {
        let days = libm::floor(real / DAY_SECONDS);
        let halves = (real - days * DAY_SECONDS) / BUCKET_SECONDS;
        let bucket = (halves as usize).min(BUCKETS - 1);
        let (from, to) = (self.before[bucket], self.before[bucket + 1]);
        days * DAY_SECONDS + from + (halves - bucket as f64) * (to - from)
    }
}

/// The mass of a gamma distribution between two points, up to a constant factor, by Simpson's rule, which is far more
/// precise than the parameters.
fn gamma_mass(shape: f64, scale: f64, from: f64, to: f64) -> f64 {
    const STEPS: usize = 64;
    let density = |x: f64| libm::exp((shape - 1.0) * libm::log(x) - x / scale);
    let width = (to - from) / STEPS as f64;
    let term = |step: usize| {
        let factor = if step == 0 || step == STEPS { 1.0 } else { 2.0 + 2.0 * (step % 2) as f64 };
        factor * density(from + width * step as f64)
    };
    (0..=STEPS).map(term).sum::<f64>() * width / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, Gamma};

    #[test]
    fn weights_are_those_of_the_gamma_distribution() {
        let (shape, scale) = (6.1271, 5.2740);
        let cycle = DailyCycle::gamma(shape, scale);
        let gamma = Gamma::new(shape, 1.0 / scale).unwrap();
        let mass = |i: f64| gamma.cdf(i + 0.5) - gamma.cdf(i - 0.5);
        let all = gamma.cdf(58.5) - gamma.cdf(10.5);
        for (bucket, weight) in cycle.weights().iter().enumerate() {
            let i = if bucket < 10 { bucket + 49 } else { bucket + 1 };
            let expected = 48.0 * mass(i as f64) / all;
            assert!((weight - expected).abs() < 1e-8, "half hour {bucket}: {weight} {expected}");
        }
        // What the authors' program (lublin99.c) computes for batch jobs: midnight, half past four and five, one o'clock.
        for (bucket, published) in [(0, 0.546158664), (9, 0.235361307), (10, 0.347154491), (26, 1.665940162)] {
            assert!((cycle.weights()[bucket] - published).abs() < 1e-8, "half hour {bucket}");
        }
    }

    #[test]
    fn the_clock_runs_by_the_weights() {
        // Nearly no weight in the first half of the day, all of it in the second.
        let mut weights = [1e-9; BUCKETS];
        weights[24..].fill(3.0);
        let cycle = DailyCycle::new(weights);
        assert!((cycle.real(43_200.0) - 64_800.0).abs() < 1e-3);
        assert!((cycle.real(86_400.0 * 5.0 + 1.0) - (86_400.0 * 5.0 + 43_200.5)).abs() < 1e-3);
        // Going from bucket to bucket, as the authors' program does, gives the same instant.
        let cycle = DailyCycle::gamma(8.9186, 3.6680);
        for weighted in [0.0, 1.0, 17.3, 1800.0, 40_000.0, 86_399.9, 86_400.0, 250_000.0, 1e7] {
            let (mut points, mut bucket, mut real) = (weighted / BUCKET_SECONDS, 0, 0.0);
            while points > cycle.weights()[bucket] {
                points -= cycle.weights()[bucket];
                bucket = (bucket + 1) % BUCKETS;
                real += BUCKET_SECONDS;
            }
            real += BUCKET_SECONDS * points / cycle.weights()[bucket];
            assert!((cycle.real(weighted) - real).abs() < 1e-3, "{weighted}: {} {real}", cycle.real(weighted));
            assert!((cycle.weighted(real) - weighted).abs() < 1e-3, "{weighted}");
        }
    }
}
