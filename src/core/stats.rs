//! Medians, percentiles, rank correlations and other small statistics.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::time::Seconds;

/// The smallest and the largest number; infinite, and the larger one first, if there are none.
pub fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

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

/// The mean, and the half-width of the 95% interval of a next value: that of the mean times the root of n + 1.
pub fn next_observation(values: &[f64]) -> (f64, Option<f64>) {
    let (mean, half) = mean_and_half_width(values);
    (mean, half.map(|half| half * (values.len() as f64 + 1.0).sqrt()))
}

/// Spearman's rank correlation of two columns of values: Pearson's correlation of their ranks, where equal values share the
/// mean of their ranks (midranks). This is exact with ties, unlike the formula with squared differences of ranks.
///
/// None if it is not defined: with fewer than two values, or if all values of a column are equal. The sums are whole numbers,
/// so the result does not depend on the order of the pairs.
///
/// # Panics
/// If the columns have different lengths.
pub fn spearman(first: &[Seconds], second: &[Seconds]) -> Option<f64> {
    assert_eq!(first.len(), second.len(), "the columns have the same length");
    let count = first.len() as i128;
    let (a, b) = (doubled_midranks(first), doubled_midranks(second));
    let sum_of = |pair: &mut dyn Iterator<Item = (&u64, &u64)>| -> i128 {
        pair.map(|(&a, &b)| i128::from(a) * i128::from(b)).sum()
    };
    // The ranks from 1 to n have the sum n (n + 1) / 2, with ties or without.
    let sum = count * (count + 1);
    let covariance = count * sum_of(&mut a.iter().zip(&b)) - sum * sum;
    let variances = [&a, &b].map(|ranks| count * sum_of(&mut ranks.iter().zip(ranks)) - sum * sum);
    let [first, second] = variances.map(|variance| variance as f64);
    (first > 0.0 && second > 0.0).then(|| covariance as f64 / (first * second).sqrt())
}

/// Twice the rank of each value, from 1 on in ascending order. Equal values share the mean of their ranks, which may be a half.
fn doubled_midranks(values: &[Seconds]) -> Vec<u64> {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_unstable_by_key(|&at| values[at as usize]);
    let mut ranks = vec![0; values.len()];
    let mut before = 0;
    for equal in order.chunk_by(|&a, &b| values[a as usize] == values[b as usize]) {
        // The mean of the ranks before + 1 to before + n, doubled.
        let rank = 2 * before + equal.len() as u64 + 1;
        equal.iter().for_each(|&at| ranks[at as usize] = rank);
        before += equal.len() as u64;
    }
    ranks
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

    #[test]
    fn rank_correlations_of_text_books() {
        // Ten persons, their intelligence quotient and hours of television: 1 - 6 * 194 / (10 * 99), without ties.
        let quotients = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110];
        let hours = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17];
        assert!((spearman(&quotients, &hours).unwrap() + 29.0 / 165.0).abs() < 1e-12);
        // With ties, by hand. Ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: the sums of products of deviations from the mean 2.5 are
        // 4.5, 4.5 and 5.
        assert!((spearman(&[0, 7, 7, 9], &[1, 2, 3, 4]).unwrap() - 4.5 / (4.5f64 * 5.0).sqrt()).abs() < 1e-12);
        assert_eq!(doubled_midranks(&[0, 7, 7, 9]), [2, 5, 5, 8]);
        assert_eq!(doubled_midranks(&[5, 5, 1, 5]), [6, 6, 2, 6]);
    }

    #[test]
    fn rank_correlations_at_their_limits() {
        assert_eq!(spearman(&[3, 1, 2, 2], &[30, 10, 20, 20]), Some(1.0));
        assert_eq!(spearman(&[1, 2, 3], &[9, 4, 1]), Some(-1.0));
        for (first, second) in [(&[][..], &[][..]), (&[1], &[2]), (&[1, 1, 1], &[1, 2, 3]), (&[1, 2, 3], &[0, 0, 0])] {
            assert_eq!(spearman(first, second), None);
        }
    }

    /// The rank of a value is half of those that are equal to it, itself included, plus those below it, plus a half.
    #[test]
    fn rank_correlations_are_those_of_a_slow_reference() {
        use rand::RngExt;
        let mut rng = crate::rng::stream(1, "ranks");
        for _ in 0..300 {
            let count = rng.random_range(2..40);
            let most = rng.random_range(1..20);
            let mut column = || -> Vec<Seconds> { (0..count).map(|_| rng.random_range(-3..most)).collect() };
            let (first, second) = (column(), column());
            let ranks = |values: &[Seconds]| -> Vec<f64> {
                let below = |value| values.iter().filter(|&&other| other < value).count() as f64;
                let equal = |value| values.iter().filter(|&&other| other == value).count() as f64;
                values.iter().map(|&value| below(value) + (equal(value) + 1.0) / 2.0).collect()
            };
            let (a, b) = (ranks(&first), ranks(&second));
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
            let (mean_a, mean_b) = (mean(&a), mean(&b));
            let product = |x: &[f64], mx: f64, y: &[f64], my: f64| -> f64 {
                x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum()
            };
            let scale = (product(&a, mean_a, &a, mean_a) * product(&b, mean_b, &b, mean_b)).sqrt();
            match spearman(&first, &second) {
                Some(found) => assert!((found - product(&a, mean_a, &b, mean_b) / scale).abs() < 1e-9),
                None => assert!(scale < 1e-9),
            }
        }
    }
}
