//! Programs of other people, in any language: how they are started, asked line by line with a limit of time, and ended; and
//! what tells two versions of one apart.
//!
//! What the lines say is not known here: predictors and schedulers each add their messages. What these have in common is in
//! [`json`].

mod caller;
#[cfg(unix)]
mod child;
#[cfg(not(unix))]
#[path = "no_child.rs"]
mod child;
mod command;
pub mod json;
mod keys;

use std::io;
use std::time::Duration;

pub use child::end_all as end_programs;
pub use command::{check_command, digest_of_files, files_named};
pub use keys::{HANDED_ON, ProgramSpec, TIMEOUT, check_spec, command_key};

use caller::Caller;
use child::Child;
use command::words;

use crate::text::shortened;
use crate::time::{Seconds, print_duration};

/// The most bytes of a line that a program may write.
const MOST_OF_A_LINE: usize = 1 << 20;

/// The command that means the program that has started this one.
const THE_CALLER: &str = "-";

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

/// A program that runs. It is ended when this is dropped.
pub struct Program {
    command: String,
    timeout: Duration,
    side: OtherSide,
}

/// Who answers.
enum OtherSide {
    Child(Child),
    Caller(Caller),
}

impl Program {
    /// Starts a program. `timeout` is how long each answer may take.
    ///
    /// # Errors
    ///
    /// If it cannot be started, with a message.
    pub fn start(command: &str, timeout: Duration) -> Result<Program, String> {
        if command == THE_CALLER {
            return Err("command=- (the caller of sim is the program) is for the main command alone, with --out FILE \
                        and one simulation: sim --scheduler exec:command=- --out FILE"
                .to_string());
        }
        let child = Child::start(&words(command), timeout)
            .map_err(|error| format!("cannot start the program '{command}': {error}"))?;
        Ok(Program { command: command.to_string(), timeout, side: OtherSide::Child(child) })
    }

    /// The program that has started this one. It is asked over the standard output and input of this process, and may take any
    /// time to answer. All values of this kind are the same program.
    pub fn caller() -> Program {
        let (command, timeout) = (THE_CALLER.to_string(), Duration::MAX);
        Program { command, timeout, side: OtherSide::Caller(Caller::default()) }
    }

    /// Sends a line to the caller that wants no answer.
    ///
    /// # Errors
    /// If standard output fails.
    pub fn tell_caller(line: &[u8]) -> io::Result<()> {
        caller::tell(line)
    }

    /// Sends a line, which ends with a newline, and returns the line that answers it, without its newline. `asked` says in
    /// words what the line is about.
    ///
    /// # Errors
    ///
    /// If there is no answer, with a message.
    pub fn ask(&mut self, line: &[u8], asked: &dyn Fn() -> String) -> Result<&[u8], String> {
        match self.exchange(line) {
            Ok(()) => Ok(self.last_line()),
            Err(why) => Err(self.unanswered(&asked(), why)),
        }
    }

    /// As [`Program::ask`], but a program that ends instead of an answer is no error: None.
    ///
    /// # Errors
    ///
    /// If there is no answer for another reason, with a message.
    pub fn ask_last(&mut self, line: &[u8], asked: &dyn Fn() -> String) -> Result<Option<&[u8]>, String> {
        match self.exchange(line) {
            Ok(()) => Ok(Some(self.last_line())),
            Err(Unanswered::Ended(_)) => Ok(None),
            Err(why) => Err(self.unanswered(&asked(), why)),
        }
    }

    fn exchange(&mut self, line: &[u8]) -> Result<(), Unanswered> {
        match &mut self.side {
            OtherSide::Child(child) => child.ask(line),
            OtherSide::Caller(caller) => caller.ask(line),
        }
    }

    /// Sends the first line, and reads the answer.
    ///
    /// # Errors
    ///
    /// If there is no answer, or it cannot be read, with a message.
    pub fn greet<T>(&mut self, line: &[u8], read: impl Fn(&[u8]) -> Result<T, String>) -> Result<T, String> {
        let greeting = "the greeting";
        match self.ask(line, &|| greeting.to_string()).map(read) {
            Ok(answer) => answer.map_err(|why| self.bad_answer(greeting, &format!(": {why}"))),
            Err(unanswered) => Err(unanswered),
        }
    }

    fn last_line(&self) -> &[u8] {
        match &self.side {
            OtherSide::Child(child) => child.last_line(),
            OtherSide::Caller(caller) => caller.last_line(),
        }
    }

    /// The message about an answer that cannot be used.
    pub fn bad_answer(&self, asked: &str, why: &str) -> String {
        let line = match &self.side {
            OtherSide::Child(child) => child.lines(),
            OtherSide::Caller(caller) => caller.lines(),
        };
        let (command, read) = (&self.command, shown(self.last_line()));
        format!("the program '{command}' answered {asked} with line {line} of its output, '{read}'{why}")
    }

    /// Ends the program without waiting for it.
    pub fn end_at_once(&mut self) {
        if let OtherSide::Child(child) = &mut self.side {
            child.end_at_once();
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
}

/// A line as it is shown in an error.
fn shown(line: &[u8]) -> String {
    shortened(&String::from_utf8_lossy(line)).to_string()
}
