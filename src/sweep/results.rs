//! From finished cells to `results.csv`, and to means over groups of its rows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::PathBuf;

use crate::report::{Cell, Output, OutputError, csv_cell, summary_columns};
use crate::spec::SpecError;
use crate::stats::mean_and_half_width;

use super::grid::Grid;
use super::plan::{Keys, Sweep};
use super::run::Failure;
use super::store::{CellKey, Store};

/// How far a sweep is, in cells of its grid.
#[derive(Debug, Default)]
pub struct Progress {
    pub cells: usize,
    pub done: usize,
    /// Tried in vain, or with a log that cannot be read: where and why.
    pub failed: Vec<Failure>,
    /// Not tried yet.
    pub missing: Vec<usize>,
}

impl Progress {
    pub fn of(sweep: &Sweep, keys: &Keys, store: &Store) -> Progress {
        let mut progress = Progress { cells: sweep.grid.len(), ..Progress::default() };
        for (cell, key) in keys.keys.iter().enumerate() {
            let failure = match key {
                Some(key) if store.is_done(*key) => {
                    progress.done += 1;
                    continue;
                }
                Some(key) => store.failure(*key).map(str::to_string),
                None => keys.error(&sweep.grid.cell(cell).trace).map(str::to_string),
            };
            match failure {
                Some(message) => progress.failed.push(Failure { cell, message }),
                None => progress.missing.push(cell),
            }
        }
        progress
    }

    pub fn is_complete(&self) -> bool {
        self.done == self.cells
    }
}

/// A file of results.
#[derive(Debug)]
pub struct Written {
    pub file: PathBuf,
    /// What was run for each row.
    pub runs: Vec<CellKey>,
}

/// Writes the rows that are there, in the grid's order: `results.csv` if all are, else `results.partial.csv`. A finished
/// `results.csv` is only ever replaced by another.
pub fn write_results(sweep: &Sweep, keys: &Keys, store: &Store) -> Result<Written, OutputError> {
    let is_done = |key: &Option<CellKey>| key.is_some_and(|key| store.is_done(key));
    let complete = keys.keys.iter().all(is_done);
    let (whole, partial) = (sweep.results_file(), sweep.folder.join("results.partial.csv"));
    let file = if complete { &whole } else { &partial };
    let mut unread = None;
    Output::create(&file.to_string_lossy())?
        .fill(|out| {
            writeln!(out, "{}", sweep.grid.columns().join(","))?;
            let (labels, added): (_, Vec<_>) = (sweep.grid.labels(), sweep.grid.added_columns().collect());
            for (cell, key) in keys.keys.iter().enumerate() {
                let row = match key.map(|key| store.row(key)).transpose() {
                    Ok(row) => row.flatten(),
                    Err(error) => {
                        unread = Some(error);
                        return Err(io::ErrorKind::Other.into());
                    }
                };
                if let Some(row) = row {
                    write!(out, "{}", row_with_label(labels.of(cell), &row))?;
                    let values = sweep.grid.values(cell);
                    added.iter().try_for_each(|(axis, _)| write!(out, ",{}", csv_cell(values[*axis])))?;
                    writeln!(out)?;
                }
            }
            Ok(())
        })
        .map_err(|error| unread.unwrap_or(error))?;
    if complete {
        // What was there before the last cells were.
        let _ = fs::remove_file(&partial);
    }
    let runs = keys.keys.iter().filter(|key| is_done(key)).flatten().copied().collect();
    Ok(Written { file: file.clone(), runs })
}

/// A row of a store with the label of its log, which is the first column.
pub fn row_with_label(label: &str, row: &str) -> String {
    format!("{},{row}", csv_cell(label))
}

/// The metrics of which groups have means.
const METRICS: [&str; 9] = [
    "wait_mean",
    "bsld_mean",
    "ai_mean",
    "ra_mean",
    "utilization",
    "wait_improvement_pct",
    "bsld_improvement_pct",
    "ai_improvement_pct",
    "ra_improvement_pct",
];

/// Rows of text with their column names: results as they are written.
#[derive(Debug)]
pub struct Results {
    pub names: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// What was run for each row, where that is known: in a group, rows of one run count once.
    pub runs: Vec<CellKey>,
}

