//! The runs of one setting under one condition: their means with intervals, what they gain, and whether that is more than
//! chance.
//!
//! A condition is a workload: a log, a load and whatever else changes the jobs. Figures of different conditions are not compared,
//! because the jobs differ. Runs of a setting under one condition differ in their seeds alone. Terminal, pages and advice all take
//! their figures from here.

use std::collections::{BTreeMap, BTreeSet};

use super::another_year::{Spread, YearGain, YearGains};
use super::cell::{Cell, Cells};
use super::column::Column;
use super::columns::{AREA_LOSE, OPTIONS, PREDICTOR, USERS_LOSE, columns};
use super::fairness::{Losers, UserChange};
use super::row::{RunLabel, RunRow};
use super::when::{Given, When};
use crate::stats::{mean_and_half_width, next_observation};

/// The mean of a figure over runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// NaN if the figure is not defined.
    pub mean: f64,
    /// The half-width of the 95% confidence interval. None for a single run.
    pub half_width: Option<f64>,
}

impl Interval {
    /// The mean under the name of its figure, and the half-width under this name with `_ci95`, as cells of CSV or JSON.
    pub fn cells(&self, name: &str) -> [(String, Cell); 2] {
        [(name.to_string(), self.mean.into()), (format!("{name}_ci95"), self.half_width.into())]
    }

    /// The mean of these values; NaN if there are none.
    pub fn of(values: impl Iterator<Item = f64>) -> Interval {
        let (mean, half_width) = mean_and_half_width(&values.collect::<Vec<_>>());
        Interval { mean, half_width }
    }

    /// What a gain with this interval means. None for a single run.
    fn verdict(self) -> Option<Verdict> {
        Some(match self.half_width? {
            half if self.mean - half > 0.0 => Verdict::Better,
            half if self.mean + half < 0.0 => Verdict::Worse,
            _ => Verdict::WithinNoise,
        })
    }
}

/// Whether a figure differs from that of the baseline by more than chance: 0 is outside of the 95% interval of the paired
/// differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is better.
    Better,
    /// It is worse.
    Worse,
    /// The interval includes 0.
    WithinNoise,
    /// The interval of another year includes 0.
    NotSure,
}

impl Verdict {
    /// That of another year. None for less than two resamples.
    pub(super) fn of_year(gain: &YearGain) -> Option<Verdict> {
        Some(match (gain.low?, gain.high?) {
            (low, _) if low > 0.0 => Verdict::Better,
            (_, high) if high < 0.0 => Verdict::Worse,
            _ => Verdict::NotSure,
        })
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::WithinNoise => "within noise",
            Verdict::NotSure => "not sure",
        }
    }
}

/// The runs of one setting under one condition, which differ in their seeds alone.
#[derive(Clone, Debug)]
pub struct Replicates<'a> {
    /// The options of the setting beside its scheduler and its predictor: `pass-on-miss=on`.
    pub options: Vec<String>,
    /// Whether the reader has asked for it by name.
    pub is_asked_for: bool,
    /// Each run once. The first is that of the log as it is.
    rows: Vec<&'a RunRow>,
    /// With resamples: the place in `rows` of the run of the log. It is no other year, so it is in no mean.
    log: Option<usize>,
    /// Whether runs are of resamples of the log, which say what another year could be. Else they are of the same year, shaken.
    is_another_year: bool,
    /// The place of the run with these seeds in `rows`. Several seeds have one run if nothing is drawn from them.
    by_seeds: BTreeMap<Vec<usize>, usize>,
}

