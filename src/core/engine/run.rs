//! Simulates a whole workload, from the first submission to the last end.

use std::ops::Range;

use super::error::EngineError;
use super::gate::Gate;
use super::never::NeverStarted;
use super::observer::{Observer, PredictionMade};
use super::recorder::{GivenAreas, OutageFigures, Outcome, Preempted};
use super::setup::{EngineOptions, Named};
use super::simulation::Simulation;
use crate::job::Job;
use crate::predict::Predictor;
use crate::schedule::Scheduler;
use crate::time::{Seconds, Time};

/// How many instants pass between two calls of `progress`. Slurm on nodes may take some milliseconds for each; the calls take
/// nothing that could be measured.
const PROGRESS_EVERY: usize = 64;

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
    /// The jobs that were dropped because the scheduler can never start them. Their starts are not known.
    pub never: NeverStarted,
    /// The jobs that made way for others. None if the scheduler stops no jobs.
    pub preempted: Option<Preempted>,
    /// What outages did. None if there are none.
    pub outages: Option<OutageFigures>,
    /// The jobs as they were simulated, in workload order, if some had conditions or were cancelled while they ran. Their submit
    /// times are the instants at which they joined the queue, and their runtimes are those until they were cancelled. None: as
    /// in the workload.
    pub arrived: Option<Vec<Job>>,
    /// When each job was submitted, in workload order, if users react. None: as in the workload.
    pub submitted: Option<Vec<Time>>,
    /// When each job started in the virtual schedule of the scheduler, in workload order. None if it has none.
    pub virtual_starts: Option<Vec<Time>>,
}

/// A job that has run, with its outcome.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// The job as it arrived: its submit time is when it joined the queue.
    pub job: &'a Job,
    /// When it was submitted. That is earlier if it had conditions which were not met.
    pub submitted: Time,
    /// The result of the simulation for it.
    pub outcome: &'a Outcome,
    /// When it started in the virtual schedule of the scheduler. None if it has none.
    pub virtual_start: Option<Time>,
}

impl Finished<'_> {
    /// When the job started; the last time, if it was requeued.
    ///
    /// # Panics
    /// If the job was cancelled or has not started. [`RunRecord::finished`] has no such jobs.
    pub fn start(&self) -> Time {
        self.outcome.start.get().expect("a whole workload has run")
    }

    /// When the job ended. Panics as [`Finished::start`].
    pub fn end(&self) -> Time {
        self.start() + self.job.runtime
    }

    /// Seconds from its arrival in the queue to its last start. Panics as [`Finished::start`].
    pub fn wait(&self) -> Seconds {
        self.start() - self.job.submission.submit
    }
}

impl RunRecord {
    /// The jobs that have run, with their outcomes. `jobs` must be the jobs that were simulated.
    pub fn finished<'a>(&'a self, jobs: &'a [Job]) -> impl Iterator<Item = Finished<'a>> + Clone {
        self.finished_in(jobs, 0..jobs.len()).map(|(_, finished)| finished)
    }

    /// How often an outage has stopped a job, and for how many seconds it had run until then.
    pub fn stops_of(&self, at: usize) -> (u32, Seconds) {
        let Some(outages) = &self.outages else { return (0, 0) };
        let own = outages.requeues.partition_point(|(id, _)| id.index() < at);
        let own = outages.requeues[own..].iter().take_while(|(id, _)| id.index() == at);
        own.fold((0, 0), |(count, sum), (_, ran)| (count + 1, sum + ran))
    }

    /// Those of a part of the jobs, with their places among all.
    pub fn finished_in<'a>(
        &'a self,
        jobs: &'a [Job],
        part: Range<usize>,
    ) -> impl Iterator<Item = (usize, Finished<'a>)> + Clone {
        let arrived = self.arrived.as_deref().unwrap_or(jobs);
        let started = part.filter(|&at| self.outcomes[at].start.get().is_some());
        started.map(move |at| {
            let virtual_start = self.virtual_starts.as_ref().map(|starts| starts[at]);
            let submitted = self.submitted.as_ref().map_or(jobs[at].submission.submit, |times| times[at]);
            (at, Finished { job: &arrived[at], submitted, outcome: &self.outcomes[at], virtual_start })
        })
    }
}

