//! A setting with all its replications: means, intervals, and whether a difference is more than chance.

use super::cell::{Cell, Cells};
use super::column::Column;
use super::columns::{AREA_LOSE, OPTIONS, PREDICTOR, RunKind, USERS_LOSE, columns_on};
use super::fairness::{Losers, UserChange};
use super::row::{RunLabel, RunRow};
use crate::stats::mean_and_half_width;

/// The mean of a figure over replications.
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
}

impl Verdict {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::WithinNoise => "within noise",
        }
    }
}

/// The runs of one setting: on the log as it is, and on shaken copies of it if there are replications.
#[derive(Clone, Debug)]
pub struct SettingRuns {
    /// One row per replication; at least one. The first is that of the log as it is.
    pub rows: Vec<RunRow>,
}

impl SettingRuns {
    /// What was run, on the log as it is.
    pub fn label(&self) -> &RunLabel {
        &self.rows[0].label
    }

    /// Its name: SCHEDULER/PREDICTOR.
    pub fn name(&self) -> String {
        format!("{}/{}", self.label().scheduler, self.label().predictor)
    }

    /// The name of the baseline, if there is one.
    pub fn baseline(&self) -> Option<&str> {
        self.rows[0].baseline.as_ref().map(|base| base.name.as_str())
    }

    /// The mean of a column, of the values as they are printed. With replications, users who lose are those that do so by more than
    /// chance ([`Losers::of_replications`]), which has no interval.
    pub fn figure(&self, column: &Column) -> Interval {
        if let Some(losers) = self.losers() {
            let share = [(USERS_LOSE.name, losers.users_pct), (AREA_LOSE.name, losers.area_pct)];
            if let Some((_, mean)) = share.into_iter().find(|(name, _)| *name == column.name) {
                return Interval { mean, half_width: None };
            }
        }
        Interval::of(self.rows.iter().filter_map(|row| column.cell(row).printed()))
    }

    /// The users who lose by more than chance. None without replications, or if their users are not known.
    fn losers(&self) -> Option<Losers> {
        let users: Option<Vec<&[UserChange]>> =
            self.rows.iter().map(|row| row.baseline.as_ref().map(|base| &base.users[..])).collect();
        let users = users.filter(|users| users.len() > 1 && users.iter().all(|users| !users.is_empty()))?;
        Some(Losers::of_replications(users.into_iter()))
    }

    /// The mean of a column of the baseline.
    pub fn baseline_figure(&self, column: &Column) -> Interval {
        let base = |row: &RunRow| column.summary_cell(&row.baseline.as_ref()?.summary).printed();
        Interval::of(self.rows.iter().filter_map(base))
    }

    /// Whether it is its own baseline: the same setting with the same figures. (The engine's options do not hold for a
    /// baseline, so a setting of the same name may have others.)
    pub fn is_baseline(&self) -> bool {
        let RunLabel { scheduler, predictor, .. } = self.label();
        let is_same = |row: &RunRow| row.baseline.as_ref().is_some_and(|base| base.summary == row.summary);
        self.baseline() == Some(&format!("{scheduler}/{predictor}")) && self.rows.iter().all(is_same)
    }

    /// The mean improvement over the baseline in percent; positive is better.
    pub fn improvement(&self, column: &Column) -> Interval {
        let percent = |row: &RunRow| column.improvement(&row.baseline.as_ref()?.summary, &row.summary);
        Interval::of(self.rows.iter().filter_map(percent))
    }

    /// The mean of the paired differences from the baseline in the unit of the column; positive is better.
    fn difference(&self, column: &Column) -> Interval {
        let gain = |row: &RunRow| {
            let base = column.figure_of(&row.baseline.as_ref()?.summary)?;
            Some(column.better?.gain(base, column.figure_of(&row.summary)?))
        };
        Interval::of(self.rows.iter().filter_map(gain))
    }

    /// Whether the difference from the baseline is more than chance. None without replications, without a baseline, and
    /// for a column that is neither good nor bad.
    pub fn verdict(&self, column: &Column) -> Option<Verdict> {
        let Interval { mean, half_width } = self.difference(column);
        Some(match half_width? {
            half if mean - half > 0.0 => Verdict::Better,
            half if mean + half < 0.0 => Verdict::Worse,
            _ => Verdict::WithinNoise,
        })
    }

