//! Missed deadlines: finds the running jobs that outlive their predictions without examining all running jobs.

use super::Simulation;
use crate::engine::error::EngineError;
use crate::engine::event_queue::{NEVER, QueuedEvent};
use crate::engine::observer::{Event, Miss, Observer, Occasion, Placed};
use crate::job::JobId;
use crate::predict::{BoardEntry, Stage};
use crate::time::Time;

impl<O: Observer> Simulation<O> {
    /// Handles the missed deadlines of the present instant: step 3 in the order of events.
    pub(super) fn miss_deadlines(&mut self) -> Result<(), EngineError> {
        if self.deadlines.next() <= self.now() {
            self.miss_due_deadlines()?;
        }
        self.drop_stale_deadlines();
        Ok(())
    }

    fn miss_due_deadlines(&mut self) -> Result<(), EngineError> {
        let mut late = std::mem::take(&mut self.late);
        late.clear();
        while let Some(due) = self.deadlines.pop_until(self.now()) {
            if self.unwatch(due).is_some() {
                late.push(due.job());
            }
        }
        late.sort_unstable();
        for &id in &late {
            // The deadline may have changed since it was queued, also earlier at this instant.
            if self.deadline(id).is_none_or(|deadline| deadline > self.now()) {
                if let Some(place) = self.board.place(id) {
                    self.watch_deadline(id, place);
                }
                continue;
            }
            let place = self.place(id);
            self.board.count_miss(id);
            let (time, BoardEntry { prediction, misses, .. }) = (self.board.board().now(), *self.board.at(place));
            let miss = Miss { job: Placed { id, place }, prediction, misses };
            self.observers.on(time, &Event::Miss(miss), &self.machine);
            self.pass_due |= self.options.pass_on_miss;
            self.predictor.value.on_deadline_missed(id, self.board.board_mut());
            self.absorb(Occasion::Miss, id)?;
            if self.deadline(id).is_some_and(|deadline| deadline <= self.now()) {
                return Err(self.no_prediction(id, "missed deadline"));
            }
        }
        self.late = late;
        Ok(())
    }

    /// When a running job reaches its prediction.
    fn deadline(&self, id: JobId) -> Option<Time> {
        let entry = self.board.at(self.board.place(id)?);
        match entry.stage {
            Stage::Running { start } => Some(start + entry.prediction),
            _ => None,
        }
    }

    /// Queues a running job's deadline if the job will miss it and no earlier time is queued for the job.
    pub(super) fn watch_deadline(&mut self, id: JobId, place: usize) {
        let BoardEntry { stage, prediction, .. } = *self.board.at(place);
        if let Stage::Running { start } = stage {
            let hidden = &mut self.hidden[place];
            if prediction < hidden.runtime && start + prediction < hidden.watched {
                hidden.watched = start + prediction;
                self.deadlines.push(QueuedEvent::new(hidden.watched, id, place));
            }
        }
    }

    /// Marks a queued deadline as handled. Returns the job's place if the deadline was still valid.
    fn unwatch(&mut self, due: QueuedEvent) -> Option<usize> {
        let place = self.board.place(due.job())?;
        let watched = &mut self.hidden[place].watched;
        (*watched == due.time()).then(|| {
            *watched = NEVER;
            place
        })
    }

    /// Removes times from the front of the queue at which no deadline is missed, so that they cause no event.
    fn drop_stale_deadlines(&mut self) {
        while let Some(due) = self.deadlines.first()
            && self.deadline(due.job()) != Some(due.time())
        {
            self.deadlines.pop();
            if let Some(place) = self.unwatch(due) {
                self.watch_deadline(due.job(), place);
            }
        }
    }
}