/// Simulates `jobs`, which are in order of submission, until the last one ends. `progress` is called now and then with
/// the number of jobs that have ended.
///
/// # Errors
/// If the policy or the predictor breaks its contract, a job is wider than the machine, or no job can start.
pub fn run(
    procs: u32,
    jobs: &[Job],
    scheduler: Scheduler,
    predictor: Named<dyn Predictor>,
    options: EngineOptions,
    progress: &mut dyn FnMut(usize),
) -> Result<RunRecord, EngineError> {
    let simulation = Simulation::new(procs, scheduler, predictor, options);
    run_simulation(simulation, jobs, progress)
}

/// As [`run`], in a simulation to which no job has been submitted. It may have an observer and a gate.
///
/// # Errors
/// As [`run`].
pub fn run_simulation(
    mut simulation: Simulation<impl Observer>,
    jobs: &[Job],
    progress: &mut dyn FnMut(usize),
) -> Result<RunRecord, EngineError> {
    simulation.reserve(jobs.len());
    if simulation.gate().is_some_and(Gate::has_feedback) {
        run_with_feedback(&mut simulation, jobs, progress)?;
    } else {
        run_in_order(&mut simulation, jobs, progress)?;
    }
    if simulation.never_started().count() == jobs.len() as u64 && !jobs.is_empty() {
        return Err(simulation.none_starts());
    }
    let (given, preempted, never) = (simulation.given(), simulation.preempted(), simulation.never_started().clone());
    let mut arrived = simulation.gate().map(|gate| gate.arrived_jobs(jobs));
    for &(id, runtime) in simulation.cut_runs() {
        arrived.get_or_insert_with(|| jobs.to_vec())[id.index()].runtime = runtime;
    }
    let submitted = simulation.gate().and_then(|gate| gate.submissions()).map(<[Time]>::to_vec);
    let virtual_starts = simulation.take_virtual_starts();
    let outages = simulation.outage_figures();
    let (outcomes, history) = simulation.into_outcomes();
    Ok(RunRecord { outcomes, history, given, never, preempted, outages, arrived, submitted, virtual_starts })
}

/// Runs jobs that are submitted at their own times.
fn run_in_order(
    simulation: &mut Simulation<impl Observer>,
    jobs: &[Job],
    progress: &mut dyn FnMut(usize),
) -> Result<(), EngineError> {
    let mut submitted = 0;
    for (number, together) in jobs.chunk_by(|a, b| a.submission.submit == b.submission.submit).enumerate() {
        together.iter().try_for_each(|job| simulation.submit(job).map(|_| ()))?;
        submitted += together.len();
        simulation.advance_to(together[0].submission.submit)?;
        if number % PROGRESS_EVERY == 0 {
            progress(ended(simulation, submitted));
        }
    }
    run_rest(simulation, submitted, |simulation| simulation.is_stuck(), progress)
}

/// The number of jobs that have ended, of those that were submitted.
fn ended(simulation: &Simulation<impl Observer>, submitted: usize) -> usize {
    simulation.gate().map_or(submitted, Gate::arrived_count) - simulation.in_system()
}

/// All jobs have been submitted.
fn run_rest<O: Observer>(
    simulation: &mut Simulation<O>,
    submitted: usize,
    is_over: impl Fn(&Simulation<O>) -> bool,
    progress: &mut dyn FnMut(usize),
) -> Result<(), EngineError> {
    for number in 0.. {
        let Some(next) = simulation.next_event().filter(|_| !is_over(simulation)) else { break };
        simulation.advance_to(next)?;
        if number % PROGRESS_EVERY == 0 {
            progress(ended(simulation, submitted));
        }
    }
    simulation.run_to_end()
}

/// Runs jobs of which some are submitted after the ends of others.
fn run_with_feedback(
    simulation: &mut Simulation<impl Observer>,
    jobs: &[Job],
    progress: &mut dyn FnMut(usize),
) -> Result<(), EngineError> {
    for job in jobs {
        simulation.submit(job)?;
    }
    // A program may want passes for ever, though no job is to come.
    let is_over =
        |simulation: &Simulation<_>| simulation.is_stuck() && !simulation.gate().is_some_and(Gate::expects_jobs);
    run_rest(simulation, jobs.len(), is_over, progress)
}
