//! Writes files of compared jobs and of windows.

use std::io::{self, Write};

use super::columns::{COMPARED_JOB_COLUMNS, WINDOW_COLUMNS};
use super::recorded::{RecordedComparison, RecordedWaits};
use super::rows::compared_jobs;
use crate::output::write_settings;
use crate::trace::Workload;

/// Writes a line per compared job of each schedule, by its name. The name is None if there is only one.
///
/// # Errors
/// If they cannot be written.
pub fn write_compared_jobs(
    out: &mut dyn Write,
    workload: &Workload,
    recorded: &RecordedWaits,
    schedules: &[(Option<&str>, &RecordedComparison)],
) -> io::Result<()> {
    let jobs = schedules.iter().map(|&(name, one)| (name, compared_jobs(workload, &recorded.jobs, one)));
    write_settings(out, COMPARED_JOB_COLUMNS, jobs)
}

/// Writes a line per window of the moving mean, as [`write_compared_jobs`].
///
/// # Errors
/// If they cannot be written.
pub fn write_windows(
    out: &mut dyn Write,
    recorded: &RecordedWaits,
    schedules: &[(Option<&str>, &RecordedComparison)],
) -> io::Result<()> {
    let windows = schedules.iter().map(|&(name, comparison)| (name, recorded.windows_of(comparison)));
    write_settings(out, WINDOW_COLUMNS, windows)
}
