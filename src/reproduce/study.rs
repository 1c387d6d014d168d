//! What every study is: logs that it needs, work that can be counted, and figures at the end.

use std::fmt;
use std::path::PathBuf;

use super::figure::Figure;
use super::logs::{ArchiveLog, FoundLog};
use crate::engine::EngineError;
use crate::report::OutputError;
use crate::runs::RunsError;
use crate::trace::TraceError;

/// A paper whose figures are computed again.
pub trait Study {
    /// The name after `sim reproduce`.
    fn name(&self) -> &'static str;

    /// The logs that it reads; none for a study of made workloads.
    fn logs(&self) -> &[FoundLog];

    /// The number of steps that [`Study::figures`] takes, and what one step is: `runs`, `searches`, `workloads`.
    fn steps(&self) -> (usize, &'static str);

    /// Computes the figures. `progress` is called after each step with the number of finished steps.
    ///
    /// # Errors
    ///
    /// If a simulation fails, or if results that are kept on disk cannot be read or written.
    fn figures(&self, progress: &(dyn Fn(usize) + Sync)) -> Result<Vec<Figure>, StudyError>;
}

/// What a study is built from, beyond its own options.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The logs at hand.
    pub logs: Vec<FoundLog>,
    /// Where finished runs are kept, for studies that can keep them.
    pub folder: Option<PathBuf>,
    /// The number of threads to use.
    pub threads: usize,
    /// A first look: one replication, and samples where the whole takes long.
    pub quick: bool,
}

/// An entry of the list of studies.
#[derive(Clone, Copy)]
pub struct StudyForm {
    /// The name after `sim reproduce`.
    pub name: &'static str,
    /// The paper in a few words.
    pub paper: &'static str,
    /// The logs that it can use.
    pub logs: &'static [ArchiveLog],
    /// Builds the study, with its own options at their defaults.
    pub build: fn(Setup) -> Result<Box<dyn Study>, StudyError>,
}

/// Every study, in the order of the papers.
pub const STUDIES: [StudyForm; 9] = [
    super::talby::FORM,
    super::smith::FORM,
    super::tsafrir::FORM,
    super::downey::FORM,
    super::kumar_wait::FORM,
    super::kumar_meta::FORM,
    super::gaussier::FORM,
    super::orders::FORM,
    super::ours::FORM,
];

/// A study that could not be finished.
#[derive(Debug)]
pub enum StudyError {
    /// Options that leave nothing to do.
    Usage(String),
    /// A log that cannot be read.
    Log(TraceError),
    /// A simulation that failed, with the reason.
    Simulation(String),
    /// Results that cannot be kept or read back.
    Kept(OutputError),
}

impl fmt::Display for StudyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StudyError::Log(error) => error.fmt(f),
            StudyError::Usage(why) | StudyError::Simulation(why) => f.write_str(why),
            StudyError::Kept(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StudyError {}

impl From<TraceError> for StudyError {
    fn from(error: TraceError) -> Self {
        StudyError::Log(error)
    }
}

impl From<EngineError> for StudyError {
    fn from(error: EngineError) -> Self {
        StudyError::Simulation(error.to_string())
    }
}

impl From<RunsError> for StudyError {
    fn from(error: RunsError) -> Self {
        match error {
            RunsError::Kept(error) => StudyError::Kept(error),
            RunsError::Folder(why) | RunsError::Failed(why) => StudyError::Simulation(why),
        }
    }
}

impl From<OutputError> for StudyError {
    fn from(error: OutputError) -> Self {
        StudyError::Kept(error)
    }
}
