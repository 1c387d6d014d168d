//! From finished cells to `results.csv`, and to means over groups of its rows.

use std::collections::BTreeMap;
use std::fs;

use crate::report::{Cell, Output, OutputError, csv_cell, summary_columns};
use crate::spec::SpecError;
use crate::stats::mean_and_half_width;

use super::plan::{Keys, Sweep};
use super::store::Store;

/// How far a sweep is, in cells of its grid.
#[derive(Debug, Default)]
pub struct Progress {
    pub cells: usize,
    pub done: usize,
    /// Tried in vain, or with a log that cannot be read: where and why.
    pub failed: Vec<(usize, String)>,
    /// Not tried yet.
    pub missing: Vec<usize>,
}

impl Progress {
    pub fn of(sweep: &Sweep, keys: &Keys, store: &Store) -> Progress {
        let mut progress = Progress { cells: sweep.grid.len(), ..Progress::default() };
        for (cell, key) in keys.keys.iter().enumerate() {
            match key {
                None => progress.failed.push((cell, keys.errors[&sweep.grid.cell(cell).trace].clone())),
                Some(key) if store.is_done(*key) => progress.done += 1,
                Some(key) => match store.failure(*key) {
                    Some(message) => progress.failed.push((cell, message.to_string())),
                    None => progress.missing.push(cell),
                },
            }
        }
        progress
    }

    pub fn is_complete(&self) -> bool {
        self.done == self.cells
    }
}

/// Writes the rows that are there, in the grid's order: `results.csv` if all are, else `results.partial.csv`. Returns
/// the file's name.
pub fn write_results(sweep: &Sweep, keys: &Keys, store: &Store, complete: bool) -> Result<String, OutputError> {
    let (whole, partial) = (sweep.results_file(), sweep.folder.join("results.partial.csv"));
    let file = if complete { &whole } else { &partial };
    let name = file.to_string_lossy().into_owned();
    let compared = sweep.grid.axes().iter().any(|axis| axis.name == "baseline" && axis.values != ["none"]);
    let mut unread = None;
    Output::create(&name)?
        .fill(|out| {
            let added: Vec<_> = sweep.grid.added_columns().collect();
            let names = summary_columns(compared).into_iter().chain(added.iter().map(|(_, name)| *name));
            writeln!(out, "{}", names.collect::<Vec<_>>().join(","))?;
            for (cell, key) in keys.keys.iter().enumerate() {
                let Some(key) = key else { continue };
                let row = match store.row(*key) {
                    Ok(row) => row,
                    Err(error) => {
                        unread = Some(error);
                        return Err(std::io::ErrorKind::Other.into());
                    }
                };
                if let Some(mut row) = row {
                    let values = sweep.grid.values(cell);
                    for (axis, _) in &added {
                        row.push(',');
                        row.push_str(&csv_cell(values[*axis]));
                    }
                    writeln!(out, "{row}")?;
                }
            }
            Ok(())
        })
        .map_err(|error| unread.unwrap_or(error))?;
    // The other one is out of date, or was never there.
    let _ = fs::remove_file(if complete { &partial } else { &whole });
    Ok(name)
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
}

impl Results {
    /// Reads a file of results.
    pub fn read(path: &str) -> anyhow::Result<Results> {
        let mut reader = csv::Reader::from_path(path)?;
        let names = reader.headers()?.iter().map(str::to_string).collect();
        let rows = reader.records().map(|row| Ok(row?.iter().map(str::to_string).collect()));
        Ok(Results { names, rows: rows.collect::<Result<_, csv::Error>>()? })
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| other == name)
    }

    /// Means over the rows that agree in these columns, each with the half-width of its 95% interval, groups in the order
    /// of their first row. The rows of a group are taken as independent: a group of one has no interval.
    pub fn group_by(&self, columns: &[String]) -> Result<Vec<Vec<(String, Cell)>>, SpecError> {
        let by: Vec<usize> = columns
            .iter()
            .map(|name| {
                self.column(name).ok_or_else(|| {
                    SpecError(format!("there is no column '{name}' to group by; there are {}", self.names.join(", ")))
                })
            })
            .collect::<Result<_, _>>()?;
        let mut groups: BTreeMap<Vec<&str>, Vec<&Vec<String>>> = BTreeMap::new();
        let mut order = Vec::new();
        for row in &self.rows {
            let group: Vec<_> = by.iter().map(|&column| row[column].as_str()).collect();
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
            rows: vec![row(["a", "z", "1"]), row(["a", "b", "5"]), row(["c", "z", "3"])],
        };
        let groups = table.group_by(&["predictor".to_string()]).unwrap();
        let texts: Vec<Vec<String>> =
            groups.iter().map(|group| group.iter().take(3).map(|(_, cell)| cell.text()).collect()).collect();
        assert_eq!(texts, [["z", "2", "2.000000"], ["b", "1", "5.000000"]]);
        assert!(table.group_by(&["color".to_string()]).is_err());
    }
}
