//! When will jobs that wait now start? By simulations of the present queue, corrected by what happened to past jobs.

use super::evaluate::MethodAnswer;
use super::figures::WaitFigures;
use super::forward::{ForwardSetting, Snapshot};
use super::recalibrate::Simulated;
use super::sample::WaitSample;
use super::schedule::SiteSchedule;
use super::simulated_log::{SimulatedJobs, SimulatedLog};
use crate::engine::EngineError;
use crate::job::JobId;
use crate::time::{Seconds, Time};

/// The number of latest jobs of the log from which some are judged.
pub const JUDGED_JOBS: usize = 5000;

/// Every n-th of them is.
pub const JUDGED_EVERY: usize = 50;

/// Every n-th past job is simulated: enough to find similar ones, and an answer within seconds.
const PAST_EVERY: usize = 5;

/// The number of simulations of the queue that a past job found.
const PAST_DRAWS: usize = 30;

/// With fewer past answers than this, ranges mean little.
pub const FEW_ANSWERS: usize = 200;

/// How live answers are made.
#[derive(Clone, Debug)]
pub struct LivePlan {
    /// How the queue is simulated.
    pub forward: ForwardSetting,
    /// The number of latest starts among which similar jobs are sought.
    pub history: usize,
    /// For the draws.
    pub seed: u64,
    /// The results do not depend on it.
    pub threads: usize,
}

/// When some jobs of the queue will start, and how far that can be trusted.
#[derive(Clone, Debug)]
pub struct LiveAnswer {
    /// The waits from now on of all waiting jobs, in the order of the snapshot.
    pub waits: Vec<WaitSample>,
    /// Whether each of them is recalibrated. Otherwise it is as simulated: that was asked for, or too few past jobs are known.
    pub recalibrated: Vec<bool>,
    /// How good such answers were lately, at the arrivals of jobs: for every 50th of the last 5,000 jobs of the log that have
    /// started. Its number of predictions is 0 if the log has too few jobs.
    pub record: WaitFigures,
    /// The number of latest jobs from which these were taken.
    pub judged_of: usize,
    /// The number of past jobs among which similar ones were sought.
    pub past: usize,
    /// The widest of them, in processors, and the longest, by its estimate.
    pub largest: (u32, Seconds),
}

impl LivePlan {
    /// Answers for all waiting jobs of a snapshot. The history are the first `arrived` jobs of the schedule, as far as they
    /// are known at the instant of the snapshot. `watch` is called with the number of past jobs that are simulated, and of all
    /// of them.
    ///
    /// # Errors
    /// If the scheduler breaks its contract.
    pub fn answer(
        &self,
        schedule: &SiteSchedule<'_>,
        arrived: usize,
        snapshot: &Snapshot,
        watch: &dyn Fn(usize, usize),
    ) -> Result<LiveAnswer, EngineError> {
        let starts = known_starts(schedule, arrived, snapshot.now);
        let judged_from = arrived.saturating_sub(JUDGED_JOBS);
        let before = self.history.min(judged_from) / PAST_EVERY * PAST_EVERY;
        let jobs = SimulatedJobs { range: judged_from - before..arrived, every: PAST_EVERY };
        let forward = ForwardSetting { draws: self.forward.draws.min(PAST_DRAWS), ..self.forward.clone() };
        let watch = |done| watch(done, jobs.count());
        let log = SimulatedLog::new(schedule, &forward, jobs.clone(), &starts, (self.seed, self.threads), &watch)?;
        let (past, window) = log.past(starts.len(), self.history);
        let simulated = snapshot.samples(&self.forward, self.seed, self.threads)?;
        let age = |at: usize| (snapshot.now - snapshot.waiting[at].submission.submit).max(0);
        // Of a job that has waited the simulation says the rest. Together they are about what it would have said at the arrival.
        let at_arrival = |(at, sample): (usize, &WaitSample)| {
            let job = &snapshot.waiting[at].submission;
            Simulated::new(age(at) + sample.median(), job.estimate, job.procs)
        };
        let at_arrival: Vec<Simulated> = simulated.iter().enumerate().map(at_arrival).collect();
        let correct = |own: usize| {
            // As many of the jobs that wait as of those that have started.
            let others = (0..at_arrival.len()).step_by(PAST_EVERY).filter(|other| *other != own);
            let open = others.map(|other| (at_arrival[other], age(other)));
            past.recalibrated(window.clone(), open, &at_arrival[own], age(own))
        };
        let corrected: Vec<Option<WaitSample>> =
            (0..simulated.len()).map(|own| self.forward.recalibrate.then(|| correct(own)).flatten()).collect();
        let recalibrated = corrected.iter().map(Option::is_some).collect();
        let waits = corrected.into_iter().zip(simulated).map(|(sample, own)| sample.unwrap_or(own)).collect();
        let record = self.record(schedule, &starts, judged_from..arrived, &log);
        let (past, largest) = (window.len(), log.largest(window));
        Ok(LiveAnswer { waits, recalibrated, record, judged_of: arrived - judged_from, past, largest })
    }

    /// Judges the answers that some past jobs would have had.
    fn record(
        &self,
        schedule: &SiteSchedule<'_>,
        starts: &[JobId],
        jobs: std::ops::Range<usize>,
        log: &SimulatedLog<'_>,
    ) -> WaitFigures {
        let mut record = WaitFigures::default();
        for id in jobs.step_by(JUDGED_EVERY).map(|at| JobId(at as u32)) {
            let known = known_at(schedule, starts, schedule.jobs[id.index()].submission.submit, id.index());
            if starts[known..].contains(&id)
                && let Some(sample) = match self.forward.recalibrate {
                    true => log.recalibrated(id, known, self.history),
                    false => log.sample(id).cloned(),
                }
            {
                record.judge(schedule, id, &MethodAnswer::of_sample(&sample));
            }
        }
        record
    }
}

/// The first `arrived` jobs that have started by `now`, in the order in which they did. At `now` itself jobs start before others
/// arrive, as in a replay.
fn known_starts(schedule: &SiteSchedule<'_>, arrived: usize, now: Time) -> Vec<JobId> {
    let mut starts: Vec<JobId> = (0..arrived as u32).map(JobId).collect();
    starts.retain(|id| schedule.starts[id.index()] <= now);
    starts.sort_unstable_by_key(|id| (schedule.starts[id.index()], *id));
    starts
}

/// How many of these starts were known when the job at this place of the schedule arrived.
fn known_at(schedule: &SiteSchedule<'_>, starts: &[JobId], now: Time, place: usize) -> usize {
    starts.partition_point(|id| (schedule.starts[id.index()], id.index()) < (now, place))
}
