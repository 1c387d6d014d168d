//! Which setting is best, in words that say no more than the runs do.

use super::price::price_in_words;
use super::shown::{shown, with_interval};
use crate::metrics::columns::{BSLD_MEAN, RA_MEAN, WAIT_MEAN};
use crate::metrics::{Column, Condition, Ranking, Replicates, Standing, rank};
use crate::sort::sort_by_key;
use crate::stats::range;
use crate::text::{counted, joined_with_and, shortened};

/// What would tell more, if there is one run of each setting.
const MORE_RUNS: &str = "whether this is more than chance is not known, and --replications 10 would tell";

/// What a column shows, in words.
pub fn figure_in_words(column: &Column) -> &'static str {
    let known =
        [(&WAIT_MEAN, "mean wait"), (&BSLD_MEAN, "mean bounded slowdown"), (&RA_MEAN, "mean relative accuracy")];
    known.into_iter().find(|(known, _)| known.name == column.name).map_or(column.heading, |(_, words)| words)
}

/// Which setting is best by a figure, which the words name: "mean wait". Under several conditions no setting is best over all of
/// them: the words say where one is.
pub fn best_in_words(conditions: &[Condition<'_>], column: &Column, words: &str) -> String {
    let rankings: Vec<(&Condition<'_>, Ranking)> =
        conditions.iter().filter_map(|condition| Some((condition, rank(&condition.settings, column)?))).collect();
    match &rankings[..] {
        [] => format!("No run has a {words}."),
        [(condition, ranking)] => {
            let best = &condition.settings[ranking.order[0]];
            format!("{}{}", under_one(condition, ranking, column, words), price(best))
        }
        several => under_several(several, column, words),
    }
}

/// The best of several settings and their baseline by a figure.
pub struct BestSetting {
    /// Its place among the settings. None: it is the baseline.
    pub at: Option<usize>,
    /// How many others have the same mean.
    pub equal: usize,
    /// Which others are within noise of it: "easy/a and easy/b are within noise of it". None if none is, or if there is one run of
    /// each. With resamples: which may be better in another year.
    pub near: Option<String>,
    /// How many these are.
    pub near_count: usize,
}

/// The best of several settings and their baseline by a figure. None if it is not defined for any.
pub fn best_of(settings: &[&Replicates<'_>], column: &Column) -> Option<BestSetting> {
    let base = settings.first().filter(|first| !first.is_baseline()).map_or(Vec::new(), |first| first.baseline_rows());
    let base = (!base.is_empty()).then(|| Replicates::each(&base));
    let has_base = base.is_some();
    let all: Vec<Replicates<'_>> = base.into_iter().chain(settings.iter().map(|setting| (*setting).clone())).collect();
    let Ranking { order, standing } = rank(&all, column)?;
    let mean = |at: usize| all[at].mean(column).mean;
    let equal = order[1..].iter().filter(|&&at| mean(at) == mean(order[0])).count();
    let (near, near_count) = match standing {
        Standing::WithinNoise(near) => (Some(within_noise(&all, &near)), near.len()),
        _ => (None, 0),
    };
    let at = if has_base { order[0].checked_sub(1) } else { Some(order[0]) };
    Some(BestSetting { at, equal, near, near_count })
}

/// "easy/a is within noise of it".
fn within_noise(settings: &[Replicates<'_>], near: &[usize]) -> String {
    let names = names(near.iter().map(|&at| name(&settings[at])));
    format!("{names} {}", near_in_words(near.len(), settings[near[0]].is_another_year()))
}

/// What so many settings are that are not clearly worse than the best: "is within noise of it".
pub fn near_in_words(count: usize, is_another_year: bool) -> &'static str {
    match (is_another_year, count) {
        (true, _) => "may be better in another year",
        (false, 1) => "is within noise of it",
        (false, _) => "are within noise of it",
    }
}

/// What a setting costs in comparison with its baseline, as a sentence. Empty without a baseline, or if it is the baseline.
fn price(setting: &Replicates<'_>) -> String {
    match (setting.baseline(), price_in_words(setting)) {
        (Some(baseline), Some(price)) if !setting.is_baseline() => {
            format!(" Compared with {}, {price}.", shortened(baseline))
        }
        _ => String::new(),
    }
}

/// The name of a setting, which may come from outside.
fn name(setting: &Replicates<'_>) -> String {
    shortened(&setting.name()).into_owned()
}

/// "a, b and 3 others".
fn names(settings: impl Iterator<Item = String>) -> String {
    const SHOWN: usize = 4;
    let mut names: Vec<String> = settings.collect();
    let others = names.len().saturating_sub(SHOWN);
    if others > 1 {
        names.truncate(SHOWN);
        names.push(counted(others as u64, "other"));
    }
    joined_with_and(&names)
}

fn under_one(condition: &Condition<'_>, ranking: &Ranking, column: &Column, words: &str) -> String {
    let setting = |at: usize| &condition.settings[at];
    let figure = |at: usize| with_interval(column.shown, setting(at).mean(column));
    let best = ranking.order[0];
    let (best_name, best_figure) = (name(setting(best)), figure(best));
    match &ranking.standing {
        Standing::Alone => format!("The {words} under {best_name} is {best_figure}."),
        Standing::Clear => {
            let next = ranking.order[1];
            format!(
                "{best_name} is clearly best by {words}: {best_figure}, before {} with {} ({} of each).",
                name(setting(next)),
                figure(next),
                counted(
                    setting(best).drawn().len() as u64,
                    if setting(best).is_another_year() { "resample" } else { "run" }
                )
            )
        }
        Standing::WithinNoise(near) => {
            let near = within_noise(&condition.settings, near);
            format!("No setting is clearly best by {words}: {best_name} has {best_figure}, but {near}.")
        }
        Standing::OneRun => {
            let mean = |at: usize| setting(at).mean(column).mean;
            let equal: Vec<usize> = ranking.order.iter().copied().filter(|&at| mean(at) == mean(best)).collect();
            let what = match &equal[..] {
                [_] => {
                    let next = ranking.order[1];
                    format!(
                        "{best_name} has the best {words}, {best_figure}, before {} with {}",
                        name(setting(next)),
                        figure(next)
                    )
                }
                equal => format!(
                    "{} have the same and best {words}, {}",
                    names(equal.iter().map(|&at| name(setting(at)))),
                    shown(column.shown, mean(best))
                ),
            };
            format!("With one run of each setting, {what}: {MORE_RUNS}.")
        }
    }
}

fn under_several(rankings: &[(&Condition<'_>, Ranking)], column: &Column, words: &str) -> String {
    let all = rankings.len();
    let options = joined_with_and(&rankings[0].0.labels.iter().map(|(option, _)| option.as_str()).collect::<Vec<_>>());
    let is_one = rankings.iter().all(|(_, ranking)| ranking.standing == Standing::Alone);
    let who = if is_one { "The setting" } else { "The settings" };
    let begin = format!(
        "{who} ran under {all} conditions, which differ in {options}; figures of different conditions are not compared."
    );
    // How often each setting is best, in the order of its first time.
    let counts = |is_counted: &dyn Fn(&Standing) -> bool| {
        let mut counts: Vec<(String, usize)> = Vec::new();
        for (condition, ranking) in rankings.iter().filter(|(_, ranking)| is_counted(&ranking.standing)) {
            let best = name(&condition.settings[ranking.order[0]]);
            match counts.iter_mut().find(|(other, _)| *other == best) {
                Some((_, count)) => *count += 1,
                None => counts.push((best, 1)),
            }
        }
        sort_by_key(&mut counts, |(_, count)| std::cmp::Reverse(*count));
        counts
    };
    let in_words = |counts: &[(String, usize)]| match counts {
        [(setting, count)] if *count == all => format!("{setting} in each of them"),
        counts => format!("{} of them", names(counts.iter().map(|(setting, count)| format!("{setting} in {count}")))),
    };
    if is_one {
        let figures = rankings.iter().map(|(condition, _)| condition.settings[0].mean(column).mean);
        let (low, high) = range(figures);
        return format!("{begin} The {words} is from {} to {}.", shown(column.shown, low), shown(column.shown, high));
    }
    let clear = counts(&|standing| *standing == Standing::Clear);
    let one_run = counts(&|standing| *standing == Standing::OneRun);
    let noise = rankings.iter().filter(|(_, ranking)| matches!(ranking.standing, Standing::WithinNoise(_))).count();
    let mut parts = Vec::new();
    if !clear.is_empty() {
        parts.push(format!("clearly best is {}", in_words(&clear)));
    }
    if noise > 0 {
        parts.push(match noise == all {
            true => {
                let is_another_year = rankings[0].0.settings[0].is_another_year();
                let near = if is_another_year {
                    "others may be better in another year"
                } else {
                    "the best is within noise of others"
                };
                format!("no setting is clearly best in any of them: {near}")
            }
            false => format!("in {noise} no setting is clearly best"),
        });
    }
    if !one_run.is_empty() {
        parts.push(format!("best of one run of each setting is {} ({MORE_RUNS})", in_words(&one_run)));
    }
    format!("{begin} By {words}, {}.", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::columns::WAIT_MEAN;
    use crate::metrics::{RunLabel, RunRow, Summary};

    /// The words about conditions with settings a, b and so on, each with the waits of its runs.
    fn words(conditions: &[&[&[f64]]]) -> String {
        let row = |at: u8, wait_mean: f64| {
            let predictor = char::from(b'a' + at).to_string();
            let label = RunLabel { scheduler: "easy".to_string(), predictor, ..RunLabel::default() };
            RunRow { label, summary: Summary { wait_mean, ..Summary::default() }, baseline: None }
        };
        let rows: Vec<Vec<Vec<RunRow>>> = conditions
            .iter()
            .map(|settings| {
                (0..).zip(*settings).map(|(at, waits)| waits.iter().map(|wait| row(at, *wait)).collect()).collect()
            })
            .collect();
        let several = conditions.len() > 1;
        let all: Vec<Condition<'_>> = (0..)
            .zip(&rows)
            .map(|(load, settings)| Condition {
                labels: several.then(|| ("load".to_string(), load.to_string())).into_iter().collect(),
                settings: settings.iter().map(Replicates::each).collect(),
            })
            .collect();
        best_in_words(&all, &WAIT_MEAN, "mean wait")
    }

    #[test]
    fn other_years_have_other_words() {
        let rows = [[30.0, 100.0, 200.0, 150.0], [30.0, 90.0, 210.0, 140.0]].map(|waits| {
            let row = |(seed, wait_mean): (usize, f64)| {
                let options = if seed > 0 { format!("resample=users seed={seed}") } else { String::new() };
                let label = RunLabel {
                    scheduler: "easy".to_string(),
                    predictor: wait_mean.to_string(),
                    options,
                    ..RunLabel::default()
                };
                RunRow { label, summary: Summary { wait_mean, ..Summary::default() }, baseline: None }
            };
            waits.into_iter().enumerate().map(row).collect::<Vec<_>>()
        });
        let settings = rows.iter().map(Replicates::each).collect();
        let text = best_in_words(&[Condition { labels: Vec::new(), settings }], &WAIT_MEAN, "mean wait");
        assert!(
            text.contains("No setting is clearly best") && text.contains("easy/30 may be better in another year"),
            "{text}"
        );
    }

    #[test]
    fn no_winner_is_named_within_noise_or_across_conditions() {
        const CLEAR: &[&[f64]] = &[&[110.0, 212.0, 161.0], &[100.0, 200.0, 150.0]];
        const NOISE: &[&[f64]] = &[&[111.0, 192.0, 153.0], &[100.0, 200.0, 150.0]];
        assert_eq!(
            words(&[CLEAR]),
            "easy/b is clearly best by mean wait: 2m 30s +- 2m 04s, before easy/a with 2m 41s +- 2m 07s (3 runs of each)."
        );
        assert_eq!(
            words(&[NOISE]),
            "No setting is clearly best by mean wait: easy/b has 2m 30s +- 2m 04s, but easy/a is within noise of it."
        );
        assert_eq!(
            words(&[&[&[60.0], &[50.0]]]),
            "With one run of each setting, easy/b has the best mean wait, 50.0 s, before easy/a with 1m 00s: whether this is \
             more than chance is not known, and --replications 10 would tell."
        );
        let equal = words(&[&[&[60.0], &[60.0], &[70.0]]]);
        assert!(equal.contains("easy/a and easy/b have the same and best mean wait, 1m 00s"), "{equal}");
        let begin = "The settings ran under 2 conditions, which differ in load; figures of different conditions are not compared. ";
        assert_eq!(words(&[CLEAR, CLEAR]), format!("{begin}By mean wait, clearly best is easy/b in each of them."));
        assert_eq!(
            words(&[CLEAR, NOISE]),
            format!("{begin}By mean wait, clearly best is easy/b in 1 of them; in 1 no setting is clearly best.")
        );
        assert_eq!(
            words(&[&[&[5.0]], &[&[7.0]]]),
            format!("{}The mean wait is from 5.0 s to 7.0 s.", begin.replace("settings", "setting"))
        );
    }
}
