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
    /// The line has fewer than 18 fields.
    FieldCount {
        /// The number of its fields.
        found: usize,
    },
    /// A field is not a number.
    NotANumber {
        /// Counted from 1.
        field: usize,
    },
    /// A field is too large a number.
    OutOfRange {
        /// Counted from 1.
        field: usize,
    },
    /// A row of an accounting file does not have the form of its format.
    NotARow {
        /// The form.
        expected: &'static str,
    },
    /// A row ends before its last column.
    TooFewColumns {
        /// The number of its columns.
        found: usize,
        /// The number of columns of the file.
        expected: usize,
    },
    /// A row has more columns than the file, and it cannot be told which of them hold the delimiter.
    TooManyColumns {
        /// The number of its columns.
        found: usize,
        /// The number of columns of the file.
        expected: usize,
    },
    /// A value of an accounting file cannot be read.
    Value {
        /// The name of its column or key.
        column: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// A value that every job has is missing.
    Missing {
        /// The name of its column or key.
        column: &'static str,
    },
    /// A time is before 1970.
    Before1970 {
        /// The name of its column or key.
        column: &'static str,
    },
    /// A job ends before it starts, and the format has no run time of its own.
    EndsBeforeStart,
    /// The line is of another format than the file.
    OtherFormat {
        /// The format of the file.
        own: &'static str,
        /// The format of the line.
        found: &'static str,
    },
    /// A row of a table has a quote that is closed nowhere, or only lines later by a quote of another row.
    OpenQuote,
    /// A key of a row has two different values.
    TwoValues,
    /// After a carriage return inside the line, another row begins.
    MixedLineEnds,
    /// The line has a NUL byte: the file is not text.
    Binary,
    /// The line has more than a megabyte: the file is not text.
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
            FaultKind::FieldCount { found } => write!(f, "{found} of the 18 fields of an SWF record"),
            FaultKind::NotANumber { field } => write!(f, "{} is not a number", Field(field)),
            FaultKind::OutOfRange { field } => write!(f, "{} is too large a number", Field(field)),
            FaultKind::NotARow { expected } => write!(f, "not a row of the form {expected}"),
            FaultKind::TooFewColumns { found, expected } => write!(f, "a row with {found} of the {expected} columns"),
            FaultKind::TooManyColumns { found, expected } => write!(
                f,
                "a row with {found} columns instead of {expected}: the delimiter is part of a value; export the log \
                 with another delimiter, and an sacct log with JobName as its only column of free text"
            ),
            FaultKind::Value { column, expected } => write!(f, "{column} is not {expected}"),
            FaultKind::Missing { column } => write!(f, "{column} is missing"),
            FaultKind::Before1970 { column } => write!(f, "{column} is before 1970"),
            FaultKind::EndsBeforeStart => write!(f, "the job ends before it starts"),
            FaultKind::OtherFormat { own, found } => {
                write!(f, "a line of the format {found} in a log of the format {own}: one file has one format")
            }
            FaultKind::OpenQuote => {
                write!(f, "a quote that is not closed: the rows after it would be lost; close it, or remove it")
            }
            FaultKind::TwoValues => write!(f, "a second value of a key, different from the first"),
            FaultKind::MixedLineEnds => write!(
                f,
                "another row after a carriage return: some lines end with it alone; replace it by a newline, for \
                 example with `tr '\\r' '\\n'`"
            ),
            FaultKind::Binary => write!(f, "not a line of text (it has a NUL byte); is this a log?"),
            FaultKind::TooLong => write!(f, "a line of more than a megabyte; is this a log?"),
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
    /// The log is of no known format, or its format does not have what an option asks for.
    Format {
        /// The log's source.
        name: String,
        /// The second half of the message.
        why: String,
    },
    /// A date was given, but the header does not say when the log begins.
    NoStart {
        /// The log's name in results.
        name: String,
    },
    /// Neither the header nor an option gives the size of the machine, and the log has no waits to compute it from.
    NoMachine {
        /// The log's source.
        name: String,
    },
    /// A job is wider than the machine, and [`super::Cleaning::strict`] is set.
    TooWide {
        /// The log's source.
        name: String,
        /// The first such job's number in the log.
        job: i64,
        /// The processors it needs.
        needs: u32,
        /// The processors of the machine.
        procs: u32,
    },
    /// No job is left to simulate.
    NoJobs {
        /// The log's source or label.
        name: String,
        /// The second half of the message.
        why: String,
    },
    /// The log has more jobs, or spans a longer time, than a simulation can handle.
    TooManyJobs {
        /// The log's source or label.
        name: String,
    },
    /// A model cannot make estimates for these jobs.
    Estimates {
        /// The log's source or label.
        name: String,
        /// The second half of the message.
        why: String,
    },
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
                    FaultKind::TooLong | FaultKind::OpenQuote => Ok(()),
                    _ => write!(f, " (--skip-bad-lines skips and counts such lines)"),
                }
            }
            TraceError::Format { name, why } => write!(f, "{name}: {why}"),
            TraceError::NoStart { name } => {
                write!(f, "{name}: the header has no UnixStartTime, so --from and --to cannot be dates: ")?;
                write!(f, "give the time after the first submission, for example --from 30d")
            }
            TraceError::NoMachine { name } => {
                write!(f, "{name}: the header has neither MaxProcs nor MaxNodes, and the log has no waits that show ")?;
                write!(f, "how many processors were in use: say how large the machine is with --procs N")
            }
            TraceError::TooWide { name, job, needs, procs } => {
                write!(f, "{name}: job {job} needs {needs} processors, but the machine has {procs}; ")?;
                write!(f, "without --strict such jobs are dropped and counted, and --procs changes the machine")
            }
            TraceError::NoJobs { name, why } => write!(f, "{name}: no job to simulate: {why}"),
            TraceError::TooManyJobs { name } => write!(f, "{name}: more jobs, or a longer time, than can be simulated"),
            TraceError::Estimates { name, why } => write!(f, "{name}: {why}"),
        }
    }
}

impl std::error::Error for TraceError {}
