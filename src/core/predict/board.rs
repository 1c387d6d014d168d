//! The board: a table of the jobs in the system with their submissions, starts and predictions.
//!
//! A predictor reads a [`Board`] and writes predictions on it. Runtimes are not on it, so that no predictor can read what
//! would be unknown on a real machine. All other changes are made through a [`BoardKeeper`], which only the engine or a
//! test has: a predictor cannot get from a board to its keeper.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::job::{ArrivalNumber, InLog, JobId, Submission};
use crate::request::RequestId;
use crate::time::{FOREVER, Seconds, Time};

/// Submissions, starts and present predictions of the jobs in the system.
///
/// Jobs that have left are removed, so its size depends on the jobs that wait and run, not on the length of the workload.
#[derive(Clone, Debug, Default)]
pub struct Board {
    now: Time,
    unix_start: Time,
    entries: Vec<BoardEntry>,
    /// By index of the entry.
    in_log: Vec<InLog>,
    /// By job id: the index of the job's entry, or `NOWHERE`.
    places: Vec<u32>,
    /// Indexes of entries that are free again.
    vacant: Vec<u32>,
    /// The number of jobs that have arrived.
    arrived: u32,
    /// Predictions written since the engine last read them.
    changes: Vec<BoardChange>,
    fault: Option<Fault>,
    /// Predictions that come from past jobs, as far as predictors say so, with the half-width of a confidence interval
    /// if there is one.
    answers: FxHashMap<JobId, Option<f64>>,
}

const NOWHERE: u32 = u32::MAX;

/// The entry of one job.
#[derive(Clone, Copy, Debug)]
pub struct BoardEntry {
    /// What is known of the job.
    pub job: Submission,
    /// Whether it waits or runs.
    pub stage: Stage,
    /// The prediction in force.
    pub prediction: Seconds,
    /// How many predictions it has outlived.
    pub misses: u32,
    /// Its place in the order of arrival.
    pub arrival: ArrivalNumber,
}

/// Whether a job waits, runs or is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// In the queue.
    Waiting,
    /// On the machine.
    Running {
        /// When it started.
        start: Time,
    },
    /// Terminated, cancelled or not arrived yet.
    Gone,
}

/// A prediction that was replaced by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardChange {
    /// The job.
    pub job: JobId,
    /// The index of the job's entry.
    pub place: u32,
    /// 0 if there was none.
    pub old: Seconds,
    /// The prediction in force from now on.
    pub new: Seconds,
}

/// Why the simulation cannot continue with this predictor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It wrote a prediction for a job that the contract forbids.
    Invalid {
        /// The job.
        job: JobId,
        /// What it wrote.
        prediction: Seconds,
        /// The rule that this breaks.
        why: InvalidReason,
    },
    /// It cannot predict any more, for this reason.
    Failed(String),
}

/// The rule of the contract that a prediction breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidReason {
    /// It is less than a second.
    TooShort,
    /// The job has already run that long.
    NotAboveElapsed {
        /// The seconds that it has run.
        elapsed: Seconds,
    },
    /// The job is neither waiting nor running.
    NotInTheSystem,
}

/// As the second half of a sentence about the prediction.
impl fmt::Display for InvalidReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidReason::TooShort => write!(f, "a prediction is at least 1 s"),
            InvalidReason::NotAboveElapsed { elapsed } => write!(f, "it has already run for {elapsed} s"),
            InvalidReason::NotInTheSystem => write!(f, "it is neither waiting nor running"),
        }
    }
}

impl Board {
    /// The present instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The Unix time of the instant 0, for the hour of the day and the day of the week. 0 if the log does not say it.
    pub fn unix_start(&self) -> Time {
        self.unix_start
    }

    /// What was submitted.
    ///
    /// # Panics
    /// If the job is not in the system. A job whose end or cancellation is the present event still is.
    pub fn job(&self, id: JobId) -> &Submission {
        &self.entry(id).job
    }

    /// The job's number in the log; -1 if it has none. Numbers may repeat.
    ///
    /// # Panics
    /// As [`Board::job`].
    pub fn number(&self, id: JobId) -> i64 {
        self.in_log(id).number
    }

