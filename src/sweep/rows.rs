//! Runs a list of cells and returns their rows: for studies that are made of runs.

use std::fmt;
use std::path::Path;

use super::grid::GridCell;
use super::plan::Keys;
use super::run::{RunReport, Shard, run};
use super::store::Store;
use crate::metrics::RunRow;
use crate::report::{OutputError, TemporaryFolder};
use crate::text::counted;

/// The finished runs of a list of cells.
#[derive(Debug)]
pub struct CellRows {
    /// One row per cell, in the order of the cells.
    pub rows: Vec<RunRow>,
    /// The number of runs that were already in the folder.
    pub reused: usize,
    /// The number of runs that were computed by this call.
    pub computed: usize,
}

/// Why there are no rows.
#[derive(Debug)]
pub enum RowsError {
    /// Results cannot be kept or read back.
    Kept(OutputError),
    /// A run failed, with the reason and the command that repeats it.
    Failed(String),
}

impl fmt::Display for RowsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowsError::Kept(error) => error.fmt(f),
            RowsError::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for RowsError {}

impl From<OutputError> for RowsError {
    fn from(error: OutputError) -> Self {
        RowsError::Kept(error)
    }
}

/// Runs all cells as a sweep does, and returns their rows. Finished runs are kept in the folder, and those that are in it are
/// used again. Without a folder a temporary one is used and then removed. `progress` is called with the number of finished
/// cells.
///
/// # Errors
///
/// If a run fails, or if results cannot be written or read.
pub fn compute_rows(
    cells: &Vec<GridCell>,
    folder: Option<&Path>,
    threads: usize,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<CellRows, RowsError> {
    match folder {
        Some(folder) => compute_in(folder, cells, threads, progress),
        None => compute_in(TemporaryFolder::new(&std::env::temp_dir())?.path(), cells, threads, progress),
    }
}

fn compute_in(
    folder: &Path,
    cells: &Vec<GridCell>,
    threads: usize,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<CellRows, RowsError> {
    let store = Store::open(folder)?;
    let keys = Keys::of(cells, &store, threads);
    let RunReport { failures, reused, computed, .. } =
        run(cells, &keys, &store, Shard::WHOLE, threads, &|done, all| {
            progress(cells.len() - all + done);
        })?;
    if let Some(failure) = failures.first() {
        let (runs, again) = (counted(failures.len() as u64, "run"), cells[failure.cell].command());
        return Err(RowsError::Failed(format!("{runs} failed, the first: {}\n  again: {again}", failure.message)));
    }
    let store = Store::open(folder)?;
    let row = |(cell, key): (&GridCell, &Option<u128>)| {
        let mut row = key.map(|key| store.row(key)).transpose()?.flatten();
        row.iter_mut().for_each(|row| row.label.trace = cell.source().label());
        Ok(row)
    };
    let rows: Result<Vec<Option<RunRow>>, RowsError> = cells.iter().zip(&keys.keys).map(row).collect();
    let rows: Vec<RunRow> = rows?.into_iter().flatten().collect();
    if rows.len() < cells.len() {
        let lost = counted((cells.len() - rows.len()) as u64, "finished run");
        return Err(RowsError::Failed(format!("missing from {}: {lost}", folder.display())));
    }
    Ok(CellRows { rows, reused, computed })
}
