//! What is wanted of a run, and what a finished one has.

use std::sync::Arc;

use super::run::PlannedRun;
use crate::engine::{NeverStarted, Observer, RunRecord};
use crate::experiment::Setting;
use crate::metrics::{
    Baseline, ChartProbes, Measure, PictureObserver, Pictures, RunRow, Series, SeriesStep, Summary, UserChange,
    UserTotals, WaitReasonMeter, WaitReasons, summarize_with_users,
};
use crate::time::Seconds;
use crate::trace::Workload;

/// What is wanted of a run beside its figures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Details {
    /// Compute the run even if its row is in the folder, because more than the row is printed.
    pub again: bool,
    /// The record, of the baseline too.
    pub record: bool,
    /// All predictions, which are in the record.
    pub history: bool,
    /// The steps of a series.
    pub series_step: Option<Seconds>,
    /// What charts show, of the baseline too.
    pub pictures: Option<ChartProbes>,
    /// Why jobs wait, of the baseline too.
    pub reasons: bool,
}

impl Details {
    /// What is wanted of the baseline.
    pub(super) fn of_baseline(self) -> Details {
        Details { history: false, series_step: None, ..self }
    }

    /// Whether a baseline has all that is wanted.
    pub(super) fn are_of_baseline(self) -> bool {
        !self.history && self.series_step.is_none()
    }
}

/// A simulation and what was wanted of it.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// Its figures.
    pub summary: Summary,
    /// The figures of its users.
    pub users: UserTotals,
    /// The jobs that were dropped because they can never start.
    pub never: NeverStarted,
    /// None if it was not wanted.
    pub record: Option<RunRecord>,
    /// None if none was wanted; an error if it is too long.
    pub series: Option<Result<Vec<SeriesStep>, String>>,
    /// What charts show. None if it was not wanted.
    pub pictures: Option<Pictures>,
    /// Why jobs wait. None if it was not wanted.
    pub reasons: Option<WaitReasons>,
}

impl Simulated {
    /// The record.
    ///
    /// # Panics
    /// If it was not wanted.
    pub fn record(&self) -> &RunRecord {
        self.record.as_ref().expect("the record is wanted of this run")
    }

    pub(super) fn of(
        workload: &Workload,
        setting: &Setting,
        measure: &Measure,
        details: Details,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Simulated, String> {
        let mut series = details.series_step.map(|step| Series::new(workload.procs, workload.first_submit(), step));
        let mut pictures = details.pictures.map(|probes| PictureObserver::new(probes, workload));
        let mut reasons = details.reasons.then(|| WaitReasonMeter::new(workload, measure));
        let is_observed = series.is_some() || pictures.is_some() || reasons.is_some();
        let others = (pictures.as_mut(), reasons.as_mut());
        let mut observers = (series.as_mut(), others);
        let observer: Option<&mut dyn Observer> = if is_observed { Some(&mut observers) } else { None };
        let record = setting.run(workload, observer, progress);
        let record = record.map_err(|error| error.to_string())?;
        let (summary, users) = summarize_with_users(workload, &record, measure);
        let pictures = pictures.map(|pictures| pictures.finish(workload, &record, measure));
        let never = record.never.clone();
        let record = details.record.then_some(record);
        let (series, reasons) = (series.map(Series::finish), reasons.map(WaitReasonMeter::finish));
        Ok(Simulated { summary, users, never, record, series, pictures, reasons })
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
    /// Its row, with each user in comparison with the baseline: for replications.
    pub fn row_with_users(&self) -> RunRow {
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
