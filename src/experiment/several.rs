//! Several settings on the same jobs, compared with one baseline, on the log as it is and on shaken copies of it.

use super::options::Options;
use super::run::Setting;
use crate::engine::{EngineError, RunRecord};
use crate::metrics::{
    Baseline, PictureObserver, Pictures, ReservedStarts, RunRow, Series, SeriesStep, Summary, Users,
    summarize_with_users,
};
use crate::parallel;
use crate::time::Seconds;
use crate::trace::{TraceError, Workload};

/// Settings that differ only in their scheduler and predictor.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The options of each setting; at least one.
    pub options: Vec<Options>,
    /// Keep all predictions of the runs on the log as it is.
    pub keep_history: bool,
    /// The steps of a series of each run on the log as it is.
    pub series_step: Option<Seconds>,
    /// Collect what charts show of each run on the log as it is, also of the baseline's.
    pub pictures: bool,
}

/// A run on the log as it is.
#[derive(Clone, Debug)]
pub struct SettingRun {
    /// The result of the simulation.
    pub record: RunRecord,
    /// Its figures.
    pub summary: Summary,
    /// The figures of its users.
    pub users: Users,
    /// The series, if one was asked for and it is not too long.
    pub series: Option<Result<Vec<SeriesStep>, String>>,
    /// What charts show of it, if asked for.
    pub pictures: Option<Pictures>,
    /// The starts that were reserved for its jobs; none if no pictures were asked for.
    pub reserved: ReservedStarts,
}

/// A replication that cannot be run.
#[derive(Debug)]
pub enum ReplicationError {
    /// Its jobs cannot be made.
    Trace(TraceError),
    /// Its simulation fails.
    Engine(EngineError),
}

impl Settings {
    /// The options by which the log is cleaned for all settings.
    ///
    /// Which records become jobs depends on whether a setting replays the log's own schedule. If some settings do and some do
    /// not, the jobs are those with which both can run.
    pub fn of_log(&self) -> Options {
        let mut options = self.options[0].clone();
        let replays = |options: &&Options| options.setting().is_replay();
        if let Some(other) = self.options.iter().find(|other| replays(other) != replays(&&options)) {
            options.baseline = Some(other.setting());
        }
        options
    }

    /// The baseline of all settings.
    fn baseline(&self) -> Option<&Setting> {
        self.options[0].baseline.as_ref()
    }

    /// The number of simulations of each replication.
    pub fn runs(&self) -> usize {
        self.planned().flatten().count() + usize::from(self.baseline().is_some())
    }

    /// The run of each setting, with the steps of its series. None for a setting that is the baseline, whose run it shares:
    /// the baseline has no history and no series.
    fn planned(&self) -> impl Iterator<Item = Option<(Setting, Option<Seconds>)>> {
        self.options.iter().map(|options| {
            let mut setting = options.setting();
            setting.engine.keep_history = self.keep_history;
            let is_shared = self.series_step.is_none() && self.baseline().is_some_and(|base| base.is_same(&setting));
            (!is_shared).then_some((setting, self.series_step))
        })
    }

    /// Runs all settings on a shaped workload. `each` gets the runs in the order of the settings, each with that of the
    /// baseline. Not more records than threads, and that of the baseline, are in memory at the same time, unless `each` keeps
    /// them. `progress` is called with the numbers of jobs that have arrived since its last call.
    ///
    /// # Errors
    /// As [`Setting::run`].
    pub fn run(
        &self,
        workload: &Workload,
        threads: usize,
        progress: &(dyn Fn(usize) + Sync),
        each: &mut dyn FnMut(SettingRun, Option<&SettingRun>),
    ) -> Result<(), EngineError> {
        let baseline = self.baseline().map(|baseline| Some((baseline.clone(), None)));
        let all: Vec<_> = baseline.into_iter().chain(self.planned()).collect();
        let mut baseline: Option<SettingRun> = None;
        for some in all.chunks(threads.max(1)) {
            let run = |planned: &Option<(Setting, Option<Seconds>)>| {
                let run = planned.as_ref().map(|(setting, step)| self.run_one(workload, setting, *step, progress));
                run.transpose()
            };
            for run in parallel::map(some, threads, run, |_| ()) {
                match (run?, &baseline) {
                    (Some(run), None) if self.baseline().is_some() => baseline = Some(run),
                    (Some(run), base) => each(run, base.as_ref()),
                    (None, base) => base.iter().for_each(|shared| each(shared.clone(), base.as_ref())),
                }
            }
        }
        Ok(())
    }

