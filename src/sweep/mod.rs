//! Sweeps: a grid of runs on every core, resumable, and on a cluster.
//!
//! A [`Grid`] is the product of lists of option values, and the plan of a sweep's runs. A [`Sweep`] is a grid with the folder
//! of its results. [`finished_rows`] returns the rows in the order of the grid. The folder contains all that is needed to
//! resume, to merge or to report.
//!
#![doc = include_str!("../cli/help/sweeps.md")]

mod axis;
mod folder;
mod grid;
mod lines;
mod results;
mod slurm;

pub use axis::{Axis, GridList, GridText, REPLICATIONS};
pub use folder::{StartMode, Sweep, SweepError};
pub use grid::{Grid, Labels};
pub use lines::number_lines;
pub use results::{FinishedRow, ResultColumn, SweepProgress, finished_rows, write_results};
pub use slurm::{SlurmError, Submitted, active_job, submit};

pub use crate::spec::{SweptKey, expand};
