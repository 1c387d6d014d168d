//! What a simulation does if it has a gate.

use super::Simulation;
use crate::engine::error::EngineError;
use crate::engine::observer::Observer;
use crate::job::{Job, JobId, Submission};

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
        gate.advance_to(now);
        for (id, job) in gate.take_released() {
            if let Some(gate) = &mut self.gate {
                gate.arrive(id, now);
            }
            self.arrive(Job { submission: Submission { submit: now, ..job.submission }, ..job })?;
        }
        Ok(())
    }

    /// Tells the gate which jobs have started, and numbers them by submission.
    pub(super) fn pass_starts_to_gate(&mut self) {
        let now = self.now();
        let Some(gate) = &mut self.gate else { return };
        for id in &mut self.started {
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
