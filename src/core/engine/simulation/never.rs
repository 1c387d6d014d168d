//! Jobs that the policy can never start: they are dropped, so that the others run.

use super::Simulation;
use crate::engine::error::EngineError;
use crate::engine::observer::Observer;
use crate::job::JobId;
use crate::schedule::{Asked, NeverStarts};

impl<O: Observer> Simulation<O> {
    /// Drops a job that has just arrived, if it can never start. For those that wait for it, it has started and ended.
    pub(super) fn drop_if_never(&mut self, id: JobId) -> Result<(), EngineError> {
        match self.why_never(id, false) {
            Some(why) => self.drop_job(id, why),
            None => Ok(()),
        }
    }

    /// Drops the first waiting job of which the policy says why it does not start, when no event is left. Returns whether there
    /// is one. Others may be able to start then.
    pub fn drop_stuck(&mut self) -> Result<bool, EngineError> {
        let waiting: Vec<JobId> = self.machine.waiting.iter().map(|job| job.id).collect();
        // Nobody waits any more for what does not come back.
        if let Some(why) = self.why_stuck() {
            waiting.iter().try_for_each(|&id| self.drop_job(id, why.clone()))?;
            return Ok(!waiting.is_empty());
        }
        let found = waiting.into_iter().find_map(|id| Some((id, self.why_never(id, true)?)));
        match found {
            Some((id, why)) => self.drop_job(id, why).map(|()| true),
            None => Ok(false),
        }
    }

    /// The error that no job can start.
    pub(in crate::engine) fn none_starts(&self) -> EngineError {
        let (scheduler, causes) = (self.scheduler.name.clone(), self.never.in_words());
        EngineError::NoneStarts { scheduler, causes }
    }

    fn why_never(&mut self, id: JobId, is_end: bool) -> Option<NeverStarts> {
        if self.scheduler.answers {
            let job = self.board.at(self.place(id)).job;
            self.ask(Asked::Never { id, job, is_end });
        }
        self.decisions.never.take()
    }

    fn drop_job(&mut self, id: JobId, why: NeverStarts) -> Result<(), EngineError> {
        self.never.add(id, self.number(id), why);
        self.withdraw(id)
    }
}
