//! A category of similar jobs: the data stored of them, and the prediction for another job (Smith et al., appendix).
//!
//! Sums are whole numbers. So adding and removing jobs loses no precision, equal values have a variance of exactly 0, and
//! the prediction depends only on the jobs that the category contains now.

use std::collections::VecDeque;

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::templates::{CategoryEstimate, Data, Template};
use crate::job::Submission;
use crate::time::Seconds;

/// The number of fraction bits of a relative runtime.
const FRACTION: u32 = 30;
/// The largest ratio of runtime to estimate; larger ones count as this. It keeps sums of squares of hundreds of millions
/// of jobs within 128 bits.
const LARGEST_RATIO: u64 = 1 << 16;

/// The value that a category stores of a job: the runtime in seconds, or the runtime divided by the estimate in units of
/// 2^-30.
pub fn data_point(data: Data, runtime: Seconds, estimate: Seconds) -> i64 {
    match data {
        Data::Actual => runtime,
        Data::Relative => {
            // Rounded to the nearest, halves up. The first branch is faster and cannot overflow.
            let (runtime, estimate) = (runtime as u64, estimate as u64);
            let ratio = match runtime < 1 << 32 {
                true => ((runtime << (FRACTION + 1)) + estimate) / (2 * estimate),
                false => {
                    let exact =
                        ((u128::from(runtime) << (FRACTION + 1)) + u128::from(estimate)) / u128::from(2 * estimate);
                    exact.min(u128::from(u64::MAX)) as u64
                }
            };
            ratio.min(LARGEST_RATIO << FRACTION) as i64
        }
    }
}

/// The number of seconds in one unit of a data point, for a job with this estimate.
pub fn unit(data: Data, estimate: Seconds) -> f64 {
    match data {
        Data::Actual => 1.0,
        Data::Relative => estimate as f64 / (1u64 << FRACTION) as f64,
    }
}

/// A prediction with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CategoryAnswer {
    /// The predicted runtime, in seconds.
    pub value: f64,
    /// The half-width of the confidence interval, in seconds.
    pub interval: f64,
}

/// Rounds a prediction to the nearest whole second, at least 1.
pub fn whole_seconds(value: f64) -> Seconds {
    // The cast truncates. It would round negative values wrongly, but those become 1.
    ((value + 0.5) as Seconds).max(1)
}

/// Sums over the jobs of a category: of data points, of processors, and of their squares and products.
#[derive(Clone, Copy, Debug, Default)]
pub struct PointSums {
    /// The number of jobs.
    pub count: i64,
    value: i128,
    value_squared: i128,
    procs: i128,
    procs_squared: i128,
    product: i128,
}

impl PointSums {
    /// Adds a job with this data point and number of processors.
    pub fn add(&mut self, value: i64, procs: u32) {
        let (value, procs) = (i128::from(value), i128::from(procs));
        self.count += 1;
        self.value += value;
        self.value_squared += value * value;
        self.procs += procs;
        self.procs_squared += procs * procs;
        self.product += value * procs;
    }

    fn take(&mut self, value: i64, procs: u32) {
        let (value, procs) = (i128::from(value), i128::from(procs));
        self.count -= 1;
        self.value -= value;
        self.value_squared -= value * value;
        self.procs -= procs;
        self.procs_squared -= procs * procs;
        self.product -= value * procs;
    }

    /// The mean of the data points; NaN without jobs.
    pub fn mean(&self) -> f64 {
        real(self.value) / self.count as f64
    }

    /// The mean number of processors; NaN without jobs.
    pub fn mean_procs(&self) -> f64 {
        real(self.procs) / self.count as f64
    }

    /// The variance of the data points, with n - 1 in the denominator. There must be at least two jobs.
    pub fn variance(&self) -> f64 {
        let value = (self.value, pivot(self.value, self.count));
        real(spread(self.value_squared, value, value, self.count)) / (self.count * (self.count - 1)) as f64
    }
}

/// A whole number near the mean. Sums of squares are computed around it, so that they stay small. For equal values it is
/// that value.
fn pivot(sum: i128, count: i64) -> i64 {
    match i64::try_from(sum) {
        Ok(sum) => sum / count,
        Err(_) => (sum / i128::from(count)) as i64,
    }
}

/// As a float. Converting 64 bits is much faster than converting 128.
fn real(number: i128) -> f64 {
    i64::try_from(number).map_or(number as f64, |number| number as f64)
}

