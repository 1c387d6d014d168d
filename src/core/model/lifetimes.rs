//! Lifetimes with a uniform-log distribution (Downey), F(t) = b0 + b1 ln t: the distribution, its condition on a job's
//! age, and its fit to given run times.
//!
//! The fit is by least squares over the points (ln t, rank / N), one per job. A new run time raises the ranks of all
//! longer ones by 1, so the sum of rank x logarithm grows by their logarithms. Therefore run times are kept in sorted
//! blocks with the sums of logarithms.

use crate::sorted_blocks::{Sorted, SortedBlocks};

/// The uniform-log distribution (Downey, equation 4), by the logarithms of its bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UniformLog {
    /// The natural logarithm of the shortest lifetime.
    pub ln_min: f64,
    /// The natural logarithm of the longest lifetime.
    pub ln_max: f64,
}

/// A job this near to t_max, as a difference of logarithms, has reached it. A job that waits for all others to end waits
/// until one is just at t_max, as precisely as queue times are solved; rounding must not decide what it does then.
const REACHED: f64 = 1e-8;

impl UniformLog {
    /// From the line b0 + b1 ln t: t_min = exp(-b0 / b1), t_max = exp((1 - b0) / b1).
    pub fn of_line(intercept: f64, slope: f64) -> UniformLog {
        UniformLog { ln_min: -intercept / slope, ln_max: (1.0 - intercept) / slope }
    }

    /// The value below which a share `u` (0 to 1) of all lifetimes is.
    pub fn quantile(&self, u: f64) -> f64 {
        libm::exp(self.ln_min + u * (self.ln_max - self.ln_min))
    }

    /// The mean: (t_max - t_min) / (ln t_max - ln t_min).
    pub fn mean(&self) -> f64 {
        (libm::exp(self.ln_max) - libm::exp(self.ln_min)) / (self.ln_max - self.ln_min)
    }

    /// The longest lifetime, t_max.
    pub fn longest(&self) -> f64 {
        libm::exp(self.ln_max)
    }

    /// The median lifetime of jobs that reach age a, which is at least t_min: sqrt(a t_max).
    pub fn median_at_age(&self, age: f64) -> f64 {
        (age * self.longest()).sqrt()
    }

    /// The mean lifetime of jobs that reach age a, which is at least t_min: (t_max - a) / (ln t_max - ln a).
    pub fn mean_at_age(&self, age: f64) -> f64 {
        let longest = self.longest();
        (longest - age) / (libm::log(longest) - libm::log(age))
    }

    /// The distribution for a job that has run for `age` so far. None if the age is at least t_max.
    pub fn at_age(&self, age: f64) -> Option<Aged> {
        // Ages below t_min, also 0, which has no logarithm, are like t_min.
        let reached = if age > 0.0 { libm::log(age).max(self.ln_min) } else { self.ln_min };
        let left = self.ln_max - reached;
        (left > REACHED).then_some(Aged { age, ln_min: self.ln_min, ln_max: self.ln_max, left })
    }

    /// Splits it into `parts` of equal probability and returns the part number `at`, counted from 0.
    pub fn part(&self, at: u32, parts: u32) -> UniformLog {
        let bound = |at: u32| self.ln_min + (self.ln_max - self.ln_min) * f64::from(at) / f64::from(parts);
        UniformLog { ln_min: bound(at), ln_max: bound(at + 1) }
    }

    /// The number of the part, out of `parts`, that contains a lifetime with this logarithm. The first and the last part
    /// also contain what is outside the distribution.
    pub fn part_of(&self, ln: f64, parts: u32) -> u32 {
        let share = (ln - self.ln_min) / (self.ln_max - self.ln_min);
        ((share * f64::from(parts)).max(0.0) as u32).min(parts - 1)
    }
}

/// The distribution of the lifetime of a job with a known age.
#[derive(Clone, Copy, Debug)]
pub struct Aged {
    age: f64,
    ln_min: f64,
    ln_max: f64,
    /// ln t_max - ln a
    left: f64,
}

