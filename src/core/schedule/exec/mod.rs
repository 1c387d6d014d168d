//! A scheduler that is another program, in any language. Each simulation starts one child process, and talks to it in JSON lines
//! over its standard input and output: a pass in, starts or an order of the queue out.
//!
//! `protocol` has the lines, `news` what they say, `turn` what answers are allowed. How a program is started, asked and ended is
//! in [`crate::program`].

mod news;
mod protocol;
mod turn;
mod warm;

use std::collections::VecDeque;
use std::sync::Arc;

use news::News;
pub use protocol::{EndAnswer, Episode, Introduction};
use protocol::{PassAnswer, Wake, described};
use serde_json::Value;
use turn::Turn;
pub use warm::WarmStart;

use super::accounts::LogFacts;
use super::machine::Machine;
use super::on_nodes::OnNodes;
use super::policy::{Facts, InGivenOrder, NeverStarts, OutsidePolicy, Policy};
use super::queue::Waiting;
use super::reserving::Reserving;
use super::rules::{self, PLACEMENT, RESERVATIONS, RUNNING, Rules};
use crate::job::{InLog, JobId, Submission};
use crate::machine::{NodeGrant, Shapes};
use crate::program::{HANDED_ON, Program, ProgramSpec, TIMEOUT, command_key, json};
use crate::spec::{Form, Spec};
use crate::time::{Seconds, Time};
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
    shapes: Option<Arc<Shapes>>,
    news: News,
    turn: Turn,
    /// Backfilling in an order that the program gives, as `easy`.
    ordered: Box<dyn InGivenOrder>,
    /// Whether the last answer was an order.
    was_order: bool,
    /// When the program wants a pass though nothing happens.
    wake: Option<Time>,
    /// The reservations of the last answer, in its order.
    reserved: Vec<(JobId, Time)>,
    /// What the jobs have that the program has started in the last pass, in the order of the starts.
    grants: VecDeque<(JobId, NodeGrant)>,
    warm: Option<WarmStart>,
    /// Scratch: the line that is sent.
    line: Vec<u8>,
    failure: Option<String>,
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
        let shapes = log.shapes().map(Arc::clone);
        Exec {
            spec: ProgramSpec::of(spec),
            program: ProgramStage::NotStarted,
            inflate: 1.0,
            news: News::new(log.run().cloned().unwrap_or_default()),
            turn: Turn::new(placement),
            ordered: match &shapes {
                None => Box::new(Reserving::anew(&rules)),
                Some(shapes) => Box::new(OnNodes::backfilling(&rules, shapes, placement)),
            },
            jobs: log.job_count(),
            shapes,
            was_order: false,
            wake: None,
            reserved: Vec::new(),
            grants: VecDeque::new(),
            warm: None,
            line: Vec::new(),
            failure: None,
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
        let machine = self.shapes.as_ref().map_or(Value::Null, |shapes| described(shapes.cluster()));
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
    fn converse(&mut self, mut is_woken: bool, machine: &Machine, starts: &mut Vec<JobId>) -> Result<(), String> {
        self.start()?;
        loop {
            self.line.clear();
            self.news.push(&mut self.line, machine.now, &self.turn.free(machine), is_woken);
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
                Ok(answer) => Ok(PassAnswer::parse(answer).and_then(|answer| self.apply(&answer, machine, starts))),
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
    fn apply(&mut self, answer: &PassAnswer<'_>, machine: &Machine, starts: &mut Vec<JobId>) -> Result<bool, String> {
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
            (None, Some(_)) if !starts.is_empty() => {
                return Err("an order cannot follow the starts of the same pass".to_string());
            }
            (Some(jobs), None) => {
                for asked in jobs {
                    let (id, grant) = self.turn.start(asked, machine, &self.news)?;
                    let on_nodes = machine.nodes().map(|nodes| nodes.cluster()).zip(grant.as_deref());
                    self.news.on_start(id, machine.now, on_nodes);
                    self.grants.extend(grant.map(|grant| (id, grant)));
                    starts.push(id);
                }
            }
            (None, Some(ids)) => {
                let order = self.turn.order(ids, machine, &self.news)?;
                self.was_order = true;
                self.ordered.give_order(order);
                self.ordered.pass(machine, starts);
                // On nodes it is noted when the grants are known.
                if machine.nodes().is_none() {
                    starts.iter().for_each(|&id| self.news.on_start(id, machine.now, None));
                }
            }
            (None, None) => {}
        }
        for (id, at) in &answer.reserved {
            let job = json::job(id).and_then(|id| machine.waiting.get(id));
            let job = job.ok_or_else(|| format!("a start is reserved for the job '{id}', which does not wait"))?;
            self.reserved.push((job.id, *at));
        }
        Ok(answer.again)
    }

    /// Starts the jobs that another scheduler has started now.
    fn follow(&mut self, machine: &Machine, starts: &mut Vec<JobId>) {
        while let Some((id, grant)) = self.warm.as_mut().and_then(|warm| warm.take(machine.now)) {
            self.news.on_start(id, machine.now, None);
            starts.push(id);
            if machine.nodes().is_some() {
                self.grants.push_back((id, grant));
            }
        }
    }
}

impl Policy for Exec {
    fn on_begin(&mut self, facts: &Facts) {
        (self.inflate, self.news.run.procs) = (facts.inflate, facts.capacity.procs());
        self.ordered.on_begin(facts);
    }

    fn pass(&mut self, machine: &Machine, starts: &mut Vec<JobId>) {
        self.grants.clear();
        if self.warm.as_ref().is_some_and(|warm| machine.now < warm.until) {
            return self.follow(machine, starts);
        }
        let is_woken = self.wake.is_some_and(|at| at <= machine.now);
        if is_woken {
            self.wake = None;
        }
        self.turn.begin(machine);
        if (is_woken || self.turn.is_open(machine))
            && let Err(why) = self.converse(is_woken, machine, starts)
        {
            self.failure = Some(why);
            starts.clear();
        }
    }

    fn reservations(&mut self, machine: &Machine, most: usize, reserved: &mut Vec<(JobId, Time)>) {
        match self.was_order {
            true => self.ordered.reservations(machine, most, reserved),
            false => {
                let waiting = self.reserved.iter().filter(|(id, _)| machine.waiting.get(*id).is_some());
                reserved.extend(waiting.take(most));
            }
        }
    }

    fn on_arrival(&mut self, id: JobId, job: &Submission) {
        self.news.on_arrival(id, job);
        self.ordered.on_arrival(id, job);
    }

    /// A program may place a job on nodes of its own choice, but not when it leaves that to the placement.
    fn why_never(&mut self, id: JobId, job: &Submission, machine: &Machine, is_end: bool) -> Option<NeverStarts> {
        if is_end { None } else { self.ordered.why_never(id, job, machine, is_end) }
    }

    fn on_termination(&mut self, id: JobId, now: Time) {
        self.news.on_end(id, now);
    }

    fn on_cancellation(&mut self, job: &Waiting) {
        self.news.on_cancellation(job.id);
        self.ordered.on_cancellation(job);
    }

    fn wakes_at(&self) -> Option<Time> {
        self.warm.as_ref().and_then(WarmStart::next).or(self.wake)
    }

    fn counts_running_by_estimates(&self) -> bool {
        self.ordered.counts_running_by_estimates()
    }

    fn shapes(&self) -> Option<Arc<Shapes>> {
        self.shapes.clone()
    }

    fn take_grant(&mut self, id: JobId) -> NodeGrant {
        if !self.was_order {
            let first = self.grants.pop_front().filter(|(first, _)| *first == id);
            return first.map(|(_, grant)| grant).unwrap_or_default();
        }
        let grant = self.ordered.take_grant(id);
        if let Some(shapes) = &self.shapes {
            self.news.on_start(id, self.turn.now, Some((shapes.cluster(), &grant)));
        }
        grant
    }

    fn as_outside(&mut self) -> Option<&mut dyn OutsidePolicy> {
        Some(self)
    }
}

impl OutsidePolicy for Exec {
    fn on_job(&mut self, id: JobId, in_log: InLog) {
        self.news.on_job(id, in_log);
    }

    fn on_new_prediction(&mut self, id: JobId, prediction: Seconds) {
        self.news.on_prediction(id, prediction);
    }

    fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }
}
