//! The rows of finished cells, and `results.csv`, which consists of them.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::metrics::RunRow;
use crate::report::{Output, OutputError, csv_line};
use crate::runs::{FailedRun, FinishedRow, KeptRow, ResultColumn, RowsAlone, RunKeys, Store, WantedOfRuns};

use super::folder::Sweep;

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
        Ok(SweepCells {
            keys: RunKeys::of(&sweep.grid, &RowsAlone::Plain.format(), &store, None, threads),
            store,
            sweep,
        })
    }

    /// Reads the folder, but not the logs: their content is what the parts have recorded.
    ///
    /// # Errors
    ///
    /// If a part cannot be read.
    pub fn recorded(sweep: &'a Sweep) -> Result<SweepCells<'a>, OutputError> {
        let store = Store::open(&sweep.folder)?;
        Ok(SweepCells { keys: RunKeys::recorded(&sweep.grid, &RowsAlone::Plain.format(), &store), store, sweep })
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
