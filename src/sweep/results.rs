//! The rows of finished cells, and `results.csv`, which consists of them.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::metrics::columns::columns_on;
use crate::metrics::{Cell, Column, RunRow};
use crate::report::{Output, OutputError, csv_line, option_cell};
use crate::runs::{FailedRun, KeptRow, RunKey, RunKeys, RunPlan, Store, row_format};
use crate::similar::did_you_mean;
use crate::spec::SpecError;

use super::axis::Axis;
use super::folder::Sweep;
use super::grid::Grid;

/// The progress of a sweep, in cells of its grid.
#[derive(Debug, Default)]
pub struct SweepProgress {
    /// All cells of the grid.
    pub cells: usize,
    /// Finished cells.
    pub done: usize,
    /// Cells that failed when they were last tried, or with a log that cannot be read.
    pub failed: Vec<FailedRun>,
    /// The indices of cells that were not tried yet.
    pub missing: Vec<usize>,
}

impl SweepProgress {
    /// Whether all cells are done.
    pub fn is_complete(&self) -> bool {
        self.done == self.cells
    }
}

/// The cells of a sweep, with those that its folder has.
#[derive(Debug)]
pub struct SweepCells<'a> {
    /// The sweep.
    pub sweep: &'a Sweep,
    /// The keys of its cells.
    pub keys: RunKeys,
    /// The finished and failed cells.
    pub store: Store,
}

impl<'a> SweepCells<'a> {
    /// Reads the folder and the logs.
    ///
    /// # Errors
    ///
    /// If a part cannot be read.
    pub fn of(sweep: &'a Sweep, threads: usize) -> Result<SweepCells<'a>, OutputError> {
        let store = Store::open(&sweep.folder)?;
        Ok(SweepCells { keys: RunKeys::of(&sweep.grid, &row_format(), &store, None, threads), store, sweep })
    }

    /// Reads the folder, but not the logs: their content is what the parts have recorded.
    ///
    /// # Errors
    ///
    /// If a part cannot be read.
    pub fn recorded(sweep: &'a Sweep) -> Result<SweepCells<'a>, OutputError> {
        let store = Store::open(&sweep.folder)?;
        Ok(SweepCells { keys: RunKeys::recorded(&sweep.grid, &row_format(), &store), store, sweep })
    }

    /// The progress by the finished and failed cells of the folder.
    pub fn progress(&self) -> SweepProgress {
        let mut progress = SweepProgress { cells: self.sweep.grid.count(), ..SweepProgress::default() };
        for (at, key) in self.keys.keys.iter().enumerate() {
            let failure = match key {
                Some(key) if self.store.is_done(*key) => {
                    progress.done += 1;
                    continue;
                }
                Some(key) => self.store.failure(*key).map(str::to_string),
                None => self.keys.error(&self.sweep.grid.run(at)).map(str::to_string),
            };
            match failure {
                Some(message) => progress.failed.push(FailedRun { at, message }),
                None => progress.missing.push(at),
            }
        }
        progress
    }

    /// The rows of finished cells, in the order of the grid. An item is an error if a part cannot be read.
    pub fn rows(&self) -> impl Iterator<Item = Result<FinishedRow, OutputError>> {
        let grid = &self.sweep.grid;
        let (logs, labels) = grid.log_labels();
        self.keys.keys.iter().enumerate().filter_map(move |(cell, key)| {
            let key = (*key)?;
            let mut run: RunRow = match self.store.row(key).transpose()? {
                Ok(run) => run,
                Err(error) => return Some(Err(error)),
            };
            let places = grid.places(cell);
            // Another sweep may have computed the cell.
            run.relabel(&grid.run(cell), labels[logs.map_or(0, |logs| places[logs])].clone());
            for (axis, place) in grid.axes().iter().zip(&places) {
                // The text of this grid has the defaults of its swept keys.
                match axis.name.as_str() {
                    "scheduler" => run.label.scheduler.clone_from(&axis.values[*place]),
                    "predictor" => run.label.predictor.clone_from(&axis.values[*place]),
                    _ => {}
                }
            }
            Some(Ok(FinishedRow { key, run, places }))
        })
    }

    /// Writes the rows of finished cells, in the order of the grid, to `results.csv` if all cells are finished, else to
    /// `results.partial.csv`. A complete `results.csv` is only replaced by another complete one. Returns the path of the
    /// written file.
    ///
    /// # Errors
    ///
    /// If a part cannot be read, or the file cannot be written.
    pub fn write_results(&self) -> Result<PathBuf, OutputError> {
        let complete = self.keys.keys.iter().all(|key| key.is_some_and(|key| self.store.is_done(key)));
        let (whole, partial) = (self.sweep.results_file(), self.sweep.folder.join("results.partial.csv"));
        let file = if complete { &whole } else { &partial };
        let columns = self.sweep.grid.columns();
        let mut unread = None;
        let written = Output::create(&file.to_string_lossy())?.fill(|out| {
            writeln!(out, "{}", columns.iter().map(ResultColumn::name).collect::<Vec<_>>().join(","))?;
            for row in self.rows() {
                let row = row.map_err(|error| {
                    unread = Some(error);
                    io::Error::from(io::ErrorKind::Other)
                })?;
                let cells: Vec<_> = columns.iter().map(|column| ((), column.cell(&row))).collect();
                writeln!(out, "{}", csv_line(&cells))?;
            }
            Ok(())
        });
        written.map_err(|error| unread.unwrap_or(error))?;
        if complete {
            // The partial results are out of date now.
            let _ = fs::remove_file(&partial);
        }
        Ok(file.clone())
    }
}

/// A column of a sweep's results.
#[derive(Clone, Copy, Debug)]
pub enum ResultColumn<'a> {
    /// One that every run has.
    Run(&'static Column),
    /// The values of a list of the grid, or of a key of the specs in it.
    Swept {
        /// The index of the list.
        axis: usize,
        /// The option, or option and key: `load`, `predictor.window`.
        name: &'a str,
        /// One per value of the list.
        values: &'a [String],
    },
}

impl ResultColumn<'_> {
    /// As in CSV and JSON.
    pub fn name(&self) -> &str {
        match self {
            ResultColumn::Run(column) => column.name,
            ResultColumn::Swept { name, .. } => name,
        }
    }

    /// Whether it says what was run.
    pub fn is_setting(&self) -> bool {
        match self {
            ResultColumn::Run(column) => !column.is_number(),
            ResultColumn::Swept { .. } => true,
        }
    }

    /// Its value in a row; none instead of an empty text.
    pub fn cell(&self, row: &FinishedRow) -> Cell {
        match self {
            ResultColumn::Run(column) => Some(column.cell(&row.run)).filter(|cell| !cell.text().is_empty()).into(),
            ResultColumn::Swept { axis, values, .. } => option_cell(&values[row.places[*axis]]),
        }
    }
}

impl Grid {
    /// Whether its runs are compared with a baseline.
    pub fn has_baseline(&self) -> bool {
        self.axes().iter().any(|axis| axis.name == "baseline" && axis.values != ["none"])
    }

