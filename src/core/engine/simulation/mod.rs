//! A simulation: a machine, its queue, its predictor, its policy and its clock.

use std::collections::VecDeque;

use super::error::EngineError;
use super::event_queue::{EventQueue, NEVER, QueuedEvent};
use super::gate::Gate;
use super::never::NeverStarted;
use super::observer::{Arrival, Cancellation, End, Event, Observer, Occasion, Placed, Start, Wants};
use super::recorder::Recorder;
use super::setup::{EngineOptions, Named};
use crate::job::{Job, JobId};
use crate::predict::{BoardEntry, BoardKeeper, Predictor, Stage};
use crate::schedule::{Asked, Broken, Change, Decisions, Facts, Machine, Move, PolicyEvent, Scheduler};
use crate::time::{Seconds, Time};
use outages::OutageClock;

mod deadlines;
mod gated;
mod never;
mod outages;
mod predictions;
mod preempted;
mod reports;
mod state;

/// The most wakes in a row in which nothing runs and no job starts: see [`Simulation::is_stuck`]. The pass before the first of them
/// is that of an arrival or of an end.
const MOST_IDLE_WAKES: u32 = 10_000;

/// The simulation of one machine.
///
/// A caller submits jobs ([`Simulation::submit`]), advances the clock ([`Simulation::advance_to`]), cancels waiting jobs
/// ([`Simulation::cancel`]) and reads the state. [`crate::engine::run`] does this for a whole workload.
///
/// # The order of events
///
/// At one instant, in this order:
/// 1. terminations, in workload order, each handled completely before the next: a job that ends at the same instant but
///    comes later in this order is still running until it is handled;
/// 2. outages: all that are announced, begin or end, and then the jobs that stop because of them ([`Simulation::with_outages`]);
/// 3. missed deadlines of jobs that still run, in workload order. Each job is checked once, with the deadline as changed
///    by earlier events of this instant. A job whose runtime equals its prediction misses no deadline;
/// 4. arrivals, in workload order;
/// 5. one scheduling pass, if a job terminated, arrived or was cancelled, outages changed, or the policy's
///    [`wake`](crate::schedule::Policy::wake) has come. A missed deadline alone changes predictions but starts no job, unless
///    `pass_on_miss` is set.
///
/// The policy decides the order in which the jobs of a pass start. They start after the pass. If the policy preempts
/// ([`Scheduler::preempts`]), running jobs are stopped before that: see [`crate::schedule::Stop`].
///
/// # Jobs that may not start yet
///
/// A simulation can have a [`Gate`] ([`Simulation::with_gate`]). A job with conditions then arrives when they are met, and its
/// submit time becomes this instant. The jobs of one instant arrive in order of submission. A job that waited for a start arrives
/// at the instant of that start, and a second pass follows.
///
/// A job has one number, that of the workload, here and in all that policies, predictors and observers are told. Where the order of
/// arrival counts, which is another one then, it is data of a waiting job ([`crate::schedule::Waiting`]) and of an entry of the
/// board ([`BoardEntry`]).
///
/// # Users who react
///
/// If the gate has feedback ([`Gate::with_feedback`]), all jobs are submitted before the clock moves, in workload order, and
/// arrive at their own times or some time after the ends of others. A job that follows the end of another one at once arrives at
/// the same instant, in step 4. "Workload order" above is then still that of the log, except that arrivals come in order of time.
///
/// # Several machines on one clock
///
/// [`Simulation::advance_to`] is [`Simulation::settle`] (1 to 4) and [`Simulation::pass`] (5) for each instant up to the
/// one given. To step several simulations together, call the two separately: settle all, then run the passes of all and
/// cancel jobs in between, until no job starts.
///
/// # Observers
///
/// Every event is passed to two observers: the recorder, which stores outcomes, and one more of type `O`. A pair of
/// observers is also an [`Observer`].
pub struct Simulation<O: Observer = ()> {
    predictor: Named<dyn Predictor>,
    scheduler: Scheduler,
    options: EngineOptions,
    machine: Machine,
    /// What predictors and policies can read: the jobs in the system and the clock.
    board: BoardKeeper,
    /// What they cannot read, by place on the board.
    hidden: Vec<Hidden>,
    /// Submitted jobs that have not arrived. They are not on the board, so that no predictor can read them.
    upcoming: VecDeque<Job>,
    /// Where jobs with conditions wait before they arrive. None if no job has any.
    gate: Option<Box<Gate>>,
    /// The number of jobs submitted so far.
    submitted: u32,
    /// The ends of running jobs.
    ends: EventQueue,
    /// When to check jobs for missed deadlines: no later than the deadline for each job that will miss its present one.
    deadlines: EventQueue,
    pass_due: bool,
    /// If the scheduler is outside of this process, the number of passes since the last arrival after which nothing runs and in which no job has started.
    idle_passes: u32,
    /// [`Policy::wake`](crate::schedule::Policy::wake) or the next instant of outages, or [`NEVER`].
    wakes_at: Time,
    /// When outages are announced, begin or end next, or [`NEVER`].
    next_outage: Time,
    outage_clock: OutageClock,
    observers: (Recorder, O),
    wants: Wants,
    /// What the policy has decided. The starts are those of the last pass.
    decisions: Decisions,
    /// Scratch: the jobs with a queued deadline that has come.
    late: Vec<JobId>,
    /// The jobs with a prediction that is not yet applied to the machine.
    changed: Vec<JobId>,
    /// Scratch: running jobs that are counted with other ends.
    moves: Vec<Move>,
    /// The jobs that were dropped because they can never start.
    never: NeverStarted,
}

