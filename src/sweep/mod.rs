//! Sweeps: a grid of runs on every core, resumable, and on a cluster.
//!
//! The grid of a sweep is a [`RunPlan`](crate::runs::RunPlan): the product of lists of option values. A [`Sweep`] is a grid with the
//! folder of its results. [`SweepCells`] are its cells, of which some are finished. The folder contains all that is needed to
//! resume, to merge or to report.
//!
#![doc = include_str!("../cli/help/sweeps.md")]

mod columns;
mod conditions;
mod folder;
mod lines;
mod results;
mod slurm;

pub use columns::{PLAN_COLUMNS, PlannedCell, STATUS_COLUMNS, SweepStatus};
pub use conditions::{AskedSettings, conditions, groups, pooled, setting_columns};
pub use folder::{StartMode, Sweep};
pub use lines::number_lines;
pub use results::{SweepCells, SweepProgress};
pub use slurm::{Submitted, active_job, submit};
