//! From an error to an exit code: 2 for bad input or bad usage, 1 for everything that fails at run time.

use std::fmt;
use std::io;

use super::interrupt::{INTERRUPTED, Interrupted};
use crate::meta::MetaSystemError;
use crate::report::OutputError;
use crate::spec::SpecError;
use crate::sweep::SweepError;
use crate::trace::TraceError;

/// Options that do not go together, or a value that makes no sense.
#[derive(Debug)]
pub struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

pub fn exit_code(error: &anyhow::Error) -> u8 {
    if error.is::<Interrupted>() {
        return INTERRUPTED;
    }
    let bad_input = error.is::<TraceError>()
        || error.is::<SpecError>()
        || error.is::<UsageError>()
        || error.is::<MetaSystemError>()
        || error.is::<SweepError>();
    if bad_input { 2 } else { 1 }
}

/// Whether whoever read our output has seen enough (`sim ... | head`), which is no error.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let output = error.downcast_ref::<OutputError>().map(|failed| &failed.error);
    output.or_else(|| error.downcast_ref()).is_some_and(|cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe)
}
