//! How long until a given number of further processors are free? Downey's predictors A and B, their combination, and
//! the exact median (Downey, section 3).
//!
//! The unknown is q, the time from now: the probability that a job of age a still runs is that of equation 5 at t = a +
//! q. Jobs past the longest lifetime count as never ending, and a prediction is at least one second.
//!
//! (In the printed equation 6 the two products are swapped: b_i = 1 means that the job has completed.)

use std::ops::RangeInclusive;

use super::lifetimes::Aged;
use crate::sort::sort_by_key;

/// The shortest predicted queue time, in seconds.
pub const SHORTEST_QUEUE_TIME: f64 = 1.0;

/// The relative precision of a queue time.
const PRECISION: f64 = 1e-9;

/// How queue times are predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueTimeMethod {
    /// Predictor A: the median time until one benefactor ends, that is a job with enough processors for the request
    /// alone (equation 9).
    Benefactors,
    /// Predictor B: the mean time, as if jobs released their processors gradually (equation 10).
    Release,
    /// Predictor A if there are enough benefactors, else predictor B (section 3.3).
    Combined {
        /// The smallest number of benefactors for predictor A.
        least: u32,
    },
    /// The median over all outcomes (equation 8). The number of released processors is a sum of independent numbers, so
    /// its distribution is computed by adding one job after the other, without enumerating the outcomes.
    Exact,
}

/// The running jobs at one instant, with the distributions of their remaining run times.
#[derive(Clone, Debug, Default)]
pub struct Outlook {
    /// The widest job first, without jobs past the longest lifetime.
    jobs: Vec<(u32, Aged)>,
    /// The processors of these jobs.
    procs: u32,
}

/// The condition that holds from the queue time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Equation {
    /// With a probability of one half, at least one of the first `n` jobs has ended.
    OneOf(usize),
    /// The expected number of released processors is at least this number.
    Released(u32),
    /// With a probability of one half, jobs with at least this many processors together have ended.
    Ended(u32),
}

impl Outlook {
    /// Running jobs, by their processors and the distribution of their lifetimes at their age; None for a job past the
    /// longest lifetime.
    pub fn new(running: impl Iterator<Item = (u32, Option<Aged>)>) -> Outlook {
        let mut jobs: Vec<_> = running.filter_map(|(procs, life)| Some((procs, life?))).collect();
        sort_by_key(&mut jobs, |(procs, _)| std::cmp::Reverse(*procs));
        Outlook { procs: jobs.iter().map(|(procs, _)| procs).sum(), jobs }
    }

    /// The predicted time, in seconds, until `more` processors are free. None if the jobs that will end have too few
    /// processors, or if there is no benefactor for predictor A alone.
    pub fn queue_time(&self, method: QueueTimeMethod, more: u32) -> Option<f64> {
        self.queue_time_within(method, more, f64::INFINITY)
    }

    /// The same if it is at most `limit` seconds, else None. That is much faster to decide than to compute the time
    /// itself.
    pub fn queue_time_within(&self, method: QueueTimeMethod, more: u32, limit: f64) -> Option<f64> {
        let equation = self.equation(method, more)?;
        if limit < SHORTEST_QUEUE_TIME {
            return None;
        }
        let high = if limit.is_finite() { limit } else { self.surely_by(equation) };
        let above = self.excess(equation, high);
        if limit.is_finite() && above < 0.0 {
            return None;
        }
        match self.excess(equation, SHORTEST_QUEUE_TIME) {
            reached if reached >= 0.0 => Some(SHORTEST_QUEUE_TIME),
            below => Some(self.solve(equation, (SHORTEST_QUEUE_TIME, below), (high, above))),
        }
    }

    /// Whether the predicted time is at most `limit`.
    pub fn is_within(&self, method: QueueTimeMethod, more: u32, limit: f64) -> bool {
        let equation = self.equation(method, more);
        limit >= SHORTEST_QUEUE_TIME
            && equation.is_some_and(|equation| limit == f64::INFINITY || self.holds(equation, limit))
    }

    /// The requests from 1 to `most` that have an answer, as ranges in which the time never decreases with the number
    /// of processors. (The combined predictor may predict less for a request with too few benefactors than for a
    /// smaller one.)
    pub fn rising(&self, method: QueueTimeMethod, most: u32) -> Vec<RangeInclusive<u32>> {
        let widest = |count: u32| self.jobs.get(count as usize - 1).map_or(0, |(procs, _)| *procs).min(most);
        let ends = self.procs.min(most);
        match method {
            QueueTimeMethod::Benefactors => vec![1..=widest(1)],
            QueueTimeMethod::Combined { least } => vec![1..=widest(least), widest(least) + 1..=ends],
            QueueTimeMethod::Release | QueueTimeMethod::Exact => vec![1..=ends],
        }
    }

