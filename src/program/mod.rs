//! Programs of other people, in any language: how they are started, asked line by line with a limit of time, and ended; and
//! what tells two versions of one apart.
//!
//! What the lines say is not known here: predictors and schedulers each add their messages.

#[cfg(unix)]
mod child;
#[cfg(not(unix))]
#[path = "no_child.rs"]
mod child;
mod command;

use std::io;
use std::time::Duration;

pub use child::end_all as end_programs;
pub use command::{check_command, digest_of_files, files_named};

use child::Child;
use command::words;

use crate::text::shortened;
use crate::time::{Seconds, print_duration};

/// The most bytes of a line that a program may write.
const MOST_OF_A_LINE: usize = 1 << 20;

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
    child: Child,
}

impl Program {
    /// Starts a program. `timeout` is how long each answer may take.
    ///
    /// # Errors
    ///
    /// If it cannot be started, with a message.
    pub fn start(command: &str, timeout: Duration) -> Result<Program, String> {
        let child = Child::start(&words(command), timeout)
            .map_err(|error| format!("cannot start the program '{command}': {error}"))?;
        Ok(Program { command: command.to_string(), timeout, child })
    }

    /// Sends a line, which ends with a newline, and returns the line that answers it, without its newline. `asked` says in
    /// words what the line is about.
    ///
    /// # Errors
    ///
    /// If there is no answer, with a message.
    pub fn ask(&mut self, line: &[u8], asked: &dyn Fn() -> String) -> Result<&[u8], String> {
        match self.child.ask(line) {
            Ok(()) => Ok(self.child.last_line()),
            Err(why) => Err(self.unanswered(&asked(), why)),
        }
    }

    /// The message about an answer that cannot be used.
    pub fn bad_answer(&self, asked: &str, why: &str) -> String {
        let (command, line, read) = (&self.command, self.child.lines(), shown(self.child.last_line()));
        format!("the program '{command}' answered {asked} with line {line} of its output, '{read}'{why}")
    }

    /// Ends the program without waiting for it.
    pub fn end_at_once(&mut self) {
        self.child.end_at_once();
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
