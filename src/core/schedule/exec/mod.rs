//! A scheduler that is another program, in any language. Each simulation starts one child process, and talks to it in JSON lines
//! over its standard input and output: a pass in, starts or an order of the queue out.
//!
//! `protocol` has the lines, `news` what they say, `turn` what answers are allowed. How a program is started, asked and ended is
//! in [`crate::program`].

mod news;
mod protocol;
mod turn;
mod warm;

use news::News;
pub use protocol::{EndAnswer, Episode, Introduction};
use protocol::{PassAnswer, Wake, described};
use serde_json::Value;
use turn::Turn;
pub use warm::WarmStart;

use super::accounts::LogFacts;
use super::backfill::{AmidOutages, OnNodes, Reserving};
use super::machine::Machine;
use super::policy::{Asked, Decisions, Policy, PolicyEvent, Scheduler};
use super::rules::{self, PLACEMENT, RESERVATIONS, RUNNING, Rules};
use crate::job::JobId;
use crate::program::{HANDED_ON, Program, ProgramSpec, TIMEOUT, command_key, json};
use crate::spec::{Form, Spec};
use crate::time::Time;
use crate::trace::RunFacts;

pub const FORM: Form = Form {
    name: "exec",
    about: "a program of yours, in any language (see `sim list schedulers --example python`)",
    keys: &[
        command_key("the program and its arguments; required. -: the caller of sim is the program"),
        TIMEOUT,
        RUNNING,
        rules::scan("fcfs"),
        RESERVATIONS,
        PLACEMENT,
        HANDED_ON,
    ],
};

/// A hash of the contents of all files that the command names, and of the version that the program reports. The program is
/// started for that, and ended.
///
/// # Errors
///
/// If a file cannot be read, or the program does not answer the greeting.
pub fn digest(spec: &Spec) -> Result<u128, String> {
    let program = ProgramSpec::of(spec);
    let greeting = RunFacts::default().greeting(&program, Some((Value::Null, 1.0)));
    let started = program.start(&greeting, Introduction::of_child);
    let (_, introduction) = started.map_err(|why| format!("scheduler '{spec}': {why}"))?;
    program.digest(introduction.version.as_deref())
}

/// The program behind `exec`. It is started before its first pass, so that building this policy costs nothing.
pub struct Exec {
    spec: ProgramSpec,
    program: ProgramStage,
    /// See [`Facts::inflate`].
    inflate: f64,
    /// The number of jobs that will arrive.
    jobs: usize,
    news: News,
    turn: Turn,
    /// Backfilling in an order that the program gives, as `easy`.
    ordered: Scheduler,
    /// Whether the last answer was an order.
    was_order: bool,
    /// When the program wants a pass though nothing happens.
    wake: Option<Time>,
    /// The reservations of the last answer, in its order.
    reserved: Vec<(JobId, Time)>,
    warm: Option<WarmStart>,
    /// Scratch: the line that is sent.
    line: Vec<u8>,
}

enum ProgramStage {
    NotStarted,
    Started(Box<Program>),
    /// It has broken the contract.
    Failed,
}

impl Exec {
    /// The program of a spec, for a log.
    pub fn new(spec: &Spec, log: &LogFacts<'_>) -> Exec {
        let (rules, placement) = (Rules::of(spec), rules::placement(spec));
        Exec {
            spec: ProgramSpec::of(spec),
            program: ProgramStage::NotStarted,
            inflate: 1.0,
            news: News::new(log.run().cloned().unwrap_or_default()),
            turn: Turn::new(placement),
            ordered: match log.shapes() {
                None if log.has_outages() => AmidOutages::backfilling(&rules).into(),
                None => Reserving::anew(&rules).into(),
                Some(shapes) => OnNodes::backfilling(&rules, shapes, placement).into(),
            },
            jobs: log.job_count(),
            was_order: false,
            wake: None,
            reserved: Vec::new(),
            warm: None,
            line: Vec::new(),
        }
    }

