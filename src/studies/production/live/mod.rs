//! The live system: the jobs of a batch system, and the predictor that predicts them.
//!
//! It is the engine without a scheduler. The order in which the predictor is called at one instant is that of
//! [`crate::engine::Simulation`], and the tests compare the two.

mod answer;
mod snapshot;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::error::Rejection;
use super::event::{EventKind, JobArrival, JobEvent};
use super::ledger::{Ledger, LedgerKind};
use super::names::Names;
use crate::job::{JobId, Submission};
use crate::predict::{BoardChange, BoardKeeper, Fault, Predictor, RunFacts, Stage, catalog};
use crate::spec::Spec;
use crate::text::shortened;
use crate::time::{Seconds, Time};

pub(super) use snapshot::Snapshot;

/// The jobs that wait and run, with their predictions.
pub struct LiveSystem {
    spec: Spec,
    predictor: Box<dyn Predictor>,
    board: BoardKeeper,
    names: Names,
    /// The jobs in the system by their ids in the batch system.
    ids: FxHashMap<Box<str>, JobId>,
    /// By place on the board.
    live: Vec<Live>,
    /// The deadlines of all running jobs. Ids are in order of arrival.
    deadlines: BTreeSet<(Time, JobId)>,
    /// The jobs with predictions that changed since the last answer.
    changed: Vec<JobId>,
    /// Every event since the system was built.
    ledger: Ledger,
    /// The number of events when the system was last restored.
    restored: usize,
    /// The time of the last event; `Time::MIN` before the first.
    last_time: Time,
    /// The last event as a line, and the answer to it.
    last: (Vec<u8>, Vec<u8>),
    /// Scratch: an event as a line.
    line: Vec<u8>,
    /// Scratch: an answer that is not that to the last event.
    other_answer: Vec<u8>,
}

/// What is stored of a job in the system besides its entry on the board.
#[derive(Clone, Copy, Debug)]
struct Live {
    /// As queued in `deadlines`. None unless the job runs.
    deadline: Option<Time>,
    /// The prediction in the last answer that had one; 0 if there was none.
    reported: Seconds,
    /// Whether the job is in `changed`.
    is_changed: bool,
}

impl LiveSystem {
    /// An empty system. `spec` is that of a predictor that is no oracle.
    pub fn new(spec: Spec) -> LiveSystem {
        let (predictor, mut board) = (catalog::build(&spec), BoardKeeper::default());
        board.set_now(Time::MIN);
        LiveSystem {
            spec,
            predictor,
            board,
            names: Names::default(),
            ids: FxHashMap::default(),
            live: Vec::new(),
            deadlines: BTreeSet::new(),
            changed: Vec::new(),
            ledger: Ledger::default(),
            restored: 0,
            last_time: Time::MIN,
            last: Default::default(),
            line: Vec::new(),
            other_answer: Vec::new(),
        }
    }

    /// The predictor.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The number of jobs that wait or run.
    pub fn jobs(&self) -> usize {
        self.ids.len()
    }

    /// Whether nothing has happened yet, also before what was forgotten.
    pub fn is_new(&self) -> bool {
        self.last_time == Time::MIN
    }

    /// The time of the last event; [`Time::MIN`] before the first.
    pub(super) fn last_time(&self) -> Time {
        self.last_time
    }

    /// The number of events since the system was built.
    pub fn events(&self) -> usize {
        self.ledger.len()
    }

    /// The number of events when it was last restored: the others can be forgotten.
    pub(super) fn events_restored(&self) -> usize {
        self.restored
    }

    pub(super) fn unix_start(&self) -> Time {
        self.board.board().unix_start()
    }

    pub(super) fn set_unix_start(&mut self, unix_start: Time) {
        self.board.set_unix_start(unix_start);
    }

    /// The prediction in force for a job that waits or runs, in seconds.
    pub fn prediction(&self, id: &str) -> Option<Seconds> {
        self.ids.get(id).map(|&id| self.board.board().prediction(id))
    }

    /// Handles an event. The answer is then [`LiveSystem::last_answer`].
    pub(super) fn apply(&mut self, event: &JobEvent<'_>) -> Result<(), Rejection> {
        self.check(event).map_err(Rejection::Refused)?;
        if self.is_new() {
            self.begin(event.time);
        }
        self.advance(event).map_err(Rejection::Broken)?;
        self.happen(event).map_err(Rejection::Broken)?;
        self.last_time = event.time;
        self.last.0.clear();
        event.write(&mut self.last.0);
        self.report();
        Ok(())
    }

