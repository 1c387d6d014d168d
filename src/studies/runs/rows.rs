//! The rows of a plan's runs: computed, or found in the folder of finished runs.

use std::fmt;
use std::path::Path;

use super::execute::{Executor, RunRemarks, RunReport, RunStep};
use super::finished::{RowsAlone, WantedOfRuns};
use super::jobs::Jobs;
use super::kept_row::KeptRow;
use super::keys::RunKeys;
use super::plan::RunPlan;
use super::store::Store;
use crate::metrics::RunRow;
use crate::report::OutputError;
use crate::text::counted;

/// The finished runs of a plan.
#[derive(Debug)]
pub struct ComputedRuns<K = RunRow, E = ()> {
    /// The row of each run, in the order of the plan.
    pub rows: Vec<K>,
    /// What else each run has yielded. None for a run that was found in the folder.
    pub extras: Vec<Option<E>>,
    /// The number of runs that were already in the folder.
    pub reused: usize,
    /// The number of runs that were computed by this call.
    pub computed: usize,
    /// [`RunReport::remarks`].
    pub remarks: RunRemarks,
}

/// Why there are no rows, or no sweep.
#[derive(Debug)]
pub enum RunsError {
    /// A folder cannot be used as it is: the whole message.
    Folder(String),
    /// Rows cannot be kept or read back.
    Kept(OutputError),
    /// A run failed: the reason.
    Failed(String),
}

impl fmt::Display for RunsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunsError::Kept(error) => error.fmt(f),
            RunsError::Folder(why) | RunsError::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for RunsError {}

impl From<OutputError> for RunsError {
    fn from(error: OutputError) -> Self {
        RunsError::Kept(error)
    }
}

/// The row of a run, and what else is wanted of it if it was computed.
type RowAndOut<W> = (<W as WantedOfRuns>::Row, Option<<W as WantedOfRuns>::Out>);

impl Executor<'_> {
    /// Computes all runs, as [`Executor::run`] does. With a folder, finished runs are kept in it, and those that are in it
    /// are used again.
    ///
    /// # Errors
    /// If a run fails, or if rows cannot be written or read.
    pub fn compute<W: WantedOfRuns>(
        &self,
        wanted: &W,
        folder: Option<&Path>,
    ) -> Result<ComputedRuns<W::Row, W::Out>, RunsError> {
        let count = self.plan.count();
        let mut runs: Vec<Option<RowAndOut<W>>> = (0..count).map(|_| None).collect();
        let mut each = |at: usize, row: W::Row, extra: W::Out| runs[at] = Some((row, Some(extra)));
        let (report, kept) = match folder {
            None => (self.run(wanted, None, &mut each)?, None),
            Some(folder) => {
                let store = Store::open(folder)?;
                let known = if let Jobs::Given(given) = &self.jobs { given.digest } else { None };
                let keys = RunKeys::of(self.plan, &wanted.format(), &store, known, self.threads);
                let report = self.run(wanted, Some((&keys, &store)), &mut each)?;
                // Opened again: a run with the same key as a computed one is found too.
                (report, Some((keys, Store::open(folder)?)))
            }
        };
        let RunReport { failures, reused, computed, remarks, .. } = report;
        if let Some(failure) = failures.first() {
            let (number, again) = (counted(failures.len() as u64, "run"), self.plan.run(failure.at).command());
            return Err(RunsError::Failed(match self.ends_at_failure {
                true => failure.message.clone(),
                false => format!("{number} failed, the first: {}\n  again: {again}", failure.message),
            }));
        }
        for (at, place) in runs.iter_mut().enumerate().filter(|(_, place)| place.is_none()) {
            let (keys, store) = kept.as_ref().expect("without a folder all runs are computed");
            *place = keys.keys[at].map(|key| store.row(key)).transpose()?.flatten().map(|row| (row, None));
        }
        let (mut rows, extras): (Vec<W::Row>, Vec<Option<W::Out>>) = runs.into_iter().flatten().unzip();
        if let (true, Some(folder)) = (rows.len() < count, folder) {
            let lost = counted((count - rows.len()) as u64, "finished run");
            return Err(RunsError::Failed(format!("missing from {}: {lost}", folder.display())));
        }
        for (at, row) in rows.iter_mut().enumerate() {
            let run = self.plan.run(at);
            row.relabel(&run, self.jobs.label(&run));
        }
        Ok(ComputedRuns { rows, extras, reused, computed, remarks })
    }
}

/// The rows of a list of runs with their users, for studies that are made of runs. Finished runs are kept in the folder, if there is one.
/// `progress` is called with the number of finished runs.
///
/// # Errors
/// As [`Executor::compute`].
pub fn compute_rows(
    plan: &RunPlan,
    folder: Option<&Path>,
    threads: usize,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<ComputedRuns, RunsError> {
    let watch = |step| {
        if let RunStep::Run { done, all } = step {
            progress(plan.count() - all + done);
        }
    };
    Executor::of_all(plan, threads, &watch).compute(&RowsAlone::WithUsers, folder)
}
