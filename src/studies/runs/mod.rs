//! Many runs: one plan, one executor, and the folder in which finished runs are kept.
//!
//! A [`RunPlan`] is a product of lists of options, and so a list of runs: a log and all options of each. An [`Executor`] computes
//! them on all cores, shares logs, workloads and baselines among them, and hands out what its caller wants of each
//! ([`WantedOfRuns`]). With a folder, the rows of finished runs are
//! kept in its [`Store`], and [`Executor::compute`] computes only what is missing.

mod axis;
mod execute;
mod finished;
mod jobs;
mod kept_row;
mod keys;
mod plan;
mod result_columns;
mod rows;
mod run;
mod store;

pub use axis::{Axis, GridList, GridText, REPLICATIONS, Varies, runs_of_replications, values_of};
pub use execute::{Executor, FailedRun, NeverBySetting, RunRemarks, RunReport, RunStep, simulations};
pub use finished::{FinishedRun, RowsAlone, ScheduleHash, Simulated, WantedOfRuns};
pub use jobs::{GivenJobs, Jobs, JobsOnMachine};
pub use kept_row::{KeptRow, row_format};
pub use keys::{RESULTS_REVISION, RunKeys};
pub use plan::RunPlan;
pub use result_columns::ResultColumn;
pub use rows::{ComputedRuns, RunsError, compute_rows};
pub use run::{FinishedRow, PlannedRun, RunKey, Shard, quoted};
pub use store::{LogState, PartWriter, Store};