    /// What the job asks of a machine of nodes.
    ///
    /// # Panics
    /// As [`Board::job`].
    pub fn request(&self, id: JobId) -> RequestId {
        self.in_log(id).request
    }

    /// What the log says of the job.
    ///
    /// # Panics
    /// As [`Board::job`].
    pub fn in_log(&self, id: JobId) -> InLog {
        self.in_log[self.places[id.index()] as usize]
    }

    /// The job's place in the order of arrival.
    ///
    /// # Panics
    /// As [`Board::job`].
    #[inline]
    pub fn arrival(&self, id: JobId) -> ArrivalNumber {
        self.entry(id).arrival
    }

    /// Whether a job waits, runs or is gone.
    pub fn stage(&self, id: JobId) -> Stage {
        self.place(id).map_or(Stage::Gone, |place| self.entries[place].stage)
    }

    /// The seconds that a running job has run; 0 for any other job.
    pub fn elapsed(&self, id: JobId) -> Seconds {
        match self.stage(id) {
            Stage::Running { start } => self.now - start,
            _ => 0,
        }
    }

    /// The prediction in force, in seconds; 0 if the job has none yet.
    ///
    /// # Panics
    /// As [`Board::job`].
    pub fn prediction(&self, id: JobId) -> Seconds {
        self.entry(id).prediction
    }

    /// The number of deadlines that the job has missed, the present one included.
    ///
    /// # Panics
    /// As [`Board::job`].
    pub fn misses(&self, id: JobId) -> u32 {
        self.entry(id).misses
    }

    /// Predicts that the job's runtime will be `prediction` seconds in total. The job must be in the system, and the
    /// prediction must be at least one second and more than the job has already run; otherwise the engine stops with an
    /// error. A prediction above [`FOREVER`] is replaced by [`FOREVER`].
    #[inline(always)]
    pub fn predict(&mut self, id: JobId, prediction: Seconds) {
        let Some(place) = self.place(id) else {
            return self.report_invalid(id, prediction, InvalidReason::NotInTheSystem);
        };
        let entry = &mut self.entries[place];
        let elapsed = match entry.stage {
            Stage::Waiting => 0,
            Stage::Running { start } => self.now - start,
            Stage::Gone => return self.report_invalid(id, prediction, InvalidReason::NotInTheSystem),
        };
        if prediction <= elapsed {
            let why = if prediction < 1 { InvalidReason::TooShort } else { InvalidReason::NotAboveElapsed { elapsed } };
            return self.report_invalid(id, prediction, why);
        }
        let new = prediction.min(FOREVER);
        let old = std::mem::replace(&mut entry.prediction, new);
        self.changes.push(BoardChange { job: id, place: place as u32, old, new });
    }

    /// Only the first fault is reported.
    #[cold]
    fn report_invalid(&mut self, job: JobId, prediction: Seconds, why: InvalidReason) {
        self.fault.get_or_insert(Fault::Invalid { job, prediction, why });
    }

    /// Says that the predictor cannot predict any more, for example because the program behind it has ended. The engine stops
    /// with an error that has this text.
    pub fn fail(&mut self, why: String) {
        self.fault.get_or_insert(Fault::Failed(why));
    }

    /// Whether a fault was reported: what the predictor does from now on has no effect.
    pub(crate) fn has_failed(&self) -> bool {
        self.fault.is_some()
    }

    /// As [`Board::predict`], but has no effect on a job that has already run that long: the rule of propagation.
    #[inline]
    pub fn predict_if_above_elapsed(&mut self, id: JobId, prediction: Seconds) {
        // When one prediction is propagated to many jobs, many of them already have it.
        let is_left_alone = |entry: &BoardEntry| {
            let elapsed = if let Stage::Running { start } = entry.stage { self.now - start } else { 0 };
            prediction <= elapsed || prediction == entry.prediction
        };
        if !self.place(id).is_some_and(|place| is_left_alone(&self.entries[place])) {
            self.predict(id, prediction);
        }
    }