    fn equation(&self, method: QueueTimeMethod, more: u32) -> Option<Equation> {
        let benefactors = self.jobs.partition_point(|(procs, _)| *procs >= more);
        match method {
            QueueTimeMethod::Benefactors => (benefactors > 0).then_some(Equation::OneOf(benefactors)),
            QueueTimeMethod::Combined { least } if benefactors >= least as usize => Some(Equation::OneOf(benefactors)),
            _ if self.procs < more => None,
            QueueTimeMethod::Combined { .. } | QueueTimeMethod::Release => Some(Equation::Released(more)),
            QueueTimeMethod::Exact => Some(Equation::Ended(more)),
        }
    }

    /// Whether the excess is at least 0. Often the first few jobs are enough to decide this.
    fn holds(&self, equation: Equation, time: f64) -> bool {
        match equation {
            Equation::OneOf(count) => {
                let mut none = 1.0;
                self.jobs[..count].iter().any(|(_, life)| {
                    none *= life.still_runs(time);
                    none <= 0.5
                })
            }
            Equation::Released(more) => {
                let mut released = 0.0;
                self.jobs.iter().any(|(procs, life)| {
                    released += f64::from(*procs) * (1.0 - life.still_runs(time));
                    released >= f64::from(more)
                })
            }
            Equation::Ended(_) => self.excess(equation, time) >= 0.0,
        }
    }

    /// By how much an equation is fulfilled. It grows with time and is 0 at the queue time.
    fn excess(&self, equation: Equation, time: f64) -> f64 {
        match equation {
            // Downey, equation 9: the probability that none of the benefactors has ended.
            Equation::OneOf(count) => {
                0.5 - self.jobs[..count].iter().map(|(_, life)| life.still_runs(time)).product::<f64>()
            }
            // Downey, equation 10.
            Equation::Released(more) => {
                let released = |(procs, life): &(u32, Aged)| f64::from(*procs) * (1.0 - life.still_runs(time));
                self.jobs.iter().map(released).sum::<f64>() - f64::from(more)
            }
            Equation::Ended(more) => self.probability_of(more, time) - 0.5,
        }
    }

    /// The time at which an equation holds, between two times with known excess. Bisection steps alternate with steps
    /// of the false position method, in log space, where these equations are nearly straight lines.
    fn solve(&self, equation: Equation, (low, mut below): (f64, f64), (high, above): (f64, f64)) -> f64 {
        let (mut low, mut high) = (libm::log(low), libm::log(high));
        // At the upper end the equation holds; rounding may make the excess slightly negative.
        let mut above = above.max(f64::MIN_POSITIVE);
        let mut last = None;
        for step in 1.. {
            if high - low <= PRECISION {
                break;
            }
            let guess = match step % 4 {
                0 => (low + high) / 2.0,
                _ => high - above * (high - low) / (above - below),
            };
            // Not at an end of the bracket, because then the bracket would not become smaller.
            let guess = guess.clamp(low + PRECISION / 2.0, high - PRECISION / 2.0);
            let excess = self.excess(equation, libm::exp(guess));
            // The Illinois rule: the value at an end that stays twice in a row is halved.
            let again = last == Some(excess >= 0.0);
            last = Some(excess >= 0.0);
            if excess >= 0.0 {
                (high, above) = (guess, excess);
                below /= if again { 2.0 } else { 1.0 };
            } else {
                (low, below) = (guess, excess);
                above /= if again { 2.0 } else { 1.0 };
            }
        }
        libm::exp(high)
    }

    /// Downey, equation 8: the probability that jobs of at least `more` processors have ended after `time`.
    pub fn probability_of(&self, more: u32, time: f64) -> f64 {
        // The probability of each number of released processors below `more`. Larger numbers are not needed.
        let mut short_of = vec![0.0; more as usize];
        if let Some(none) = short_of.first_mut() {
            *none = 1.0;
        }
        for (procs, life) in &self.jobs {
            let running = life.still_runs(time);
            for released in (0..short_of.len()).rev() {
                let before = released.checked_sub(*procs as usize).map_or(0.0, |before| short_of[before]);
                short_of[released] = short_of[released] * running + before * (1.0 - running);
            }
        }
        1.0 - short_of.iter().sum::<f64>()
    }

