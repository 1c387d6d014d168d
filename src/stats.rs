//! Medians, percentiles and other small statistics.

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

/// The nearest-rank percentile: the smallest value such that at least `percent` of all are not above it.
/// Reorders `values`; none at all gives NaN.
pub fn percentile(values: &mut [f64], percent: f64) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let rank = (percent / 100.0 * values.len() as f64).ceil().max(1.0) as usize;
    *values.select_nth_unstable_by(rank.min(values.len()) - 1, f64::total_cmp).1
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
    fn percentiles_are_nearest_rank() {
        // The textbook example of the nearest-rank method: 15 20 35 40 50.
        let mut values = [50.0, 15.0, 40.0, 20.0, 35.0];
        for (percent, value) in [(5.0, 15.0), (30.0, 20.0), (40.0, 20.0), (50.0, 35.0), (100.0, 50.0)] {
            assert_eq!(percentile(&mut values, percent), value);
        }
        assert!(percentile(&mut [], 50.0).is_nan());
    }
}
