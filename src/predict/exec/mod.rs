//! A predictor that is another program, in any language. Each simulation starts one child process, and talks to it in JSON
//! lines over its standard input and output: an event in, predictions out.
//!
//! `protocol` has the lines, `child` the process, `identity` what tells two versions of a program apart.

#[cfg(unix)]
mod child;
#[cfg(not(unix))]
#[path = "no_child.rs"]
mod child;
mod identity;
mod protocol;

use std::io;
use std::time::Duration;

pub use child::end_all;
pub use identity::digest;

use child::Child;
use identity::files_named;
use protocol::{Answer, EventName, Greeting, Introduction, fields_of_miss, push_arrival, push_event};

use super::board::{Board, Stage};
use super::deadline;
use super::predictor::{Predictor, RunFacts};
use crate::files;
use crate::job::JobId;
use crate::similar::did_you_mean;
use crate::spec::{Form, Key, Kind, Spec, SpecError};
use crate::text::shortened;
use crate::time::{Seconds, print_duration};

pub const FORM: Form = Form {
    name: "exec",
    about: "a program of yours, in any language (see `sim list predictors --example python`)",
    keys: &[
        Key {
            name: "command",
            kind: Kind::Text { what: "a command", canonical: command },
            default: "",
            about: "the program and its arguments; required",
        },
        Key {
            name: "timeout",
            kind: Kind::Duration { least: 1 },
            default: "10s",
            about: "how long it may take to answer, also to start",
        },
        Key { name: "KEY", kind: Kind::Others, default: "", about: "any other key is passed to the program" },
    ],
};

/// The most bytes of a line that a program may write.
const MOST_OF_A_LINE: usize = 1 << 20;

/// The largest prediction that a program may make, in seconds: the largest whole number that is exact in every language.
const LONGEST: Seconds = 1 << 53;

/// Checks a command and returns it as it is.
fn command(text: &str) -> Result<String, String> {
    match shlex::split(text) {
        Some(words) if !words.is_empty() || text.is_empty() => Ok(text.to_string()),
        Some(_) => Err(format!("'{text}' has no word")),
        None => Err(format!(
            "'{text}' has a quotation mark without the one that ends it (a command with commas is written in double \
             quotes: command=\"...\")"
        )),
    }
}

/// The words of a command. Nothing is expanded in them: no shell is started.
fn words(command: &str) -> Vec<String> {
    shlex::split(command).unwrap_or_default()
}

/// A spec of `exec` needs a command, and no key that is probably one of its own, mistyped. From here on no output may replace a
/// file that the command names.
pub fn check(spec: &Spec) -> Result<(), SpecError> {
    let own = || FORM.own_keys().iter().map(|key| key.name);
    let mistyped = spec.others().map(|(key, _)| (key, did_you_mean(&key.to_lowercase(), own())));
    if let Some((key, meant)) = mistyped.into_iter().find(|(_, meant)| !meant.is_empty()) {
        return Err(SpecError(format!("predictor '{spec}': no key '{key}'{meant}")));
    }
    files_named(&words(spec.text("command"))).iter().for_each(|file| files::add_input(file));
    match spec.text("command").is_empty() {
        true => Err(SpecError(format!("predictor '{spec}': name the program: exec:command=python3 my.py"))),
        false => Ok(()),
    }
}

/// The program behind `exec`. It is started at the first event, so that building this predictor costs nothing.
pub struct Exec {
    command: String,
    timeout: Duration,
    greeting: Greeting,
    program: Program,
    /// Scratch: the line that is sent.
    line: Vec<u8>,
}

enum Program {
    NotStarted,
    Started {
        child: Child,
        introduction: Introduction,
    },
    /// It has broken the contract.
    Failed,
}

/// Why there is no answer.
#[cfg_attr(not(unix), allow(dead_code, reason = "no program is started there"))]
enum Unanswered {
    /// The program has ended, in this way.
    Ended(String),
    /// It did not answer in time.
    Silent,
    /// Its line has no end.
    TooLong,
    /// It wrote this line together with its answer.
    MoreThanALine(u64),
    /// It wrote this line, with this text, before it was asked again.
    Unasked(u64, Vec<u8>),
    /// The pipes failed.
    Failed(io::Error),
}

/// An event that the program is asked about.
struct Asked {
    event: EventName,
    job: JobId,
}

impl Exec {
    pub fn new(spec: &Spec) -> Self {
        let keys = spec.others().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Exec {
            command: spec.text("command").to_string(),
            timeout: Duration::from_secs(spec.duration("timeout").unsigned_abs()),
            greeting: Greeting::new(keys),
            program: Program::NotStarted,
            line: Vec::new(),
        }
    }

    /// Starts the program if it has not been started. Returns whether it wants to know of such events.
    fn wants(&mut self, asked: &Asked, board: &mut Board) -> bool {
        if let Program::NotStarted = self.program {
            match self.start() {
                Ok((child, introduction)) => self.program = Program::Started { child, introduction },
                Err(why) => self.fail(board, why),
            }
        }
        matches!(&self.program, Program::Started { introduction, .. } if introduction.wants(asked.event))
    }

    /// Starts the program and greets it.
    fn start(&mut self) -> Result<(Child, Introduction), String> {
        let command = &self.command;
        let mut child = Child::start(&words(command), self.timeout)
            .map_err(|error| format!("cannot start the program '{command}': {error}"))?;
        self.line.clear();
        self.greeting.push(&mut self.line);
        let answer = match child.ask(&self.line) {
            Ok(answer) => Introduction::parse(answer).map_err(|why| {
                let read = shown(answer);
                format!("the program '{command}' answered the greeting with line 1 of its output, '{read}': {why}")
            }),
            Err(unanswered) => Err(self.unanswered("the greeting", unanswered)),
        };
        match answer {
            Ok(introduction) => Ok((child, introduction)),
            Err(why) => {
                child.end_at_once();
                Err(why)
            }
        }
    }