    /// The names and values of a row of CSV or JSON. A single run has those of [`RunRow::cells`]. Replications have the mean
    /// of each figure and the half-width of its interval. With a baseline, each figure that can be better also has that of
    /// the baseline, the improvement in its unit, and the verdict, which is that of the interval of this improvement.
    /// `options` are those that all replications share.
    pub fn cells(&self, options: &str) -> Cells {
        let with_baseline = self.baseline().is_some();
        if let [row] = &self.rows[..] {
            return row.cells();
        }
        let mut cells = Vec::new();
        for column in columns_on(RunKind::of(&self.rows[0].summary), with_baseline) {
            let name = column.name.to_string();
            if !column.is_number() {
                let cell =
                    if name == OPTIONS.name { Cell::Text(options.to_string()) } else { column.cell(&self.rows[0]) };
                cells.push((name, cell));
                if column.name == PREDICTOR.name {
                    cells.push(("rows".to_string(), Cell::Count(self.rows.len() as u64)));
                }
                continue;
            }
            cells.extend(self.figure(column).cells(&name));
            if with_baseline && !column.needs_baseline() && column.better.is_some() {
                cells.extend(self.baseline_figure(column).cells(&format!("base_{}", column.name)));
                cells.extend(self.difference(column).cells(&format!("{}_improvement", column.short_name())));
                let verdict = self.verdict(column).map(|verdict| Cell::Word(verdict.name()));
                cells.push((format!("{}_verdict", column.short_name()), verdict.into()));
            }
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::columns::{BACKFILLED, RA_MEAN, WAIT_MEAN, columns};
    use crate::metrics::{Baseline, Summary};

    /// Replications with these mean waits of the setting and of its baseline.
    fn runs(waits: &[(f64, f64)]) -> SettingRuns {
        let row = |&(wait_mean, base): &(f64, f64)| {
            let summary = Summary { wait_mean, ra_mean: wait_mean, ..Summary::default() };
            let base = Summary { wait_mean: base, ra_mean: base, ..Summary::default() };
            let baseline = Baseline { name: "easy/estimate".into(), summary: base, ..Baseline::default() };
            RunRow { summary, baseline: Some(baseline), ..RunRow::default() }
        };
        SettingRuns { rows: waits.iter().map(row).collect() }
    }

    #[test]
    fn verdicts_look_at_paired_differences() {
        // The runs themselves differ by 100 s, their differences by 2 s.
        let better = runs(&[(100.0, 110.0), (200.0, 212.0), (150.0, 161.0)]);
        assert_eq!(better.verdict(&WAIT_MEAN), Some(Verdict::Better));
        assert_eq!(better.verdict(&RA_MEAN), Some(Verdict::Worse));
        assert_eq!(better.verdict(&BACKFILLED), None);
        assert_eq!(better.figure(&WAIT_MEAN).mean, 150.0);
        assert_eq!(better.baseline_figure(&WAIT_MEAN).mean, 161.0);
        let noise = runs(&[(100.0, 110.0), (200.0, 190.0), (150.0, 151.0)]);
        assert_eq!(noise.verdict(&WAIT_MEAN), Some(Verdict::WithinNoise));
        assert_eq!(runs(&[(100.0, 110.0)]).verdict(&WAIT_MEAN), None);
        // Mean difference 11, standard deviation 1, t of 2 degrees of freedom 4.302653 (tables): 11 +- 2.484. By percent
        // of the baseline the same: 10/110, 12/212 and 11/161.
        let percent = better.improvement(&WAIT_MEAN);
        assert!((percent.mean - (1000.0 / 110.0 + 1200.0 / 212.0 + 1100.0 / 161.0) / 3.0).abs() < 1e-9);
    }

    #[test]
    fn rows_of_replications_have_intervals_and_verdicts() {
        let cells = runs(&[(100.0, 110.0), (200.0, 212.0)]).cells("load=1.1");
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
        let compared = columns(false).filter(|column| column.better.is_some());
        assert_eq!(verdicts.len(), compared.count());
        let names: std::collections::BTreeSet<_> = cells.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), cells.len());
        assert_eq!(cells.last().map(|(name, cell)| (name.as_str(), cell.text())), Some(("options", "load=1.1".into())));
        let one = runs(&[(100.0, 110.0)]);
        assert_eq!(one.cells("").len(), one.rows[0].cells().len());
    }
}
