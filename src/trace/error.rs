//! What can be wrong with a log: where it is, what was read, and what helps.

use std::fmt;
use std::io;

/// A fault of one data line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineFault {
    /// Counted from 1.
    pub line: u64,
    /// In bytes, counted from 1.
    pub column: usize,
    pub kind: FaultKind,
    /// What stands there, shortened.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// There are fewer or more fields than 18.
    FieldCount { found: usize },
    /// This field (counted from 1) is not a number.
    NotANumber { field: usize },
    /// This field is a number beyond anything a log can mean.
    OutOfRange { field: usize },
    /// The line has a NUL byte: the file is not text.
    Binary,
    /// The line has no end in sight: the file is not text of lines.
    TooLong,
}

/// The names of SWF's fields, in order.
pub const FIELD_NAMES: [&str; 18] = [
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
];

/// The name and number of a field (counted from 1), for messages.
struct Field(usize);

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "field {} ({})", self.0, FIELD_NAMES[self.0 - 1])
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            FaultKind::FieldCount { found } if found > 18 => {
                write!(f, "more than the 18 fields of an SWF record ({found})")
            }
            FaultKind::FieldCount { found } => write!(f, "{found} of the 18 fields of an SWF record"),
            FaultKind::NotANumber { field } => write!(f, "{} is not a number", Field(field)),
            FaultKind::OutOfRange { field } => write!(f, "{} is too large a number", Field(field)),
            FaultKind::Binary => write!(f, "not a line of text (it has a NUL byte); is this an SWF log?"),
            FaultKind::TooLong => write!(f, "a line of more than a megabyte; is this an SWF log?"),
        }
    }
}

impl fmt::Display for LineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: \"{}\"", self.line, self.column, self.kind, self.text)
    }
}

/// A log that cannot be used, and why.
#[derive(Debug)]
pub enum TraceError {
    Open {
        name: String,
        error: io::Error,
    },
    /// Reading stopped after this many lines: a truncated or damaged file, or a broken disk.
    Read {
        name: String,
        lines: u64,
        error: io::Error,
    },
    Line {
        name: String,
        fault: LineFault,
    },
    /// Neither the header nor an option says how large the machine is.
    NoMachine {
        name: String,
    },
    /// A job wider than the machine, where that was asked to be an error.
    TooWide {
        name: String,
        job: i64,
        wants: u32,
        procs: u32,
    },
    /// No job is left to simulate.
    NoJobs {
        name: String,
        why: String,
    },
    TooManyJobs {
        name: String,
    },
    /// A model cannot make estimates for these jobs.
    Estimates {
        name: String,
        why: String,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::Open { name, error } => write!(f, "cannot open {name}: {error}"),
            TraceError::Read { name, lines, error } => {
                write!(f, "{name}: cannot be read past line {lines}: {error}; ")?;
                write!(f, "if it is a compressed log it is damaged or cut short: fetch it again")
            }
            TraceError::Line { name, fault } => {
                write!(f, "{name}:{fault}")?;
                match fault.kind {
                    FaultKind::TooLong => Ok(()),
                    _ => write!(f, " (--skip-bad-lines skips and counts such lines)"),
                }
            }
            TraceError::NoMachine { name } => {
                write!(f, "{name}: the header has neither MaxProcs nor MaxNodes: say how large the machine is ")?;
                write!(f, "with --procs N")
            }
            TraceError::TooWide { name, job, wants, procs } => {
                write!(f, "{name}: job {job} wants {wants} processors of a machine that has {procs}; ")?;
                write!(f, "without --strict such jobs are dropped and counted, and --procs changes the machine")
            }
            TraceError::NoJobs { name, why } => write!(f, "{name}: no job to simulate: {why}"),
            TraceError::TooManyJobs { name } => write!(f, "{name}: more jobs, or a longer time, than can be simulated"),
            TraceError::Estimates { name, why } => write!(f, "{name}: {why}"),
        }
    }
}

impl std::error::Error for TraceError {}
