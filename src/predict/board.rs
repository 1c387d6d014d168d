//! The board: what is publicly known of the jobs in the system, and the predictions in force.
//!
//! A predictor reads it and writes predictions on it; the engine does the rest. Runtimes are not on it, so that no
//! predictor can read what its real counterpart could not know.

use crate::job::{JobId, Submission};
use crate::time::{FOREVER, Seconds, Time};

/// Submissions, starts and present predictions of the jobs in the system.
///
/// Who has left is not on it any more: its memory is that of the jobs that wait and run, not of all that ever came.
#[derive(Clone, Debug, Default)]
pub struct Board {
    now: Time,
    entries: Vec<Entry>,
    /// Where each job that has arrived has its entry, and entries that are free again.
    places: Vec<u32>,
    vacant: Vec<u32>,
    /// What has been written since the engine last looked.
    changes: Vec<Change>,
    breach: Option<Breach>,
}

const NOWHERE: u32 = u32::MAX;

/// What is known of one job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub job: Submission,
    pub stage: Stage,
    pub prediction: Seconds,
    pub misses: u32,
}

/// Where a job is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Waiting,
    Running {
        start: Time,
    },
    /// Terminated or cancelled, or never heard of.
    Gone,
}

/// A prediction that was replaced by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub job: JobId,
    /// Where the job's entry is.
    pub place: u32,
    /// 0 if there was none.
    pub old: Seconds,
    pub new: Seconds,
}

/// A prediction that the contract forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breach {
    pub job: JobId,
    pub prediction: Seconds,
    pub why: BreachKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreachKind {
    /// Less than a second.
    TooShort,
    /// The job has run that long already.
    NotAboveElapsed { elapsed: Seconds },
    /// The job is neither waiting nor running.
    NotInTheSystem,
}

impl Board {
    /// The present instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// What was submitted. The job must be in the system, or its end or cancellation be the present event; so must it for
    /// its prediction and misses.
    pub fn job(&self, id: JobId) -> &Submission {
        &self.entry(id).job
    }

    pub fn stage(&self, id: JobId) -> Stage {
        self.place(id).map_or(Stage::Gone, |place| self.entries[place].stage)
    }

    /// How long a running job has run; 0 for one that waits.
    pub fn elapsed(&self, id: JobId) -> Seconds {
        match self.stage(id) {
            Stage::Running { start } => self.now - start,
            _ => 0,
        }
    }

    /// The prediction in force.
    pub fn prediction(&self, id: JobId) -> Seconds {
        self.entry(id).prediction
    }

    /// How many deadlines the job has missed, the present one included.
    pub fn misses(&self, id: JobId) -> u32 {
        self.entry(id).misses
    }

    /// Predicts that the job will run for so many seconds in all. It must be in the system, and the prediction at
    /// least a second and more than it has run already; a breach is reported by the engine, which then stops.
    /// Predictions beyond [`FOREVER`] are cut there.
    pub fn predict(&mut self, id: JobId, prediction: Seconds) {
        let Some(place) = self.place(id) else { return self.object(id, prediction, BreachKind::NotInTheSystem) };
        let entry = &mut self.entries[place];
        let elapsed = match entry.stage {
            Stage::Waiting => 0,
            Stage::Running { start } => self.now - start,
            Stage::Gone => return self.object(id, prediction, BreachKind::NotInTheSystem),
        };
        if prediction <= elapsed {
            let why = if prediction < 1 { BreachKind::TooShort } else { BreachKind::NotAboveElapsed { elapsed } };
            return self.object(id, prediction, why);
        }
        let new = prediction.min(FOREVER);
        let old = std::mem::replace(&mut entry.prediction, new);
        self.changes.push(Change { job: id, place: place as u32, old, new });
    }

    /// The first breach is the one that is reported.
    #[cold]
    fn object(&mut self, job: JobId, prediction: Seconds, why: BreachKind) {
        self.breach.get_or_insert(Breach { job, prediction, why });
    }

