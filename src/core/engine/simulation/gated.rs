//! What a simulation does if it has a gate.

use super::Simulation;
use crate::engine::error::EngineError;
use crate::engine::observer::Observer;
use crate::job::{Job, JobId, Submission};
use crate::schedule::PolicyEvent;

impl<O: Observer> Simulation<O> {
    /// The arrivals of the present instant, in order of submission: jobs that are submitted now and may start, and jobs whose
    /// conditions are met.
    pub(super) fn arrive_through_gate(&mut self) -> Result<(), EngineError> {
        let now = self.now();
        while let Some((id, job)) = self.next_upcoming(now) {
            if let Some(gate) = &mut self.gate {
                gate.submit(id, job, now);
            }
        }
        let Some(gate) = &mut self.gate else { return Ok(()) };
        gate.submit_due(now);
        gate.advance_to(now);
        for (id, job) in gate.take_released() {
            if let Some(gate) = &mut self.gate {
                gate.arrive(id, now);
            }
            self.tell_recorded_wait(id, &job);
            self.arrive(id, &Job { submission: Submission { submit: now, ..job.submission }, ..job })?;
        }
        Ok(())
    }

    /// Tells a replay of the log's own schedule how long the job that arrives now waits. Without feedback it knows that before.
    fn tell_recorded_wait(&mut self, id: JobId, job: &Job) {
        let Some(submitted) = self.gate.as_ref().and_then(|gate| gate.submissions()) else { return };
        if self.scheduler.replays {
            let start = submitted[id.index()] + job.recorded_wait.get().unwrap_or(0);
            let wait = (start - self.now()).max(0);
            self.scheduler.policy.on(&PolicyEvent::RecordedWait(id, wait), &self.machine);
        }
    }

    /// Tells the gate which jobs have started.
    pub(super) fn pass_starts_to_gate(&mut self) {
        let now = self.now();
        if let Some(gate) = &mut self.gate {
            self.decisions.starts.iter().for_each(|&id| gate.on_start(id, now));
        }
    }

    /// Fails if jobs are at the gate after the last event.
    pub(super) fn check_gate_is_empty(&self) -> Result<(), EngineError> {
        match self.gate.as_ref().and_then(|gate| gate.held()) {
            None => Ok(()),
            Some((held, job)) => Err(EngineError::Held { job, time: self.now(), held }),
        }
    }
}
