//! Medians, percentiles and other small statistics.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::time::Seconds;

/// The median of whole seconds; of an even number the mean of the middle two, rounded down. Reorders `values`.
///
/// # Panics
/// If there are no values.
pub fn median(values: &mut [Seconds]) -> Seconds {
    let count = values.len();
    let (below, &mut upper, _) = values.select_nth_unstable(count / 2);
    if count % 2 == 1 {
        return upper;
    }
    let lower = *below.iter().max().expect("an even number of values has one below the middle");
    (lower + upper).div_euclid(2)
}

/// The mean of whole seconds, rounded down.
///
/// # Panics
/// If there are no values.
pub fn mean(values: &[Seconds]) -> Seconds {
    let sum: i128 = values.iter().map(|&v| i128::from(v)).sum();
    sum.div_euclid(values.len() as i128) as Seconds
}

/// A single percentile, as [`percentiles`].
pub fn percentile(values: &mut [f64], percent: f64) -> f64 {
    let [found] = percentiles(values, [percent]);
    found
}

/// Nearest-rank percentiles: for each of `percents`, the smallest value such that at least that percentage of all values is
/// not above it. `percents` must be in ascending order. Reorders `values`; NaN if there are no values.
pub fn percentiles<const N: usize>(values: &mut [f64], percents: [f64; N]) -> [f64; N] {
    debug_assert!(percents.is_sorted());
    let count = values.len();
    if count == 0 {
        return percents.map(|_| f64::NAN);
    }
    // The values below one percentile are not needed for the next.
    let mut below = 0;
    percents.map(|percent| {
        let rank = rank(percent, count);
        let found = *values[below..].select_nth_unstable_by(rank - 1 - below, f64::total_cmp).1;
        below = rank - 1;
        found
    })
}

/// The rank, from 1 on, of a nearest-rank percentile of `count` values in ascending order.
pub fn rank(percent: f64, count: usize) -> usize {
    ((percent / 100.0 * count as f64).ceil().max(1.0) as usize).min(count)
}

/// The mean, and the half-width of its 95% confidence interval by Student's t with n - 1 degrees of freedom. The half-width
/// is None for less than two values, the mean NaN for none.
pub fn mean_and_half_width(values: &[f64]) -> (f64, Option<f64>) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 {
        return (mean, None);
    }
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0);
    let quantile = StudentsT::new(0.0, 1.0, count - 1.0).expect("there are degrees of freedom").inverse_cdf(0.975);
    (mean, Some(quantile * (variance / count).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_round_down() {
        assert_eq!(median(&mut [7]), 7);
        assert_eq!(median(&mut [4, 1]), 2);
        assert_eq!(median(&mut [9, 1, 5]), 5);
        assert_eq!(median(&mut [1, 9, 4, 8]), 6);
        assert_eq!(median(&mut [3, 3, 3, 3]), 3);
    }

    #[test]
    fn means_round_down() {
        assert_eq!(mean(&[1, 2]), 1);
        assert_eq!(mean(&[i64::MAX, i64::MAX]), i64::MAX);
    }

    #[test]
    fn intervals_are_students() {
        // Mean 3, standard deviation sqrt(2.5), t of 4 degrees of freedom 2.776445 (tables).
        let (mean, half) = mean_and_half_width(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(mean, 3.0);
        assert!((half.unwrap() - 2.776_445 * (2.5f64 / 5.0).sqrt()).abs() < 1e-5);
        assert_eq!(mean_and_half_width(&[7.0]), (7.0, None));
    }

    #[test]
    fn percentiles_are_nearest_rank() {
        // The textbook example of the nearest-rank method: 15 20 35 40 50.
        let mut values = [50.0, 15.0, 40.0, 20.0, 35.0];
        assert_eq!(percentiles(&mut values, [5.0, 30.0, 40.0, 50.0, 100.0]), [15.0, 20.0, 20.0, 35.0, 50.0]);
        assert!(percentiles(&mut [], [50.0])[0].is_nan());
    }
}