    /// As [`Board::predict`], but leaves a job alone that has run that long already: the rule of propagation.
    pub fn predict_if_above_elapsed(&mut self, id: JobId, prediction: Seconds) {
        // Where many are to have one prediction, many have it already.
        let is_left_alone = |entry: &Entry| {
            let elapsed = if let Stage::Running { start } = entry.stage { self.now - start } else { 0 };
            prediction <= elapsed || prediction == entry.prediction
        };
        if !self.place(id).is_some_and(|place| is_left_alone(&self.entries[place])) {
            self.predict(id, prediction);
        }
    }
}

/// The engine's side.
impl Board {
    pub(crate) fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    /// So many jobs will arrive.
    pub(crate) fn expect(&mut self, jobs: usize) {
        self.places.reserve_exact(jobs);
    }

    /// The next job arrives; it has the id that follows the last one's.
    pub(crate) fn arrive(&mut self, job: Submission) -> JobId {
        let id = JobId(self.places.len() as u32);
        let entry = Entry { job, stage: Stage::Waiting, prediction: 0, misses: 0 };
        match self.vacant.pop() {
            Some(place) => {
                self.entries[place as usize] = entry;
                self.places.push(place);
            }
            None => {
                self.places.push(self.entries.len() as u32);
                self.entries.push(entry);
            }
        }
        id
    }

    /// Everything has been said of a job that is gone: its place is free for another.
    pub(crate) fn forget(&mut self, id: JobId) {
        self.vacant.push(std::mem::replace(&mut self.places[id.index()], NOWHERE));
    }

    /// Where a job in the system has its entry: a small number, used again when it is gone.
    pub(crate) fn place(&self, id: JobId) -> Option<usize> {
        self.places.get(id.index()).filter(|&&place| place != NOWHERE).map(|&place| place as usize)
    }

    /// The entry at a place.
    pub(crate) fn at(&self, place: usize) -> &Entry {
        &self.entries[place]
    }

    pub(crate) fn set_stage(&mut self, place: usize, stage: Stage) {
        self.entries[place].stage = stage;
    }

    pub(crate) fn count_miss(&mut self, place: usize) {
        self.entries[place].misses += 1;
    }

    fn entry(&self, id: JobId) -> &Entry {
        &self.entries[self.places[id.index()] as usize]
    }

    /// Whether anything has been written since the engine last looked.
    pub(crate) fn has_news(&self) -> bool {
        !self.changes.is_empty() || self.breach.is_some()
    }

    pub(crate) fn change(&self, at: usize) -> Option<Change> {
        self.changes.get(at).copied()
    }

    pub(crate) fn forget_changes(&mut self) {
        self.changes.clear();
    }

    pub(crate) fn breach(&self) -> Option<Breach> {
        self.breach
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board() -> (Board, JobId) {
        let mut board = Board::default();
        let id = board.arrive(Submission::new(0, 1, 100));
        (board, id)
    }

    #[test]
    fn the_contract_is_checked_at_every_prediction() {
        let (mut board, id) = board();
        board.set_stage(0, Stage::Running { start: 0 });
        board.set_now(10);
        board.predict_if_above_elapsed(id, 10);
        assert_eq!((board.prediction(id), board.breach()), (0, None));
        board.predict(id, 11);
        assert_eq!((board.prediction(id), board.breach()), (11, None));
        board.predict(id, 10);
        let why = BreachKind::NotAboveElapsed { elapsed: 10 };
        assert_eq!(board.breach(), Some(Breach { job: id, prediction: 10, why }));
        assert_eq!(board.prediction(id), 11);
    }

    #[test]
    fn waiting_jobs_need_a_second_and_gone_ones_no_prediction() {
        let (mut board, id) = board();
        let (mut gone, mut never_heard_of) = (board.clone(), board.clone());
        gone.set_stage(0, Stage::Gone);
        for (board, id) in [(&mut gone, id), (&mut never_heard_of, JobId(7))] {
            board.predict_if_above_elapsed(id, 5);
            assert_eq!(board.breach().map(|breach| breach.why), Some(BreachKind::NotInTheSystem));
        }
        board.predict(id, FOREVER * 2);
        assert_eq!((board.prediction(id), board.breach()), (FOREVER, None));
        board.predict_if_above_elapsed(id, 0);
        assert_eq!((board.prediction(id), board.breach()), (FOREVER, None));
        board.predict(id, 0);
        assert_eq!(board.breach().map(|breach| breach.why), Some(BreachKind::TooShort));
    }
}
