//! Sweeps: a grid of runs on every core, resumable, and on a cluster.
//!
//! A [`Grid`] is the product of lists of option values, and the plan of a sweep's runs. A [`Sweep`] is a grid with the folder
//! of its results. [`SweepCells`] are its cells, of which some are finished. The folder contains all that is needed to
//! resume, to merge or to report.
//!
#![doc = include_str!("../cli/help/sweeps.md")]

mod axis;
mod columns;
mod conditions;
mod folder;
mod grid;
mod lines;
mod results;
mod slurm;

pub use axis::{Axis, GridList, GridText, REPLICATIONS};
pub use columns::{IN_STATUS, PLAN_COLUMNS, PlannedCell, STATUS_COLUMNS, SweepStatus};
pub use conditions::{AskedSettings, Varies, conditions, groups, pooled, setting_columns};
pub use folder::{StartMode, Sweep};
pub use grid::Grid;
pub use lines::number_lines;
pub use results::{FinishedRow, ResultColumn, SweepCells, SweepProgress};
pub use slurm::{Submitted, active_job, submit};

pub use crate::spec::{SweptKey, expand};
