//! The waits that a simulation gave to jobs of a log when they arrived, and what past jobs with similar ones tell.

use std::ops::Range;

use super::forward::{ForwardSetting, ForwardWaits, QueueWaits, SimulatedJobs, forward_waits};
use super::recalibrate::{PastAnswers, SimulatedWait};
use super::sample::WaitSample;
use super::schedule::SiteSchedule;
use crate::engine::EngineError;
use crate::job::{JobId, Submission};
use crate::time::{Seconds, Time};

/// The simulated jobs of a log.
pub struct SimulatedLog<'a> {
    schedule: &'a SiteSchedule<'a>,
    jobs: SimulatedJobs,
    /// Of each simulated job.
    samples: Vec<WaitSample>,
    simulated: Vec<SimulatedWait>,
    /// All jobs that waited at the moments, in order of time.
    queues: Vec<QueueWaits>,
    /// The number of the start of each simulated job among all starts.
    started: Vec<usize>,
    /// Those that have started, in order of their starts, and which ones they are.
    past: PastAnswers,
    past_jobs: Vec<usize>,
    /// By the number of known starts: how many of `past` are known, and the first simulated job that has not started.
    counts: Vec<usize>,
    oldest: Vec<usize>,
}

impl<'a> SimulatedLog<'a> {
    /// Simulates jobs of a schedule. `starts` are all jobs in the order in which they started. `watch` is called with the
    /// number of finished jobs.
    ///
    /// # Errors
    /// If the scheduler or the predictor breaks its contract.
    pub fn new(
        schedule: &'a SiteSchedule<'a>,
        forward: &ForwardSetting,
        jobs: SimulatedJobs,
        starts: &[JobId],
        (seed, threads): (u64, usize),
        watch: &dyn Fn(usize),
    ) -> Result<SimulatedLog<'a>, EngineError> {
        let ForwardWaits { arrivals: samples, queues } =
            forward_waits(schedule, forward, &jobs, (seed, threads), watch)?;
        let simulated = |(at, sample): (usize, &WaitSample)| {
            let Submission { estimate, procs, .. } =
                schedule.workload.jobs[jobs.range.start + at * jobs.every].submission;
            SimulatedWait::new(sample.median(), estimate, procs)
        };
        let simulated: Vec<SimulatedWait> = samples.iter().enumerate().map(simulated).collect();
        let (mut past, mut past_jobs, mut counts, mut oldest) = (PastAnswers::default(), Vec::new(), vec![0], vec![0]);
        let mut started = vec![usize::MAX; simulated.len()];
        for (number, &id) in starts.iter().enumerate() {
            if let Some(at) = jobs.number(id) {
                past.push(simulated[at], schedule.wait(id));
                past_jobs.push(at);
                started[at] = number;
            }
            counts.push(past.len());
            let before: usize = oldest[number];
            oldest.push(before + started[before..].iter().take_while(|start| **start != usize::MAX).count());
        }
        Ok(SimulatedLog { schedule, jobs, samples, simulated, queues, started, past, past_jobs, counts, oldest })
    }

    /// The simulated waits of a job. None if it was not simulated.
    pub fn sample(&self, id: JobId) -> Option<&WaitSample> {
        self.jobs.number(id).map(|at| &self.samples[at])
    }

    /// The jobs that waited at the moments.
    pub fn queues(&self) -> &[QueueWaits] {
        &self.queues
    }

    /// The past jobs that have started when `known` jobs have: of the latest `history` starts of the log about as many.
    pub fn past(&self, known: usize, history: usize) -> (&PastAnswers, Range<usize>) {
        let last = self.counts[known];
        (&self.past, last.saturating_sub(history.div_ceil(self.jobs.every))..last)
    }

    /// The answer for a job that was simulated, when `known` jobs had started: the waits of the past jobs nearest to it, or its
    /// own simulated waits if there are none. `history` is the number of latest starts that are used.
    pub fn recalibrated(&self, id: JobId, known: usize, history: usize) -> Option<WaitSample> {
        let own = self.jobs.number(id)?;
        let now = self.submit(own);
        let (past, window) = self.past(known, history);
        let waiting = (self.oldest[known]..own).filter(|&at| self.started[at] >= known);
        let open = waiting.map(|at| (self.simulated[at], now - self.submit(at)));
        Some(past.recalibrated(window, open, &self.simulated[own], 0).unwrap_or_else(|| self.samples[own].clone()))
    }

    fn submit(&self, at: usize) -> Time {
        self.schedule.workload.jobs[self.jobs.range.start + at * self.jobs.every].submission.submit
    }

    /// The widest request and the longest estimate among these past jobs.
    pub fn largest(&self, past: Range<usize>) -> (u32, Seconds) {
        let job = |at: &usize| self.schedule.workload.jobs[self.jobs.range.start + at * self.jobs.every].submission;
        let jobs = self.past_jobs[past].iter().map(job);
        jobs.fold((0, 0), |(procs, estimate), job| (procs.max(job.procs), estimate.max(job.estimate)))
    }
}