    /// Sets the half-width, in seconds, of the confidence interval of the job's prediction. A prediction with an interval
    /// comes from past jobs. None: it has no interval, and comes from the estimate.
    pub fn set_interval(&mut self, id: JobId, half_width: Option<f64>) {
        match half_width {
            Some(half_width) => drop(self.answers.insert(id, Some(half_width))),
            None => drop(self.answers.remove(&id)),
        }
    }

    /// Says whether the job's prediction comes from past jobs (true) or, for lack of them, from the estimate. For
    /// predictors without confidence intervals.
    pub fn set_answered(&mut self, id: JobId, answered: bool) {
        if answered {
            self.answers.insert(id, None);
        } else {
            self.answers.remove(&id);
        }
    }

    /// The half-width last set by [`Board::set_interval`]. None if there is none.
    #[inline]
    pub fn interval(&self, id: JobId) -> Option<f64> {
        if self.answers.is_empty() { None } else { self.answers.get(&id).copied().flatten() }
    }

    /// Whether the predictor has said that the job's prediction comes from past jobs.
    #[inline]
    pub fn is_answered(&self, id: JobId) -> bool {
        !self.answers.is_empty() && self.answers.contains_key(&id)
    }

    fn place(&self, id: JobId) -> Option<usize> {
        self.places.get(id.index()).filter(|&&place| place != NOWHERE).map(|&place| place as usize)
    }

    fn entry(&self, id: JobId) -> &BoardEntry {
        &self.entries[self.places[id.index()] as usize]
    }
}

