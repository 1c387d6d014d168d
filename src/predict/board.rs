//! The board: what is publicly known of the jobs in the system, and the predictions in force.
//!
//! A predictor reads a [`Board`] and writes predictions on it. Runtimes are not on it, so that no predictor can read what
//! its real counterpart could not know. Everything else is done by a [`BoardKeeper`], which is the engine's, or a test's:
//! no predictor can get from a board to its keeper.

use rustc_hash::FxHashMap;

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
    /// Of the predictions that have one.
    intervals: FxHashMap<JobId, f64>,
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

    /// What was submitted.
    ///
    /// # Panics
    /// If the job is not in the system. A job whose end or cancellation is the present event still is.
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
    ///
    /// # Panics
    /// As [`Board::job`].
    pub fn prediction(&self, id: JobId) -> Seconds {
        self.entry(id).prediction
    }

    /// How many deadlines the job has missed, the present one included.
    ///
    /// # Panics
    /// As [`Board::job`].
    pub fn misses(&self, id: JobId) -> u32 {
        self.entry(id).misses
    }

    /// Predicts that the job will run for so many seconds in all. It must be in the system, and the prediction at
    /// least a second and more than it has run already; a breach is reported by the engine, which then stops.
    /// Predictions beyond [`FOREVER`] are cut there.
    pub fn predict(&mut self, id: JobId, prediction: Seconds) {
        let Some(place) = self.place(id) else { return self.report_breach(id, prediction, BreachKind::NotInTheSystem) };
        let entry = &mut self.entries[place];
        let elapsed = match entry.stage {
            Stage::Waiting => 0,
            Stage::Running { start } => self.now - start,
            Stage::Gone => return self.report_breach(id, prediction, BreachKind::NotInTheSystem),
        };
        if prediction <= elapsed {
            let why = if prediction < 1 { BreachKind::TooShort } else { BreachKind::NotAboveElapsed { elapsed } };
            return self.report_breach(id, prediction, why);
        }
        let new = prediction.min(FOREVER);
        let old = std::mem::replace(&mut entry.prediction, new);
        self.changes.push(Change { job: id, place: place as u32, old, new });
    }

    /// The first breach is the one that is reported.
    #[cold]
    fn report_breach(&mut self, job: JobId, prediction: Seconds, why: BreachKind) {
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

    /// Says how sure the prediction last made for a job is: the half-width in seconds of its confidence interval, or none.
    /// For predictors that have such intervals.
    pub fn set_interval(&mut self, id: JobId, half_width: Option<f64>) {
        match half_width {
            Some(half_width) => drop(self.intervals.insert(id, half_width)),
            None => drop(self.intervals.remove(&id)),
        }
    }

    /// What [`Board::set_interval`] said of a job.
    pub fn interval(&self, id: JobId) -> Option<f64> {
        if self.intervals.is_empty() { None } else { self.intervals.get(&id).copied() }
    }

    fn place(&self, id: JobId) -> Option<usize> {
        self.places.get(id.index()).filter(|&&place| place != NOWHERE).map(|&place| place as usize)
    }

    fn entry(&self, id: JobId) -> &Entry {
        &self.entries[self.places[id.index()] as usize]
    }
}

/// Keeps a board: the side of the engine, and of whoever tests a predictor of their own.
///
/// ```
/// use shadowtime::job::Submission;
/// use shadowtime::predict::{BoardKeeper, Stage, catalog};
///
/// let mut keeper = BoardKeeper::default();
/// let mut predictor = catalog::build(&catalog::parse("estimate").unwrap());
/// let id = keeper.arrive(Submission::new(0, 4, 3600));
/// predictor.on_arrival(id, keeper.board_mut());
/// assert_eq!(keeper.board().prediction(id), 3600);
/// keeper.set_stage(id, Stage::Running { start: 10 });
/// keeper.set_now(3610);
/// keeper.count_miss(id);
/// predictor.on_deadline_missed(id, keeper.board_mut());
/// assert_eq!(keeper.board().prediction(id), 3660);
/// ```
#[derive(Clone, Debug, Default)]
pub struct BoardKeeper {
    board: Board,
}

impl BoardKeeper {
    pub fn board(&self) -> &Board {
        &self.board
    }

    pub fn board_mut(&mut self) -> &mut Board {
        &mut self.board
    }

    pub fn set_now(&mut self, now: Time) {
        self.board.now = now;
    }

    /// The next job arrives; it has the id that follows the last one's.
    pub fn arrive(&mut self, job: Submission) -> JobId {
        let board = &mut self.board;
        let id = JobId(board.places.len() as u32);
        let entry = Entry { job, stage: Stage::Waiting, prediction: 0, misses: 0 };
        match board.vacant.pop() {
            Some(place) => {
                board.entries[place as usize] = entry;
                board.places.push(place);
            }
            None => {
                board.places.push(board.entries.len() as u32);
                board.entries.push(entry);
            }
        }
        id
    }

