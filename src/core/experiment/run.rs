//! Runs a scheduler with a predictor on a workload.

use crate::engine::{self, EngineError, EngineOptions, Gate, Named, NeverStarted, Observer, RunRecord, Simulation};
use crate::job::{Job, Submission};
use crate::predict::{self, Predictor, RunFacts};
use crate::schedule::{self, LogFacts, Scheduler};
use crate::spec::{Spec, SpecError};
use crate::trace::{TaskArrays, Workload};

/// A scheduler, a predictor and the options of the engine.
#[derive(Clone, Debug)]
pub struct Setting {
    /// As `schedule::catalog::parse` returns it.
    pub scheduler: Spec,
    /// As `predict::catalog::parse` returns it.
    pub predictor: Spec,
    /// The options of the engine. Its `unix_start` is replaced by that of the workload.
    pub engine: EngineOptions,
}

impl Setting {
    /// Reads the two specs; the engine's options are the defaults.
    ///
    /// # Errors
    /// If one of the specs is wrong; the message lists what is possible.
    pub fn parse(scheduler: &str, predictor: &str) -> Result<Setting, SpecError> {
        Ok(Setting {
            scheduler: schedule::catalog::parse(scheduler)?,
            predictor: predict::catalog::parse(predictor)?,
            engine: EngineOptions::default(),
        })
    }

    /// Reads `SCHEDULER/PREDICTOR`, the notation of a baseline.
    ///
    /// # Errors
    /// As [`Setting::parse`].
    pub fn parse_pair(text: &str) -> Result<Setting, SpecError> {
        match split_pair(text) {
            Some((scheduler, predictor)) => Setting::parse(scheduler, predictor),
            None => Err(SpecError(format!("'{text}' is not SCHEDULER/PREDICTOR, such as easy/estimate"))),
        }
    }

    /// `SCHEDULER/PREDICTOR`.
    pub fn pair(&self) -> String {
        format!("{}/{}", self.scheduler, self.predictor)
    }

    /// As [`Setting::pair`], with all keys of both specs.
    pub fn in_full(&self) -> String {
        format!("{}/{}", self.scheduler.in_full(), self.predictor.in_full())
    }

    /// Whether it means the same as another setting, however their specs are written.
    pub fn is_same(&self, other: &Setting) -> bool {
        self.in_full() == other.in_full() && self.engine == other.engine
    }

    /// The scheduler, built for a log.
    pub fn policy(&self, facts: &LogFacts<'_>) -> Scheduler {
        schedule::catalog::build(&self.scheduler, facts)
    }

    /// The predictor, built for a simulation of which this is known.
    pub fn predictor(&self, facts: &RunFacts) -> Named<dyn Predictor> {
        let mut predictor = predict::catalog::build(&self.predictor);
        predictor.on_begin(facts);
        Named { name: self.predictor.to_string(), value: predictor }
    }

    /// Simulates a workload, with an additional observer if there is one. Its jobs arrive when their conditions are met. `progress` as in [`engine::run`].
    ///
    /// # Errors
    /// As [`engine::run`].
    pub fn run(
        &self,
        workload: &Workload,
        observer: Option<&mut dyn Observer>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<RunRecord, EngineError> {
        let (gate, as_recorded) = match self.is_replay() {
            true => Gate::of_record(workload).unzip(),
            false => (Gate::of(workload), None),
        };
        // The recorded waits count from the arrivals.
        let jobs = as_recorded.as_deref().unwrap_or(&workload.jobs);
        let (facts, arrays) = (RunFacts::of(workload), TaskArrays::of(workload));
        let log = LogFacts::of_jobs(jobs, &workload.wide).on(workload.shapes.as_ref()).of_run(&facts);
        let log = log.with_arrays(&arrays).amid_outages(workload.outages.is_some());
        self.run_with_gate(self.policy(&log), gate, workload, observer, progress)
    }

    /// The jobs that the scheduler can never start on the nodes of a workload, even if they are idle. It is asked when they arrive,
    /// so nothing is simulated.
    ///
    /// # Errors
    /// If the policy or the predictor breaks its contract.
    pub fn never_starting(&self, workload: &Workload) -> Result<NeverStarted, EngineError> {
        let (facts, arrays) = (RunFacts::of(workload), TaskArrays::of(workload));
        let log = LogFacts::of_jobs(&workload.jobs, &workload.wide).on(workload.shapes.as_ref()).of_run(&facts);
        let scheduler = self.policy(&log.with_arrays(&arrays));
        let options = EngineOptions { unix_start: workload.unix_start, ..self.engine };
        let first = workload.first_submit();
        let mut simulation = Simulation::new(workload.procs, scheduler, self.predictor(&facts), options);
        for job in &workload.jobs {
            let submission = Submission { submit: first, ..job.submission };
            simulation.submit(&Job { submission, ..*job })?;
        }
        simulation.settle(first)?;
        Ok(simulation.never_started().clone())
    }

    /// As [`Setting::run`], with this scheduler instead of its own.
    ///
    /// # Errors
    /// As [`engine::run`].
    pub fn run_under(
        &self,
        scheduler: Scheduler,
        workload: &Workload,
        observer: Option<&mut dyn Observer>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<RunRecord, EngineError> {
        self.run_with_gate(scheduler, Gate::of(workload), workload, observer, progress)
    }

    fn run_with_gate(
        &self,
        scheduler: Scheduler,
        gate: Option<Gate>,
        workload: &Workload,
        observer: Option<&mut dyn Observer>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<RunRecord, EngineError> {
        let predictor = self.predictor(&RunFacts::of(workload));
        let options = EngineOptions { unix_start: workload.unix_start, ..self.engine };
        let gate = Gate::with_feedback(gate, workload);
        // A log that is replayed has them in it.
        let outages = if self.is_replay() { None } else { workload.outage_plan() };
        // The engine is compiled here, once for any observer, and once for none, which is faster.
        match observer {
            None => {
                let simulation = Simulation::new(workload.procs, scheduler, predictor, options);
                engine::run_simulation(simulation.with_gate(gate).with_outages(outages), &workload.jobs, progress)
            }
            Some(observer) => {
                let simulation = Simulation::observed(workload.procs, scheduler, predictor, options, observer);
                engine::run_simulation(simulation.with_gate(gate).with_outages(outages), &workload.jobs, progress)
            }
        }
    }

    /// Whether it replays the log's own schedule, which needs the waits in the log.
    pub fn is_replay(&self) -> bool {
        schedule::catalog::is_replay(&self.scheduler)
    }
}

/// The scheduler and the predictor of `SCHEDULER/PREDICTOR`. A spec may have slashes of its own, in the name of a file: the first
/// slash counts that has the name of a predictor after it, else the first.
pub fn split_pair(text: &str) -> Option<(&str, &str)> {
    let names: Vec<_> = predict::catalog::forms().iter().map(|form| form.name).collect();
    let is_predictor = |rest: &str| names.contains(&rest.split(':').next().unwrap_or(rest));
    let pairs = text.match_indices('/').map(|(at, _)| (&text[..at], &text[at + 1..]));
    pairs.clone().find(|(_, rest)| is_predictor(rest)).or_else(|| pairs.clone().next())
}

/// Simulates a workload. `progress` is called now and then with the number of jobs that have ended.
///
/// # Errors
/// As [`engine::run`].
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
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
    setting.run(workload, None, progress)
}