/// What only the engine stores of a job in the system.
#[derive(Clone, Copy, Debug)]
struct Hidden {
    runtime: Seconds,
    /// The earliest valid time of the job in `deadlines`. Predictions change much more often than they are missed, so a
    /// deadline that moves to a later time is checked again only at its old time.
    watched: Time,
    /// The prediction last applied to the machine and the policy, 0 if none. A prediction may change many times between
    /// two passes; only the last one is applied, directly before the pass. Also 0 for a running job that is counted by its
    /// estimate.
    applied: Seconds,
    /// Whether the job is in `Simulation::changed`.
    is_changed: bool,
}

impl Simulation {
    /// An empty machine of `procs` processors. The clock is at `Time::MIN`. Only the recorder observes it.
    pub fn new(procs: u32, scheduler: Scheduler, predictor: Named<dyn Predictor>, options: EngineOptions) -> Self {
        Simulation::observed(procs, scheduler, predictor, options, ())
    }
}

impl<O: Observer> Simulation<O> {
    /// As [`Simulation::new`], with an additional observer.
    pub fn observed(
        procs: u32,
        mut scheduler: Scheduler,
        predictor: Named<dyn Predictor>,
        options: EngineOptions,
        mut observer: O,
    ) -> Self {
        let mut board = BoardKeeper::default();
        board.set_now(Time::MIN);
        let machine = Machine::new(procs, options.inflate, scheduler.shapes.clone(), scheduler.replays);
        let unix_start = options.unix_start.unwrap_or(0);
        board.set_unix_start(unix_start);
        let EngineOptions { first_submission, inflate, .. } = options;
        let facts = Facts { first_submission, unix_start, inflate, can_stop: scheduler.preempts };
        scheduler.policy.on(&PolicyEvent::Begin(&facts), &machine);
        let wants = Wants::default();
        observer.on(Time::MIN, &Event::Begin(&wants), &machine);
        Simulation {
            predictor,
            scheduler,
            options,
            machine,
            board,
            hidden: Vec::new(),
            upcoming: VecDeque::new(),
            gate: None,
            submitted: 0,
            ends: EventQueue::default(),
            deadlines: EventQueue::default(),
            pass_due: false,
            idle_passes: 0,
            wakes_at: NEVER,
            next_outage: NEVER,
            outage_clock: OutageClock::default(),
            observers: (Recorder::new(options.keep_history), observer),
            decisions: Decisions::default(),
            wants,
            late: Vec::new(),
            changed: Vec::new(),
            moves: Vec::new(),
            never: NeverStarted::default(),
        }
    }

    /// With a gate. The jobs of its workload must be submitted in workload order.
    pub fn with_gate(self, gate: Option<Gate>) -> Self {
        Simulation { gate: gate.map(Box::new), ..self }
    }

    /// Reserves memory for this number of jobs.
    pub fn reserve(&mut self, jobs: usize) {
        self.observers.0.outcomes.reserve_exact(jobs);
        self.board.reserve(jobs);
    }

    /// Submits a job, which arrives at its submit time.
    ///
    /// # Errors
    /// If the submit time is in the past or before that of the job submitted last, or if the job is wider than a pool of
    /// processors and the policy does not oversubscribe. On nodes it counts what a job asks of them.
    #[inline]
    pub fn submit(&mut self, job: &Job) -> Result<JobId, EngineError> {
        let submission = job.submission;
        let is_too_wide = self.machine.nodes().is_none() && submission.procs > self.machine.procs();
        if is_too_wide && !self.scheduler.replays {
            let (needs, procs) = (submission.procs, self.machine.procs());
            return Err(EngineError::TooWide { job: job.number, needs, procs });
        }
        if let Some(gate) = &mut self.gate
            && gate.takes(job)
        {
            return Ok(self.count_submission());
        }
        let earliest = self.upcoming.back().map_or(self.now(), |last| last.submission.submit);
        if submission.submit < earliest {
            return Err(EngineError::OutOfOrder { job: job.number, submit: submission.submit, earliest });
        }
        self.upcoming.push_back(*job);
        Ok(self.count_submission())
    }

