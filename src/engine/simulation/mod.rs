//! A simulation: a machine, its queue, its predictor and its policy, and a clock that only this file moves.

use std::collections::VecDeque;

use super::agenda::{Agenda, Due, NEVER};
use super::error::EngineError;
use super::machine::Machine;
use super::observer::{Arrival, Cancellation, End, Observer, Placed, PredictionChange, Start};
use super::recorder::{Event, Outcome, PredictionMade, Recorder};
use super::setup::{EngineOptions, Named};
use crate::job::{Job, JobId};
use crate::predict::{Board, BoardKeeper, Change, Entry, Predictor, Stage};
use crate::schedule::{Policy, View};
use crate::time::{Seconds, Time};

mod deadlines;

/// One machine on the way through time.
///
/// It can be given jobs ([`Simulation::submit`]), moved on ([`Simulation::advance_to`]), told to cancel a waiting job
/// ([`Simulation::cancel`]) and looked at without being changed. Running a whole workload is a loop over that
/// ([`crate::engine::run`]).
///
/// # The order of events
///
/// At one instant, in this order:
/// 1. terminations, in workload order, each handled completely before the next: a job that ends at the same instant but
///    comes later in order is still running until its turn;
/// 2. missed deadlines of jobs still running, in workload order; each is looked at once, and misses if its deadline, as
///    changed by what happened earlier at this instant, has come. A job whose runtime equals its prediction misses
///    nothing;
/// 3. arrivals, in workload order;
/// 4. one scheduling pass, if a job terminated, arrived or was cancelled, or the policy asked to be woken. A missed
///    deadline alone changes predictions and starts nothing, unless `pass_on_miss` says otherwise.
///
/// The jobs that a pass starts are started in the order decided, after the pass.
///
/// # Several machines on one clock
///
/// [`Simulation::advance_to`] is [`Simulation::settle`] (1 to 3) and [`Simulation::pass`] (4) for each instant up to the
/// one given. Whoever steps several simulations together calls the two: settle all, then pass over all, cancelling in
/// between, until nothing starts.
///
/// # Observers
///
/// Whoever wants to know what happens is an [`Observer`]: the recorder, whose outcomes can be asked for, and one more, of
/// type `O` (two make one as a pair).
pub struct Simulation<O: Observer = ()> {
    predictor: Named<dyn Predictor>,
    policy: Named<dyn Policy>,
    options: EngineOptions,
    machine: Machine,
    /// What everybody may know of the jobs, the clock included.
    board: BoardKeeper,
    /// What only the engine knows of them, by their places on the board.
    secrets: Vec<Secret>,
    /// Jobs handed in for a time to come. They are not on the board: nobody may know of them yet.
    upcoming: VecDeque<Job>,
    /// How many jobs were handed in.
    handed_in: u32,
    /// When each running job will end, and its place on the board.
    ends: Agenda,
    /// When to look whether a job has missed its deadline: for each that will if nothing changes, no later than then.
    deadlines: Agenda,
    pass_due: bool,
    /// When the policy wants to be woken.
    wakes_at: Time,
    observers: (Recorder, O),
    /// The jobs that the last pass started.
    started: Vec<JobId>,
    /// Scratch: the jobs whose deadlines have come.
    late: Vec<JobId>,
    /// The jobs whose predictions have changed since they were applied to the machine.
    changed: Vec<JobId>,
}

#[derive(Clone, Copy, Debug)]
struct Secret {
    runtime: Seconds,
    /// The log's number, for messages.
    number: i64,
    /// The earliest of its times in `deadlines` that still counts. Predictions change much oftener than they are missed,
    /// so that a deadline that moves away is looked at again only when its old time has come.
    watched: Time,
    /// The prediction that the machine and the policy know of, 0 if none. Predictions may change over and over before they
    /// matter, so that they are applied before a pass, and the last of them only.
    applied: Seconds,
    /// Whether it is in `changed`.
    is_changed: bool,
}

impl Simulation {
    /// An empty machine of `procs` processors, its clock before everything. Only the recorder observes it.
    pub fn new(procs: u32, policy: Named<dyn Policy>, predictor: Named<dyn Predictor>, options: EngineOptions) -> Self {
        Simulation::observed(procs, policy, predictor, options, ())
    }
}

