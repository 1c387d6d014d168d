//! The rows of a plan's runs: computed, or found in the folder of finished runs.

use std::fmt;
use std::path::Path;

use super::execute::{Executor, NeverBySetting, RunReport, RunStep};
use super::finished::FinishedRun;
use super::jobs::Jobs;
use super::kept_row::{KeptRow, row_format};
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
    /// [`RunReport::never`].
    pub never: NeverBySetting,
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

impl Executor<'_> {
    /// Computes all runs, as [`Executor::run`] does. With a folder, finished runs are kept in it, and those that are in it
    /// are used again. `format` is that of the rows.
    ///
    /// # Errors
    /// If a run fails, or if rows cannot be written or read.
    pub fn compute<K: KeptRow, E: Send>(
        &self,
        folder: Option<&Path>,
        format: &str,
        yields: &(dyn Fn(FinishedRun<'_>) -> (K, E) + Sync),
    ) -> Result<ComputedRuns<K, E>, RunsError> {
        let count = self.plan.count();
        let mut runs: Vec<Option<(K, Option<E>)>> = (0..count).map(|_| None).collect();
        let mut each = |at: usize, row: K, extra: E| runs[at] = Some((row, Some(extra)));
        let (report, kept) = match folder {
            None => (self.run(None, yields, &mut each)?, None),
            Some(folder) => {
                let store = Store::open(folder)?;
                let known = if let Jobs::Given(given) = &self.jobs { given.digest } else { None };
                let keys = RunKeys::of(self.plan, format, &store, known, self.threads);
                let report = self.run(Some((&keys, &store)), yields, &mut each)?;
                // Opened again: a run with the same key as a computed one is found too.
                (report, Some((keys, Store::open(folder)?)))
            }
        };
        let RunReport { failures, reused, computed, never, .. } = report;
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
        let (mut rows, extras): (Vec<K>, Vec<Option<E>>) = runs.into_iter().flatten().unzip();
        if let (true, Some(folder)) = (rows.len() < count, folder) {
            let lost = counted((count - rows.len()) as u64, "finished run");
            return Err(RunsError::Failed(format!("missing from {}: {lost}", folder.display())));
        }
        for (at, row) in rows.iter_mut().enumerate() {
            let run = self.plan.run(at);
            row.relabel(&run, self.jobs.label(&run));
        }
        Ok(ComputedRuns { rows, extras, reused, computed, never })
    }
}

/// The row of a run with this number of replications, and its format. With several, users are compared over all of them.
pub fn row_of_replications(replications: u32) -> (fn(&FinishedRun<'_>) -> RunRow, String) {
    match replications {
        0 | 1 => (|run| run.row(), row_format()),
        _ => (|run| run.row_with_users(), format!("{} with users", row_format())),
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
    let (row, format) = row_of_replications(u32::MAX);
    Executor::of_rows(plan, threads, &watch).compute(folder, &format, &|run| (row(&run), ()))
}