    fn count_submission(&mut self) -> JobId {
        self.observers.0.add_job();
        self.submitted += 1;
        JobId(self.submitted - 1)
    }

    /// Withdraws a waiting job. A pass is then due at the present instant. A job at the gate leaves without an event, because it
    /// has not arrived.
    ///
    /// # Errors
    /// If the job does not wait, or the predictor breaks its contract.
    pub fn cancel(&mut self, id: JobId) -> Result<(), EngineError> {
        let now = self.now();
        match self.gate.as_mut().is_some_and(|gate| gate.withdraw(id, now)) {
            true => Ok(()),
            false => self.withdraw(id),
        }
    }

    /// Withdraws a job in the queue.
    fn withdraw(&mut self, id: JobId) -> Result<(), EngineError> {
        let job = self.machine.waiting.get(id).copied();
        let Some(job) = job else { return Err(EngineError::NotWaiting { time: self.now() }) };
        self.machine.change(Change::Cancel(id));
        let place = self.place(id);
        self.scheduler.policy.on(&PolicyEvent::Cancellation(&job), &self.machine);
        self.board.set_stage_at(place, Stage::Gone);
        let (time, submission) = (self.board.board().now(), &self.board.at(place).job);
        let job = Placed { id, place };
        self.observers.on(time, &Event::Cancellation(Cancellation { job, submission }), &self.machine);
        self.pass_due = true;
        self.predictor.value.on_cancellation(id, self.board.board_mut());
        self.absorb(Occasion::Cancellation, id)?;
        self.board.forget(id);
        if let Some(gate) = &mut self.gate {
            gate.on_cancellation(id, self.board.board().now());
        }
        self.update_wakeup();
        Ok(())
    }

    /// Handles every instant up to and including `time`, and sets the clock to `time`.
    ///
    /// # Errors
    /// If the policy or the predictor breaks its contract.
    #[inline]
    pub fn advance_to(&mut self, time: Time) -> Result<(), EngineError> {
        loop {
            let next = self.next_time();
            if next > time || next == NEVER {
                break;
            }
            self.settle(next)?;
            self.pass()?;
        }
        if time > self.now() {
            self.set_now(time);
        }
        Ok(())
    }

    /// Handles all remaining events of the jobs submitted so far. Jobs that still wait after the last event are dropped, one after
    /// the other, if the policy says why they do not start.
    ///
    /// # Errors
    /// If the policy or the predictor breaks its contract, or jobs still wait after the last event.
    pub fn run_to_end(&mut self) -> Result<(), EngineError> {
        loop {
            while let Some(next) = self.next_event().filter(|_| !self.is_stuck()) {
                self.settle(next)?;
                self.pass()?;
            }
            if !self.drop_stuck()? {
                break;
            }
        }
        match self.machine.waiting.first() {
            None => self.check_gate_is_empty(),
            Some(head) => Err(EngineError::Starved {
                scheduler: self.scheduler.name.clone(),
                job: self.number(head.id),
                time: self.now(),
                waiting: self.machine.waiting.len(),
            }),
        }
    }

    /// Whether further passes of a policy outside of this process have no effect if no job is to come: no job is in the system,
    /// or it has had 10,000 wakes since the last arrival in which no job started though nothing ran.
    pub fn is_stuck(&self) -> bool {
        let is_empty = || self.machine.waiting.is_empty() && self.ends.next() == NEVER && self.upcoming.is_empty();
        self.scheduler.is_outside && (self.idle_passes > MOST_IDLE_WAKES || self.gate.is_none() && is_empty())
    }

    /// The instant of the next event; the present one if a pass is due. None if no events are left.
    pub fn next_event(&self) -> Option<Time> {
        Some(self.next_time()).filter(|&next| next != NEVER)
    }

    /// [`Simulation::next_event`], or [`NEVER`].
    fn next_time(&self) -> Time {
        let now = self.now();
        if self.pass_due {
            return now;
        }
        let mut arrival = self.upcoming.front().map_or(NEVER, |job| job.submission.submit);
        if let Some(gate) = &self.gate {
            arrival = if gate.has_released() { now } else { arrival.min(gate.next_time().unwrap_or(NEVER)) };
        }
        let wake = if self.wakes_at > now { self.wakes_at } else { NEVER };
        arrival.min(self.ends.next()).min(self.deadlines.next()).min(wake)
    }

