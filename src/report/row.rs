//! The summary of a run as named cells: the one source of the CSV, the JSON and their column order.

use crate::experiment::Options;
use crate::metrics::{Improvement, Summary};
use crate::trace::Workload;

/// What a run was, for its row.
#[derive(Clone, Debug, Default)]
pub struct RunLabel {
    pub trace: String,
    pub procs: u32,
    pub scheduler: String,
    pub predictor: String,
    /// Records of the log that became no job.
    pub dropped: u64,
    /// The options that differ from the defaults and have no column of their own, see [`Options::in_row`].
    pub options: String,
}

impl RunLabel {
    pub fn of(workload: &Workload, options: &Options) -> RunLabel {
        RunLabel {
            trace: workload.label.clone(),
            procs: workload.procs,
            scheduler: options.scheduler.to_string(),
            predictor: options.predictor.to_string(),
            dropped: workload.cleaning.dropped(),
            options: options.in_row(),
        }
    }
}

/// A run's improvement over another.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The other one, `scheduler/predictor`.
    pub baseline: String,
    pub improvement: Improvement,
}

/// A value with its way of being written.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Text(String),
    Count(u64),
    /// Three decimals.
    Seconds(f64),
    /// Six decimals: fractions, slowdowns, percents.
    Real(f64),
    /// As it is.
    Number(f64),
    /// Not defined: nothing in CSV, null in JSON.
    None,
}

impl Cell {
    fn real(value: Option<f64>) -> Cell {
        value.map_or(Cell::None, Cell::Real)
    }

    /// As it stands in CSV.
    pub fn text(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Count(count) => count.to_string(),
            Cell::Seconds(value) if value.is_finite() => format!("{value:.3}"),
            Cell::Real(value) if value.is_finite() => plain_zero(format!("{value:.6}")),
            Cell::Number(value) => value.to_string(),
            Cell::Seconds(_) | Cell::Real(_) | Cell::None => String::new(),
        }
    }
}

/// A tiny negative number rounds to -0.000000, which is not what anyone wants to read.
fn plain_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|b| matches!(b, b'0' | b'.')) => rest.to_string(),
        _ => text,
    }
}

/// The names of a run's columns, with those of a comparison or without.
pub fn summary_columns(compared: bool) -> Vec<&'static str> {
    let nothing = Compared { baseline: String::new(), improvement: Improvement::default() };
    let row = summary_row(&RunLabel::default(), &Summary::default(), compared.then_some(&nothing));
    row.into_iter().map(|(name, _)| name).collect()
}

/// The columns of a run, in order.
pub fn summary_row(label: &RunLabel, summary: &Summary, compared: Option<&Compared>) -> Vec<(&'static str, Cell)> {
    let text = |text: &str| Cell::Text(text.to_string());
    let mut row = vec![
        ("trace", text(&label.trace)),
        ("procs", Cell::Count(u64::from(label.procs))),
        ("scheduler", text(&label.scheduler)),
        ("predictor", text(&label.predictor)),
        ("jobs", Cell::Count(summary.jobs as u64)),
        ("dropped", Cell::Count(label.dropped)),
        ("wait_mean", Cell::Seconds(summary.wait_mean)),
        ("bsld_mean", Cell::Real(summary.bsld_mean)),
        ("ai_mean", Cell::Seconds(summary.ai_mean)),
        ("ra_mean", Cell::Real(summary.ra_mean)),
        ("backfilled", Cell::Count(summary.backfilled as u64)),
        ("misses", Cell::Count(summary.misses)),
        ("utilization", Cell::Real(summary.utilization)),
        ("makespan", Cell::Seconds(summary.makespan as f64)),
        ("wait_p50", Cell::Seconds(summary.wait_p50)),
        ("wait_p95", Cell::Seconds(summary.wait_p95)),
        ("wait_max", Cell::Seconds(summary.wait_max)),
        ("bsld_p50", Cell::Real(summary.bsld_p50)),
        ("bsld_p95", Cell::Real(summary.bsld_p95)),
        ("mae", Cell::Seconds(summary.mae)),
        ("mae_pct", Cell::Real(summary.mae_pct)),
        ("answered", summary.inside_pct.map_or(Cell::None, |_| Cell::Count(summary.answered as u64))),
        ("inside_pct", Cell::real(summary.inside_pct)),
    ];
    if let Some(Compared { baseline, improvement }) = compared {
        row.extend([
            ("baseline", text(baseline)),
            ("wait_improvement_pct", Cell::real(improvement.wait)),
            ("bsld_improvement_pct", Cell::real(improvement.bsld)),
            ("ai_improvement_pct", Cell::real(improvement.ai)),
            ("ra_improvement_pct", Cell::real(improvement.ra)),
        ]);
    }
    // Last, so that no two settings have rows with the same labels.
    row.push(("options", text(&label.options)));
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_fixed_decimals() {
        assert_eq!(Cell::Seconds(12.0).text(), "12.000");
        assert_eq!(Cell::Real(0.1234567).text(), "0.123457");
        assert_eq!(Cell::Real(-0.00000001).text(), "0.000000");
        assert_eq!(Cell::Real(-0.5).text(), "-0.500000");
        assert_eq!(Cell::Real(f64::NAN).text(), "");
        assert_eq!(Cell::None.text(), "");
    }
}
