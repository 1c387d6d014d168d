//! Errors of logs. Each message says where the fault is, what was read and what to do.

use std::fmt;
use std::io;

/// A fault of one data line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineFault {
    /// The line's number, counted from 1.
    pub line: u64,
    /// The column in bytes, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub kind: FaultKind,
    /// The text at that position, shortened.
    pub text: String,
}

/// What is wrong with a data line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A record of SWF has fewer than 18 fields.
    FieldCount {
        /// The number of its fields.
        found: usize,
    },
    /// A field of SWF has a value that cannot be used.
    Field {
        /// Counted from 1.
        field: usize,
        /// The end of the message.
        wrong: &'static str,
    },
    /// A column or key of an accounting file has a value that cannot be used.
    Value {
        /// Its name.
        column: &'static str,
        /// The end of the message.
        wrong: &'static str,
    },
    /// A row does not have the form of its format.
    NotARow {
        /// The form.
        expected: &'static str,
    },
    /// A row has fewer columns than the file, or more, and it cannot be told which of them hold the delimiter.
    Columns {
        /// The number of its columns.
        found: usize,
        /// The number of columns of the file.
        expected: usize,
    },
    /// The line is of another format than the file.
    OtherFormat {
        /// The format of the file.
        own: &'static str,
        /// The format of the line.
        found: &'static str,
    },
    /// Any other fault, in words.
    Other(&'static str),
}

impl FaultKind {
    pub(super) const NOT_A_NUMBER: &str = "is not a number";
    pub(super) const TOO_LARGE: &str = "is too large a number";
    pub(super) const ENDS_BEFORE_START: FaultKind = FaultKind::Other("the job ends before it starts");
    /// It is closed nowhere, or only lines later by a quote of another row.
    pub(super) const OPEN_QUOTE: FaultKind =
        FaultKind::Other("a quote that is not closed: the rows after it would be lost; close it, or remove it");
    pub(super) const TWO_VALUES: FaultKind = FaultKind::Other("a second value of a key, different from the first");
    pub(super) const MIXED_LINE_ENDS: FaultKind = FaultKind::Other(
        "another row after a carriage return: some lines end with it alone; replace it by a newline, for example with \
         `tr '\\r' '\\n'`",
    );
    pub(super) const BINARY: FaultKind = FaultKind::Other("not a line of text (it has a NUL byte); is this a log?");
    pub(super) const TOO_LONG: FaultKind = FaultKind::Other("a line of more than a megabyte; is this a log?");
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

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            FaultKind::FieldCount { found } => write!(f, "{found} of the 18 fields of an SWF record"),
            FaultKind::Field { field, wrong } => write!(f, "field {field} ({}) {wrong}", FIELD_NAMES[field - 1]),
            FaultKind::Value { column, wrong } => write!(f, "{column} {wrong}"),
            FaultKind::NotARow { expected } => write!(f, "not a row of the form {expected}"),
            FaultKind::Columns { found, expected } if found < expected => {
                write!(f, "a row with {found} of the {expected} columns")
            }
            FaultKind::Columns { found, expected } => write!(
                f,
                "a row with {found} columns instead of {expected}: the delimiter is part of a value; export the log \
                 with another delimiter, and an sacct log with JobName as its only column of free text"
            ),
            FaultKind::OtherFormat { own, found } => {
                write!(f, "a line of the format {found} in a log of the format {own}: one file has one format")
            }
            FaultKind::Other(what) => f.write_str(what),
        }
    }
}

impl fmt::Display for LineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: \"{}\"", self.line, self.column, self.kind, self.text)
    }
}

/// Why a log cannot be used.
#[derive(Debug)]
pub enum TraceError {
    /// The log cannot be opened.
    Open {
        /// The log's source.
        name: String,
        /// The error of the operating system or the decoder.
        error: io::Error,
        /// A file with a similar name, if there is none of this name.
        similar: Option<String>,
    },
    /// A read failed: a truncated or damaged file, or a broken disk.
    Read {
        /// The log's source.
        name: String,
        /// The number of lines read before.
        lines: u64,
        /// The error of the operating system or the decoder.
        error: io::Error,
    },
    /// A data line is faulty.
    Line {
        /// The log's source.
        name: String,
        /// The fault and its position.
        fault: LineFault,
    },
    /// The log is of no known format, or it does not have what is needed.
    Unusable {
        /// The log's source or label.
        name: String,
        /// The second half of the message.
        why: String,
    },
    /// No job is left to simulate.
    NoJobs {
        /// The log's source or label.
        name: String,
        /// The second half of the message.
        why: String,
    },
}

impl TraceError {
    /// The log cannot be used. `why` is the second half of the message.
    pub fn unusable(name: &str, why: impl Into<String>) -> TraceError {
        TraceError::Unusable { name: name.to_string(), why: why.into() }
    }

    /// Neither the header nor an option gives the size of the machine, and the log has no waits to compute it from.
    pub fn no_machine(name: &str) -> TraceError {
        TraceError::unusable(
            name,
            "the header has neither MaxProcs nor MaxNodes, and the log has no waits that show how many processors were in \
             use: say how large the machine is with --procs N",
        )
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::Open { name, error, similar } => {
                write!(f, "cannot open {name}: {error}")?;
                similar.as_ref().map_or(Ok(()), |file| write!(f, "; did you mean the file '{file}'?"))
            }
            TraceError::Read { name, lines, error } => {
                write!(f, "{name}: cannot be read past line {lines}: {error}; ")?;
                write!(f, "if it is a compressed log, it is damaged or incomplete: download it again")
            }
            TraceError::Line { name, fault } => {
                write!(f, "{name}:{fault}")?;
                match fault.kind {
                    FaultKind::TOO_LONG | FaultKind::OPEN_QUOTE => Ok(()),
                    _ => write!(f, " (--skip-bad-lines skips and counts such lines)"),
                }
            }
            TraceError::Unusable { name, why } => write!(f, "{name}: {why}"),
            TraceError::NoJobs { name, why } => write!(f, "{name}: no job to simulate: {why}"),
        }
    }
}

impl std::error::Error for TraceError {}