impl<'a> Replicates<'a> {
    /// Runs with their seeds; at least one. Runs with the same number are identical and count once.
    pub fn new(runs: impl IntoIterator<Item = (Vec<usize>, u128, &'a RunRow)>) -> Replicates<'a> {
        let (mut rows, mut places, mut by_seeds) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        for (seeds, run, row) in runs {
            let place = *places.entry(run).or_insert_with(|| {
                rows.push(row);
                rows.len() - 1
            });
            by_seeds.insert(seeds, place);
        }
        let is_resample = |row: &&RunRow| row.label.is_of_resample();
        let is_another_year = rows.len() > 1 && rows.iter().any(is_resample);
        let log = rows.iter().position(|row| !is_resample(row)).filter(|_| is_another_year);
        Replicates { options: Vec::new(), is_asked_for: false, rows, log, is_another_year, by_seeds }
    }

    /// Different runs, of which each has the seed with its place among them.
    pub fn each(rows: impl IntoIterator<Item = &'a RunRow>) -> Replicates<'a> {
        Replicates::new(rows.into_iter().enumerate().map(|(seed, row)| (vec![seed], seed as u128, row)))
    }

    /// The different runs. The first is that of the log as it is.
    pub fn rows(&self) -> &[&'a RunRow] {
        &self.rows
    }

    /// Whether the runs are of resamples of the log. Else they are of the same year, shaken.
    pub fn is_another_year(&self) -> bool {
        self.is_another_year
    }

    /// The runs of draws with their seeds: of resamples, all but that of the log.
    pub(super) fn by_draws(&self) -> impl Iterator<Item = (&[usize], &'a RunRow)> {
        let of_draws = self.by_seeds.iter().filter(|(_, place)| Some(**place) != self.log);
        of_draws.map(|(seeds, &place)| (&seeds[..], self.rows[place]))
    }

    /// The run with these seeds.
    pub(super) fn with_seeds(&self, seeds: &[usize]) -> Option<&'a RunRow> {
        Some(self.rows[*self.by_seeds.get(seeds)?])
    }

    /// The different runs of which figures are means: of resamples, all but that of the log.
    pub fn drawn(&self) -> impl ExactSizeIterator<Item = &'a RunRow> {
        let drawn = self.rows.iter().enumerate().filter(|(at, _)| Some(*at) != self.log);
        drawn.map(|(_, row)| *row).collect::<Vec<_>>().into_iter()
    }

    /// The number of different runs.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// The seeds of all runs, in order. Some may have the same run.
    pub fn seeds(&self) -> impl ExactSizeIterator<Item = &[usize]> {
        self.by_seeds.keys().map(Vec::as_slice)
    }

    /// What decides which columns its row has.
    pub fn given(&self) -> Given {
        self.rows[0].given()
    }

    /// What was run, on the log as it is.
    pub fn label(&self) -> &'a RunLabel {
        &self.rows[0].label
    }

    /// The predictor, with other options of the setting: `ruh`, or `ruh, pass-on-miss=on`.
    pub fn predictor(&self) -> String {
        let options = self.options.iter().map(|option| format!(", {option}"));
        [self.label().predictor.clone()].into_iter().chain(options).collect()
    }

    /// `SCHEDULER/PREDICTOR`, with other options of the setting; the name of a change of a site.
    pub fn name(&self) -> String {
        if self.is_change() {
            return self.label().what_if.clone();
        }
        format!("{}/{}", self.label().scheduler, self.predictor())
    }

