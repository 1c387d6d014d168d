//! Sweeps: a grid of experiments on every core, resumable, and on a cluster.
//!
//! A [`Grid`] is the product of lists of option values, a [`Sweep`] is a grid with the folder of its results, and a
//! [`Store`] holds the finished cells. [`run()`] computes the missing cells, and [`finished_rows`] returns the rows in
//! the order of the grid. The folder contains all that is needed to resume, to merge or to report.
//!
#![doc = include_str!("../cli/help/sweeps.md")]

mod axis;
mod grid;
mod lines;
mod plan;
mod results;
mod rows;
mod run;
mod slurm;
mod store;

pub use axis::{Axis, GridList, GridText, REPLICATIONS};
pub use grid::{Cells, Grid, GridCell, Labels};
pub use lines::number_lines;
pub use plan::{Keys, RESULTS_REVISION, StartMode, Sweep, SweepError};
pub use results::{FinishedRow, ResultColumn, SweepProgress, finished_rows, write_results};
pub use rows::{CellRows, RowsError, compute_rows};
pub use run::{Failure, RunReport, Shard, run};
pub use slurm::{SlurmError, Submitted, active_job, submit};
pub use store::{CellKey, LogState, PartWriter, Store};

pub use crate::spec::{SweptKey, expand};