    /// Moves the clock to `time`, which is at most [`Simulation::next_event`], and handles the terminations, outages, missed
    /// deadlines and arrivals of that instant, but does not run a pass.
    ///
    /// # Errors
    /// If the predictor breaks its contract.
    pub fn settle(&mut self, time: Time) -> Result<(), EngineError> {
        debug_assert!(time >= self.now() && self.next_event().is_none_or(|next| time <= next));
        if self.scheduler.follows_clock {
            self.apply_predictions();
            self.scheduler.policy.on(&PolicyEvent::Clock(time), &self.machine);
        }
        self.set_now(time);
        while let Some(end) = self.ends.pop_until(time) {
            self.terminate(end.job(), end.place())?;
        }
        if self.next_outage <= time {
            self.change_outages()?;
        }
        self.miss_deadlines()?;
        if self.gate.is_some() {
            self.arrive_through_gate()?;
        }
        while let Some((id, job)) = self.next_upcoming(time) {
            self.arrive(id, &job)?;
        }
        // A pass updates it too.
        if !self.pass_due {
            self.update_wakeup();
            self.pass_due = self.wakes_at <= time;
        }
        Ok(())
    }

    /// Takes the next submitted job, if it is submitted until now.
    #[inline(always)]
    fn next_upcoming(&mut self, now: Time) -> Option<(JobId, Job)> {
        self.upcoming.front().filter(|job| job.submission.submit <= now)?;
        let id = JobId(self.submitted - self.upcoming.len() as u32);
        self.upcoming.pop_front().map(|job| (id, job))
    }

    fn set_now(&mut self, time: Time) {
        self.machine.change(Change::Clock(time));
        self.board.set_now(time);
    }

    /// Runs the scheduling pass of the present instant, if one is due. Returns the jobs that it started.
    ///
    /// # Errors
    /// If the policy or the predictor breaks its contract.
    pub fn pass(&mut self) -> Result<&[JobId], EngineError> {
        self.decisions.starts.clear();
        if !std::mem::take(&mut self.pass_due) {
            return Ok(&self.decisions.starts);
        }
        self.apply_predictions();
        self.decisions.grants.clear();
        self.ask(Asked::Pass);
        if let Some(why) = self.decisions.failure.take() {
            return Err(EngineError::PolicyFailed { scheduler: self.scheduler.name.clone(), why });
        }
        if self.scheduler.is_outside {
            self.count_idle_passes();
        }
        if !self.decisions.stops.is_empty() {
            self.stop_jobs()?;
        }
        for at in 0..self.decisions.starts.len() {
            self.start(at)?;
        }
        self.machine.change(Change::PassEnd);
        for at in 0..self.decisions.starts.len() {
            let id = self.decisions.starts[at];
            self.predictor.value.on_start(id, self.board.board_mut());
            if self.options.predict_at_start {
                self.predictor.value.predict_again(id, self.board.board_mut());
            }
            self.absorb(Occasion::Start, id)?;
        }
        // A job is backfilled if one that arrived earlier still waits.
        let still_waiting = self.machine.waiting.first().map(|job| job.arrival);
        for &id in &self.decisions.starts {
            let place = in_system(&self.board, id);
            let (BoardEntry { job, prediction, arrival, .. }, runtime) =
                (self.board.at(place), self.hidden[place].runtime);
            let backfilled = still_waiting.is_some_and(|head| head < *arrival);
            let (prediction, error) = (*prediction, (runtime - prediction).abs() as f64);
            let inside = self.board.board().interval(id).map(|interval| error <= interval);
            let answered = self.board.board().is_answered(id);
            let (time, submission, job) = (self.board.board().now(), job, Placed { id, place });
            let grant = self.machine.grant(id);
            let start = Start { job, submission, runtime, prediction, backfilled, inside, answered, grant };
            self.observers.on(time, &Event::Start(start), &self.machine);
        }
        self.report_pass();
        self.pass_starts_to_gate();
        self.update_wakeup();
        Ok(&self.decisions.starts)
    }

    /// Asks the policy something.
    #[inline]
    fn ask(&mut self, asked: Asked) {
        self.decisions.asked = asked;
        self.scheduler.policy.decide(&self.machine, &mut self.decisions);
    }

    /// Must be called after every event that may change [`Policy::wake`](crate::schedule::Policy::wake).
    fn update_wakeup(&mut self) {
        self.wakes_at = self.scheduler.policy.wake().unwrap_or(NEVER);
        if self.next_outage < self.wakes_at && self.in_system() > 0 {
            self.wakes_at = self.next_outage;
        }
    }