impl<O: Observer> Simulation<O> {
    /// The same with one more observer.
    pub fn observed(
        procs: u32,
        policy: Named<dyn Policy>,
        predictor: Named<dyn Predictor>,
        options: EngineOptions,
        observer: O,
    ) -> Self {
        let mut board = BoardKeeper::default();
        board.set_now(Time::MIN);
        Simulation {
            predictor,
            policy,
            options,
            machine: Machine::new(procs, options.inflate),
            board,
            secrets: Vec::new(),
            upcoming: VecDeque::new(),
            handed_in: 0,
            ends: Agenda::default(),
            deadlines: Agenda::default(),
            pass_due: false,
            wakes_at: NEVER,
            observers: (Recorder::new(options.keep_history), observer),
            started: Vec::new(),
            late: Vec::new(),
            changed: Vec::new(),
        }
    }

    /// So many jobs will be handed in: what is kept of each gets its room at once.
    pub fn expect(&mut self, jobs: usize) {
        self.observers.0.outcomes.reserve_exact(jobs);
        self.board.expect(jobs);
    }

    /// Hands in a job that will arrive at its submit time: now or later, and not before the job handed in last.
    pub fn submit(&mut self, job: &Job) -> Result<JobId, EngineError> {
        let submission = job.submission;
        if submission.procs > self.machine.procs && !self.policy.value.oversubscribes() {
            let (wants, procs) = (submission.procs, self.machine.procs);
            return Err(EngineError::TooWide { job: job.number, wants, procs });
        }
        let earliest = self.upcoming.back().map_or(self.now(), |last| last.submission.submit);
        if submission.submit < earliest {
            return Err(EngineError::OutOfOrder { job: job.number, submit: submission.submit, earliest });
        }
        let id = JobId(self.handed_in);
        self.handed_in += 1;
        self.upcoming.push_back(*job);
        self.observers.0.announce();
        Ok(id)
    }

    /// Withdraws a waiting job. A pass is then due at the present instant.
    pub fn cancel(&mut self, id: JobId) -> Result<(), EngineError> {
        let Some(job) = self.machine.withdraw(id) else { return Err(EngineError::NotWaiting { time: self.now() }) };
        let place = self.place(id);
        self.policy.value.on_cancellation(&job);
        self.board.set_stage_at(place, Stage::Gone);
        let (time, submission) = (self.board.board().now(), &self.board.at(place).job);
        self.observers.on_cancellation(&Cancellation { time, job: Placed { id, place }, submission });
        self.pass_due = true;
        self.predictor.value.on_cancellation(id, self.board.board_mut());
        self.absorb(Event::Cancellation, id)?;
        self.board.forget(id);
        self.set_alarm();
        Ok(())
    }

    /// Handles every instant up to and including `time`, and sets the clock there.
    pub fn advance_to(&mut self, time: Time) -> Result<(), EngineError> {
        while let Some(next) = self.next_event().filter(|&next| next <= time) {
            self.settle(next)?;
            self.pass()?;
        }
        if time > self.now() {
            self.board.set_now(time);
        }
        Ok(())
    }

    /// Handles everything that is still to come from the jobs submitted so far.
    pub fn run_to_end(&mut self) -> Result<(), EngineError> {
        while let Some(next) = self.next_event() {
            self.settle(next)?;
            self.pass()?;
        }
        match self.machine.waiting.first() {
            None => Ok(()),
            Some(head) => Err(EngineError::Starved {
                scheduler: self.policy.name.clone(),
                job: self.number(head.id),
                time: self.now(),
                waiting: self.machine.waiting.len(),
            }),
        }
    }

    /// The next instant at which anything happens; the present one if a pass is still due.
    pub fn next_event(&self) -> Option<Time> {
        let now = self.now();
        if self.pass_due {
            return Some(now);
        }
        let arrival = self.upcoming.front().map_or(NEVER, |job| job.submission.submit);
        let mut next = arrival.min(self.ends.next()).min(self.deadlines.next());
        if self.wakes_at > now {
            next = next.min(self.wakes_at);
        }
        (next != NEVER).then_some(next)
    }

    /// Moves the clock to `time`, no later than [`Simulation::next_event`], and handles terminations, missed deadlines
    /// and arrivals of that instant, but no pass.
    pub fn settle(&mut self, time: Time) -> Result<(), EngineError> {
        debug_assert!(time >= self.now() && self.next_event().is_none_or(|next| time <= next));
        self.board.set_now(time);
        while let Some(end) = self.ends.take_by(time) {
            self.terminate(end.job(), end.place())?;
        }
        self.miss_deadlines()?;
        while let Some(&job) = self.upcoming.front()
            && job.submission.submit <= time
        {
            self.upcoming.pop_front();
            self.arrive(job)?;
        }
        self.set_alarm();
        self.pass_due |= self.wakes_at <= time;
        Ok(())
    }

