//! Running jobs that make way for others.

use super::Simulation;
use crate::engine::error::EngineError;
use crate::engine::event_queue::NEVER;
use crate::engine::observer::{Event, Observer, Occasion, Placed, Preemption};
use crate::predict::{BoardEntry, Stage};
use crate::schedule::{Change, PolicyEvent, Stop};

impl<O: Observer> Simulation<O> {
    /// Stops the running jobs that the last pass has decided to stop.
    #[cold]
    pub(super) fn stop_jobs(&mut self) -> Result<(), EngineError> {
        for stop in std::mem::take(&mut self.decisions.stops) {
            self.stop(stop)?;
        }
        Ok(())
    }

    pub(super) fn stop(&mut self, Stop { id, is_requeued }: Stop) -> Result<(), EngineError> {
        let now = self.now();
        let running = self.board.place(id).and_then(|place| match self.board.at(place).stage {
            Stage::Running { start } if start < now => Some((place, start)),
            _ => None,
        });
        let Some((place, start)) = running else {
            let (scheduler, job) = (self.scheduler.name.clone(), self.number(id));
            return Err(EngineError::BadStop { scheduler, job, time: now });
        };
        // Its end does not come any more. Its deadline is not watched, so that it is dropped when it is the first.
        self.ends.remove(id);
        self.hidden[place].watched = NEVER;
        let BoardEntry { job: submission, prediction, .. } = *self.board.at(place);
        let (ran, job) = (now - start, Placed { id, place });
        let left = self.hidden[place].runtime - ran;
        let grant = self.machine.grant(id);
        let submission = &submission;
        let preemption = Preemption { job, submission, ran, left, grant, is_requeued };
        self.observers.on(now, &Event::Preemption(preemption), &self.machine);
        if !is_requeued {
            self.hidden[place].runtime = ran;
            return self.terminate(id, place);
        }
        let counted = start + self.counted_length(place);
        self.machine.change(Change::Requeue { id, counted, prediction });
        self.hidden[place].applied = prediction;
        self.board.set_stage_at(place, Stage::Waiting);
        self.scheduler.policy.on(&PolicyEvent::Requeue(id, submission), &self.machine);
        self.predictor.value.on_requeue(id, self.board.board_mut());
        self.absorb(Occasion::Requeue, id)?;
        if let Some(gate) = &mut self.gate {
            gate.on_requeue(id);
        }
        Ok(())
    }
}
