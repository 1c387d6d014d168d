//! Means over groups of runs, each with its 95% interval.

use std::collections::{BTreeMap, BTreeSet};

use super::cell::Cell;
use super::columns::{Column, columns};
use super::row::RunRow;
use crate::stats::mean_and_half_width;

/// Runs that agree in what they are grouped by.
#[derive(Clone, Debug)]
pub struct Group {
    /// What they agree in: one text for each column that they are grouped by.
    pub labels: Vec<String>,
    /// How many runs it has.
    pub rows: usize,
    /// One for each column that has means.
    pub means: Vec<GroupMean>,
}

/// The mean of a figure over a group.
#[derive(Clone, Copy, Debug)]
pub struct GroupMean {
    /// The figure.
    pub column: &'static Column,
    /// NaN where no run of the group has the figure.
    pub mean: f64,
    /// Of the 95% interval. The runs of a group are taken as independent: a group of one has no interval.
    pub half_width: Option<f64>,
}

impl GroupMean {
    /// The mean for programs.
    pub fn cell(&self) -> Cell {
        Cell::Real(self.mean)
    }

    /// The half-width for programs.
    pub fn half_width_cell(&self) -> Cell {
        self.half_width.map_or(Cell::None, Cell::Real)
    }
}

/// Groups in the making: runs are added one by one, and of each only its main figures are kept.
#[derive(Debug)]
pub struct Groups {
    columns: Vec<&'static Column>,
    /// In the order of their first run.
    groups: Vec<Members>,
    places: BTreeMap<Vec<String>, usize>,
}

#[derive(Debug)]
struct Members {
    labels: Vec<String>,
    rows: usize,
    /// For each column the values that are defined.
    values: Vec<Vec<f64>>,
    /// The runs that are in it.
    runs: BTreeSet<u128>,
}

impl Groups {
    /// Without runs yet. The improvements over a baseline have means only where runs have baselines.
    pub fn new(with_baseline: bool) -> Groups {
        let columns = columns(with_baseline).filter(|column| column.has_mean()).collect();
        Groups { columns, groups: Vec::new(), places: BTreeMap::new() }
    }

    /// Adds a run to the group of these labels. `run` identifies what was run, where that is known: a group counts it once,
    /// because equal rows are no evidence (seeds that a run does not draw from would make its interval 0).
    pub fn add(&mut self, labels: Vec<String>, run: Option<u128>, row: &RunRow) {
        let place = *self.places.entry(labels).or_insert_with_key(|labels| {
            let values = vec![Vec::new(); self.columns.len()];
            self.groups.push(Members { labels: labels.clone(), rows: 0, values, runs: BTreeSet::new() });
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
        let mean = |(column, values): (&&'static Column, &Vec<f64>)| {
            let (mean, half_width) = mean_and_half_width(values);
            GroupMean { column, mean, half_width }
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
            groups.add(vec![predictor.to_string()], Some(run), &row);
        }
        let means = groups.means();
        let texts: Vec<_> =
            means.iter().map(|group| (&*group.labels[0], group.rows, group.means[0].cell().text())).collect();
        // The mean of what is printed: 1.000 and 3.000.
        assert_eq!(texts, [("z", 2, "2.000000".to_string()), ("b", 1, "5.000000".to_string())]);
        assert!(means[0].means[0].half_width.is_some() && means[1].means[0].half_width.is_none());
        let names: Vec<_> = means[0].means.iter().map(|mean| mean.column.name).collect();
        assert_eq!(names, ["wait_mean", "bsld_mean", "ai_mean", "ra_mean", "utilization"]);
        assert_eq!(Groups::new(true).columns.len(), names.len() + 4);
    }

    #[test]
    fn runs_that_are_not_told_apart_all_count() {
        let mut groups = Groups::new(false);
        (0..3).for_each(|_| groups.add(Vec::new(), None, &RunRow::default()));
        assert_eq!(groups.means()[0].rows, 3);
    }
}