/// N times the sum of (x - mean x)(y - mean y), from the sum of xy and, for each of x and y, its sum and pivot. It is an
/// exact whole number, so that equal spreads give equal intervals. (It saturates only far beyond the size of any log.)
fn spread(products: i128, (x, pivot_x): (i128, i64), (y, pivot_y): (i128, i64), count: i64) -> i128 {
    let (n, pivot_x, pivot_y) = (i128::from(count), i128::from(pivot_x), i128::from(pivot_y));
    let around_pivots = products - pivot_x * y - pivot_y * x + n * pivot_x * pivot_y;
    let by_count = match i64::try_from(around_pivots) {
        Ok(word) => i128::from(word) * n,
        Err(_) => around_pivots.saturating_mul(n),
    };
    by_count - (x - n * pivot_x) * (y - n * pivot_y)
}

/// A category of a template.
#[derive(Clone, Debug, Default)]
pub struct Category {
    sums: PointSums,
    /// The data points and processors of the latest jobs, oldest first; used only if the template limits the history.
    latest: VecDeque<(i64, u32)>,
}

impl Category {
    /// Adds a job that has ended. If the template limits the history, the oldest job is removed when it is full.
    pub fn add(&mut self, template: &Template, point: i64, procs: u32) {
        if let Some(length) = template.history {
            if self.latest.len() == length as usize
                && let Some((point, procs)) = self.latest.pop_front()
            {
                self.sums.take(point, procs);
            }
            self.latest.push_back((point, procs));
        }
        self.sums.add(point, procs);
    }

    /// The prediction for a job. None if the category has too few jobs.
    pub fn answer(&self, template: &Template, job: &Submission, confidence: &Confidence) -> Option<CategoryAnswer> {
        let answer = match template.method {
            CategoryEstimate::Mean => self.mean(confidence),
            CategoryEstimate::Regression => self.regression(job.procs, confidence),
        };
        let unit = unit(template.data, job.estimate);
        answer
            .map(|CategoryAnswer { value, interval }| CategoryAnswer { value: value * unit, interval: interval * unit })
    }

    /// By Chebyshev's theorem at least 1 - 1/k^2 of all values lie within k standard deviations of the mean.
    fn mean(&self, confidence: &Confidence) -> Option<CategoryAnswer> {
        if self.sums.count < 2 {
            return None;
        }
        let deviation = self.sums.variance().sqrt();
        Some(CategoryAnswer { value: self.sums.mean(), interval: confidence.deviations * deviation })
    }

    /// The least-squares line t = b0 + b1 n, and the interval of a new point at n0:
    /// t(N-2) sqrt(MSE) sqrt(1 + 1/N + (n0 - mean n)^2 / (sum n^2 - (sum n)^2 / N)).
    fn regression(&self, procs: u32, confidence: &Confidence) -> Option<CategoryAnswer> {
        let PointSums { count, value, value_squared, procs: nodes, procs_squared, product } = self.sums;
        if count < 3 {
            return None;
        }
        let (t, n) = ((value, pivot(value, count)), (nodes, pivot(nodes, count)));
        // Each is N times a sum of squares or products of deviations: of processors, of data points, of both.
        let of_nodes = spread(procs_squared, n, n, count);
        if of_nodes == 0 {
            return None;
        }
        let (of_values, of_both) = (spread(value_squared, t, t, count), spread(product, n, t, count));
        // The squared errors are of_values - of_both^2 / of_nodes, in whole numbers where they fit.
        let exact =
            of_values.checked_mul(of_nodes).zip(of_both.checked_mul(of_both)).map(|(all, explained)| all - explained);
        let squared_errors = match exact {
            Some(errors) => real(errors) / real(of_nodes),
            None => {
                let errors = of_values as f64 - of_both as f64 / of_nodes as f64 * of_both as f64;
                // If all points are on a line, the difference is only rounding error.
                if errors < 1e-14 * of_values as f64 { 0.0 } else { errors }
            }
        };
        let n = count as f64;
        let mean_squared_error = squared_errors / (n * (n - 2.0));
        let from_mean = f64::from(procs) - self.sums.mean_procs();
        let distance = from_mean * from_mean * n / real(of_nodes);
        let width = mean_squared_error.sqrt() * (1.0 + 1.0 / n + distance).sqrt();
        let value = self.sums.mean() + real(of_both) / real(of_nodes) * from_mean;
        Some(CategoryAnswer { value, interval: confidence.student_t(count - 2) * width })
    }
}

