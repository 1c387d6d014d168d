//! What a column of results is.

use super::cell::Cell;
use super::fairness::Losers;
use super::improvement::Better;
use super::row::{RunLabel, RunRow};
use super::summary::Summary;

/// A column of results.
#[derive(Debug)]
pub struct Column {
    /// The name in CSV and JSON.
    pub name: &'static str,
    /// The meaning, in one line, with the unit.
    pub about: &'static str,
    /// The format in tables.
    pub shown: Shown,
    /// Whether lower or higher values are better. None if neither is.
    pub better: Option<Better>,
    /// Whether tables of many runs show it.
    pub main: Main,
    /// How its value is computed.
    pub source: Source,
}

/// Whether tables of many runs show a column. Groups of runs have means and intervals of those with numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Main {
    /// Never: it is in CSV, and in the table of one run.
    Never,
    /// Only in comparisons with a baseline: it says who pays for a gain.
    Compared,
    /// Always.
    Always,
}

/// How the value of a column is computed, which also gives its type.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A text or a number of the run's label.
    Label(fn(&RunLabel) -> Cell),
    /// A whole number; None if it is not defined.
    Count(fn(&Summary) -> Option<u64>),
    /// Seconds, printed with three decimals; NaN if not defined.
    Seconds(fn(&Summary) -> f64),
    /// A fraction, a slowdown or a percentage, printed with six decimals; NaN if not defined.
    Real(fn(&Summary) -> f64),
    /// The name of the baseline.
    BaselineName,
    /// The improvement of a column over the baseline, in percent.
    Improvement(&'static Column),
    /// A share of users or of their area that lose against the baseline, in percent.
    Losers(fn(&Losers) -> f64),
}

/// The format of a value in tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// As in CSV.
    AsPrinted,
    /// Seconds as a duration: `1h 05m`.
    Duration,
    /// With two decimals.
    Slowdown,
    /// An index from 0 to 1, with three decimals.
    Index,
    /// A fraction, printed as a percentage.
    Fraction,
    /// A percentage.
    Percent,
    /// An improvement in percent, which may be negative.
    Improvement,
    /// A count with separated thousands.
    Count,
    /// A count as above, with its share of the measured jobs.
    ShareOfJobs,
}

impl Column {
    /// Whether the column exists only if there is a baseline.
    pub fn needs_baseline(&self) -> bool {
        matches!(self.source, Source::BaselineName | Source::Improvement(_) | Source::Losers(_))
    }

    /// Whether tables of many runs show it.
    pub fn is_main(&self, with_baseline: bool) -> bool {
        self.main == Main::Always || (with_baseline && self.main == Main::Compared)
    }

    /// Whether its values are numbers, which have means over runs.
    pub fn is_number(&self) -> bool {
        !matches!(self.source, Source::Label(_) | Source::BaselineName)
    }

    /// The value in a row.
    pub fn cell(&self, row: &RunRow) -> Cell {
        let RunRow { label, summary, baseline } = row;
        match self.source {
            Source::Label(cell) => cell(label),
            Source::Count(_) | Source::Seconds(_) | Source::Real(_) => self.summary_cell(summary),
            Source::BaselineName => baseline.as_ref().map_or(Cell::None, |base| Cell::Text(base.name.clone())),
            Source::Improvement(of) => {
                let percent = baseline.as_ref().and_then(|base| of.improvement(&base.summary, summary));
                percent.map_or(Cell::None, Cell::Real)
            }
            Source::Losers(share) => baseline.as_ref().map_or(Cell::None, |base| Cell::Real(share(&base.losers))),
        }
    }

    /// The value of a figure. None for labels and comparisons.
    pub fn summary_cell(&self, summary: &Summary) -> Cell {
        match self.source {
            Source::Count(count) => count(summary).map_or(Cell::None, Cell::Count),
            Source::Seconds(seconds) => Cell::Seconds(seconds(summary)),
            Source::Real(number) => Cell::Real(number(summary)),
            Source::Label(_) | Source::BaselineName | Source::Improvement(_) | Source::Losers(_) => Cell::None,
        }
    }

    /// The value with all digits. None for labels and comparisons, and if it is not defined.
    pub fn figure(&self, summary: &Summary) -> Option<f64> {
        match self.source {
            Source::Count(count) => count(summary).map(|count| count as f64),
            Source::Seconds(number) | Source::Real(number) => Some(number(summary)),
            Source::Label(_) | Source::BaselineName | Source::Improvement(_) | Source::Losers(_) => None,
        }
        .filter(|number| number.is_finite())
    }

    /// The improvement of a run over a baseline in percent. None if neither lower nor higher is better, if the baseline is
    /// 0, or if the figure is not defined.
    pub fn improvement(&self, base: &Summary, run: &Summary) -> Option<f64> {
        let percent = self.better?.percent(self.figure(base)?, self.figure(run)?);
        percent.is_finite().then_some(percent)
    }
}