    /// Says to the predictor what is known before the first event. A batch system does not send the size of its machine, and
    /// users and other names have numbers here, below -1, in the order in which they appear.
    fn begin(&mut self, first_submit: Time) {
        let unix_start = Some(self.board.board().unix_start());
        let trace = "production".to_string();
        self.predictor.on_begin(&RunFacts { trace, first_submit, unix_start, ..RunFacts::default() });
    }

    /// Whether the event can happen. Nothing is changed.
    fn check(&self, event: &JobEvent<'_>) -> Result<(), String> {
        let JobEvent { time, what, .. } = event;
        if *time < self.last_time {
            return Err(format!(
                "its time is {time}, before that of the last event, {}: send events in the order of their times",
                self.last_time
            ));
        }
        let name = shortened(&event.id);
        let stage = self.ids.get(&*event.id).map(|&id| self.board.board().stage(id));
        match (what, stage) {
            (EventKind::Arrival(_), None) => Ok(()),
            (EventKind::Arrival(_), Some(_)) => Err(format!(
                "job '{name}' is already in the system, with other data: send its termination or cancellation first"
            )),
            (_, None | Some(Stage::Gone)) => Err(format!("job '{name}' is not in the system: send its arrival first")),
            (EventKind::Start | EventKind::Cancellation, Some(Stage::Waiting)) => Ok(()),
            (EventKind::Start, Some(Stage::Running { start })) => {
                Err(format!("job '{name}' already runs, since {start}: send its termination before another start"))
            }
            (EventKind::Cancellation, Some(_)) => {
                Err(format!("job '{name}' runs: send a termination, a cancellation is for jobs that wait"))
            }
            (EventKind::Termination(_) | EventKind::Miss, Some(Stage::Running { .. })) => Ok(()),
            (EventKind::Termination(_), Some(_)) => {
                Err(format!("job '{name}' waits: send its start first, or a cancellation if it never ran"))
            }
            (EventKind::Miss, Some(_)) => Err(format!("job '{name}' waits: only a running job misses its deadline")),
        }
    }

    /// Works out the misses before an event, each at its own instant, and sets the clock.
    ///
    /// In the order of the engine, terminations come before the misses of the same instant, and all other events after
    /// them. A miss that was sent is only that of its own job.
    fn advance(&mut self, event: &JobEvent<'_>) -> Result<(), String> {
        let is_before_misses = matches!(event.what, EventKind::Termination(_) | EventKind::Miss);
        self.advance_to(event.time, !is_before_misses)
    }

    fn advance_to(&mut self, time: Time, inclusive: bool) -> Result<(), String> {
        while let Some(&(deadline, id)) = self.deadlines.first()
            && (deadline < time || (inclusive && deadline == time))
        {
            self.board.set_now(deadline);
            self.miss(id)?;
        }
        self.board.set_now(time);
        Ok(())
    }

    fn miss(&mut self, id: JobId) -> Result<(), String> {
        self.board.count_miss(id);
        self.predictor.on_deadline_missed(id, self.board.board_mut());
        self.absorb()?;
        let board = self.board.board();
        if board.prediction(id) <= board.elapsed(id) {
            return Err(self.no_prediction(id, "missed deadline"));
        }
        Ok(())
    }

    /// Handles an event that can happen, at the present instant.
    fn happen(&mut self, event: &JobEvent<'_>) -> Result<(), String> {
        let time = event.time;
        if let EventKind::Arrival(arrival) = &event.what {
            return self.arrive(time, &event.id, arrival);
        }
        let id = self.ids[&*event.id];
        match event.what {
            EventKind::Arrival(_) => unreachable!("handled above"),
            EventKind::Start => {
                self.ledger.add(time, id, LedgerKind::Start);
                self.board.set_stage(id, Stage::Running { start: time });
                self.queue_deadline(id);
                self.predictor.on_start(id, self.board.board_mut());
                self.absorb()
            }
            EventKind::Termination(runtime) => {
                let runtime = runtime.unwrap_or_else(|| self.board.board().elapsed(id).max(1));
                self.ledger.add(time, id, LedgerKind::Termination);
                self.leave(id, runtime);
                self.predictor.on_termination(id, runtime, self.board.board_mut());
                self.absorb()?;
                self.board.forget(id);
                Ok(())
            }
            EventKind::Cancellation => {
                self.ledger.add(time, id, LedgerKind::Other);
                self.leave(id, 0);
                self.predictor.on_cancellation(id, self.board.board_mut());
                self.absorb()?;
                self.board.forget(id);
                Ok(())
            }
            EventKind::Miss => {
                self.ledger.add(time, id, LedgerKind::Other);
                let board = self.board.board();
                if board.prediction(id) <= board.elapsed(id) {
                    self.miss(id)?;
                }
                // Whoever sent this does not know the prediction in force: it is part of the answer in any case.
                self.live_mut(id).reported = 0;
                self.note_change(id);
                Ok(())
            }
        }
    }