/// The columns of these names among others; an error if one is not there.
fn find_columns(names: &[String], wanted: &[String]) -> Result<Vec<usize>, SpecError> {
    let find = |name: &String| {
        names.iter().position(|other| other == name).ok_or_else(|| {
            SpecError(format!("there is no column '{name}' to group by; there are {}", names.join(", ")))
        })
    };
    wanted.iter().map(find).collect()
}

impl Grid {
    /// The columns of its results.
    pub fn columns(&self) -> Vec<String> {
        let compared = self.axes().iter().any(|axis| axis.name == "baseline" && axis.values != ["none"]);
        let added = self.added_columns().map(|(_, name)| name);
        summary_columns(compared).into_iter().chain(added).map(str::to_string).collect()
    }

    /// Whether its results can be grouped by these columns.
    pub fn check_groups(&self, columns: &[String]) -> Result<(), SpecError> {
        find_columns(&self.columns(), columns).map(|_| ())
    }
}

impl Results {
    /// Reads a file of results.
    pub fn read(Written { file, runs }: &Written) -> anyhow::Result<Results> {
        let mut reader = csv::Reader::from_path(file)?;
        let names = reader.headers()?.iter().map(str::to_string).collect();
        let rows = reader.records().map(|row| Ok(row?.iter().map(str::to_string).collect()));
        Ok(Results { names, rows: rows.collect::<Result<_, csv::Error>>()?, runs: runs.clone() })
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| other == name)
    }

    /// Means over the rows that agree in these columns, each with the half-width of its 95% interval, groups in the order
    /// of their first row. The rows of a group are taken as independent: a group of one has no interval.
    pub fn group_by(&self, columns: &[String]) -> Result<Vec<Vec<(String, Cell)>>, SpecError> {
        let by = find_columns(&self.names, columns)?;
        let mut groups: BTreeMap<Vec<&str>, Vec<&Vec<String>>> = BTreeMap::new();
        let (mut order, mut seen) = (Vec::new(), BTreeSet::new());
        for (at, row) in self.rows.iter().enumerate() {
            let group: Vec<_> = by.iter().map(|&column| row[column].as_str()).collect();
            // Equal rows are no evidence: seeds that a run does not draw from would make its interval 0.
            if self.runs.get(at).is_some_and(|run| !seen.insert((group.clone(), *run))) {
                continue;
            }
            let rows = groups.entry(group.clone()).or_default();
            if rows.is_empty() {
                order.push(group);
            }
            rows.push(row);
        }
        let metrics: Vec<_> = METRICS.iter().filter_map(|name| Some((*name, self.column(name)?))).collect();
        let describe = |group: &Vec<&str>| {
            let rows = &groups[group];
            let mut cells: Vec<(String, Cell)> =
                columns.iter().zip(group).map(|(name, value)| (name.clone(), Cell::Text(value.to_string()))).collect();
            cells.push(("rows".to_string(), Cell::Count(rows.len() as u64)));
            for (name, column) in &metrics {
                let values: Vec<f64> = rows.iter().filter_map(|row| row[*column].parse().ok()).collect();
                let (mean, half) = mean_and_half_width(&values);
                cells.push((name.to_string(), Cell::Real(mean)));
                cells.push((format!("{name}_ci95"), half.map_or(Cell::None, Cell::Real)));
            }
            cells
        };
        Ok(order.iter().map(describe).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_in_the_order_of_their_first_row() {
        let row = |cells: [&str; 3]| cells.map(str::to_string).to_vec();
        let table = Results {
            names: row(["trace", "predictor", "wait_mean"]),
            rows: vec![row(["a", "z", "1"]), row(["a", "b", "5"]), row(["c", "z", "3"]), row(["c", "z", "3"])],
            runs: vec![1, 2, 3, 3],
        };
        let groups = table.group_by(&["predictor".to_string()]).unwrap();
        let texts: Vec<Vec<String>> =
            groups.iter().map(|group| group.iter().take(3).map(|(_, cell)| cell.text()).collect()).collect();
        assert_eq!(texts, [["z", "2", "2.000000"], ["b", "1", "5.000000"]]);
        assert!(table.group_by(&["color".to_string()]).is_err());
    }
}
