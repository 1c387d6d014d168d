//! Which of several settings is best, and whether that is more than chance.

use super::column::Column;
use super::replicates::{Replicates, Verdict};
use super::row::RunRow;
use crate::sort::sort_by;

/// How the best setting compares with the others.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// There is no other.
    Alone,
    /// There is one run of each, so nothing is known of chance.
    OneRun,
    /// The 95% interval of the paired differences from every other one excludes 0; with resamples, that of another year.
    Clear,
    /// That from these settings includes 0, or is not known. They are in the order of the ranking.
    WithinNoise(Vec<usize>),
}

/// Settings by a figure.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// The settings for which the figure is defined, from the best to the worst. At least one.
    pub order: Vec<usize>,
    /// How the first of them compares with the others.
    pub standing: Standing,
}

/// Settings under one condition by a figure. Those with equal means stay in their order. None if it is not defined for any.
pub fn rank(settings: &[Replicates<'_>], column: &Column) -> Option<Ranking> {
    let better = column.better?;
    let levels = levels(settings, column);
    let mut order: Vec<usize> = (0..levels.len()).filter(|&at| levels[at].is_finite()).collect();
    // The gain is negative from the better to the worse.
    sort_by(&mut order, |&a, &b| better.gain(levels[a], levels[b]).total_cmp(&0.0));
    let best = &settings[*order.first()?];
    let verdicts: Vec<(usize, Option<Verdict>)> =
        order[1..].iter().map(|&at| (at, best.verdict_over(&settings[at], column))).collect();
    let is_clear = |verdict: &Option<Verdict>| *verdict == Some(Verdict::Better);
    let standing = match verdicts.iter().all(|(_, verdict)| verdict.is_none()) {
        true if verdicts.is_empty() => Standing::Alone,
        true => Standing::OneRun,
        false if verdicts.iter().all(|(_, verdict)| is_clear(verdict)) => Standing::Clear,
        false => Standing::WithinNoise(
            verdicts.iter().filter(|(_, verdict)| !is_clear(verdict)).map(|(at, _)| *at).collect(),
        ),
    };
    Some(Ranking { order, standing })
}

/// By what settings are put in order: their means; of resamples the geometric ones, because these are compared by ratios, unless
/// a value is 0.
fn levels(settings: &[Replicates<'_>], column: &Column) -> Vec<f64> {
    let values: Vec<Vec<f64>> = settings.iter().map(|setting| setting.values(column).collect()).collect();
    let has_ratios = !column.needs_baseline() && values.iter().flatten().all(|value| *value > 0.0);
    if has_ratios && settings.iter().all(Replicates::is_another_year) {
        let mean_of_logs = |values: &Vec<f64>| values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64;
        return values.iter().map(|values| mean_of_logs(values).exp()).collect();
    }
    settings.iter().map(|setting| setting.mean(column).mean).collect()
}

/// With how many seeds a setting is the best of all, and of how many: no other one is better with the same seed. With resamples
/// the log does not count.
pub fn times_best(settings: &[Replicates<'_>], at: usize, column: &Column) -> (usize, usize) {
    let is_beaten = |seeds: &[usize], row: &RunRow| {
        let others = settings.iter().filter_map(|other| other.with_seeds(seeds));
        others.filter_map(|other| column.gain(&row.summary, &other.summary)).any(|gain| gain > 0.0)
    };
    let own = &settings[at];
    let best = own.by_draws().filter(|(seeds, row)| !is_beaten(seeds, row)).count();
    (best, own.by_draws().count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Summary;
    use crate::metrics::columns::{BACKFILLED, RA_MEAN, WAIT_MEAN};
    use crate::metrics::replicates::tests::rows;

    /// The ranking of settings whose runs have these waits, one for each seed.
    fn ranking(waits: &[&[f64]], column: &Column) -> Option<(Vec<usize>, Standing)> {
        let row = |wait_mean: f64| {
            let summary = Summary { wait_mean, ra_mean: wait_mean / 1000.0, ..Summary::default() };
            RunRow { summary, ..RunRow::default() }
        };
        let rows: Vec<Vec<RunRow>> = waits.iter().map(|waits| waits.iter().map(|wait| row(*wait)).collect()).collect();
        let setting = |rows: &'_ Vec<RunRow>| -> Vec<(Vec<usize>, u128)> {
            // A run with the wait of another one of the same setting is that run.
            rows.iter()
                .enumerate()
                .map(|(seed, row)| (vec![seed], u128::from(row.summary.wait_mean.to_bits())))
                .collect()
        };
        let settings: Vec<Replicates<'_>> = rows
            .iter()
            .map(|rows| {
                Replicates::new(setting(rows).into_iter().zip(rows).map(|((seeds, run), row)| (seeds, run, row)))
            })
            .collect();
        rank(&settings, column).map(|ranking| (ranking.order, ranking.standing))
    }

    /// By differences nothing is clear: those of the busy years hide the others. The ratios are all near 0.8.
    #[test]
    fn settings_are_ranked_by_ratios_in_other_years() {
        let rank_of = |waits: [&[f64]; 2], is_another_year: bool| {
            let rows = waits.map(|waits| {
                let mut rows = rows(&waits.iter().map(|wait| (*wait, 1.0)).collect::<Vec<_>>());
                let options = |seed: usize| match is_another_year && seed > 0 {
                    true => format!("resample=users seed={seed}"),
                    false => String::new(),
                };
                rows.iter_mut().enumerate().for_each(|(seed, row)| row.label.options = options(seed));
                rows
            });
            let settings = rows.each_ref().map(Replicates::each);
            let best = rank(&settings, &WAIT_MEAN).unwrap();
            let gain = settings[best.order[0]].year_gain_over(&settings[best.order[1]], &WAIT_MEAN);
            (best.order, best.standing, gain, times_best(&settings, 1, &WAIT_MEAN))
        };
        let (slow, fast): (&[f64], &[f64]) = (&[50.0, 10.0, 100.0, 1000.0, 10.0], &[60.0, 8.0, 81.0, 795.0, 7.9]);
        let (order, standing, gain, times) = rank_of([slow, fast], true);
        let gain = gain.unwrap();
        assert_eq!((order, standing, times), (vec![1, 0], Standing::Clear, (4, 4)));
        assert!(Verdict::of_year(&gain) == Some(Verdict::Better) && (gain.percent - 20.1).abs() < 0.2, "{gain:?}");
        let (order, standing, gain, times) = rank_of([slow, fast], false);
        assert_eq!((order, standing, gain, times), (vec![1, 0], Standing::WithinNoise(vec![0]), None, (4, 5)));
        // The order is that of the ratios too: 0.9 three times, and 1.2 in the busy year, which decides the means.
        let often = [50.0, 9.0, 90.0, 1200.0, 9.0];
        assert_eq!(rank_of([slow, &often], true).0, [1, 0]);
        assert_eq!(rank_of([slow, &often], false).0, [0, 1]);
        // A value of 0 has no ratio.
        let (order, standing, gain, _) = rank_of([slow, &[50.0, 0.0, 81.0, 795.0, 7.9]], true);
        assert_eq!((order, standing), (vec![1, 0], Standing::WithinNoise(vec![0])));
        assert_eq!(gain.unwrap().better, 4);
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
