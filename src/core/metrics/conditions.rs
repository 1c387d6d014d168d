//! Settings under one condition, and whether one of them is clearly the best there.
//!
//! A condition is a workload: a log, a load and whatever else changes the jobs. Figures of different conditions are not compared,
//! because the jobs differ. Runs of a setting under one condition differ in their seeds alone.

use std::collections::BTreeSet;

use litemap::LiteMap;

use super::column::Column;
use super::row::RunRow;
use super::setting_runs::Interval;
use crate::sort::sort_by;

/// A setting with its runs under one condition.
#[derive(Clone, Debug)]
pub struct RepeatedSetting<'a> {
    /// The scheduler.
    pub scheduler: &'a str,
    /// The predictor, with other options of the setting: `ruh`, or `ruh, pass-on-miss=on`.
    pub predictor: String,
    /// Whether the reader has asked for it by name.
    pub is_asked_for: bool,
    /// By their seeds. A run has a number that is equal for equal runs: nothing may be drawn from a seed.
    pub runs: LiteMap<Vec<usize>, (u128, &'a RunRow)>,
}

/// All settings under one condition.
#[derive(Clone, Debug)]
pub struct ConditionRuns<'a> {
    /// The options that differ between conditions, with their values here. Empty if there is one condition.
    pub labels: Vec<(String, String)>,
    /// In the order of their first run.
    pub settings: Vec<RepeatedSetting<'a>>,
}

/// How the best setting compares with the others.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// There is no other.
    Alone,
    /// There is one run of each, so nothing is known of chance.
    OneRun,
    /// The 95% interval of the paired differences from every other one excludes 0.
    Clear,
    /// That from these settings includes 0, or is not known. They are in the order of their means.
    WithinNoise(Vec<usize>),
}

/// The settings of a condition by a figure.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// The settings for which the figure is defined, from the best to the worst. At least one.
    pub order: Vec<usize>,
    /// How the first of them compares with the others.
    pub standing: Standing,
}

impl RepeatedSetting<'_> {
    /// `scheduler/predictor`, with other options of the setting.
    pub fn name(&self) -> String {
        format!("{}/{}", self.scheduler, self.predictor)
    }

    /// The number of different runs.
    pub fn count(&self) -> usize {
        self.runs.values().map(|(run, _)| run).collect::<BTreeSet<_>>().len()
    }

    /// The mean of a figure over different runs.
    pub fn figure(&self, column: &Column) -> Interval {
        let runs: LiteMap<u128, &RunRow> = self.runs.values().copied().collect();
        Interval::of(runs.values().filter_map(|row| column.cell(row).printed()))
    }

    /// By how much another setting is better in runs with the same seeds; positive is better.
    pub fn gain_of(&self, other: &RepeatedSetting<'_>, column: &Column) -> Interval {
        let pairs = self.runs.iter().filter_map(|(seeds, own)| Some((own, other.runs.get(seeds)?)));
        let different: LiteMap<(u128, u128), _> =
            pairs.map(|(own, other)| ((own.0, other.0), (own.1, other.1))).collect();
        Interval::of(different.values().filter_map(|(own, other)| {
            Some(column.better?.gain(column.cell(own).printed()?, column.cell(other).printed()?))
        }))
    }
}

