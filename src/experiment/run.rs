//! A scheduler with a predictor, and a run of them.

use crate::engine::{self, EngineError, EngineOptions, Named, Observer, RunRecord};
use crate::predict;
use crate::schedule;
use crate::spec::{Spec, SpecError};
use crate::trace::Workload;

/// A scheduler with a predictor, and how they run.
#[derive(Clone, Debug)]
pub struct Setting {
    pub scheduler: Spec,
    pub predictor: Spec,
    pub engine: EngineOptions,
}

impl Setting {
    /// Reads the two specs; the engine's options are the plain ones.
    pub fn parse(scheduler: &str, predictor: &str) -> Result<Setting, SpecError> {
        Ok(Setting {
            scheduler: schedule::catalog::parse(scheduler)?,
            predictor: predict::catalog::parse(predictor)?,
            engine: EngineOptions::default(),
        })
    }

    /// Reads `SCHEDULER/PREDICTOR`, as a baseline is written.
    pub fn parse_pair(text: &str) -> Result<Setting, SpecError> {
        match text.split_once('/') {
            Some((scheduler, predictor)) => Setting::parse(scheduler, predictor),
            None => Err(SpecError(format!("'{text}' is not SCHEDULER/PREDICTOR, such as easy/estimate"))),
        }
    }

    /// `SCHEDULER/PREDICTOR`.
    pub fn pair(&self) -> String {
        format!("{}/{}", self.scheduler, self.predictor)
    }

    /// The same with every key written out.
    pub fn in_full(&self) -> String {
        format!("{}/{}", self.scheduler.in_full(), self.predictor.in_full())
    }

    /// Simulates a workload with an observer beside the recorder.
    pub fn run(
        &self,
        workload: &Workload,
        observer: impl Observer,
        progress: &mut dyn FnMut(usize),
    ) -> Result<RunRecord, EngineError> {
        let policy = schedule::catalog::build(&self.scheduler, &workload.jobs);
        let predictor = predict::catalog::build(&self.predictor);
        engine::run_observed(
            workload.procs,
            &workload.jobs,
            Named { name: self.scheduler.to_string(), value: policy },
            Named { name: self.predictor.to_string(), value: predictor },
            self.engine,
            observer,
            progress,
        )
    }

    /// Whether it replays the log's own schedule, which asks more of the log: its waits.
    pub fn is_replay(&self) -> bool {
        schedule::catalog::is_replay(&self.scheduler)
    }
}

/// Simulates a workload. `progress` is called from time to time with the number of jobs that have arrived.
///
/// ```
/// use shadowtime::experiment::{Setting, simulate};
/// use shadowtime::metrics::{Measure, summarize};
///
/// let workload = shadowtime::trace::demo_workload();
/// let setting = Setting::parse("sjbf", "ruh:window=2").unwrap();
/// let record = simulate(&workload, &setting, &mut |_| ()).unwrap();
/// let summary = summarize(&workload, &record, &Measure::default());
/// assert_eq!(summary.jobs, workload.jobs.len());
/// ```
pub fn simulate(
    workload: &Workload,
    setting: &Setting,
    progress: &mut dyn FnMut(usize),
) -> Result<RunRecord, EngineError> {
    setting.run(workload, (), progress)
}