    /// The scheduling pass of the present instant, if one is due. Returns the jobs that it started.
    pub fn pass(&mut self) -> Result<&[JobId], EngineError> {
        self.started.clear();
        if !std::mem::take(&mut self.pass_due) {
            return Ok(&self.started);
        }
        self.apply_predictions();
        let mut started = std::mem::take(&mut self.started);
        self.policy.value.pass(&self.machine.view(self.board.board().now()), &mut started);
        for &id in &started {
            self.start(id)?;
        }
        self.machine.quiet = true;
        for &id in &started {
            self.predictor.value.on_start(id, self.board.board_mut());
            self.absorb(Event::Start, id)?;
        }
        // Backfilled is whoever leaves a job waiting that arrived earlier.
        let still_waiting = self.machine.waiting.first().map(|job| job.id);
        for &id in &started {
            let backfilled = still_waiting.is_some_and(|head| head < id);
            let place = self.place(id);
            let (Entry { job, prediction, .. }, runtime) = (self.board.at(place), self.secrets[place].runtime);
            let (prediction, error) = (*prediction, (runtime - prediction).abs() as f64);
            let inside = self.board.board().interval(id).map(|interval| error <= interval);
            let (time, submission, job) = (self.board.board().now(), job, Placed { id, place });
            self.observers.on_start(&Start { time, job, submission, runtime, prediction, backfilled, inside });
        }
        self.started = started;
        self.set_alarm();
        Ok(&self.started)
    }

    /// Asks the policy when it wants to be woken: after whatever may have changed its mind.
    fn set_alarm(&mut self) {
        self.wakes_at = self.policy.value.wakes_at().unwrap_or(NEVER);
    }

    fn terminate(&mut self, id: JobId, place: usize) -> Result<(), EngineError> {
        let Entry { job: submission, stage, prediction, misses } = self.board.at(place);
        let &Stage::Running { start } = stage else { unreachable!("only running jobs end") };
        let Secret { runtime, applied, .. } = self.secrets[place];
        let (prediction, misses) = (*prediction, *misses);
        let (time, job) = (self.board.board().now(), Placed { id, place });
        self.observers.on_end(&End { time, job, submission, runtime, prediction, misses });
        self.machine.release(id, start, applied);
        self.board.set_stage_at(place, Stage::Gone);
        self.pass_due = true;
        self.predictor.value.on_termination(id, runtime, self.board.board_mut());
        self.absorb(Event::Termination, id)?;
        self.board.forget(id);
        Ok(())
    }

    fn arrive(&mut self, job: Job) -> Result<(), EngineError> {
        let Job { submission, runtime, number, .. } = job;
        let id = self.board.arrive(submission);
        let (place, secret) =
            (self.place(id), Secret { runtime, number, watched: NEVER, applied: 0, is_changed: false });
        match self.secrets.get_mut(place) {
            Some(free) => *free = secret,
            None => self.secrets.push(secret),
        }
        let (time, job) = (self.board.board().now(), Placed { id, place });
        self.observers.on_arrival(&Arrival { time, job, submission: &submission });
        self.machine.enqueue(id, submission.procs);
        self.policy.value.on_arrival(id, &submission);
        self.pass_due = true;
        match self.predictor.value.as_oracle() {
            None => self.predictor.value.on_arrival(id, self.board.board_mut()),
            Some(oracle) => oracle.on_arrival_knowing(id, runtime, self.board.board_mut()),
        }
        self.absorb(Event::Arrival, id)?;
        match self.board.at(place).prediction {
            0 => Err(self.no_prediction(id, "arrival")),
            _ => Ok(()),
        }
    }

    fn start(&mut self, id: JobId) -> Result<(), EngineError> {
        let Some(job) = self.machine.withdraw(id) else { return Err(self.bad_start(id, "it does not wait")) };
        if i64::from(job.procs) > self.machine.free && !self.policy.value.oversubscribes() {
            return Err(self.bad_start(id, "it does not fit the free processors"));
        }
        let (now, place) = (self.now(), self.place(id));
        self.machine.start(job, now);
        self.board.set_stage_at(place, Stage::Running { start: now });
        self.ends.put(Due::new(now + self.secrets[place].runtime, id, place));
        self.watch_deadline(id, place);
        Ok(())
    }

