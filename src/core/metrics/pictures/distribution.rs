//! Counts of values up to limits that grow by a constant factor.

use crate::time::FOREVER;

/// The limits per power of ten.
const PER_DECADE: u32 = 24;

/// The number of values up to each limit.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// In ascending order. No value is above the last.
    limits: Vec<f64>,
    /// The number of values that are above the limit before, and not above this one.
    counts: Vec<u64>,
    values: u64,
}

/// Limits from 1 to at least `most`, with this number per power of ten. They are rounded to whole numbers if `whole`; no limit
/// comes twice.
pub fn log_limits(per_decade: u32, most: f64, whole: bool) -> Vec<f64> {
    let mut limits: Vec<f64> = Vec::new();
    for at in 0.. {
        // libm gives the same digits on every platform.
        let exact = libm::pow(10.0, f64::from(at) / f64::from(per_decade));
        let limit = if whole { exact.round() } else { exact };
        if limits.last() != Some(&limit) {
            limits.push(limit);
        }
        if limit >= most {
            break;
        }
    }
    limits
}

impl Distribution {
    /// For seconds: whole numbers from 0 on.
    pub(super) fn of_seconds() -> Distribution {
        let mut limits = vec![0.0];
        limits.extend(log_limits(PER_DECADE, FOREVER as f64, true));
        Distribution { counts: vec![0; limits.len()], limits, values: 0 }
    }

    /// For numbers from 1 on.
    pub(super) fn of_ratios() -> Distribution {
        let limits = log_limits(PER_DECADE, FOREVER as f64, false);
        Distribution { counts: vec![0; limits.len()], limits, values: 0 }
    }

    pub(super) fn add(&mut self, value: f64) {
        let at = self.limits.partition_point(|limit| *limit < value).min(self.counts.len() - 1);
        self.counts[at] += 1;
        self.values += 1;
    }

    /// Each limit with the share of values that are not above it, 0 to 1. Ends with the first limit that has all.
    pub fn shares(&self) -> impl Iterator<Item = (f64, f64)> {
        let (mut sum, all) = (0, self.values);
        let last = self.counts.iter().rposition(|&count| count > 0).unwrap_or(0);
        self.limits[..=last].iter().zip(&self.counts).map(move |(&limit, count)| {
            sum += count;
            (limit, sum as f64 / all as f64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_values() {
        let values = [0.0, 0.0, 1.0, 2.0, 3.0, 59.0, 60.0, 61.0, 86_400.0, 1e6];
        let mut distribution = Distribution::of_seconds();
        values.iter().for_each(|value| distribution.add(*value));
        for (limit, share) in distribution.shares() {
            let expected = values.iter().filter(|value| **value <= limit).count() as f64 / 10.0;
            assert_eq!(share, expected, "up to {limit}");
        }
        assert_eq!(distribution.shares().next(), Some((0.0, 0.2)));
        assert_eq!(distribution.shares().last().map(|(_, share)| share), Some(1.0));
        let small: Vec<_> = distribution.shares().take(6).map(|(limit, _)| limit).collect();
        assert_eq!(small, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn values_above_the_last_limit_count() {
        let mut distribution = Distribution::of_ratios();
        distribution.add(1.0);
        distribution.add(1e300);
        assert_eq!(distribution.shares().next(), Some((1.0, 0.5)));
        assert_eq!(distribution.shares().last().map(|(_, share)| share), Some(1.0));
    }
}