impl Aged {
    /// The probability that the job still runs after `more` additional time. Downey, equation 5, at t = a + more:
    /// (1 - b0 - b1 ln t) / (1 - b0 - b1 ln a) = (ln t_max - ln t) / (ln t_max - ln a).
    pub fn still_runs(&self, more: f64) -> f64 {
        let ln = libm::log(self.age + more);
        if ln <= self.ln_min { 1.0 } else { ((self.ln_max - ln) / self.left).clamp(0.0, 1.0) }
    }

    /// The same with the age left out of the time: `still_runs(t)` is then equation 5 at t itself, the time since the
    /// start of the job, and 1 before its age. Downey's text does not say that the age is to be subtracted.
    #[must_use]
    pub fn without_age(self) -> Aged {
        Aged { age: 0.0, ..self }
    }

    /// The additional time after which the job has certainly ended.
    pub fn ends_within(&self) -> f64 {
        libm::exp(self.ln_max) - self.age
    }
}

/// Run times, in any unit, to which a distribution is fitted.
#[derive(Clone, Debug, Default)]
pub struct Lifetimes {
    /// Of each block, the sum of the logarithms.
    lives: SortedBlocks<Lifetime>,
    sum: f64,
    squares: f64,
    /// The sum of rank x ln t, ranks from 1.
    by_rank: f64,
}

#[derive(Clone, Copy, Debug)]
struct Lifetime {
    runtime: f64,
    ln: f64,
}

impl Sorted for Lifetime {
    type Key = f64;
    type Summary = f64;
    const LARGEST: usize = 512;

    fn key(&self) -> f64 {
        self.runtime
    }

    fn summary(lives: &[Lifetime]) -> f64 {
        lives.iter().map(|life| life.ln).sum()
    }

    fn add(&self, sum: &mut f64) {
        *sum += self.ln;
    }
}

impl Lifetimes {
    /// Adds a run time, which must be above 0.
    pub fn add(&mut self, runtime: f64) {
        // libm's logarithm has the same digits on every platform.
        let ln = libm::log(runtime);
        let (at, place) = self.lives.place(runtime);
        let (before, others) = self.lives.blocks().split_at(at);
        let shorter = before.iter().map(|block| block.items.len()).sum::<usize>() + place;
        let after: f64 = others[1..].iter().map(|block| block.summary).sum();
        let longer = Lifetime::summary(&others[0].items[place..]) + after;
        self.lives.insert_at((at, place), Lifetime { runtime, ln });
        self.by_rank += (shorter + 1) as f64 * ln + longer;
        self.sum += ln;
        self.squares += ln * ln;
    }

