//! The columns of what is known of a sweep besides its results: its plan and its status.

use super::results::SweepProgress;
use crate::metrics::{Column, When, column_list};
use crate::runs::PlannedRun;

/// A cell of a grid as a row.
pub struct PlannedCell {
    /// Counted from 1.
    pub number: usize,
    /// What it runs.
    pub run: PlannedRun,
}

/// The columns of `sim sweep --dry-run`.
pub static PLAN_COLUMNS: &[Column<PlannedCell>] = &column_list! {
    |cell: PlannedCell|
    key "cell" "the number of the cell, in the order of the grid" cell.number;
    label "command" "the command that runs it alone" cell.run.command();
};

/// A sweep as a row.
pub struct SweepStatus {
    /// Its cells.
    pub progress: SweepProgress,
    /// Its jobs of Slurm that are not over, and how many tasks of them are queued or running.
    pub job: Option<(String, usize)>,
    /// The file of results, if there is one.
    pub results: Option<String>,
}

/// The columns of `sim sweep status` and `sim sweep merge`.
pub static STATUS_COLUMNS: &[Column<SweepStatus>] = &column_list! {
    |sweep: SweepStatus|
    key "cells" "cells of the grid" sweep.progress.cells;
    count "done" "cells that are finished" sweep.progress.done, higher;
    count "failed" "cells that failed when they were last tried" sweep.progress.failed.len(), lower;
    count "missing" "cells that were not tried yet" sweep.progress.missing.len(), lower;
    label "slurm_job" "the numbers of its jobs of Slurm that are not over"
        sweep.job.as_ref().map(|(job, _)| job.clone()), only(When::SweepStatus);
    label "slurm_tasks" "tasks of these jobs that are queued or running"
        sweep.job.as_ref().map(|(_, tasks)| *tasks), only(When::SweepStatus);
    label "results" "the file of results; in sim sweep status empty until all cells are done" sweep.results.clone();
};