    fn run_one(
        &self,
        workload: &Workload,
        setting: &Setting,
        series_step: Option<Seconds>,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<SettingRun, EngineError> {
        let mut before = 0;
        let progress = &mut |arrived| progress(arrived - std::mem::replace(&mut before, arrived));
        let measure = &self.options[0].measure;
        let mut series = series_step.map(|step| Series::new(workload.procs, workload.first_submit(), step));
        let mut pictures = self.pictures.then(|| PictureObserver::new(workload, measure));
        let record = match (&mut series, &mut pictures) {
            (None, None) => setting.run(workload, (), progress)?,
            (Some(series), None) => setting.run(workload, series, progress)?,
            (None, Some(pictures)) => setting.run(workload, pictures.observer(), progress)?,
            (Some(series), Some(pictures)) => setting.run(workload, (series, pictures.observer()), progress)?,
        };
        let (summary, users) = summarize_with_users(workload, &record, measure);
        let pictures = pictures.map(|pictures| pictures.finish(workload, &record, measure));
        let (pictures, reserved) = pictures.unzip();
        let (series, reserved) = (series.map(Series::finish), reserved.unwrap_or_default());
        Ok(SettingRun { record, summary, users, series, pictures, reserved })
    }

    /// The row of a setting's run.
    pub fn row(&self, at: usize, workload: &Workload, run: &SettingRun, baseline: Option<&SettingRun>) -> RunRow {
        let baseline = baseline.zip(self.baseline()).map(|(base, setting)| Baseline {
            name: setting.pair(),
            summary: base.summary,
            losers: run.users.losers(&base.users),
        });
        RunRow { label: self.options[at].label(workload), summary: run.summary, baseline }
    }

    /// Runs all settings on a shaken copy of a cleaned workload, one after the other, and returns their rows. `number` is
    /// that of the replication, from 1 on.
    ///
    /// # Errors
    /// If no job is left, or a simulation fails.
    pub fn replication(
        &self,
        cleaned: &Workload,
        number: u32,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<RunRow>, ReplicationError> {
        let options = self.options.iter().map(|options| options.clone().replicated(number)).collect();
        let shaken = Settings { options, keep_history: false, series_step: None, pictures: false };
        let workload = shaken.options[0].shape(cleaned.clone()).map_err(ReplicationError::Trace)?;
        let mut rows = Vec::new();
        let mut each = |run: SettingRun, base: Option<&SettingRun>| {
            rows.push(shaken.row(rows.len(), &workload, &run, base));
        };
        shaken.run(&workload, 1, progress, &mut each).map_err(ReplicationError::Engine)?;
        Ok(rows)
    }
}

impl std::fmt::Display for ReplicationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReplicationError::Trace(error) => error.fmt(f),
            ReplicationError::Engine(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReplicationError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::OptionForm;

    #[test]
    fn a_setting_that_is_the_baseline_is_not_run_again() {
        let with = |values: &[(&str, &str)]| {
            let mut options = Options::default();
            for (name, value) in values.iter().chain(&[("baseline", "easy/ruh:window=3")]) {
                OptionForm::find(name).unwrap().set(&mut options, value).unwrap();
            }
            options
        };
        let settings = |more: &[(&str, &str)]| Settings {
            options: ["easy", "sjbf"].map(|name| with(&[&[("scheduler", name)], more].concat())).to_vec(),
            keep_history: false,
            series_step: None,
            pictures: false,
        };
        let plain = settings(&[]);
        assert_eq!(plain.runs(), 2);
        assert_eq!(Settings { keep_history: true, ..plain.clone() }.runs(), 3);
        assert_eq!(Settings { series_step: Some(60), ..plain.clone() }.runs(), 3);
        // The baseline runs without the options of the engine.
        assert_eq!(settings(&[("inflate", "2")]).runs(), 3);
        let (mut rows, workload) = (Vec::new(), crate::trace::demo_workload());
        let mut each = |run: SettingRun, base: Option<&SettingRun>| {
            rows.push(plain.row(rows.len(), &workload, &run, base));
        };
        plain.run(&workload, 2, &|_| (), &mut each).unwrap();
        let is_baseline: Vec<bool> =
            rows.into_iter().map(|row| crate::metrics::SettingRuns { rows: vec![row] }.is_baseline()).collect();
        assert_eq!(is_baseline, [true, false]);
    }
}