    /// A time by which an equation certainly holds.
    fn surely_by(&self, equation: Equation) -> f64 {
        let ends = |jobs: &[(u32, Aged)]| jobs.iter().map(|(_, life)| life.ends_within()).collect::<Vec<_>>();
        match equation {
            Equation::OneOf(benefactors) => ends(&self.jobs[..benefactors]).into_iter().fold(f64::INFINITY, f64::min),
            _ => ends(&self.jobs).into_iter().fold(SHORTEST_QUEUE_TIME, f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::UniformLog;
    use crate::rng::stream;
    use crate::stats::percentile;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;

    /// The lifetimes of Downey, section 2.2.1: from e^2 to e^12 seconds.
    const LIFETIMES: UniformLog = UniformLog { ln_min: 2.0, ln_max: 12.0 };

    /// Up to 12 running jobs on 128 processors, with ages distributed like lifetimes.
    fn random_outlook(rng: &mut ChaCha8Rng) -> Outlook {
        let mut left = 128;
        let mut jobs = Vec::new();
        for _ in 0..rng.random_range(1..=12) {
            let procs: u32 = (1u32 << rng.random_range(0..6)).min(left);
            left -= procs;
            // Some are new, and some are about to reach the longest lifetime.
            let age = [0.0, LIFETIMES.quantile(rng.random()), LIFETIMES.quantile(1.0) - 10.0][rng.random_range(0..3)];
            jobs.push((procs, LIFETIMES.at_age(age)));
        }
        Outlook::new(jobs.into_iter().filter(|(procs, _)| *procs > 0))
    }

    /// Downey, equations 6 to 8 literally: all outcomes, one by one.
    fn by_enumeration(outlook: &Outlook, more: u32, time: f64) -> f64 {
        let jobs = &outlook.jobs;
        let outcomes = (0..1u32 << jobs.len()).map(|outcome| {
            let (mut probability, mut released) = (1.0, 0);
            for (at, (procs, life)) in jobs.iter().enumerate() {
                let ended = outcome >> at & 1 == 1;
                probability *= if ended { 1.0 - life.still_runs(time) } else { life.still_runs(time) };
                released += if ended { *procs } else { 0 };
            }
            if released >= more { probability } else { 0.0 }
        });
        outcomes.sum()
    }

    fn median_by_enumeration(outlook: &Outlook, more: u32) -> f64 {
        let (mut low, mut high): (f64, f64) = (SHORTEST_QUEUE_TIME, 200_000.0);
        while high / low > 1.0 + 1e-9 {
            let middle = (low * high).sqrt();
            match by_enumeration(outlook, more, middle) >= 0.5 {
                true => high = middle,
                false => low = middle,
            }
        }
        high
    }

    #[test]
    fn the_exact_median_is_that_of_all_outcomes() {
        let mut rng = stream(1, "outcomes");
        for _ in 0..100 {
            let outlook = random_outlook(&mut rng);
            let more = rng.random_range(1..=outlook.procs);
            let time = LIFETIMES.quantile(rng.random());
            assert!((outlook.probability_of(more, time) - by_enumeration(&outlook, more, time)).abs() < 1e-12);
            let (exact, expected) =
                (outlook.queue_time(QueueTimeMethod::Exact, more).unwrap(), median_by_enumeration(&outlook, more));
            assert!((exact / expected - 1.0).abs() < 1e-6, "{exact} for {expected}");
        }
    }

    /// Predictor A ignores that small jobs may satisfy a request together: it is never below the exact median, and
    /// equals it if they cannot.
    #[test]
    fn predictor_a_is_the_median_where_only_benefactors_count() {
        let mut rng = stream(2, "outcomes");
        let mut equal = 0;
        for _ in 0..120 {
            let outlook = random_outlook(&mut rng);
            let more = rng.random_range(1..=outlook.jobs[0].0);
            let (a, exact) = (
                outlook.queue_time(QueueTimeMethod::Benefactors, more).unwrap(),
                median_by_enumeration(&outlook, more),
            );
            assert!(a > exact * (1.0 - 1e-6), "{a} for {exact}");
            let small: u32 = outlook.jobs.iter().map(|(procs, _)| procs).filter(|procs| **procs < more).sum();
            if small < more {
                equal += 1;
                assert!((a / exact - 1.0).abs() < 1e-6, "{a} for {exact}");
            }
        }
        assert!(equal > 15, "{equal}");
    }

    /// How far the approximations are from the median of all outcomes, on random states of up to 12 jobs. They only
    /// need to be good enough for a choice between numbers of processors.
    #[test]
    fn approximations_are_about_as_long_as_the_median() {
        let mut rng = stream(3, "outcomes");
        let mut ratios = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..600 {
            let outlook = random_outlook(&mut rng);
            let more = rng.random_range(1..=outlook.procs);
            let exact = outlook.queue_time(QueueTimeMethod::Exact, more).unwrap();
            for (at, method) in
                [QueueTimeMethod::Benefactors, QueueTimeMethod::Release, QueueTimeMethod::Combined { least: 2 }]
                    .into_iter()
                    .enumerate()
            {
                ratios[at].extend(outlook.queue_time(method, more).map(|time| (time / exact).ln().abs()));
            }
        }
        // Within these factors in half of the cases, and in nine of ten.
        for (ratios, (half, most)) in ratios.iter_mut().zip([(1.01f64, 3.0f64), (1.6, 6.5), (1.4, 7.0)]) {
            assert!(percentile(ratios, 50.0) < half.ln() && percentile(ratios, 90.0) < most.ln());
        }
    }

    /// The steps between bisections find the same as bisection alone.
    #[test]
    fn equations_are_solved_as_bisection_solves_them() {
        let mut rng = stream(4, "outcomes");
        for _ in 0..1000 {
            let outlook = random_outlook(&mut rng);
            let more = rng.random_range(1..=outlook.procs);
            for method in [QueueTimeMethod::Benefactors, QueueTimeMethod::Release, QueueTimeMethod::Exact] {
                let Some(equation) = outlook.equation(method, more) else { continue };
                let (mut low, mut high): (f64, f64) = (SHORTEST_QUEUE_TIME, 200_000.0);
                while high / low > 1.0 + 1e-10 {
                    let middle = (low * high).sqrt();
                    match outlook.holds(equation, middle) {
                        true => high = middle,
                        false => low = middle,
                    }
                }
                let found = outlook.queue_time(method, more).unwrap();
                assert!((found / high - 1.0).abs() < 1e-8, "{method:?}: {found} for {high}");
                assert_eq!(outlook.queue_time_within(method, more, found * 0.99).filter(|_| found > 1.02), None);
                let within = outlook.queue_time_within(method, more, found * 1.01).unwrap();
                assert!((within / found - 1.0).abs() < 1e-8);
            }
        }
    }

    /// By hand: one new job of 4 processors. A: (12 - ln t) / 10 = 1/2 at e^7. B for 2 of 4 processors: the same; for 4 of 4
    /// all of it must be over, at e^12; for 1 of 4 a quarter, at e^4.5.
    #[test]
    fn worked_by_hand() {
        let outlook = Outlook::new([(4, LIFETIMES.at_age(0.0))].into_iter());
        let near = |method, more, ln: f64| (outlook.queue_time(method, more).unwrap() / ln.exp() - 1.0).abs() < 1e-8;
        assert!(near(QueueTimeMethod::Benefactors, 1, 7.0) && near(QueueTimeMethod::Benefactors, 4, 7.0));
        assert!(
            near(QueueTimeMethod::Release, 2, 7.0)
                && near(QueueTimeMethod::Release, 4, 12.0)
                && near(QueueTimeMethod::Release, 1, 4.5)
        );
        // One benefactor is not enough for A.
        assert!(
            near(QueueTimeMethod::Combined { least: 2 }, 1, 4.5)
                && near(QueueTimeMethod::Combined { least: 1 }, 1, 7.0)
        );
        assert_eq!(outlook.queue_time(QueueTimeMethod::Benefactors, 5), None);
        assert_eq!(outlook.queue_time(QueueTimeMethod::Release, 5), None);
        // Two new ones: ((12 - ln t) / 10)^2 = 1/2.
        let two = Outlook::new([(4, LIFETIMES.at_age(0.0)), (4, LIFETIMES.at_age(0.0))].into_iter());
        let expected = (12.0 - 10.0 * 0.5f64.sqrt()).exp();
        assert!((two.queue_time(QueueTimeMethod::Combined { least: 2 }, 3).unwrap() / expected - 1.0).abs() < 1e-8);
        // One past the longest lifetime counts as never ending.
        let past = Outlook::new([(4, LIFETIMES.at_age(170_000.0))].into_iter());
        assert_eq!(past.queue_time(QueueTimeMethod::Combined { least: 2 }, 1), None);
    }

    #[test]
    fn in_a_range_more_processors_never_take_less_time() {
        let mut rng = stream(5, "outcomes");
        for _ in 0..300 {
            let outlook = random_outlook(&mut rng);
            let most = rng.random_range(1..=128);
            for method in
                [QueueTimeMethod::Benefactors, QueueTimeMethod::Release, QueueTimeMethod::Combined { least: 2 }]
            {
                let ranges = outlook.rising(method, most);
                for range in &ranges {
                    let times: Vec<f64> =
                        range.clone().map(|more| outlook.queue_time(method, more).expect("an answer")).collect();
                    assert!(times.is_sorted_by(|a, b| a <= &(b * (1.0 + 1e-8))), "{method:?} {range:?} {times:?}");
                }
                let covered = |more: u32| ranges.iter().any(|range| range.contains(&more));
                assert!((1..=most).all(|more| covered(more) == outlook.queue_time(method, more).is_some()));
            }
        }
    }
}