    /// Where a job is in its life from now on.
    ///
    /// # Panics
    /// If the job is not in the system; so do the next two.
    pub fn set_stage(&mut self, id: JobId, stage: Stage) {
        let place = self.board.places[id.index()] as usize;
        self.board.entries[place].stage = stage;
    }

    /// A running job has missed its deadline.
    pub fn count_miss(&mut self, id: JobId) {
        let place = self.board.places[id.index()] as usize;
        self.board.entries[place].misses += 1;
    }

    /// Everything has been said of a job that is gone: its place is free for another.
    pub fn forget(&mut self, id: JobId) {
        let board = &mut self.board;
        board.vacant.push(std::mem::replace(&mut board.places[id.index()], NOWHERE));
        if !board.intervals.is_empty() {
            board.intervals.remove(&id);
        }
    }

    /// The first prediction that the contract forbids, if there was one.
    pub fn breach(&self) -> Option<Breach> {
        self.board.breach
    }

    /// So many jobs will arrive.
    pub(crate) fn expect(&mut self, jobs: usize) {
        self.board.places.reserve_exact(jobs);
    }

    /// Where a job in the system has its entry: a small number, used again when it is gone.
    pub(crate) fn place(&self, id: JobId) -> Option<usize> {
        self.board.place(id)
    }

    /// The entry at a place.
    pub(crate) fn at(&self, place: usize) -> &Entry {
        &self.board.entries[place]
    }

    pub(crate) fn set_stage_at(&mut self, place: usize, stage: Stage) {
        self.board.entries[place].stage = stage;
    }

    pub(crate) fn count_miss_at(&mut self, place: usize) {
        self.board.entries[place].misses += 1;
    }

    /// Whether anything has been written since the engine last looked.
    pub(crate) fn has_changes(&self) -> bool {
        !self.board.changes.is_empty() || self.board.breach.is_some()
    }

    pub(crate) fn change(&self, at: usize) -> Option<Change> {
        self.board.changes.get(at).copied()
    }

    pub(crate) fn forget_changes(&mut self) {
        self.board.changes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeper() -> (BoardKeeper, JobId) {
        let mut keeper = BoardKeeper::default();
        let id = keeper.arrive(Submission::new(0, 1, 100));
        (keeper, id)
    }

    #[test]
    fn the_contract_is_checked_at_every_prediction() {
        let (mut keeper, id) = keeper();
        keeper.set_stage(id, Stage::Running { start: 0 });
        keeper.set_now(10);
        keeper.board_mut().predict_if_above_elapsed(id, 10);
        assert_eq!((keeper.board().prediction(id), keeper.breach()), (0, None));
        keeper.board_mut().predict(id, 11);
        assert_eq!((keeper.board().prediction(id), keeper.breach()), (11, None));
        keeper.board_mut().predict(id, 10);
        let why = BreachKind::NotAboveElapsed { elapsed: 10 };
        assert_eq!(keeper.breach(), Some(Breach { job: id, prediction: 10, why }));
        assert_eq!(keeper.board().prediction(id), 11);
    }

    #[test]
    fn waiting_jobs_need_a_second_and_gone_ones_no_prediction() {
        let (mut keeper, id) = keeper();
        let (mut gone, mut never_arrived) = (keeper.clone(), keeper.clone());
        gone.set_stage(id, Stage::Gone);
        for (keeper, id) in [(&mut gone, id), (&mut never_arrived, JobId(7))] {
            keeper.board_mut().predict_if_above_elapsed(id, 5);
            assert_eq!(keeper.breach().map(|breach| breach.why), Some(BreachKind::NotInTheSystem));
        }
        keeper.board_mut().predict(id, FOREVER * 2);
        assert_eq!((keeper.board().prediction(id), keeper.breach()), (FOREVER, None));
        keeper.board_mut().predict_if_above_elapsed(id, 0);
        assert_eq!((keeper.board().prediction(id), keeper.breach()), (FOREVER, None));
        keeper.board_mut().predict(id, 0);
        assert_eq!(keeper.breach().map(|breach| breach.why), Some(BreachKind::TooShort));
    }

    #[test]
    fn an_interval_goes_with_its_job() {
        let (mut keeper, id) = keeper();
        assert_eq!(keeper.board().interval(id), None);
        keeper.board_mut().set_interval(id, Some(2.5));
        assert_eq!(keeper.board().interval(id), Some(2.5));
        keeper.forget(id);
        assert_eq!(keeper.board().interval(id), None);
    }
}