impl ConditionRuns<'_> {
    /// The condition in words: `load=0.9`. Empty if there is one condition.
    pub fn name(&self) -> String {
        let label =
            |(name, value): &(String, String)| if name == "trace" { value.clone() } else { format!("{name}={value}") };
        self.labels.iter().map(label).collect::<Vec<_>>().join(", ")
    }

    /// In how many of its runs a setting is the best of all runs with the same seed.
    pub fn times_best(&self, at: usize, column: &Column) -> usize {
        let own = &self.settings[at];
        let is_beaten = |seeds: &Vec<usize>, row: &RunRow| {
            let mut others = self.settings.iter().filter_map(|other| other.runs.get(seeds));
            others.any(|(_, other)| {
                let gain = || Some(column.better?.gain(column.cell(row).printed()?, column.cell(other).printed()?));
                gain().is_some_and(|gain| gain > 0.0)
            })
        };
        own.runs.iter().filter(|(seeds, (_, row))| !is_beaten(seeds, row)).count()
    }

    /// The settings by a figure. None if it is not defined for any.
    pub fn ranking(&self, column: &Column) -> Option<Ranking> {
        let better = column.better?;
        let means: Vec<f64> = self.settings.iter().map(|setting| setting.figure(column).mean).collect();
        let mut order: Vec<usize> = (0..means.len()).filter(|&at| means[at].is_finite()).collect();
        // The gain is negative from the better to the worse.
        sort_by(&mut order, |&a, &b| better.gain(means[a], means[b]).total_cmp(&0.0));
        let best = &self.settings[*order.first()?];
        let gains: Vec<(usize, Interval)> =
            order[1..].iter().map(|&at| (at, self.settings[at].gain_of(best, column))).collect();
        let is_clear = |gain: &Interval| gain.half_width.is_some_and(|half| gain.mean - half > 0.0);
        let standing = match gains.iter().all(|(_, gain)| gain.half_width.is_none()) {
            true if gains.is_empty() => Standing::Alone,
            true => Standing::OneRun,
            false if gains.iter().all(|(_, gain)| is_clear(gain)) => Standing::Clear,
            false => {
                Standing::WithinNoise(gains.iter().filter(|(_, gain)| !is_clear(gain)).map(|(at, _)| *at).collect())
            }
        };
        Some(Ranking { order, standing })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Summary;
    use crate::metrics::columns::{BACKFILLED, RA_MEAN, WAIT_MEAN};

    /// The ranking of settings whose runs have these waits, one for each seed.
    fn ranking(waits: &[&[f64]], column: &Column) -> Option<(Vec<usize>, Standing)> {
        let row = |wait_mean: f64| {
            let summary = Summary { wait_mean, ra_mean: wait_mean / 1000.0, ..Summary::default() };
            RunRow { summary, ..RunRow::default() }
        };
        let rows: Vec<Vec<RunRow>> = waits.iter().map(|waits| waits.iter().map(|wait| row(*wait)).collect()).collect();
        let setting = |(at, rows): (usize, &'_ Vec<RunRow>)| -> LiteMap<Vec<usize>, (u128, usize)> {
            // A run with the wait of another one of the same setting is that run.
            let number = |wait: f64| (at as u128) << 64 | u128::from(wait.to_bits());
            rows.iter().enumerate().map(|(seed, row)| (vec![seed], (number(row.summary.wait_mean), seed))).collect()
        };
        let settings = rows.iter().enumerate().map(|(at, rows)| RepeatedSetting {
            scheduler: "easy",
            predictor: at.to_string(),
            is_asked_for: false,
            runs: setting((at, rows)).into_iter().map(|(seeds, (run, row))| (seeds, (run, &rows[row]))).collect(),
        });
        let condition = ConditionRuns { labels: Vec::new(), settings: settings.collect() };
        condition.ranking(column).map(|ranking| (ranking.order, ranking.standing))
    }

    #[test]
    fn the_best_is_clear_only_if_paired_differences_say_so() {
        // The runs differ by 100 s from seed to seed, and the settings by about 10 s with each seed.
        let (first, second) = ([110.0, 212.0, 161.0], [100.0, 200.0, 150.0]);
        assert_eq!(ranking(&[&first, &second], &WAIT_MEAN), Some((vec![1, 0], Standing::Clear)));
        // More of an accuracy is better.
        assert_eq!(ranking(&[&first, &second], &RA_MEAN), Some((vec![0, 1], Standing::Clear)));
        // The third differs from the best by 11, -8 and 3 s.
        let third = [111.0, 192.0, 153.0];
        assert_eq!(
            ranking(&[&first, &second, &third], &WAIT_MEAN),
            Some((vec![1, 2, 0], Standing::WithinNoise(vec![2])))
        );
        // Equal settings.
        assert_eq!(ranking(&[&first, &first], &WAIT_MEAN), Some((vec![0, 1], Standing::WithinNoise(vec![1]))));
        assert_eq!(ranking(&[&[5.0], &[4.0]], &WAIT_MEAN), Some((vec![1, 0], Standing::OneRun)));
        // Nothing is drawn from the seeds: these are two runs and not six.
        assert_eq!(ranking(&[&[5.0; 3], &[4.0; 3]], &WAIT_MEAN), Some((vec![1, 0], Standing::OneRun)));
        assert_eq!(ranking(&[&[5.0, 6.0]], &WAIT_MEAN), Some((vec![0], Standing::Alone)));
        assert_eq!(ranking(&[&first, &second], &BACKFILLED), None, "neither good nor bad");
        assert_eq!(ranking(&[&[f64::NAN]], &WAIT_MEAN), None);
    }
}
