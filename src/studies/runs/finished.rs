//! What is wanted of runs, and what a finished one has.

use std::sync::Arc;

use super::kept_row::{KeptRow, row_format};
use super::run::PlannedRun;
use std::hash::Hasher;

use twox_hash::XxHash3_64;

use crate::engine::NeverStarted;
use crate::experiment::Setting;
use crate::metrics::{
    Baseline, EndedRun, JobMetrics, Measure, Probe, Probes, RunRow, Seen, Summary, UserChange, UserTotals,
    summarize_with_users,
};
use crate::time::MINUTE;
use crate::trace::Workload;

/// What is wanted of the runs of a plan.
pub trait WantedOfRuns: Sync {
    /// What a run has in results, and what is kept of it.
    type Row: KeptRow;
    /// What else is wanted of a run.
    type Out: Send;

    /// The format of the rows, which is a part of the keys of runs.
    fn format(&self) -> String;

    /// What watches the run at this index, and its baseline. Runs with the same jobs are watched alike.
    fn probes(&self, _at: usize, _workload: &Workload, _measure: &Measure) -> Probes {
        Probes::default()
    }

    /// Whether the row of the run at this index is all that is wanted of it, so that one that is kept need not be computed again.
    fn is_row_enough(&self, _at: usize) -> bool {
        true
    }

    /// The row of a run.
    fn row(&self, run: &FinishedRun<'_>) -> Self::Row;

    /// What else is wanted of it.
    fn out(&self, run: FinishedRun<'_>) -> Self::Out;
}

/// Wants rows alone.
#[derive(Clone, Copy, Debug)]
pub enum RowsAlone {
    /// As they are.
    Plain,
    /// With each user in comparison with the baseline: for replications, over all of which users are compared.
    WithUsers,
}

impl RowsAlone {
    /// The rows of runs with this number of replications.
    pub fn of(replications: u32) -> RowsAlone {
        if replications > 1 { RowsAlone::WithUsers } else { RowsAlone::Plain }
    }
}

impl WantedOfRuns for RowsAlone {
    type Row = RunRow;
    type Out = ();

    fn format(&self) -> String {
        match self {
            RowsAlone::Plain => row_format(),
            RowsAlone::WithUsers => format!("{} with users", row_format()),
        }
    }

    fn row(&self, run: &FinishedRun<'_>) -> RunRow {
        match self {
            RowsAlone::Plain => run.row(),
            RowsAlone::WithUsers => run.row_with_users(),
        }
    }

    fn out(&self, _: FinishedRun<'_>) {}
}

/// A simulation and what was seen of it.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// Its figures.
    pub summary: Summary,
    /// The figures of its users.
    pub users: UserTotals,
    /// The jobs that were dropped because they can never start.
    pub never: NeverStarted,
    /// What its probes have seen.
    pub seen: Seen,
}

impl Simulated {
    pub(super) fn of(
        workload: &Workload,
        setting: &Setting,
        measure: &Measure,
        mut probes: Probes,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Simulated, String> {
        let mut setting = setting.clone();
        probes.prepare(&mut setting.engine);
        let record = match probes.observer() {
            None => setting.run(workload, None, progress),
            Some(mut observer) => setting.run(workload, Some(&mut observer), progress),
        };
        let record = record.map_err(|error| error.to_string())?;
        let (summary, users) = summarize_with_users(workload, &record, measure);
        let never = record.never.clone();
        Ok(Simulated { summary, users, never, seen: probes.finish(workload, record, measure) })
    }
}

/// The hash of the submissions, starts and ends of all jobs: those of two simulations are equal if their schedules are. It takes 5% of
/// a run, so it is wanted only where schedules are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduleHash(u64);

impl Probe for ScheduleHash {
    fn end(&mut self, &EndedRun { workload, record, .. }: &EndedRun<'_>) {
        let mut hasher = XxHash3_64::new();
        for (_, finished) in record.finished_in(&workload.jobs, 0..workload.jobs.len()) {
            let JobMetrics { record, submit, start, end, .. } = JobMetrics::of(&finished, MINUTE);
            [i64::from(record), submit, start, end].iter().for_each(|number| hasher.write(&number.to_le_bytes()));
        }
        self.0 = hasher.finish();
    }
}

/// A run that has just been computed.
#[derive(Debug)]
pub struct FinishedRun<'a> {
    /// The index of the run in its plan.
    pub at: usize,
    /// What was run.
    pub run: &'a PlannedRun,
    /// Its jobs.
    pub workload: &'a Workload,
    /// Its simulation.
    pub own: Arc<Simulated>,
    /// The simulation of its baseline, if it has one. It is the run's own if both are the same.
    pub baseline: Option<Arc<Simulated>>,
}

impl FinishedRun<'_> {
    /// Its row, with each user in comparison with the baseline.
    fn row_with_users(&self) -> RunRow {
        let mut row = self.row();
        if let (Some(baseline), Some(base)) = (&mut row.baseline, &self.baseline) {
            // Copies of a user in a resample are that user.
            let user = |user| self.workload.resampled().map_or(user, |resampled| resampled.user_of_log(user));
            let changes = self.own.users.against(&base.users);
            baseline.users = changes.map(|change| UserChange { user: user(change.user), ..change }).collect();
        }
        row
    }

    /// Its row.
    pub fn row(&self) -> RunRow {
        let options = &self.run.options;
        let baseline = self.baseline.as_ref().zip(options.baseline.as_ref()).map(|(base, setting)| Baseline {
            name: setting.pair(),
            summary: base.summary,
            losers: self.own.users.losers(&base.users),
            users: Vec::new(),
        });
        let mut label = options.label(self.workload);
        label.dropped += self.own.never.count();
        RunRow { label, summary: self.own.summary, baseline }
    }
}