    /// The name of the baseline, if there is one.
    pub fn baseline(&self) -> Option<&'a str> {
        self.rows[0].baseline.as_ref().map(|base| base.name.as_str())
    }

    /// The runs of the baseline as rows, with its name.
    pub fn baseline_rows(&self) -> Vec<RunRow> {
        let row = |row: &&RunRow| {
            let base = row.baseline.as_ref()?;
            let (scheduler, predictor) = base.name.split_once('/')?;
            let (scheduler, predictor) = (scheduler.to_string(), predictor.to_string());
            let label = RunLabel { scheduler, predictor, what_if: String::new(), ..row.label.clone() };
            Some(RunRow { label, summary: base.summary, baseline: None })
        };
        self.rows.iter().filter_map(row).collect()
    }

    /// Whether it is a change of a site, which is its baseline.
    pub fn is_change(&self) -> bool {
        !self.label().what_if.is_empty()
    }

    /// Whether it is its own baseline: the same setting with the same figures. (The engine's options do not hold for a
    /// baseline, so a setting of the same name may have others.)
    pub fn is_baseline(&self) -> bool {
        let RunLabel { scheduler, predictor, .. } = self.label();
        let is_same = |row: &&RunRow| row.baseline.as_ref().is_some_and(|base| base.summary == row.summary);
        !self.is_change()
            && self.baseline() == Some(&format!("{scheduler}/{predictor}"))
            && self.rows.iter().all(is_same)
    }

    /// The values of a column that are defined, as they are printed.
    pub fn values(&self, column: &Column) -> impl Iterator<Item = f64> {
        self.drawn().filter_map(|row| column.cell(row).printed())
    }

    /// The mean of a column. With several runs, users who lose are those that do so by more than chance
    /// ([`Losers::of_replications`]), which has no interval.
    pub fn mean(&self, column: &Column) -> Interval {
        let is = |other: &Column| column.name == other.name;
        let losers = if is(&USERS_LOSE) || is(&AREA_LOSE) { self.losers() } else { None };
        match losers {
            Some(Losers { users_pct, area_pct }) => {
                Interval { mean: if is(&USERS_LOSE) { users_pct } else { area_pct }, half_width: None }
            }
            None => self.interval(self.values(column)),
        }
    }

    /// The mean of values of the runs. With resamples the interval is that of a next year.
    fn interval(&self, values: impl Iterator<Item = f64>) -> Interval {
        if !self.is_another_year {
            return Interval::of(values);
        }
        let (mean, half_width) = next_observation(&values.collect::<Vec<_>>());
        Interval { mean, half_width }
    }

    /// With resamples: how a column varies over them, beside its value in the log. None for runs of the same year.
    pub fn spread(&self, column: &Column) -> Option<Spread> {
        let log = self.log.and_then(|log| column.cell(self.rows[log]).printed()).unwrap_or(f64::NAN);
        self.is_another_year.then(|| Spread::of(log, self.values(column)))
    }

    /// With resamples: the same of the baseline.
    pub fn base_spread(&self, column: &Column) -> Option<Spread> {
        let base = |row: &RunRow| column.summary_cell(&row.baseline.as_ref()?.summary).printed();
        let log = self.log.and_then(|log| base(self.rows[log])).unwrap_or(f64::NAN);
        self.is_another_year.then(|| Spread::of(log, self.drawn().filter_map(base)))
    }

    /// With resamples: how it compares with the baseline in another year. None for runs of the same year, without a baseline, and for
    /// a column that is neither good nor bad.
    pub fn year_gain(&self, column: &Column) -> Option<YearGain> {
        let better = column.better.filter(|_| self.is_another_year && !column.needs_baseline())?;
        let pair = |row: &'a RunRow| {
            Some((column.figure_of(&row.baseline.as_ref()?.summary)?, column.figure_of(&row.summary)?))
        };
        YearGain::of(better, &self.drawn().filter_map(pair).collect::<Vec<_>>())
    }

    /// With resamples: the improvement over the baseline in percent in each of them, and in the log. None for runs of the same year,
    /// without a baseline, and for a column that is neither good nor bad.
    pub fn gains_in_years(&self, column: &Column) -> Option<YearGains> {
        let percent = |row: &RunRow| column.improvement(&row.baseline.as_ref()?.summary, &row.summary);
        self.year_gain(column)?;
        let log = self.log.and_then(|log| percent(self.rows[log]));
        Some(YearGains { log, resamples: self.drawn().filter_map(percent).collect() })
    }

    /// The means of the main figures, and of the improvements over the baseline if there is one.
    pub fn main_means(&self) -> impl Iterator<Item = (&'static Column, Interval)> {
        let given = Given::of([(When::Baseline, self.baseline().is_some())]);
        let main = columns(given).filter(move |column| column.is_number() && column.is_main(given));
        main.map(|column| (column, self.mean(column)))
    }

    /// The users who lose by more than chance. None for a single run, or if the users are not known.
    fn losers(&self) -> Option<Losers> {
        let of_row = |row: &'a RunRow| row.baseline.as_ref().map(|base| &base.users[..]);
        let users: Option<Vec<&[UserChange]>> = self.drawn().map(of_row).collect();
        let users = users.filter(|users| users.len() > 1 && users.iter().all(|users| !users.is_empty()))?;
        if !self.is_another_year {
            return Some(Losers::of_replications(users.into_iter()));
        }
        Some(Losers::of_resamples(users.into_iter(), self.log.and_then(|log| of_row(self.rows[log]))))
    }

    /// The mean of a column of the baseline.
    pub fn base_mean(&self, column: &Column) -> Interval {
        let base = |row: &RunRow| column.summary_cell(&row.baseline.as_ref()?.summary).printed();
        self.interval(self.drawn().filter_map(base))
    }

    /// The mean improvement over the baseline in percent; positive is better.
    pub fn improvement(&self, column: &Column) -> Interval {
        if let Some(gain) = self.year_gain(column) {
            return Interval { mean: gain.percent, half_width: None };
        }
        let percent = |row: &RunRow| column.improvement(&row.baseline.as_ref()?.summary, &row.summary);
        Interval::of(self.drawn().filter_map(percent))
    }

    /// The names and values of the main figures: means with half-widths, or with `as_years` those of resamples, as in
    /// [`Replicates::cells`].
    pub fn main_cells(&self, as_years: bool) -> Cells {
        let of_column = |(column, mean): (&Column, Interval)| match as_years {
            true => self.cells_of_years(column),
            false => mean.cells(column.name).to_vec(),
        };
        self.main_means().flat_map(of_column).collect()
    }

    /// The mean of the paired differences from the baseline in the unit of the column; positive is better.
    pub fn gain(&self, column: &Column) -> Interval {
        let gain = |row: &RunRow| column.gain(&row.baseline.as_ref()?.summary, &row.summary);
        self.interval(self.drawn().filter_map(gain))
    }

    /// The same from another setting, in runs with the same seeds.
    pub fn gain_over(&self, other: &Replicates<'_>, column: &Column) -> Interval {
        let gain = |(base, own): (&RunRow, &RunRow)| column.gain(&base.summary, &own.summary);
        self.interval(self.pairs(other).into_iter().filter_map(gain))
    }

    /// With resamples: how it compares with another setting in another year. None for runs of the same year, and for a column that
    /// is neither good nor bad.
    pub fn year_gain_over(&self, other: &Replicates<'_>, column: &Column) -> Option<YearGain> {
        let better = column.better.filter(|_| self.is_another_year)?;
        let figures =
            |(base, own): (&RunRow, &RunRow)| Some((column.figure_of(&base.summary)?, column.figure_of(&own.summary)?));
        YearGain::of(better, &self.pairs(other).into_iter().filter_map(figures).collect::<Vec<_>>())
    }

    /// The runs of another setting and its own with the same seeds, each pair once, without that of the log if there are resamples.
    fn pairs<'b>(&'b self, other: &'b Replicates<'_>) -> Vec<(&'b RunRow, &'b RunRow)> {
        let pairs = self.by_seeds.iter().filter_map(|(seeds, own)| Some((*own, *other.by_seeds.get(seeds)?)));
        let pairs: BTreeSet<(usize, usize)> = pairs.filter(|(own, _)| Some(*own) != self.log).collect();
        pairs.into_iter().map(|(own, base)| (other.rows[base], self.rows[own])).collect()
    }

    /// Whether the difference from another setting is more than chance, by the measure of [`Replicates::verdict`].
    pub(super) fn verdict_over(&self, other: &Replicates<'_>, column: &Column) -> Option<Verdict> {
        match self.is_another_year {
            true => Verdict::of_year(&self.year_gain_over(other, column)?),
            false => self.gain_over(other, column).verdict(),
        }
    }

    /// Whether the difference from the baseline is more than chance. None for a single run, without a baseline, and for a column
    /// that is neither good nor bad. Under the baseline nobody loses, so any users who lose by more than chance are worse.
    pub fn verdict(&self, column: &Column) -> Option<Verdict> {
        match column.needs_baseline() && self.baseline().is_some() && self.count() > 1 {
            true if self.mean(column).mean > 0.0 => Some(Verdict::Worse),
            true => Some(self.no_verdict()),
            false if self.is_another_year => Verdict::of_year(&self.year_gain(column)?),
            false => self.gain(column).verdict(),
        }
    }

    fn no_verdict(&self) -> Verdict {
        if self.is_another_year { Verdict::NotSure } else { Verdict::WithinNoise }
    }

    /// The names and values of a row of CSV or JSON, with the columns of all runs for which these conditions hold. A single run has those of
    /// [`RunRow::cells`]. Several have the mean
    /// of each figure and the half-width of its interval. With a baseline, each figure that can be better also has that of
    /// the baseline, the improvement in its unit, and the verdict, which is that of the interval of this improvement.
    /// Resamples have the figure of the log and the 10% and 90% of theirs in the place of the half-width, and the improvement in
    /// percent with the interval of another year and the number of resamples in which it is better.
    /// `options` are those that all runs share.
    pub fn cells(&self, given: Given, options: &str) -> Cells {
        let with_baseline = self.baseline().is_some();
        if let [row] = &self.rows[..] {
            return row.cells_given(given);
        }
        let mut cells = Vec::new();
        for column in columns(given) {
            let name = column.name.to_string();
            if !column.is_number() {
                let cell =
                    if name == OPTIONS.name { Cell::Text(options.to_string()) } else { column.cell(self.rows[0]) };
                cells.push((name, cell));
                if column.name == PREDICTOR.name {
                    cells.push(("rows".to_string(), Cell::Count(self.drawn().len() as u64)));
                }
                continue;
            }
            if self.is_another_year {
                cells.extend(self.cells_of_years(column));
                continue;
            }
            cells.extend(self.mean(column).cells(&name));
            if with_baseline && !column.needs_baseline() && column.better.is_some() {
                cells.extend(self.base_mean(column).cells(&format!("base_{}", column.name)));
                cells.extend(self.gain(column).cells(&format!("{}_improvement", column.short_name())));
                let verdict = self.verdict(column).map(|verdict| Cell::Word(verdict.name()));
                cells.push((format!("{}_verdict", column.short_name()), verdict.into()));
            }
        }
        cells
    }
}

