//! Missed deadlines: running jobs whose predictions run out, found without looking at all of them.

use super::Simulation;
use crate::engine::agenda::{Due, NEVER};
use crate::engine::error::EngineError;
use crate::engine::observer::{Miss, Observer, Placed};
use crate::engine::recorder::Event;
use crate::job::JobId;
use crate::predict::{Entry, Stage};
use crate::time::Time;

impl<O: Observer> Simulation<O> {
    /// The missed deadlines of the present instant: the second of what happens at one.
    pub(super) fn miss_deadlines(&mut self) -> Result<(), EngineError> {
        let mut late = std::mem::take(&mut self.late);
        late.clear();
        while let Some(due) = self.deadlines.take_by(self.now()) {
            if self.unwatch(due).is_some() {
                late.push(due.job());
            }
        }
        late.sort_unstable();
        for &id in &late {
            // The deadline may have moved since it was put down, and by what happened earlier at this instant.
            if self.deadline(id).is_none_or(|deadline| deadline > self.now()) {
                if let Some(place) = self.board.place(id) {
                    self.watch_deadline(id, place);
                }
                continue;
            }
            let place = self.place(id);
            self.board.count_miss_at(place);
            let (time, Entry { prediction, misses, .. }) = (self.board.board().now(), *self.board.at(place));
            self.observers.on_miss(&Miss { time, job: Placed { id, place }, prediction, misses });
            self.pass_due |= self.options.pass_on_miss;
            self.predictor.value.on_deadline_missed(id, self.board.board_mut());
            self.absorb(Event::Miss, id)?;
            if self.deadline(id).is_some_and(|deadline| deadline <= self.now()) {
                return Err(self.no_prediction(id, "missed deadline"));
            }
        }
        self.late = late;
        self.drop_stale_deadlines();
        Ok(())
    }

    /// When a running job's prediction runs out.
    fn deadline(&self, id: JobId) -> Option<Time> {
        let entry = self.board.at(self.board.place(id)?);
        match entry.stage {
            Stage::Running { start } => Some(start + entry.prediction),
            _ => None,
        }
    }

    /// Puts down a running job's deadline, if it will outlive it and is not watched until then anyway.
    pub(super) fn watch_deadline(&mut self, id: JobId, place: usize) {
        let Entry { stage, prediction, .. } = *self.board.at(place);
        if let Stage::Running { start } = stage {
            let secret = &mut self.secrets[place];
            if prediction < secret.runtime && start + prediction < secret.watched {
                secret.watched = start + prediction;
                self.deadlines.put(Due::new(secret.watched, id, place));
            }
        }
    }

    /// A watched time has come or is taken away; the job's place, if it still counted.
    fn unwatch(&mut self, due: Due) -> Option<usize> {
        let place = self.board.place(due.job())?;
        let watched = &mut self.secrets[place].watched;
        (*watched == due.time()).then(|| {
            *watched = NEVER;
            place
        })
    }

    /// Takes times off the top at which no deadline is missed, so that nobody wakes up for them.
    fn drop_stale_deadlines(&mut self) {
        while let Some(due) = self.deadlines.first()
            && self.deadline(due.job()) != Some(due.time())
        {
            self.deadlines.take();
            if let Some(place) = self.unwatch(due) {
                self.watch_deadline(due.job(), place);
            }
        }
    }
}
