//! Writes what happened in runs: the jobs, the predictions and the steps of time, one line each.

use std::io::{self, Write};

use super::rows::write_settings;
use super::schedule::write_schedule;
use crate::engine::RunRecord;
use crate::metrics::{
    Given, JOB_COLUMNS, JobMetrics, JobRow, PREDICTION_COLUMNS, PredictionRow, SERIES_COLUMNS, SeriesStep, When,
    present,
};
use crate::sort::sort_by_key;
use crate::time::Seconds;
use crate::trace::{Header, LogText, Workload};

/// A run whose jobs are written.
#[derive(Clone, Copy, Debug)]
pub struct RunOutput<'a> {
    /// None if there is only one run.
    pub name: Option<&'a str>,
    /// What was simulated.
    pub workload: &'a Workload,
    /// What happened.
    pub record: &'a RunRecord,
}

impl<'a> RunOutput<'a> {
    fn jobs(&self, threshold: Seconds) -> impl Iterator<Item = JobMetrics> + use<'a> {
        self.record.finished(&self.workload.jobs).map(move |job| JobMetrics::of(&job, threshold))
    }

    fn rows(&self, log: &'a Workload, threshold: Seconds) -> impl Iterator<Item = JobRow> + use<'a> {
        let (record, jobs) = (self.record, &self.workload.jobs);
        record.finished_in(jobs, 0..jobs.len()).map(move |(at, job)| {
            let row = JobRow::of(JobMetrics::of(&job, threshold), &log.wide, &log.names, &log.ids);
            JobRow { stops: record.stops_of(at), ..row }
        })
    }
}

/// Writes a line per job of each run. The names and ids are those of `log`. `threshold` is that of the bounded slowdown.
///
/// # Errors
/// If they cannot be written.
pub fn write_jobs<'a>(
    out: &mut dyn Write,
    runs: &[RunOutput<'a>],
    log: &'a Workload,
    threshold: Seconds,
) -> io::Result<()> {
    let has_virtual_schedule = runs.iter().any(|run| run.record.virtual_starts.is_some());
    let given = Given::of([
        (When::Waits, !log.conditions.is_empty()),
        (When::Fair, has_virtual_schedule),
        (When::Outages, log.outages.is_some()),
    ]);
    let columns: Vec<_> = present(JOB_COLUMNS, given).collect();
    write_settings(out, &columns, runs.iter().map(|run| (run.name, run.rows(log, threshold))))
}

/// Writes a line per prediction of each run.
///
/// # Errors
/// If they cannot be written.
pub fn write_predictions(out: &mut dyn Write, runs: &[RunOutput<'_>]) -> io::Result<()> {
    let runs = runs.iter().map(|run| {
        let history = run.record.history.iter().flatten();
        (run.name, history.map(|made| PredictionRow::of(made, &run.workload.jobs)))
    });
    write_settings(out, PREDICTION_COLUMNS, runs)
}

/// Writes a line per step of time, for each run by its name.
///
/// # Errors
/// If they cannot be written.
pub fn write_series(out: &mut dyn Write, runs: &[(Option<&str>, &[SeriesStep])]) -> io::Result<()> {
    write_settings(out, SERIES_COLUMNS, runs.iter().map(|(name, steps)| (*name, steps.iter().copied())))
}

/// Writes the schedule of a run as SWF, with simulated waits. Job number, submit time and runtime are those of the simulation,
/// which differ from the log if the workload was shaped or jobs had to wait for others. So is the estimate if a model made it,
/// which `estimates` then names. All other fields are as in the log. The header is kept, except that `MaxProcs` is the simulated
/// machine's and a note says what made the schedule.
///
/// # Errors
/// If it cannot be written.
pub fn write_swf(
    out: &mut dyn Write,
    (header, text): (&Header, &LogText),
    setting: &str,
    estimates: Option<&str>,
    run: &RunOutput<'_>,
) -> io::Result<()> {
    let workload = run.workload;
    let mut write = |jobs: &mut dyn Iterator<Item = JobMetrics>| {
        write_schedule(out, (header, text), workload, setting, estimates, jobs)
    };
    if workload.conditions.is_empty() && workload.feedback.is_none() {
        return write(&mut run.jobs(0));
    }
    // A log is in order of submission, which is there when a job joined the queue.
    let mut jobs: Vec<JobMetrics> = run.jobs(0).collect();
    sort_by_key(&mut jobs, |job| job.eligible);
    write(&mut jobs.into_iter())
}
