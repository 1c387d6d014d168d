//! Simulates a whole workload, from the first submission to the last end.

use super::error::EngineError;
use super::observer::{Observer, PredictionMade};
use super::recorder::{GivenAreas, Outcome};
use super::setup::{EngineOptions, Named};
use super::simulation::Simulation;
use crate::job::Job;
use crate::predict::Predictor;
use crate::schedule::Policy;
use crate::time::{Seconds, Time};

/// How many jobs arrive between two calls of `progress`.
const PROGRESS_EVERY: usize = 1 << 13;

/// The result of simulating a workload.
#[derive(Clone, Debug)]
pub struct RunRecord {
    /// One outcome per job, in workload order.
    pub outcomes: Vec<Outcome>,
    /// All predictions in order of events; at each event the job's own first, then the others in order of arrival. None
    /// unless [`EngineOptions::keep_history`] is set.
    pub history: Option<Vec<PredictionMade>>,
    /// What the jobs were given of the nodes. None on a pool of processors.
    pub given: Option<GivenAreas>,
}

/// A job that has run, with its outcome.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// The job as it is in the workload.
    pub job: &'a Job,
    /// The result of the simulation for it.
    pub outcome: &'a Outcome,
}

impl Finished<'_> {
    /// When the job started.
    ///
    /// # Panics
    /// If the job was cancelled or has not started, which cannot happen after [`run`].
    pub fn start(&self) -> Time {
        self.outcome.start.get().expect("a whole workload has run")
    }

    /// When the job ended. Panics as [`Finished::start`].
    pub fn end(&self) -> Time {
        self.start() + self.job.runtime
    }

    /// Seconds from submission to start. Panics as [`Finished::start`].
    pub fn wait(&self) -> Seconds {
        self.start() - self.job.submission.submit
    }
}

impl RunRecord {
    /// The jobs with their outcomes. `jobs` must be the jobs that were simulated.
    pub fn finished<'a>(&'a self, jobs: &'a [Job]) -> impl Iterator<Item = Finished<'a>> + Clone {
        jobs.iter().zip(&self.outcomes).map(|(job, outcome)| Finished { job, outcome })
    }
}

/// Simulates `jobs`, which are in order of submission, until the last one ends. `progress` is called after every 8,192
/// arrivals with the number of jobs that have arrived.
///
/// # Errors
/// If the policy or the predictor breaks its contract, or a job is wider than the machine.
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

/// As [`run`], with an additional observer.
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
    simulation.reserve(jobs.len());
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
    let given = simulation.given();
    let (outcomes, history) = simulation.into_outcomes();
    Ok(RunRecord { outcomes, history, given })
}
