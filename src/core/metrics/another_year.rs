//! What resamples say of another year of a site: the figure of the log beside those of the resamples, and how a setting compares with
//! its baseline on the same resamples.
//!
//! The intervals are those of a next observation, not of the mean: more resamples do not make next year surer.

use super::improvement::Better;
use crate::stats::{next_observation, percentiles};

/// A figure of the log and of its resamples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// That of the log. NaN if the log was not run.
    pub log: f64,
    /// A tenth of the resamples are below this (nearest rank).
    pub low: f64,
    /// A tenth of the resamples are above this.
    pub high: f64,
}

impl Spread {
    /// The figure of the log with those of resamples.
    pub fn of(log: f64, values: impl Iterator<Item = f64>) -> Spread {
        let [low, high] = percentiles(&mut values.collect::<Vec<_>>(), [10.0, 90.0]);
        Spread { log, low, high }
    }

    /// Whether the log is no year like its resamples: less than half of what most of them have, or over twice, by more than `least`.
    pub fn is_far(&self, least: f64) -> bool {
        let is_over = |one: f64, other: f64| one > 2.0 * other && one - other > least;
        is_over(self.low, self.log) || is_over(self.log, self.high)
    }
}

/// How a setting compares with its baseline in another year.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YearGain {
    /// The improvement in percent; positive is better.
    pub percent: f64,
    /// The lower end of its 95% interval. None for less than two resamples.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The resamples in which the setting is better.
    pub better: usize,
    /// The resamples for which both figures are defined.
    pub of: usize,
}

impl YearGain {
    /// Pairs of the figures of the baseline and of the setting, one for each resample. Their ratios are compared by their logarithms;
    /// if a value is 0, their differences, as shares of the mean of the baseline. None without pairs.
    pub fn of(better: Better, pairs: &[(f64, f64)]) -> Option<YearGain> {
        if pairs.is_empty() {
            return None;
        }
        let has_ratios = pairs.iter().all(|&(base, own)| base > 0.0 && own > 0.0);
        let base_mean = pairs.iter().map(|(base, _)| base).sum::<f64>() / pairs.len() as f64;
        // Of 1: a tenth less, if lower is better, is an improvement by 10%.
        let percent = |change: f64| match has_ratios {
            true => better.percent(1.0, change.exp()),
            false => better.gain(0.0, change) / base_mean * 100.0,
        };
        let change = |&(base, own): &(f64, f64)| if has_ratios { (own / base).ln() } else { own - base };
        let (mean, half) = next_observation(&pairs.iter().map(change).collect::<Vec<_>>());
        let mut ends = half.map(|half| [percent(mean - half), percent(mean + half)]);
        ends.iter_mut().for_each(|ends| ends.sort_by(f64::total_cmp));
        let wins = pairs.iter().filter(|&&(base, own)| better.gain(base, own) > 0.0).count();
        let [low, high] = [0, 1].map(|end| ends.map(|ends| ends[end]));
        Some(YearGain { percent: percent(mean), low, high, better: wins, of: pairs.len() })
    }
}

/// The improvements of a setting over its baseline in percent; positive is better.
#[derive(Clone, Debug, PartialEq)]
pub struct YearGains {
    /// In the log. None if the log was not run.
    pub log: Option<f64>,
    /// In each resample for which it is defined.
    pub resamples: Vec<f64>,
}

impl YearGains {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = f64> {
        self.log.into_iter().chain(self.resamples.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ratios 0.5, 0.8 and 1.25: the mean of the logarithms is (ln 0.5 + 0) / 3 = -0.231, their standard deviation 0.4582, and t of
    /// 2 degrees of freedom is 4.302653: -0.2310 +- 4.302653 x 0.4582 x sqrt(4/3).
    #[test]
    fn a_gain_is_that_of_a_next_year() {
        let pairs = [(200.0, 100.0), (100.0, 80.0), (80.0, 100.0)];
        let gain = YearGain::of(Better::Lower, &pairs).unwrap();
        let logs = [0.5f64.ln(), 0.8f64.ln(), 1.25f64.ln()];
        let mean = logs.iter().sum::<f64>() / 3.0;
        let deviation = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
        let half = 4.302653 * deviation * (4.0f64 / 3.0).sqrt();
        assert!((deviation - 0.4582).abs() < 1e-4 && (gain.percent - 100.0 * (1.0 - mean.exp())).abs() < 1e-9);
        let [low, high] = [mean + half, mean - half].map(|end| 100.0 * (1.0 - end.exp()));
        assert!((gain.low.unwrap() - low).abs() < 1e-3 && (gain.high.unwrap() - high).abs() < 1e-3, "{gain:?}");
        assert_eq!((gain.better, gain.of), (2, 3));
        // The same the other way round.
        let higher = YearGain::of(Better::Higher, &pairs).unwrap();
        assert!((higher.percent + gain.percent).abs() < 1e-9 && higher.better == 1);
        assert!((higher.low.unwrap() + gain.high.unwrap()).abs() < 1e-9);
    }

    #[test]
    fn zeros_are_compared_by_differences() {
        let gain = YearGain::of(Better::Lower, &[(0.0, 10.0), (100.0, 60.0), (50.0, 50.0)]).unwrap();
        assert!((gain.percent - 20.0).abs() < 1e-9 && (gain.better, gain.of) == (1, 3));
        assert_eq!(YearGain::of(Better::Lower, &[]), None);
        let one = YearGain::of(Better::Lower, &[(10.0, 5.0)]).unwrap();
        assert!((one.percent - 50.0).abs() < 1e-9 && one.low.is_none());
    }

    #[test]
    fn a_tenth_is_on_each_side() {
        let spread = Spread::of(7.0, (1..=20).map(f64::from));
        assert_eq!(spread, Spread { log: 7.0, low: 2.0, high: 18.0 });
        // Far is under 1 and over 36, if that is enough.
        let is_far = |log: f64, least: f64| Spread { log, ..spread }.is_far(least);
        assert_eq!([0.9, 1.1, 7.0, 35.0, 37.0].map(|log| is_far(log, 1.0)), [true, false, false, false, true]);
        assert_eq!([is_far(0.9, 1.2), is_far(37.0, 20.0), is_far(f64::NAN, 0.0)], [false; 3]);
    }
}
