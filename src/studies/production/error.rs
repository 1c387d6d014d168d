//! Errors that end a service, and reasons to refuse one line.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::report::OutputError;

/// Why a service cannot begin or cannot continue.
#[derive(Debug)]
pub enum ProductionError {
    /// The predictor broke its contract. The text is the whole message.
    Predictor(String),
    /// Another process has the state file.
    InUse(PathBuf),
    /// The file is not a state file, or a line of it is damaged.
    State {
        /// The state file.
        path: PathBuf,
        /// The damaged line, counted from 1; 0 if no single line is wrong.
        line: u64,
        /// What is wrong, and what to do.
        why: String,
    },
    /// The state file, or the file of its lock, cannot be read or written.
    File(OutputError),
}

impl ProductionError {
    pub(super) fn file(path: &std::path::Path, error: io::Error) -> ProductionError {
        ProductionError::File(OutputError { name: path.display().to_string(), error })
    }
}

impl fmt::Display for ProductionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProductionError::Predictor(why) => f.write_str(why),
            ProductionError::InUse(path) => write!(
                f,
                "the state file {} is in use by another process: end it first, or use another file",
                path.display()
            ),
            ProductionError::State { path, line: 0, why } => write!(f, "{}: {why}", path.display()),
            ProductionError::State { path, line, why } => write!(f, "{}, line {line}: {why}", path.display()),
            ProductionError::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ProductionError {}

/// Why an event has no effect.
#[derive(Debug)]
pub(super) enum Rejection {
    /// The line is wrong: it changes nothing, and the next one can be right.
    Refused(String),
    /// The predictor broke its contract: nothing can follow.
    Broken(String),
}

impl Rejection {
    /// For an event of which it is known that it is right.
    pub fn into_text(self) -> String {
        match self {
            Rejection::Refused(why) | Rejection::Broken(why) => why,
        }
    }
}