    /// The best fit. None if there are no two different run times.
    pub fn fit(&self) -> Option<UniformLog> {
        let blocks = self.lives.blocks();
        let (shortest, longest) = (blocks.first()?.items.first()?.runtime, blocks.last()?.items.last()?.runtime);
        if shortest == longest {
            return None;
        }
        let n = self.lives.len() as f64;
        let (mean_ln, mean_rank) = (self.sum / n, (n + 1.0) / (2.0 * n));
        let slope = (self.by_rank / n - self.sum * mean_rank) / (self.squares - self.sum * mean_ln);
        let intercept = mean_rank - slope * mean_ln;
        Some(UniformLog::of_line(intercept, slope))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::RngExt;

    /// Compares with a fit that sorts all run times and computes the sums directly.
    #[test]
    fn the_fit_is_that_of_all_points() {
        let mut rng = stream(1, "lifetimes");
        let (mut lifetimes, mut plain) = (Lifetimes::default(), Vec::new());
        for step in 0..5000 {
            let runtime = f64::from(rng.random_range(1..300) * rng.random_range(1..300));
            lifetimes.add(runtime);
            plain.push(runtime);
            if step % 97 == 3 || step == 4999 {
                plain.sort_unstable_by(f64::total_cmp);
                let n = plain.len() as f64;
                let points: Vec<(f64, f64)> =
                    plain.iter().zip(1..).map(|(t, rank)| (t.ln(), f64::from(rank) / n)).collect();
                let (x, y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
                let both: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
                let slope = both / points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum::<f64>();
                let expected = ((1.0 - (y - slope * x)) / slope).exp();
                assert!((lifetimes.fit().unwrap().longest() / expected - 1.0).abs() < 1e-9, "after {step}");
            }
        }
    }

    #[test]
    fn equal_run_times_have_no_distribution() {
        let mut lifetimes = Lifetimes::default();
        assert_eq!(lifetimes.fit(), None);
        (0..2000).for_each(|_| lifetimes.add(60.0));
        assert_eq!(lifetimes.fit(), None);
        // The fit of two points goes through both: F(1) = 1/2, F(e) = 1, so t_max is the longer one.
        let mut two = Lifetimes::default();
        two.add(100.0);
        two.add(4.0);
        assert!((two.fit().unwrap().longest() - 100.0).abs() < 1e-9);
    }

    /// Section 2.2.1 of the paper: from e^2 to e^12 seconds the median is 18 minutes and the mean 271.
    #[test]
    fn the_papers_lifetimes() {
        let life = UniformLog::of_line(-0.2, 0.1);
        assert!((life.ln_min - 2.0).abs() < 1e-12 && (life.ln_max - 12.0).abs() < 1e-12);
        assert_eq!((life.quantile(0.5) / 60.0).round(), 18.0);
        assert_eq!((life.mean() / 60.0).round(), 271.0);
    }

    /// Compares with the definition: the probability to reach t divided by the probability to reach the age.
    #[test]
    fn what_is_left_of_a_lifetime() {
        let life = UniformLog::of_line(-0.2, 0.1);
        let reach = |t: f64| 1.0 - (-0.2 + 0.1 * t.ln()).clamp(0.0, 1.0);
        for age in [0.0, 3.0, 10.0, 500.0, 100_000.0] {
            let aged = life.at_age(age).unwrap();
            for more in [0.0, 1.0, 60.0, 5000.0, 60_000.0, 200_000.0] {
                let expected = reach(age + more) / reach(age);
                assert!((aged.still_runs(more) - expected).abs() < 1e-12, "{more} after {age}");
            }
            assert!(aged.still_runs(aged.ends_within() * (1.0 + 1e-12)) < 1e-9);
            if age >= 10.0 {
                assert!((aged.still_runs(life.median_at_age(age) - age) - 0.5).abs() < 1e-12);
            }
        }
        assert!(life.at_age(163_000.0).is_none(), "nothing outlives t_max");
        // Without the age: of a job of e^6 s half are left at e^9 s, and it runs for certain until e^6 s.
        let literal = life.at_age(6f64.exp()).unwrap().without_age();
        let left = [5f64, 6.0, 7.5, 9.0, 12.0].map(|ln| literal.still_runs(ln.exp()));
        assert!(left.iter().zip([1.0, 1.0, 0.75, 0.5, 0.0]).all(|(left, expected)| (left - expected).abs() < 1e-12));
        assert!((literal.ends_within() / 12f64.exp() - 1.0).abs() < 1e-12);
        // The mean remaining time is the integral of the probability to run on.
        let (age, steps) = (100.0, 2_000_000);
        let aged = life.at_age(age).unwrap();
        let step = aged.ends_within() / f64::from(steps);
        let area: f64 = (0..steps).map(|at| aged.still_runs((f64::from(at) + 0.5) * step) * step).sum();
        assert!((age + area) / life.mean_at_age(age) - 1.0 < 1e-6);
    }

    #[test]
    fn parts_are_equal_and_make_up_the_whole() {
        let life = UniformLog::of_line(-0.2, 0.1);
        assert_eq!(life.part(0, 1), UniformLog { ln_min: life.ln_min, ln_max: life.ln_max });
        for at in 0..5 {
            let part = life.part(at, 5);
            assert!((part.ln_min - 2.0 - 2.0 * f64::from(at)).abs() < 1e-12);
            assert_eq!(life.part_of((part.ln_min + part.ln_max) / 2.0, 5), at);
        }
        assert_eq!((life.part_of(-3.0, 5), life.part_of(12.5, 5)), (0, 4));
    }
}