/// The owner of a board, which can change it: the engine, or a test of a predictor.
///
/// ```
/// # extern crate shadowtime_core as shadowtime;
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
    /// The board, to read.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The board, to pass to a predictor.
    pub fn board_mut(&mut self) -> &mut Board {
        &mut self.board
    }

    /// Sets the clock.
    pub fn set_now(&mut self, now: Time) {
        self.board.now = now;
    }

    /// Sets the Unix time of the instant 0.
    pub fn set_unix_start(&mut self, unix_start: Time) {
        self.board.unix_start = unix_start;
    }

    /// Adds a waiting job without a number in a log. Its id is the next that no job has had.
    pub fn arrive(&mut self, job: Submission) -> JobId {
        let id = JobId(self.board.places.len() as u32);
        self.arrive_from_log(id, job, InLog::default());
        id
    }

    /// Adds a waiting job with what the log says of it. Returns the index of its entry.
    #[inline(always)]
    pub fn arrive_from_log(&mut self, id: JobId, job: Submission, in_log: InLog) -> usize {
        let board = &mut self.board;
        let arrival = ArrivalNumber(board.arrived);
        board.arrived += 1;
        let entry = BoardEntry { job, stage: Stage::Waiting, prediction: 0, misses: 0, arrival };
        let place = board.vacant.pop().map_or(board.entries.len(), |place| place as usize);
        match board.entries.get_mut(place) {
            Some(vacant) => (*vacant, board.in_log[place]) = (entry, in_log),
            None => {
                board.entries.push(entry);
                board.in_log.push(in_log);
            }
        }
        id.store(&mut board.places, place as u32, NOWHERE);
        place
    }

    /// Sets whether a job waits, runs or is gone.
    ///
    /// # Panics
    /// If the job is not in the system.
    pub fn set_stage(&mut self, id: JobId, stage: Stage) {
        let place = self.board.places[id.index()] as usize;
        self.board.entries[place].stage = stage;
    }

    /// Adds 1 to the number of deadlines that a job has missed.
    ///
    /// # Panics
    /// If the job is not in the system.
    pub fn count_miss(&mut self, id: JobId) {
        let place = self.board.places[id.index()] as usize;
        self.board.entries[place].misses += 1;
    }

    /// Removes a job that is gone. Its entry is then used for another job.
    ///
    /// # Panics
    /// If the job has never arrived.
    #[inline]
    pub fn forget(&mut self, id: JobId) {
        let board = &mut self.board;
        board.vacant.push(std::mem::replace(&mut board.places[id.index()], NOWHERE));
        if !board.answers.is_empty() {
            board.answers.remove(&id);
        }
    }

    /// Why the simulation cannot continue, if so.
    pub fn fault(&self) -> Option<&Fault> {
        self.board.fault.as_ref()
    }

    /// Reserves memory for this number of jobs.
    pub(crate) fn reserve(&mut self, jobs: usize) {
        self.board.places.reserve_exact(jobs);
    }

    /// The index of the entry of a job in the system: a small number that is used again when the job is gone.
    #[inline]
    pub fn place(&self, id: JobId) -> Option<usize> {
        self.board.place(id)
    }

    /// The entry at a place.
    #[inline]
    pub fn at(&self, place: usize) -> &BoardEntry {
        &self.board.entries[place]
    }

    pub(crate) fn set_stage_at(&mut self, place: usize, stage: Stage) {
        self.board.entries[place].stage = stage;
    }

    /// Sets the prediction in force and the number of missed deadlines, without the checks of [`Board::predict`]: for a
    /// system that is built again.
    pub fn restore(&mut self, id: JobId, prediction: Seconds, misses: u32) {
        let place = self.board.places[id.index()] as usize;
        let entry = &mut self.board.entries[place];
        (entry.prediction, entry.misses) = (prediction, misses);
    }

    /// Whether there are predictions that the engine has not read.
    pub fn has_changes(&self) -> bool {
        !self.board.changes.is_empty() || self.board.fault.is_some()
    }

    /// A change that the engine has not read, by its index.
    pub fn change(&self, at: usize) -> Option<BoardChange> {
        self.board.changes.get(at).copied()
    }

    /// All changes have been read.
    pub fn forget_changes(&mut self) {
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
        assert_eq!((keeper.board().prediction(id), keeper.fault()), (0, None));
        keeper.board_mut().predict(id, 11);
        assert_eq!((keeper.board().prediction(id), keeper.fault()), (11, None));
        keeper.board_mut().predict(id, 10);
        let why = InvalidReason::NotAboveElapsed { elapsed: 10 };
        assert_eq!(keeper.fault(), Some(&Fault::Invalid { job: id, prediction: 10, why }));
        assert_eq!(keeper.board().prediction(id), 11);
    }

    #[test]
    fn waiting_jobs_need_a_second_and_gone_ones_no_prediction() {
        let (mut keeper, id) = keeper();
        let (mut gone, mut never_arrived) = (keeper.clone(), keeper.clone());
        gone.set_stage(id, Stage::Gone);
        for (keeper, id) in [(&mut gone, id), (&mut never_arrived, JobId(7))] {
            keeper.board_mut().predict_if_above_elapsed(id, 5);
            let why = InvalidReason::NotInTheSystem;
            assert_eq!(keeper.fault(), Some(&Fault::Invalid { job: id, prediction: 5, why }));
        }
        keeper.board_mut().predict(id, FOREVER * 2);
        assert_eq!((keeper.board().prediction(id), keeper.fault()), (FOREVER, None));
        keeper.board_mut().predict_if_above_elapsed(id, 0);
        assert_eq!((keeper.board().prediction(id), keeper.fault()), (FOREVER, None));
        keeper.board_mut().predict(id, 0);
        let why = InvalidReason::TooShort;
        assert_eq!(keeper.fault(), Some(&Fault::Invalid { job: id, prediction: 0, why }));
    }

    #[test]
    fn an_interval_goes_with_its_job() {
        let (mut keeper, id) = keeper();
        assert_eq!(keeper.board().interval(id), None);
        keeper.board_mut().set_interval(id, Some(2.5));
        assert!(keeper.board().interval(id) == Some(2.5) && keeper.board().is_answered(id));
        keeper.board_mut().set_answered(id, true);
        assert!(keeper.board().interval(id).is_none() && keeper.board().is_answered(id));
        keeper.board_mut().set_answered(id, false);
        assert!(!keeper.board().is_answered(id));
        keeper.board_mut().set_interval(id, Some(2.5));
        keeper.forget(id);
        assert!(keeper.board().interval(id).is_none() && !keeper.board().is_answered(id));
    }
}