    /// The columns that a sweep adds to those of a run: one for each list of an option without a column, and one for each
    /// swept key of specs.
    pub fn swept_columns(&self) -> impl Iterator<Item = ResultColumn<'_>> {
        self.axes().iter().enumerate().flat_map(|(axis, list)| {
            let option = ResultColumn::Swept { axis, name: &list.name, values: &list.values };
            let keys = list.keys.iter();
            let keys = keys.map(move |key| ResultColumn::Swept { axis, name: &key.column, values: &key.values });
            (!Column::exists(&list.name)).then_some(option).into_iter().chain(keys)
        })
    }

    /// The columns of a table that tell its rows apart, beside the log, the scheduler and the predictor: those of
    /// [`Grid::swept_columns`], and swept options that have a column of a run, such as `procs`.
    pub fn shown_columns(&self) -> impl Iterator<Item = ResultColumn<'_>> {
        let is_shown = |list: &&Axis| {
            let is_setting = ["trace", "scheduler", "predictor", "baseline"].contains(&list.name.as_str());
            Column::exists(&list.name) && !is_setting && list.values.len() > 1
        };
        let lists = self.axes().iter().enumerate().filter(move |(_, list)| is_shown(list));
        let lists = lists.map(|(axis, list)| ResultColumn::Swept { axis, name: &list.name, values: &list.values });
        lists.chain(self.swept_columns())
    }

    /// The columns of its results. The column `options` is the last, as in the results of a run.
    pub fn columns(&self) -> Vec<ResultColumn<'_>> {
        let mut all: Vec<_> = columns_on(self.run_kind(), self.has_baseline()).map(ResultColumn::Run).collect();
        let last = all.pop();
        all.extend(self.swept_columns().chain(last));
        all
    }

    /// The columns with these names, of those that say what was run.
    ///
    /// # Errors
    ///
    /// If there is no such column, or it has figures.
    pub fn columns_named(&self, names: &[String]) -> Result<Vec<ResultColumn<'_>>, SpecError> {
        let columns = self.columns();
        let settings: Vec<_> = columns.iter().filter(|column| column.is_setting()).collect();
        let find = |name: &String| {
            settings.iter().find(|column| column.name() == name).map(|column| **column).ok_or_else(|| {
                let all: Vec<_> = settings.iter().map(|column| column.name()).collect();
                let meant = did_you_mean(name, all.iter().copied());
                let why = match columns.iter().any(|column| column.name() == name) {
                    true => format!("'{name}' has figures, of which means are printed: it is no column to group by"),
                    false => format!("there is no column '{name}' to group by"),
                };
                SpecError(format!("{why}; the columns are {}{meant}", all.join(", ")))
            })
        };
        names.iter().map(find).collect()
    }
}

/// The row of a finished cell.
#[derive(Clone, Debug)]
pub struct FinishedRow {
    /// The key of the cell.
    pub key: RunKey,
    /// Its labels and figures.
    pub run: RunRow,
    /// As [`Grid::places`].
    pub places: Vec<usize>,
}