    /// The program that has started this one, which has been greeted ([`Exec::greeting`]), for an episode with this start.
    pub fn of_caller(mut self, introduction: &Introduction, warm: Option<WarmStart>) -> Exec {
        self.program = ProgramStage::Started(Box::new(Program::caller()));
        self.news.set_wants(introduction);
        self.news.jobs = Some(self.jobs);
        Exec { warm, ..self }
    }

    /// The first line: what is known before the first pass.
    pub fn greeting(&self, inflate: f64) -> Vec<u8> {
        let shapes = self.ordered.shapes.as_ref();
        let machine = shapes.map_or(Value::Null, |shapes| described(shapes.cluster()));
        self.news.run.greeting(&self.spec, Some((machine, inflate)))
    }

    /// Starts the program and greets it, if that has not been done.
    fn start(&mut self) -> Result<(), String> {
        if let ProgramStage::NotStarted = self.program {
            let (program, introduction) = self.spec.start(&self.greeting(self.inflate), Introduction::of_child)?;
            self.news.set_wants(&introduction);
            self.program = ProgramStage::Started(Box::new(program));
        }
        Ok(())
    }

    /// Asks the program until it wants no more lines of this pass.
    fn converse(&mut self, mut is_woken: bool, machine: &Machine, out: &mut Decisions) -> Result<(), String> {
        self.start()?;
        loop {
            self.line.clear();
            self.news.push(&mut self.line, machine, &self.turn.free(machine), is_woken);
            self.reserved.clear();
            self.was_order = false;
            // It is put back below, so that an answer can be applied while it is in the memory of the program.
            let ProgramStage::Started(mut program) = std::mem::replace(&mut self.program, ProgramStage::Failed) else {
                return Ok(());
            };
            let asked = || format!("the pass at time {}", machine.now);
            let applied = match program.ask(&self.line, &asked) {
                // Most answers.
                Ok(b"{}") => Ok(Ok(false)),
                Ok(answer) => Ok(PassAnswer::parse(answer).and_then(|answer| self.apply(&answer, machine, out))),
                Err(unanswered) => Err(unanswered),
            };
            let why = match applied {
                Ok(Ok(goes_on)) => {
                    self.program = ProgramStage::Started(program);
                    if goes_on && self.turn.is_open(machine) {
                        is_woken = false;
                        continue;
                    }
                    return Ok(());
                }
                Ok(Err(why)) => program.bad_answer(&asked(), &format!(": {why}")),
                Err(unanswered) => unanswered,
            };
            program.end_at_once();
            return Err(why);
        }
    }

    /// Applies an answer. Returns whether the program wants one more line of this pass.
    fn apply(&mut self, answer: &PassAnswer<'_>, machine: &Machine, out: &mut Decisions) -> Result<bool, String> {
        match &answer.wake {
            Some(Wake::At(at)) if *at <= machine.now => {
                return Err(format!("a wake at {at} is not after now, {}", machine.now));
            }
            Some(Wake::At(at)) => self.wake = Some(*at),
            Some(Wake::Never) => self.wake = None,
            None => {}
        }
        if answer.again && answer.start.as_ref().is_none_or(Vec::is_empty) {
            return Err("again needs a start".to_string());
        }
        match (&answer.start, &answer.order) {
            (Some(_), Some(_)) => return Err("start and order exclude each other".to_string()),
            (None, Some(_)) if !out.starts.is_empty() => {
                return Err("an order cannot follow the starts of the same pass".to_string());
            }
            (Some(jobs), None) => {
                for asked in jobs {
                    let (id, grant) = self.turn.start(asked, machine, &self.news)?;
                    let on_nodes = machine.nodes().map(|nodes| nodes.cluster()).zip(grant.as_deref());
                    self.news.on_start(machine.waiting.arrival(id), machine.now, on_nodes);
                    out.grants.extend(grant);
                    out.starts.push(id);
                }
            }
            (None, Some(ids)) => {
                let order = self.turn.order(ids, machine, &self.news)?;
                self.was_order = true;
                self.ordered.policy.on(&PolicyEvent::Order(&order), machine);
                self.ordered.policy.decide(machine, out);
                for (at, &id) in out.starts.iter().enumerate() {
                    let grant = out.grants.get(at).map(Vec::as_slice);
                    let on_nodes = machine.nodes().map(|nodes| nodes.cluster()).zip(grant);
                    self.news.on_start(machine.waiting.arrival(id), machine.now, on_nodes);
                }
            }
            (None, None) => {}
        }
        for (id, at) in &answer.reserved {
            let job = json::arrival(id).and_then(|arrival| machine.waiting.arrived(arrival));
            let job = job.ok_or_else(|| format!("a start is reserved for the job '{id}', which does not wait"))?;
            self.reserved.push((job.id, *at));
        }
        Ok(answer.again)
    }