    fn unanswered(&self, asked: &str, why: Unanswered) -> String {
        let (command, timeout) = (&self.command, self.timeout.as_secs() as Seconds);
        match why {
            Unanswered::Ended(how) => format!("the program '{command}' ended ({how}) before it answered {asked}"),
            Unanswered::Silent => format!(
                "the program '{command}' did not answer {asked} within {}; it must flush its output after each line \
                 (Python: print(..., flush=True)), and the key timeout allows more time",
                print_duration(timeout)
            ),
            Unanswered::TooLong => {
                format!("the program '{command}' answered {asked} with a line of more than {MOST_OF_A_LINE} bytes")
            }
            Unanswered::MoreThanALine(line) => format!(
                "the program '{command}' answered {asked} with more than one line; line {line} of its output is one too \
                 many"
            ),
            Unanswered::Unasked(line, text) => {
                let text = shown(&text);
                format!(
                    "the program '{command}' wrote line {line} of its output, '{text}', unasked, before {asked}; it must \
                     write one line for each event that it gets"
                )
            }
            Unanswered::Failed(error) => format!("the program '{command}' cannot be asked about {asked}: {error}"),
        }
    }

    /// Sends the line that is prepared and applies the answer.
    fn ask(&mut self, asked: &Asked, board: &mut Board) {
        let Program::Started { child, .. } = &mut self.program else { return };
        // The text is only needed for an error.
        let event = |board: &Board| {
            let (event, number) = (asked.event.in_words(), board.number(asked.job));
            format!("the {event} of job {number} (id {}) at time {}", protocol::id(asked.job), board.now())
        };
        let answer = match child.ask(&self.line) {
            Ok(answer) => apply(answer, board).map_err(|why| (why, shown(answer))),
            Err(unanswered) => {
                let why = self.unanswered(&event(board), unanswered);
                return self.fail(board, why);
            }
        };
        if let Err((why, read)) = answer {
            let (command, line, event) = (&self.command, child.lines(), event(board));
            let why =
                format!("the program '{command}' answered {event} with line {line} of its output, '{read}': {why}");
            self.fail(board, why);
        }
    }

    /// Ends the program, and the simulation with this error.
    fn fail(&mut self, board: &mut Board, why: String) {
        if let Program::Started { child, .. } = &mut self.program {
            child.end_at_once();
        }
        self.program = Program::Failed;
        board.fail(why);
    }

    /// Asks about an event of a job with these further fields, if the program wants to know of such events.
    fn ask_about(&mut self, event: EventName, job: JobId, board: &mut Board, fields: &[(&str, i64)]) -> bool {
        let asked = Asked { event, job };
        let is_wanted = self.wants(&asked, board);
        if is_wanted {
            self.line.clear();
            push_event(&mut self.line, event, board.now(), job, fields);
            self.ask(&asked, board);
        }
        is_wanted
    }
}

/// Writes the predictions of an answer on the board.
fn apply(answer: &[u8], board: &mut Board) -> Result<(), String> {
    // Most answers that predict nothing.
    if answer == b"{}" {
        return Ok(());
    }
    for (id, prediction) in Answer::parse(answer)?.predictions {
        let Some(job) = protocol::job(&id).filter(|&job| board.stage(job) != Stage::Gone) else {
            return Err(format!("job '{}' is neither waiting nor running", shortened(&id)));
        };
        let elapsed = board.elapsed(job);
        if prediction <= elapsed {
            return Err(format!("{prediction} s are predicted for job '{id}', which has already run for {elapsed} s"));
        }
        board.predict(job, prediction);
    }
    Ok(())
}

/// A line as it is shown in an error.
fn shown(line: &[u8]) -> String {
    shortened(&String::from_utf8_lossy(line)).to_string()
}

impl Predictor for Exec {
    fn on_begin(&mut self, facts: &RunFacts<'_>) {
        self.greeting.set_facts(facts);
    }

    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        let asked = Asked { event: EventName::Arrival, job: id };
        if !self.wants(&asked, board) {
            return;
        }
        self.line.clear();
        push_arrival(&mut self.line, id, board, &self.greeting.wide);
        self.ask(&asked, board);
        if board.prediction(id) == 0
            && let Program::Started { child, .. } = &self.program
        {
            let (command, line, number) = (&self.command, child.lines(), board.number(id));
            let (id, now, read) = (protocol::id(id), board.now(), shown(child.last_line()));
            let why = format!(
                "the program '{command}' answered the arrival of job {number} (id {id}) at time {now} with line {line} of \
                 its output, '{read}', which has no prediction for this job"
            );
            self.fail(board, why);
        }
    }

    fn on_start(&mut self, id: JobId, board: &mut Board) {
        self.ask_about(EventName::Start, id, board, &[]);
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        self.ask_about(EventName::Termination, id, board, &[("runtime", runtime)]);
    }

    fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
        let (elapsed, prediction, misses) = (board.elapsed(id), board.prediction(id), board.misses(id));
        self.ask_about(EventName::Miss, id, board, &fields_of_miss(elapsed, prediction, misses));
        // A program may leave the answer to the rule of all predictors.
        if !board.has_failed() && board.prediction(id) <= elapsed {
            deadline::raise_to_estimate(id, board);
        }
    }

    fn on_cancellation(&mut self, id: JobId, board: &mut Board) {
        self.ask_about(EventName::Cancellation, id, board, &[]);
    }
}