    fn terminate(&mut self, id: JobId, place: usize) -> Result<(), EngineError> {
        let BoardEntry { job: submission, stage, prediction, misses, .. } = self.board.at(place);
        let &Stage::Running { start } = stage else { unreachable!("only running jobs end") };
        let runtime = self.hidden[place].runtime;
        let (prediction, misses) = (*prediction, *misses);
        let (time, job) = (self.board.board().now(), Placed { id, place });
        let end = End { job, submission, runtime, prediction, misses };
        self.observers.on(time, &Event::End(end), &self.machine);
        self.machine.change(Change::End { id, counted: start + self.counted_length(place) });
        self.scheduler.policy.on(&PolicyEvent::End(id), &self.machine);
        self.board.set_stage_at(place, Stage::Gone);
        self.pass_due = true;
        self.predictor.value.on_termination(id, runtime, self.board.board_mut());
        self.absorb(Occasion::Termination, id)?;
        self.board.forget(id);
        if let Some(gate) = &mut self.gate {
            gate.on_end(id, time);
        }
        Ok(())
    }

    fn arrive(&mut self, id: JobId, job: &Job) -> Result<(), EngineError> {
        let &Job { ref submission, runtime, request, .. } = job;
        let in_log = job.in_log();
        let place = self.board.arrive_from_log(id, *submission, in_log);
        let hidden = Hidden { runtime, watched: NEVER, applied: 0, is_changed: false };
        match self.hidden.get_mut(place) {
            Some(free) => *free = hidden,
            None => self.hidden.push(hidden),
        }
        let (time, job) = (self.board.board().now(), Placed { id, place });
        self.observers.on(time, &Event::Arrival(Arrival { job, submission }), &self.machine);
        self.machine.change(Change::Arrive { id, job: submission, request });
        debug_assert_eq!(self.machine.waiting.arrival(id), self.board.at(place).arrival);
        self.idle_passes = 0;
        self.scheduler.policy.on(&PolicyEvent::Arrival { id, job: submission, in_log }, &self.machine);
        self.pass_due = true;
        match self.predictor.value.as_oracle() {
            None => self.predictor.value.on_arrival(id, self.board.board_mut()),
            Some(oracle) => oracle.on_arrival_with_runtime(id, runtime, self.board.board_mut()),
        }
        self.absorb(Occasion::Arrival, id)?;
        match self.board.at(place).prediction {
            0 => Err(self.no_prediction(id, "arrival")),
            // Every job can start on a pool.
            _ if self.machine.nodes().is_none() => Ok(()),
            _ => self.drop_if_never(id),
        }
    }

    /// Starts a job of the last pass, given by its place among the starts.
    fn start(&mut self, at: usize) -> Result<(), EngineError> {
        let id = self.decisions.starts[at];
        let grant = self.decisions.grants.get_mut(at).map(std::mem::take).unwrap_or_default();
        let counted = if self.scheduler.by_estimates { self.count_by_estimate(id) } else { None };
        let applied = self.machine.apply(Change::Start { id, grant, counted });
        applied.map_err(|broken| self.bad_start(broken))?;
        let (now, place) = (self.now(), self.place(id));
        self.board.set_stage_at(place, Stage::Running { start: now });
        self.ends.push(QueuedEvent::new(now + self.hidden[place].runtime, id, place));
        self.watch_deadline(id, place);
        Ok(())
    }

    fn place(&self, id: JobId) -> usize {
        in_system(&self.board, id)
    }

    /// Counts the passes without an effect.
    fn count_idle_passes(&mut self) {
        let is_idle = self.decisions.starts.is_empty() && self.ends.next() == NEVER;
        self.idle_passes = if is_idle { self.idle_passes.saturating_add(1) } else { 0 };
    }

    #[cold]
    fn bad_start(&self, Broken { id, why, node }: Broken) -> EngineError {
        let (scheduler, job) = (self.scheduler.name.clone(), self.number(id));
        let nodes = self.machine.nodes().map(|nodes| &nodes.cluster().nodes);
        let node = node.zip(nodes).map(|(node, nodes)| nodes[node as usize].name.clone());
        EngineError::BadStart { scheduler, job, time: self.now(), why, node }
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
        self.board.place(id).map_or(-1, |_| self.board.board().number(id))
    }
}

/// The place of a job in the system.
#[inline]
fn in_system(board: &BoardKeeper, id: JobId) -> usize {
    board.place(id).expect("a job in the system")
}