impl Replicates<'_> {
    /// The cells of a column over resamples. Improvements are beside the figure that improves.
    fn cells_of_years(&self, column: &Column) -> Cells {
        let named = |ending: &str, cell: Cell| (format!("{}{ending}", column.name), cell);
        if column.needs_baseline() {
            let is_improvement = columns(Given::default()).any(|figure| column.is_gain_of(figure));
            return if is_improvement { Vec::new() } else { vec![named("", self.mean(column).mean.into())] };
        }
        let ends = |Spread { log, low, high }: Spread| [("_log", log), ("_q10", low), ("_q90", high)];
        let mut cells = vec![named("", self.mean(column).mean.into())];
        let spread = self.spread(column).into_iter().flat_map(ends);
        cells.extend(spread.map(|(ending, value)| named(ending, value.into())));
        if self.baseline().is_none() || column.better.is_none() {
            return cells;
        }
        cells.push((format!("base_{}", column.name), self.base_mean(column).mean.into()));
        let of_base = self.base_spread(column).into_iter().flat_map(ends);
        cells.extend(of_base.map(|(ending, value)| (format!("base_{}{ending}", column.name), value.into())));
        let gain = self.year_gain(column);
        let of_gain = |value: fn(&YearGain) -> Option<f64>| gain.as_ref().and_then(value).map(Cell::Real).into();
        let short = |ending: &str, cell: Cell| (format!("{}_{ending}", column.short_name()), cell);
        let verdict = self.verdict(column).map(|verdict| Cell::Word(verdict.name()));
        cells.extend([
            short("improvement_pct", of_gain(|gain| Some(gain.percent))),
            short("improvement_pct_low", of_gain(|gain| gain.low)),
            short("improvement_pct_high", of_gain(|gain| gain.high)),
            short("better_in", gain.map(|gain| Cell::Count(gain.better as u64)).into()),
            short("verdict", verdict.into()),
        ]);
        cells
    }
}

