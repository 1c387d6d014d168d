//! The distributions of waits and slowdowns.

use super::{Chart, ChartFigure, Compared, CurveChart, DataCell, Draw, PicturedSetting};
use crate::html::axis::ChartAxis;
use crate::metrics::{JobMetrics, Probe};
use crate::text::grouped;
use crate::time::FOREVER;

/// The chart of waits.
pub const WAITS: Chart = Chart {
    title: "How long jobs wait",
    probe: |_, _| Some(Box::new(Waits(Distribution::of_seconds()))),
    draw: Draw::Together(waits),
};

/// The chart of slowdowns.
pub const SLOWDOWNS: Chart = Chart {
    title: "How much jobs are slowed down",
    probe: |_, _| Some(Box::new(Slowdowns(Distribution::of_ratios()))),
    draw: Draw::Together(slowdowns),
};

/// The waits of a run, in seconds.
#[derive(Debug)]
struct Waits(Distribution);

impl Probe for Waits {
    fn job(&mut self, job: &JobMetrics) {
        self.0.add(job.wait as f64);
    }
}

/// The bounded slowdowns of a run.
#[derive(Debug)]
struct Slowdowns(Distribution);

impl Probe for Slowdowns {
    fn job(&mut self, job: &JobMetrics) {
        self.0.add(job.bsld);
    }
}

fn waits(compared: &Compared<'_>) -> Option<ChartFigure> {
    let of = |setting: &PicturedSetting<'_>| setting.seen.of::<Waits>().0.shares().collect::<Vec<_>>();
    let chart = CurveChart {
        label: "How long jobs wait",
        x: (ChartAxis::durations(most(compared, of)), "wait"),
        y: (ChartAxis::shares(), "jobs that wait at most this long"),
        heading: "wait up to",
        place: &DataCell::duration,
        value: share,
        bands: Vec::new(),
        caption:
            "At each wait the share of jobs that wait at most so long: a curve further up is better. The left end is \
                  the share of jobs that wait at most a second."
                .to_string(),
    };
    Some(chart.figure(compared, of))
}

fn slowdowns(compared: &Compared<'_>) -> Option<ChartFigure> {
    let of = |setting: &PicturedSetting<'_>| setting.seen.of::<Slowdowns>().0.shares().collect::<Vec<_>>();
    let ratio = |value: f64| if value < 1e6 { grouped(value as u64) } else { format!("{value:.0e}") };
    let chart = CurveChart {
        label: "How much jobs are slowed down",
        x: (ChartAxis::numbers(1.0, most(compared, of), ratio), "bounded slowdown"),
        y: (ChartAxis::shares(), "jobs with at most this slowdown"),
        heading: "bounded slowdown up to",
        place: &|limit| DataCell::shown(format!("{limit:.2}"), limit),
        value: share,
        bands: Vec::new(),
        caption:
            "At each bounded slowdown the share of jobs that have at most so much: a curve further up is better. 1 is \
                  a job that did not wait."
                .to_string(),
    };
    Some(chart.figure(compared, of))
}

/// The largest limit of all settings.
fn most(compared: &Compared<'_>, of: impl Fn(&PicturedSetting<'_>) -> Vec<(f64, f64)>) -> f64 {
    compared.settings.iter().filter_map(|(_, setting)| of(setting).last().map(|last| last.0)).fold(0.0, f64::max)
}

/// A curve that has ended has all jobs.
fn share(share: Option<f64>) -> DataCell {
    DataCell::share(share.unwrap_or(1.0))
}

/// The limits per power of ten.
const PER_DECADE: u32 = 24;

/// The number of values up to limits that grow by a constant factor.
#[derive(Debug)]
struct Distribution {
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
    fn of_seconds() -> Distribution {
        let mut limits = vec![0.0];
        limits.extend(log_limits(PER_DECADE, FOREVER as f64, true));
        Distribution { counts: vec![0; limits.len()], limits, values: 0 }
    }

    /// For numbers from 1 on.
    fn of_ratios() -> Distribution {
        let limits = log_limits(PER_DECADE, FOREVER as f64, false);
        Distribution { counts: vec![0; limits.len()], limits, values: 0 }
    }

    fn add(&mut self, value: f64) {
        let at = self.limits.partition_point(|limit| *limit < value).min(self.counts.len() - 1);
        self.counts[at] += 1;
        self.values += 1;
    }

    /// Each limit with the share of values that are not above it, 0 to 1. Ends with the first limit that has all.
    fn shares(&self) -> impl Iterator<Item = (f64, f64)> {
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