    /// Takes over what the predictor has written on the board, if anything.
    #[inline]
    fn absorb(&mut self, event: Event, cause: JobId) -> Result<(), EngineError> {
        if self.board.has_changes() { self.absorb_changes(event, cause) } else { Ok(()) }
    }

    fn absorb_changes(&mut self, event: Event, cause: JobId) -> Result<(), EngineError> {
        let first_made = self.observers.0.history_len();
        let mut at = 0;
        while let Some(Change { job, place, old, new }) = self.board.change(at) {
            at += 1;
            if old == new {
                continue;
            }
            let time = self.now();
            let made = PredictionMade { job, time, prediction: new, event, cause };
            let place = place as usize;
            let secret = &mut self.secrets[place];
            self.observers.on_prediction(&PredictionChange { place, made, old, runtime: secret.runtime });
            if old == 0 {
                // Who arrives is mostly predicted once.
                secret.applied = new;
                self.machine.predict_waiting(job, old, new);
            } else {
                if !std::mem::replace(&mut secret.is_changed, true) {
                    self.changed.push(job);
                }
                self.watch_deadline(job, place);
            }
        }
        self.observers.0.order_history(first_made);
        self.board.forget_changes();
        match self.board.breach() {
            None => Ok(()),
            Some(breach) => Err(EngineError::BadPrediction {
                predictor: self.predictor.name.clone(),
                job: self.number(breach.job),
                time: self.now(),
                prediction: breach.prediction,
                why: breach.why,
            }),
        }
    }

    /// Applies the predictions that have changed to the machine and the policy's indexes.
    fn apply_predictions(&mut self) {
        if !self.changed.is_empty() {
            self.apply_changed();
        }
    }

    #[inline(never)]
    fn apply_changed(&mut self) {
        let mut changed = std::mem::take(&mut self.changed);
        for id in changed.drain(..) {
            // Some may have left in the meantime.
            let Some(place) = self.board.place(id) else { continue };
            let Entry { stage, prediction: new, .. } = *self.board.at(place);
            let secret = &mut self.secrets[place];
            secret.is_changed = false;
            let old = std::mem::replace(&mut secret.applied, new);
            if old == new {
                continue;
            }
            match stage {
                Stage::Waiting => {
                    if let Some(job) = self.machine.predict_waiting(id, old, new) {
                        self.policy.value.on_prediction(job);
                    }
                }
                Stage::Running { start } => self.machine.predict_running(id, start, old, new),
                Stage::Gone => {}
            }
        }
        self.machine.move_running();
        self.changed = changed;
    }

    fn place(&self, id: JobId) -> usize {
        self.board.place(id).expect("a job in the system")
    }

    fn bad_start(&self, id: JobId, why: &'static str) -> EngineError {
        let (scheduler, job) = (self.policy.name.clone(), self.number(id));
        EngineError::BadStart { scheduler, job, time: self.now(), why }
    }

    fn no_prediction(&self, id: JobId, event: &'static str) -> EngineError {
        EngineError::NoPrediction {
            predictor: self.predictor.name.clone(),
            job: self.number(id),
            time: self.now(),
            event,
        }
    }

    fn number(&self, id: JobId) -> i64 {
        self.board.place(id).map_or(-1, |place| self.secrets[place].number)
    }
}

/// Looking without changing anything that matters.
impl<O: Observer> Simulation<O> {
    pub fn now(&self) -> Time {
        self.board.board().now()
    }

    /// The queue and the running jobs as the policy sees them, by the predictions in force.
    pub fn view(&mut self) -> View<'_> {
        self.apply_predictions();
        self.machine.view(self.now())
    }

    /// The same with submissions, stages and predictions.
    pub fn view_and_board(&mut self) -> (View<'_>, &Board) {
        self.apply_predictions();
        (self.machine.view(self.now()), self.board.board())
    }

    /// Submissions, stages and predictions.
    pub fn board(&self) -> &Board {
        self.board.board()
    }

    /// What has become of a job so far.
    pub fn outcome(&self, id: JobId) -> Outcome {
        self.observers.0.outcome(id, self.board.place(id))
    }

    /// What became of all jobs, in the order they were handed in, and all predictions made, if they were kept.
    pub fn into_outcomes(self) -> (Vec<Outcome>, Option<Vec<PredictionMade>>) {
        (self.observers.0.outcomes, self.observers.0.history)
    }

    /// Whoever observes beside the recorder.
    pub fn observer(&self) -> &O {
        &self.observers.1
    }

    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observers.1
    }
}
