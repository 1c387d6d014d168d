//! Lines of files, errors in them, and what of them has no effect.

use std::fmt;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLine {
    /// The file, if another one includes it.
    pub included: Option<String>,
    /// The number of the line, counted from 1.
    pub line: usize,
}

impl FileLine {
    /// A line of the file itself.
    pub fn of_line(line: usize) -> FileLine {
        FileLine { included: None, line }
    }

    /// An error in this line.
    pub fn wrong(&self, why: impl Into<String>) -> ConfError {
        ConfError { place: self.clone(), why: why.into() }
    }
}

impl fmt::Display for FileLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.included {
            Some(file) => write!(f, "{file}, line {}", self.line),
            None => write!(f, "line {}", self.line),
        }
    }
}

/// An error in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfError {
    /// Where it is.
    pub place: FileLine,
    /// What is wrong there.
    pub why: String,
}

impl fmt::Display for ConfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.why)
    }
}

impl std::error::Error for ConfError {}

/// Something in a file that has no effect on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// Where it is.
    pub place: FileLine,
    /// What it is: `AuthType`, `NodeName CoreSpecCount`.
    pub name: String,
    /// Whether it says something of nodes, partitions or limits that can change which jobs start at the site.
    pub matters: bool,
}

impl Ignored {
    /// Something that says more of the machine than is simulated.
    pub fn of_machine(place: &FileLine, name: impl Into<String>) -> Ignored {
        Ignored { place: place.clone(), name: name.into(), matters: true }
    }

    /// Something else.
    pub fn other(place: &FileLine, name: impl Into<String>) -> Ignored {
        Ignored { matters: false, ..Ignored::of_machine(place, name) }
    }
}
