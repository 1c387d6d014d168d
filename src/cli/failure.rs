//! The exit codes of errors: 2 for bad input or bad usage, 130 after an interrupt, 1 for all other failures at run time.

use std::fmt;
use std::io;

use super::interrupt::{INTERRUPTED, Interrupted};
use crate::compare::CompareError;
use crate::experiment::ProgramRole;
use crate::production::ProductionError;
use crate::report::OutputError;
use crate::reproduce::StudyError;
use crate::runs::RunsError;
use crate::spec::SpecError;
use crate::text::shortened;
use crate::trace::TraceError;

/// Options that exclude each other, or a value that is not allowed. The text is the whole message.
#[derive(Debug)]
pub struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Refuses what the arguments ask for.
pub fn refuse<T, E: From<UsageError>>(why: impl Into<String>) -> Result<T, E> {
    Err(UsageError(why.into()).into())
}

/// Refuses a program that is named in a file, which may be somebody else's. `place` is its file, with a colon and a blank.
pub fn refuse_program(place: &str, program: Option<&(ProgramRole, String)>) -> Result<(), UsageError> {
    program.map_or(Ok(()), |(role, command)| {
        let program = shortened(command);
        Err(UsageError(format!("{place}a {role} starts the program '{program}'; --allow-exec allows this")))
    })
}

/// `sim compare` has found differences, and has printed them.
#[derive(Debug)]
pub struct Differences;

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the outputs differ")
    }
}

impl std::error::Error for Differences {}

pub fn exit_code(error: &anyhow::Error) -> u8 {
    if error.is::<Interrupted>() {
        return INTERRUPTED;
    }
    let bad_input = error.is::<TraceError>()
        || error.is::<SpecError>()
        || error.is::<UsageError>()
        || matches!(error.downcast_ref(), Some(CompareError::Input(_)))
        || output_error(error).is_some_and(OutputError::is_bad_usage)
        || matches!(error.downcast_ref(), Some(ProductionError::State { .. }))
        || matches!(error.downcast_ref(), Some(RunsError::Folder(_)))
        || matches!(error.downcast_ref(), Some(StudyError::Log(_) | StudyError::Usage(_)));
    if bad_input { 2 } else { 1 }
}

/// Whether the reader of our output has closed the pipe (`sim ... | head`). This is not an error.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let output = output_error(error).map(|failed| &failed.error);
    output.or_else(|| error.downcast_ref()).is_some_and(|cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// The error of an output that could not be written, also if it is wrapped in the error of runs, a study or a service.
fn output_error(error: &anyhow::Error) -> Option<&OutputError> {
    if let Some(StudyError::Kept(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(RunsError::Kept(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(ProductionError::File(error)) = error.downcast_ref() {
        return Some(error);
    }
    error.downcast_ref()
}