/// The factors of confidence intervals for one confidence level.
#[derive(Clone, Debug)]
pub struct Confidence {
    /// Chebyshev's number of standard deviations.
    deviations: f64,
    /// Two-sided quantiles of Student's t for 1, 2, ... degrees of freedom, and of the normal distribution.
    few: Vec<f64>,
    normal: f64,
}

impl Confidence {
    /// From this number of degrees of freedom on, a series in their inverse is precise enough.
    const MANY: i64 = 200;

    /// For a confidence level of more than 0 and less than 100 percent.
    pub fn new(percent: f64) -> Confidence {
        let upper = 0.5 + percent / 200.0;
        let student =
            |freedom: i64| StudentsT::new(0.0, 1.0, freedom as f64).expect("a distribution").inverse_cdf(upper);
        Confidence {
            deviations: (1.0 / (1.0 - percent / 100.0)).sqrt(),
            few: (1..Self::MANY).map(student).collect(),
            normal: Normal::standard().inverse_cdf(upper),
        }
    }

    fn student_t(&self, freedom: i64) -> f64 {
        if freedom < Self::MANY {
            return self.few[freedom as usize - 1];
        }
        // Abramowitz and Stegun, 26.7.5.
        let (z, v) = (self.normal, freedom as f64);
        let z2 = z * z;
        let first = (z2 + 1.0) * z / 4.0;
        let second = ((5.0 * z2 + 16.0) * z2 + 3.0) * z / 96.0;
        let third = (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) * z / 384.0;
        let fourth = ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) * z / 92_160.0;
        z + (first + (second + (third + fourth / v) / v) / v) / v
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(text: &str) -> Template {
        Template::parse_set(text).unwrap()[0]
    }

    #[test]
    fn a_million_equal_runtimes_have_no_variance() {
        let mut sums = PointSums::default();
        (0..1_000_000).for_each(|_| sums.add(86_399, 7));
        assert_eq!((sums.mean(), sums.variance()), (86_399.0, 0.0));
        // The same for relative data points, and after jobs with other values have left a limited history.
        let relative = template("(rel,h=1000)");
        let mut category = Category::default();
        for at in 0..10_000 {
            let point = data_point(Data::Relative, if at < 5000 { at + 1 } else { 1 }, 3);
            category.add(&relative, point, 1);
        }
        let answer = category.answer(&relative, &Submission::new(0, 1, 3000), &Confidence::new(90.0)).unwrap();
        assert_eq!((whole_seconds(answer.value), answer.interval), (1000, 0.0));
    }

    #[test]
    fn large_values_with_small_variance_lose_no_digits() {
        // The textbook case in which sums of floating-point squares come out negative: variance 30 around 10^9.
        let mut sums = PointSums::default();
        [4, 7, 13, 16].iter().for_each(|small| sums.add(1_000_000_000 + small, 1));
        assert_eq!(sums.variance(), 30.0);
    }

    #[test]
    fn chebyshev_and_student() {
        let confidence = Confidence::new(90.0);
        assert!((confidence.deviations - 10.0f64.sqrt()).abs() < 1e-12);
        // Tables: t of 5% on each side.
        for (freedom, t) in [(1, 6.313_752), (2, 2.919_986), (10, 1.812_461), (120, 1.657_651)] {
            assert!((confidence.student_t(freedom) - t).abs() < 1e-6, "{freedom}");
        }
        // For more degrees of freedom the crate loses digits, so the series is compared with the normal distribution, which
        // is its limit.
        assert!((confidence.student_t(1_000_000_000) - 1.644_853_627).abs() < 1e-8);
        for percent in [50.0, 90.0, 99.9] {
            let confidence = Confidence::new(percent);
            for freedom in [200, 1000] {
                let exact = StudentsT::new(0.0, 1.0, freedom as f64).unwrap().inverse_cdf(0.5 + percent / 200.0);
                let off = (confidence.student_t(freedom) / exact - 1.0).abs();
                assert!(off < 1e-8, "{percent} {freedom}: {off}");
            }
        }
    }

    #[test]
    fn ratios_are_rounded_to_the_nearest() {
        let one = 1i64 << FRACTION;
        assert_eq!(data_point(Data::Relative, 5, 5), one);
        assert_eq!(data_point(Data::Relative, 1, 3), (one + 1) / 3);
        assert_eq!(data_point(Data::Relative, 1 << 35, 1 << 36), one / 2);
        assert_eq!(data_point(Data::Relative, 1 << 36, 1), (LARGEST_RATIO as i64) << FRACTION);
    }
}