/// Settings under one condition.
#[derive(Clone, Debug)]
pub struct Condition<'a> {
    /// The options that differ between conditions, with their values here. Empty if there is one condition.
    pub labels: Vec<(String, String)>,
    /// In the order of their first run.
    pub settings: Vec<Replicates<'a>>,
}

impl Condition<'_> {
    /// In words: `load=0.9`. Empty if there is one condition.
    pub fn name(&self) -> String {
        let label =
            |(name, value): &(String, String)| if name == "trace" { value.clone() } else { format!("{name}={value}") };
        self.labels.iter().map(label).collect::<Vec<_>>().join(", ")
    }
}

/// Runs with equal values in the columns by which runs are grouped. They may differ in more than their seeds.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// These values, one for each column.
    pub labels: Vec<Cell>,
    /// The runs. An interval assumes that they are independent.
    pub runs: Replicates<'a>,
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::metrics::columns::{BACKFILLED, RA_MEAN, WAIT_MEAN};
    use crate::metrics::{Baseline, Summary};

    /// Runs with these mean waits of the setting and of its baseline.
    pub(in crate::metrics) fn rows(waits: &[(f64, f64)]) -> Vec<RunRow> {
        let row = |&(wait_mean, base): &(f64, f64)| {
            let summary = Summary { wait_mean, ra_mean: wait_mean, ..Summary::default() };
            let base = Summary { wait_mean: base, ra_mean: base, ..Summary::default() };
            let baseline = Baseline { name: "easy/estimate".into(), summary: base, ..Baseline::default() };
            RunRow { summary, baseline: Some(baseline), ..RunRow::default() }
        };
        waits.iter().map(row).collect()
    }

    #[test]
    fn verdicts_look_at_paired_differences() {
        // The runs themselves differ by 100 s, their differences by 2 s.
        let better = rows(&[(100.0, 110.0), (200.0, 212.0), (150.0, 161.0)]);
        let better = Replicates::each(&better);
        assert_eq!(better.verdict(&WAIT_MEAN), Some(Verdict::Better));
        assert_eq!(better.verdict(&RA_MEAN), Some(Verdict::Worse));
        assert_eq!(better.verdict(&BACKFILLED), None);
        assert_eq!(better.mean(&WAIT_MEAN).mean, 150.0);
        assert_eq!(better.base_mean(&WAIT_MEAN).mean, 161.0);
        // The same in comparison with a setting of its own.
        let base = better.baseline_rows();
        assert_eq!(better.gain_over(&Replicates::each(&base), &WAIT_MEAN), better.gain(&WAIT_MEAN));
        let noise = rows(&[(100.0, 110.0), (200.0, 190.0), (150.0, 151.0)]);
        assert_eq!(Replicates::each(&noise).verdict(&WAIT_MEAN), Some(Verdict::WithinNoise));
        assert_eq!(Replicates::each(&noise[..1]).verdict(&WAIT_MEAN), None);
        // Mean difference 11, standard deviation 1, t of 2 degrees of freedom 4.302653 (tables): 11 +- 2.484. By percent
        // of the baseline the same: 10/110, 12/212 and 11/161.
        let percent = better.improvement(&WAIT_MEAN);
        assert!((percent.mean - (1000.0 / 110.0 + 1200.0 / 212.0 + 1100.0 / 161.0) / 3.0).abs() < 1e-9);
    }

    /// Under the baseline nobody loses, so there is nothing to pair with.
    #[test]
    fn users_who_lose_by_more_than_chance_are_worse() {
        let mut runs = rows(&[(100.0, 110.0), (200.0, 212.0)]);
        assert_eq!(Replicates::each(&runs).verdict(&USERS_LOSE), Some(Verdict::WithinNoise));
        runs.iter_mut().for_each(|row| row.baseline.as_mut().unwrap().losers.users_pct = 3.0);
        assert_eq!(Replicates::each(&runs).verdict(&USERS_LOSE), Some(Verdict::Worse));
        assert_eq!(Replicates::each(&runs[..1]).verdict(&USERS_LOSE), None);
        runs.iter_mut().for_each(|row| row.baseline = None);
        assert_eq!(Replicates::each(&runs).verdict(&USERS_LOSE), None);
    }

    #[test]
    fn rows_of_replications_have_intervals_and_verdicts() {
        let runs = rows(&[(100.0, 110.0), (200.0, 212.0)]);
        let cells = Replicates::each(&runs).cells(runs[0].given(), "load=1.1");
        let get = |name: &str| cells.iter().find(|(found, _)| found == name).map(|(_, cell)| cell.text());
        assert_eq!(get("rows").as_deref(), Some("2"));
        assert_eq!(get("wait_mean").as_deref(), Some("150.000000"));
        assert_eq!(get("base_wait_mean").as_deref(), Some("161.000000"));
        // 10 and 12: 11 +- 12.706205 (t of 1 degree of freedom, tables).
        assert_eq!(get("wait_improvement").as_deref(), Some("11.000000"));
        assert_eq!(get("wait_improvement_ci95").as_deref(), Some("12.706205"));
        assert_eq!(get("wait_verdict").as_deref(), Some("within noise"));
        // Every figure that can be better has a verdict, none twice.
        let verdicts: Vec<_> = cells.iter().filter(|(name, _)| name.ends_with("_verdict")).collect();
        let compared = columns(Given::default()).filter(|column| column.better.is_some());
        assert_eq!(verdicts.len(), compared.count());
        let names: std::collections::BTreeSet<_> = cells.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), cells.len());
        assert_eq!(cells.last().map(|(name, cell)| (name.as_str(), cell.text())), Some(("options", "load=1.1".into())));
        assert_eq!(Replicates::each(&runs[..1]).cells(runs[0].given(), "").len(), runs[0].cells().len());
    }

    /// The log and three resamples: the log is in no mean and in no comparison.
    #[test]
    fn resamples_say_what_another_year_could_be() {
        let mut runs = rows(&[(500.0, 1.0), (100.0, 120.0), (200.0, 240.0), (150.0, 181.0)]);
        runs[1..].iter_mut().zip(1..).for_each(|(row, seed)| row.label.options = format!("resample=users seed={seed}"));
        let years = Replicates::each(&runs);
        assert_eq!((years.mean(&WAIT_MEAN).mean, years.drawn().len(), years.label().options.as_str()), (150.0, 3, ""));
        // The standard deviation is 50, t of 2 degrees of freedom 4.302653: 50 x sqrt(4/3) x t.
        let half = years.mean(&WAIT_MEAN).half_width.unwrap();
        assert!((half - 50.0 * (4.0f64 / 3.0).sqrt() * 4.302653).abs() < 1e-3, "{half}");
        assert_eq!(years.spread(&WAIT_MEAN), Some(Spread { log: 500.0, low: 100.0, high: 200.0 }));
        let gain = years.year_gain(&WAIT_MEAN).unwrap();
        assert_eq!((gain.better, gain.of, years.verdict(&WAIT_MEAN)), (3, 3, Some(Verdict::Better)));
        assert_eq!(years.verdict(&RA_MEAN), Some(Verdict::Worse));
        let cells = years.cells(years.given(), "resample=users");
        let get = |name: &str| cells.iter().find(|(found, _)| found == name).map(|(_, cell)| cell.text());
        for (name, value) in [
            ("rows", "3"),
            ("wait_mean", "150.000000"),
            ("wait_mean_log", "500.000000"),
            ("wait_mean_q10", "100.000000"),
            ("wait_mean_q90", "200.000000"),
            ("base_wait_mean_log", "1.000000"),
            ("wait_better_in", "3"),
            ("wait_verdict", "better"),
        ] {
            assert_eq!(get(name).as_deref(), Some(value), "{name}");
        }
        assert!(get("wait_mean_ci95").is_none() && get("wait_improvement_pct_low").is_some());
        let names: std::collections::BTreeSet<_> = cells.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), cells.len());
        // A difference that another year may turn around.
        runs[2].baseline.as_mut().unwrap().summary.wait_mean = 150.0;
        assert_eq!(Replicates::each(&runs).verdict(&WAIT_MEAN), Some(Verdict::NotSure));
        // Without the run of the log there is nothing beside the resamples.
        assert!(Replicates::each(&runs[1..]).spread(&WAIT_MEAN).unwrap().log.is_nan());
    }

    #[test]
    fn identical_runs_count_once() {
        let row = |wait_mean| RunRow { summary: Summary { wait_mean, ..Summary::default() }, ..RunRow::default() };
        let rows = [row(1.0), row(3.0004), row(3.0004)];
        let runs = Replicates::new((0..3).zip([1, 3, 3]).map(|(seed, run)| (vec![seed], run, &rows[seed])));
        // The mean of what is printed: 1.000 and 3.000.
        assert_eq!((runs.count(), runs.seeds().len(), runs.mean(&WAIT_MEAN).mean), (2, 3, 2.0));
        assert!(runs.mean(&WAIT_MEAN).half_width.is_some());
        assert_eq!(Replicates::each(&rows[..1]).mean(&WAIT_MEAN).half_width, None);
        let names: Vec<_> = runs.main_means().map(|(column, _)| column.name).collect();
        assert_eq!(names, ["wait_mean", "bsld_mean", "ai_mean", "ra_mean", "utilization"]);
        let compared = super::tests::rows(&[(1.0, 2.0)]);
        assert_eq!(Replicates::each(&compared).main_means().count(), names.len() + 4 + 5);
    }
}
