//! Means over groups of runs, each with its 95% interval.

use std::collections::BTreeSet;

use litemap::LiteMap;

use super::cell::Cell;
use super::column::Column;
use super::columns::columns;
use super::row::RunRow;
use super::setting_runs::Interval;

/// The runs with equal values in the columns by which runs are grouped.
#[derive(Clone, Debug)]
pub struct Group {
    /// These values, one for each column.
    pub labels: Vec<Cell>,
    /// The number of runs.
    pub rows: usize,
    /// One for each column that has means.
    pub means: Vec<GroupMean>,
}

/// The mean of a figure over a group.
#[derive(Clone, Copy, Debug)]
pub struct GroupMean {
    /// The column of the figure.
    pub column: &'static Column,
    /// NaN if the figure is not defined for any run of the group. The interval assumes independent runs.
    pub mean: Interval,
}

/// Collects runs into groups. Only the main figures of each run are kept.
#[derive(Debug)]
pub struct Groups {
    columns: Vec<&'static Column>,
    /// In the order of their first run.
    groups: Vec<Members>,
    places: LiteMap<Vec<String>, usize>,
}

#[derive(Debug)]
struct Members {
    labels: Vec<Cell>,
    rows: usize,
    /// For each column, the values that are defined.
    values: Vec<Vec<f64>>,
    /// The identifiers of the runs in it.
    runs: BTreeSet<u128>,
}

impl Groups {
    /// Without any runs. With `with_baseline`, groups also have the means of improvements over the baseline.
    pub fn new(with_baseline: bool) -> Groups {
        let columns =
            columns(with_baseline).filter(|column| column.is_number() && column.is_main(with_baseline)).collect();
        Groups { columns, groups: Vec::new(), places: LiteMap::new() }
    }

    /// Adds a run to the group with these labels. `run` identifies the run, if that is known. A group counts equal runs once:
    /// repeated runs that differ only in an unused seed would make the interval 0.
    pub fn add(&mut self, labels: Vec<Cell>, run: Option<u128>, row: &RunRow) {
        let place = *self.places.entry(labels.iter().map(Cell::text).collect()).or_insert_with(|| {
            let values = vec![Vec::new(); self.columns.len()];
            self.groups.push(Members { labels, rows: 0, values, runs: BTreeSet::new() });
            self.groups.len() - 1
        });
        let group = &mut self.groups[place];
        if run.is_some_and(|run| !group.runs.insert(run)) {
            return;
        }
        group.rows += 1;
        for (column, values) in self.columns.iter().zip(&mut group.values) {
            values.extend(column.cell(row).printed());
        }
    }

    /// The groups, in the order of their first run.
    pub fn means(&self) -> Vec<Group> {
        let mean = |(&column, values): (&&'static Column, &Vec<f64>)| GroupMean {
            column,
            mean: Interval::of(values.iter().copied()),
        };
        let group = |members: &Members| Group {
            labels: members.labels.clone(),
            rows: members.rows,
            means: self.columns.iter().zip(&members.values).map(mean).collect(),
        };
        self.groups.iter().map(group).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Summary;

    #[test]
    fn groups_are_in_the_order_of_their_first_run_and_count_a_run_once() {
        let mut groups = Groups::new(false);
        for (predictor, run, wait_mean) in [("z", 1, 1.0), ("b", 2, 5.0), ("z", 3, 3.0004), ("z", 3, 3.0004)] {
            let row = RunRow { summary: Summary { wait_mean, ..Summary::default() }, ..RunRow::default() };
            groups.add(vec![predictor.to_string().into()], Some(run), &row);
        }
        let means = groups.means();
        let figures: Vec<_> =
            means.iter().map(|group| (group.labels[0].text(), group.rows, group.means[0].mean.mean)).collect();
        // The mean of what is printed: 1.000 and 3.000.
        assert_eq!(figures, [("z".to_string(), 2, 2.0), ("b".to_string(), 1, 5.0)]);
        assert!(means[0].means[0].mean.half_width.is_some() && means[1].means[0].mean.half_width.is_none());
        let names: Vec<_> = means[0].means.iter().map(|mean| mean.column.name).collect();
        assert_eq!(names, ["wait_mean", "bsld_mean", "ai_mean", "ra_mean", "utilization"]);
        assert_eq!(Groups::new(true).columns.len(), names.len() + 4 + 5);
    }

    #[test]
    fn runs_that_are_not_told_apart_all_count() {
        let mut groups = Groups::new(false);
        (0..3).for_each(|_| groups.add(Vec::new(), None, &RunRow::default()));
        assert_eq!(groups.means()[0].rows, 3);
    }
}