    /// Starts the jobs that another scheduler has started now.
    fn follow(&mut self, machine: &Machine, out: &mut Decisions) {
        while let Some((id, grant)) = self.warm.as_mut().and_then(|warm| warm.take(machine.now)) {
            self.news.on_start(machine.waiting.arrival(id), machine.now, None);
            out.starts.push(id);
            if machine.nodes().is_some() {
                out.grants.push(grant);
            }
        }
    }
}

impl Exec {
    fn pass(&mut self, machine: &Machine, out: &mut Decisions) {
        if self.warm.as_ref().is_some_and(|warm| machine.now < warm.until) {
            return self.follow(machine, out);
        }
        let is_woken = self.wake.is_some_and(|at| at <= machine.now);
        if is_woken {
            self.wake = None;
        }
        self.turn.begin(machine);
        if is_woken || self.turn.is_open(machine) {
            out.failure = self.converse(is_woken, machine, out).err();
        }
    }
}

impl Policy for Exec {
    fn decide(&mut self, machine: &Machine, out: &mut Decisions) {
        match out.asked {
            Asked::Pass => self.pass(machine, out),
            Asked::Reservations(most) if !self.was_order => {
                let waiting = self.reserved.iter().filter(|(id, _)| machine.waiting.get(*id).is_some());
                out.reserved.extend(waiting.take(most));
            }
            // A program may place a job on nodes of its own choice, but not when it leaves that to the placement.
            Asked::Never { is_end: true, .. } => {}
            _ => self.ordered.policy.decide(machine, out),
        }
    }

    fn on(&mut self, event: &PolicyEvent<'_>, machine: &Machine) {
        match *event {
            PolicyEvent::Begin(facts) => (self.inflate, self.news.run.procs) = (facts.inflate, machine.procs()),
            PolicyEvent::Arrival { id, job, in_log } => self.news.on_arrival(machine.waiting.arrival(id), job, in_log),
            PolicyEvent::Prediction(id, prediction) => {
                self.news.on_prediction(machine.waiting.arrival(id), prediction);
            }
            PolicyEvent::End(id) => self.news.on_end(machine.waiting.arrival(id), machine.now),
            PolicyEvent::Requeue(id, _) => self.news.on_requeue(machine.waiting.arrival(id)),
            PolicyEvent::Cancellation(job) => self.news.on_cancellation(job.arrival),
            _ => {}
        }
        self.ordered.policy.on(event, machine);
    }

    fn wake(&self) -> Option<Time> {
        self.warm.as_ref().and_then(WarmStart::next).or(self.wake)
    }
}

impl From<Exec> for Scheduler {
    fn from(exec: Exec) -> Scheduler {
        let (shapes, by_estimates) = (exec.ordered.shapes.clone(), exec.ordered.by_estimates);
        Scheduler { shapes, by_estimates, is_outside: true, answers: true, ..Scheduler::new(exec) }
    }
}
