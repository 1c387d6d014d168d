//! What a simulation does if it has a gate.

use super::Simulation;
use crate::engine::error::EngineError;
use crate::engine::gate::Gate;
use crate::engine::observer::Observer;
use crate::job::{Job, JobId, Submission};
use crate::schedule::PolicyEvent;

impl<O: Observer> Simulation<O> {
    /// The arrivals of the present instant, in order of submission: jobs that are submitted now and may start, and jobs whose
    /// conditions are met.
    pub(super) fn arrive_through_gate(&mut self) -> Result<(), EngineError> {
        let now = self.now();
        let Some(gate) = &mut self.gate else { return Ok(()) };
        while let Some(&job) = self.upcoming.front()
            && job.submission.submit <= now
        {
            gate.submit(self.submitted - self.upcoming.len() as u32, job, now);
            self.upcoming.pop_front();
        }
        gate.submit_due(now);
        gate.advance_to(now);
        for (id, job) in gate.take_released() {
            if let Some(gate) = &mut self.gate {
                gate.arrive(id, now);
            }
            self.tell_recorded_wait(id, &job);
            self.arrive(&Job { submission: Submission { submit: now, ..job.submission }, ..job })?;
        }
        Ok(())
    }

    /// Tells a replay of the log's own schedule how long the job that arrives now waits. Without feedback it knows the order of
    /// arrivals before.
    fn tell_recorded_wait(&mut self, id: u32, job: &Job) {
        let Some(submitted) = self.gate.as_ref().and_then(|gate| gate.submissions()) else { return };
        if self.scheduler.replays {
            let start = submitted[id as usize] + job.recorded_wait.get().unwrap_or(0);
            let arrived = self.by_arrival(JobId(id));
            let wait = (start - self.now()).max(0);
            self.scheduler.policy.on(&PolicyEvent::RecordedWait(arrived, wait), &self.machine);
        }
    }

    /// The number by which the ends of a job are ordered: that of the log if users react, else that of its arrival.
    #[inline]
    pub(super) fn by_log(&self, arrived: JobId) -> JobId {
        by_log(&self.gate, arrived)
    }

    /// The job of [`Simulation::by_log`], by its arrival.
    #[inline]
    pub(super) fn by_arrival(&self, id: JobId) -> JobId {
        by_arrival(&self.gate, id)
    }

    /// Tells the gate which jobs have started, and numbers them by submission.
    pub(super) fn pass_starts_to_gate(&mut self) {
        let now = self.now();
        let Some(gate) = &mut self.gate else { return };
        for id in &mut self.decisions.starts {
            *id = gate.submitted(*id);
            gate.on_start(id.0, now);
        }
    }

    /// The number in order of arrival of a job that is to be cancelled. None if it was at the gate and has left it.
    pub(super) fn withdraw_from_gate(&mut self, id: JobId) -> Option<JobId> {
        let now = self.now();
        let Some(gate) = &mut self.gate else { return Some(id) };
        if gate.withdraw(id.0, now) {
            return None;
        }
        // A job that has not arrived has no number. One that no job has makes the error.
        Some(gate.arrived(id).unwrap_or(JobId(u32::MAX)))
    }

    /// Fails if jobs are at the gate after the last event.
    pub(super) fn check_gate_is_empty(&self) -> Result<(), EngineError> {
        match self.gate.as_ref().and_then(|gate| gate.held()) {
            None => Ok(()),
            Some((held, job)) => Err(EngineError::Held { job, time: self.now(), held }),
        }
    }
}

/// See [`Simulation::by_log`].
#[inline]
fn by_log(gate: &Option<Box<Gate>>, arrived: JobId) -> JobId {
    match gate {
        Some(gate) if gate.has_feedback() => gate.submitted(arrived),
        _ => arrived,
    }
}

/// Sorts jobs as [`Simulation::by_log`] orders them; compiled once for all observers.
pub(super) fn sort_by_log(arrived: &mut [JobId], gate: &Option<Box<Gate>>) {
    arrived.sort_unstable_by_key(|&id| by_log(gate, id));
}

/// See [`Simulation::by_arrival`].
#[inline]
pub(super) fn by_arrival(gate: &Option<Box<Gate>>, id: JobId) -> JobId {
    match gate {
        Some(gate) if gate.has_feedback() => gate.arrived(id).expect("the job has arrived"),
        _ => id,
    }
}
