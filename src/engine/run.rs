//! A whole workload, from its first submission to its last end.

use super::error::EngineError;
use super::observer::Observer;
use super::recorder::{Outcome, PredictionMade};
use super::setup::{EngineOptions, Named};
use super::simulation::Simulation;
use crate::job::Job;
use crate::predict::Predictor;
use crate::schedule::Policy;
use crate::time::{Seconds, Time};

/// How many jobs arrive between two calls of `progress`.
const PROGRESS_EVERY: usize = 1 << 13;

/// What a simulation made of a workload: one outcome a job, in workload order.
#[derive(Clone, Debug)]
pub struct RunRecord {
    pub outcomes: Vec<Outcome>,
    /// Every prediction, if they were asked for: event by event, at each the job's own first, then others in order of
    /// arrival.
    pub history: Option<Vec<PredictionMade>>,
}

/// A job that has run: what was submitted, and what became of it.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    pub job: &'a Job,
    pub outcome: &'a Outcome,
}

impl Finished<'_> {
    pub fn start(&self) -> Time {
        self.outcome.start.get().expect("a whole workload has run")
    }

    pub fn end(&self) -> Time {
        self.start() + self.job.runtime
    }

    pub fn wait(&self) -> Seconds {
        self.start() - self.job.submission.submit
    }
}

impl RunRecord {
    /// The jobs with their outcomes. `jobs` are those that were run.
    pub fn finished<'a>(&'a self, jobs: &'a [Job]) -> impl Iterator<Item = Finished<'a>> + Clone {
        jobs.iter().zip(&self.outcomes).map(|(job, outcome)| Finished { job, outcome })
    }
}

/// Runs jobs, in order of submission, to the end of the last. `progress` is called from time to time with the number of
/// jobs that have arrived.
pub fn run(
    procs: u32,
    jobs: &[Job],
    policy: Named<dyn Policy>,
    predictor: Named<dyn Predictor>,
    options: EngineOptions,
    progress: &mut dyn FnMut(usize),
) -> Result<RunRecord, EngineError> {
    run_observed(procs, jobs, policy, predictor, options, (), progress)
}

/// The same with an observer beside the recorder.
pub fn run_observed(
    procs: u32,
    jobs: &[Job],
    policy: Named<dyn Policy>,
    predictor: Named<dyn Predictor>,
    options: EngineOptions,
    observer: impl Observer,
    progress: &mut dyn FnMut(usize),
) -> Result<RunRecord, EngineError> {
    let mut simulation = Simulation::observed(procs, policy, predictor, options, observer);
    simulation.expect(jobs.len());
    let mut arrived = 0;
    for together in jobs.chunk_by(|a, b| a.submission.submit == b.submission.submit) {
        for job in together {
            simulation.submit(job)?;
            arrived += 1;
            if arrived % PROGRESS_EVERY == 0 {
                progress(arrived);
            }
        }
        simulation.advance_to(together[0].submission.submit)?;
    }
    simulation.run_to_end()?;
    let (outcomes, history) = simulation.into_outcomes();
    Ok(RunRecord { outcomes, history })
}