    fn arrive(&mut self, time: Time, name: &str, arrival: &JobArrival<'_>) -> Result<(), String> {
        let [user, group, executable, queue, partition] =
            arrival.names.each_ref().map(|name| self.names.code(name.as_deref()));
        let JobArrival { procs, estimate, submit, .. } = *arrival;
        let submission = Submission { submit, estimate, procs, user, group, executable, queue, partition };
        let id = self.board.arrive(submission);
        let live = Live { deadline: None, reported: 0, is_changed: false };
        let place = self.board.place(id).expect("it has just arrived");
        match self.live.get_mut(place) {
            Some(free) => *free = live,
            None => self.live.push(live),
        }
        self.ids.insert(name.into(), id);
        self.ledger.arrive(time, name.into(), submission);
        self.predictor.on_arrival(id, self.board.board_mut());
        self.absorb()?;
        match self.board.board().prediction(id) {
            0 => Err(self.no_prediction(id, "arrival")),
            _ => Ok(()),
        }
    }

    /// The job is gone, but stays on the board until the predictor was called.
    fn leave(&mut self, id: JobId, runtime: Seconds) {
        self.ledger.leave(id, runtime);
        self.ids.remove(&self.ledger.job(id).name);
        if let Some(deadline) = self.live_mut(id).deadline.take() {
            self.deadlines.remove(&(deadline, id));
        }
        self.board.set_stage(id, Stage::Gone);
    }

    /// Handles the predictions that the predictor has written on the board.
    fn absorb(&mut self) -> Result<(), String> {
        if !self.board.has_changes() {
            return Ok(());
        }
        let mut at = 0;
        while let Some(BoardChange { job, old, new, .. }) = self.board.change(at) {
            at += 1;
            if old != new {
                self.queue_deadline(job);
                self.note_change(job);
            }
        }
        self.board.forget_changes();
        let Some(fault) = self.board.fault() else { return Ok(()) };
        let (predictor, time) = (&self.spec, self.board.board().now());
        Err(match fault {
            Fault::Failed(why) => format!("predictor '{predictor}': {why}"),
            Fault::Invalid { job, prediction, why } => {
                let job = self.in_words(*job);
                format!("predictor '{predictor}' predicted {prediction} s for {job} at time {time}, but {why}")
            }
        })
    }

    fn no_prediction(&self, id: JobId, event: &str) -> String {
        let (spec, job, time) = (&self.spec, self.in_words(id), self.board.board().now());
        format!("predictor '{spec}' made no prediction for {job} at its {event} at time {time}")
    }

    fn in_words(&self, id: JobId) -> String {
        match id.index() < self.ledger.jobs() {
            true => format!("job '{}'", shortened(&self.ledger.job(id).name)),
            false => "a job that has never arrived".to_string(),
        }
    }

    fn live_mut(&mut self, id: JobId) -> &mut Live {
        let place = self.board.place(id).expect("a job in the system");
        &mut self.live[place]
    }

    /// Queues the deadline of a running job in place of the one that was queued.
    fn queue_deadline(&mut self, id: JobId) {
        let board = self.board.board();
        let Stage::Running { start } = board.stage(id) else { return };
        let deadline = start + board.prediction(id);
        if let Some(old) = self.live_mut(id).deadline.replace(deadline) {
            self.deadlines.remove(&(old, id));
        }
        self.deadlines.insert((deadline, id));
    }

    fn note_change(&mut self, id: JobId) {
        if !std::mem::replace(&mut self.live_mut(id).is_changed, true) {
            self.changed.push(id);
        }
    }
}
