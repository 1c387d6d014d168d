//! The columns of figures. Tables, CSV and JSON are made from this list.

use super::figures::FidelityFigures;
use crate::metrics::{Cell, Shown};
use crate::report::shown;

/// A figure as a column of results.
#[derive(Debug)]
pub struct FidelityColumn {
    /// The name in CSV and JSON.
    pub name: &'static str,
    /// The heading in tables. None: the column is not in tables.
    pub heading: Option<&'static str>,
    /// The format in tables.
    pub shown: Shown,
    /// The value.
    pub cell: fn(&FidelityFigures) -> Cell,
}

impl FidelityColumn {
    /// The value in a table; a dash if it is not defined.
    pub(super) fn shown_value(&self, figures: &FidelityFigures) -> String {
        shown(self.shown, (self.cell)(figures).printed().unwrap_or(f64::NAN))
    }
}

pub(super) const RECORDED: FidelityColumn = FidelityColumn {
    name: "wait_recorded",
    heading: Some("recorded wait"),
    shown: Shown::Duration,
    cell: |figures| Cell::Seconds(figures.recorded),
};

pub(super) const SIMULATED: FidelityColumn = FidelityColumn {
    name: "wait_simulated",
    heading: Some("simulated wait"),
    shown: Shown::Duration,
    cell: |figures| Cell::Seconds(figures.simulated),
};

/// A share of jobs.
const fn near(name: &'static str, heading: &'static str, cell: fn(&FidelityFigures) -> Cell) -> FidelityColumn {
    FidelityColumn { name, heading: Some(heading), shown: Shown::Percent, cell }
}

/// All columns, in their order.
pub static FIDELITY_COLUMNS: [FidelityColumn; 13] = [
    FidelityColumn {
        name: "jobs",
        heading: Some("jobs"),
        shown: Shown::Count,
        cell: |figures| Cell::Count(figures.jobs as u64),
    },
    RECORDED,
    SIMULATED,
    FidelityColumn {
        name: "wait_difference",
        heading: None,
        shown: Shown::Duration,
        cell: |figures| Cell::Seconds(figures.difference()),
    },
    FidelityColumn {
        name: "wait_difference_pct",
        heading: Some("differs by"),
        shown: Shown::Improvement,
        cell: |figures| Cell::Real(figures.difference_pct()),
    },
    FidelityColumn {
        name: "moving_error_pct",
        heading: Some("moving error"),
        shown: Shown::Percent,
        cell: |figures| figures.moving.map_or(Cell::None, |moving| Cell::Real(moving.percent)),
    },
    FidelityColumn {
        name: "moving_error",
        heading: None,
        shown: Shown::Duration,
        cell: |figures| figures.moving.map_or(Cell::None, |moving| Cell::Seconds(moving.seconds)),
    },
    FidelityColumn {
        name: "windows",
        heading: None,
        shown: Shown::Count,
        cell: |figures| Cell::Count(figures.moving.map_or(0, |moving| moving.windows)),
    },
    FidelityColumn {
        name: "start_error",
        heading: Some("start error"),
        shown: Shown::Duration,
        cell: |figures| Cell::Seconds(figures.start_error),
    },
    FidelityColumn {
        name: "rank_correlation",
        heading: Some("rank correlation"),
        shown: Shown::Index,
        cell: |figures| figures.rank_correlation.map_or(Cell::None, Cell::Real),
    },
    near("within_1m_pct", "within 1m", |figures| Cell::Real(figures.near_pct(0))),
    near("within_10m_pct", "within 10m", |figures| Cell::Real(figures.near_pct(1))),
    near("within_60m_pct", "within 60m", |figures| Cell::Real(figures.near_pct(2))),
];

/// The columns of tables of groups, with their headings.
pub(super) fn in_tables() -> impl Iterator<Item = (&'static FidelityColumn, &'static str)> {
    FIDELITY_COLUMNS.iter().filter_map(|column| Some((column, column.heading?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fidelity::NEAR;
    use crate::time::MINUTE;

    #[test]
    fn shares_are_named_by_their_limits() {
        let names: Vec<_> = FIDELITY_COLUMNS.iter().filter_map(|column| column.name.strip_prefix("within_")).collect();
        assert_eq!(names, NEAR.map(|seconds| format!("{}m_pct", seconds / MINUTE)));
    }
}
