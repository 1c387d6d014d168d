//! What the folder of a sweep has: `sim sweep merge`, `sim sweep status`, and the cells that are not done.

use crate::cli::output_options::PrintOptions;
use crate::cli::stderr::{self, note};
use crate::metrics::{Given, When, cells};
use crate::report::{counted, grouped};
use crate::runs::{FailedRun, RunPlan};
use crate::sweep::{STATUS_COLUMNS, active_job};
use crate::sweep::{Sweep, SweepCells, SweepProgress, SweepStatus};

pub fn merge(sweep: &Sweep, print: &PrintOptions) -> anyhow::Result<()> {
    let all = SweepCells::recorded(sweep)?;
    let file = all.write_results()?.display().to_string();
    let status = SweepStatus { progress: all.progress(), job: None, results: Some(file.clone()) };
    let progress = &status.progress;
    print.report(&file, &cells(STATUS_COLUMNS, &status, Given::default()), || {
        if progress.is_complete() {
            note(format_args!("{} in {file}", counted(progress.cells as u64, "cell")));
        }
    })?;
    if progress.is_complete() {
        return Ok(());
    }
    print_not_done("failed", &sweep.grid, &progress.failed);
    print_missing(&sweep.grid, &progress.missing);
    let failed = progress.failed.len();
    anyhow::bail!("{} missing, {failed} of them failed; the others are in {file}", missing_cells(progress))
}

/// "3 of 24 cells are".
pub fn missing_cells(progress: &SweepProgress) -> String {
    let missing = progress.cells - progress.done;
    let verb = if missing == 1 { "is" } else { "are" };
    format!("{} of {} {verb}", grouped(missing as u64), counted(progress.cells as u64, "cell"))
}

pub fn status(sweep: &Sweep, print: &PrintOptions) -> anyhow::Result<()> {
    let progress = SweepCells::recorded(sweep)?.progress();
    // Without Slurm this is an error, and nothing is printed about jobs.
    let job = active_job(sweep).ok().flatten();
    let results = sweep.results_file();
    let results = (progress.is_complete() && results.exists()).then(|| results.display().to_string());
    let status = SweepStatus { progress, job, results };
    print.print_row(false, &cells(STATUS_COLUMNS, &status, When::SweepStatus.into()), |out, _| {
        let SweepStatus { progress, job, results } = &status;
        let [done, failed, missing] = [progress.done, progress.failed.len(), progress.missing.len()];
        let all = counted(progress.cells as u64, "cell");
        writeln!(out, "{all}: {done} done, {failed} failed, {missing} missing")?;
        if let Some((job, tasks)) = job {
            writeln!(out, "jobs {job}: {} queued or running", counted(*tasks as u64, "task"))?;
        }
        if let Some(results) = results {
            writeln!(out, "results: {results}")?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Prints cells that are not done, each with the command that runs it alone.
pub fn print_not_done(what: &str, grid: &RunPlan, cells: &[FailedRun]) {
    /// More would be too long to read, and the others are likely to have the same reason.
    const SHOWN: usize = 20;
    for failure in cells.iter().take(SHOWN) {
        stderr::line(format_args!("{what}: {}\n  again: {}", failure.message, grid.run(failure.at).command()));
    }
    if cells.len() > SHOWN {
        stderr::line(format_args!("{what}: and {}", counted((cells.len() - SHOWN) as u64, "more cell")));
    }
}

pub fn print_missing(grid: &RunPlan, cells: &[usize]) {
    let missing = cells.iter().map(|&cell| FailedRun { at: cell, message: "not computed yet".to_string() });
    print_not_done("missing", grid, &missing.collect::<Vec<_>>());
}
