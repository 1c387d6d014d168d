//! How logs that are not SWF are read.

use crate::time::Seconds;
use crate::trace::log_format::LogFormat;
use crate::trace::requests::file::RequestFile;

/// What a processor of the simulation is: one of [`Unit::COUNTED`]. Jobs without any of it are dropped.
pub use crate::tres::Resource as Unit;

/// When a job counts as submitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SubmitTime {
    /// When it became eligible, if that is later than its submission: a held or dependent job does not wait for the scheduler.
    #[default]
    Eligible,
    /// When it was submitted.
    Submitted,
}

impl SubmitTime {
    /// As specs have it.
    pub fn name(self) -> &'static str {
        match self {
            SubmitTime::Eligible => "eligible",
            SubmitTime::Submitted => "submitted",
        }
    }
}

/// The field of a PBS log with the estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EstimateField {
    /// `Resource_List.walltime`.
    #[default]
    Walltime,
    /// `Resource_List.soft_walltime`, or the other one where it is missing.
    SoftWalltime,
}

impl EstimateField {
    /// As specs have it.
    pub fn name(self) -> &'static str {
        match self {
            EstimateField::Walltime => "walltime",
            EstimateField::SoftWalltime => "soft_walltime",
        }
    }
}

/// How a log is read: its format, and the choices that accounting files leave open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogReading {
    /// The format. None: told by the content.
    pub format: Option<LogFormat>,
    /// What a processor is.
    pub unit: Unit,
    /// When a job counts as submitted.
    pub submit_time: SubmitTime,
    /// The estimates of a PBS log.
    pub estimate_field: EstimateField,
    /// The names of the columns of an sacct file without a header. None: as the file says.
    pub columns: Option<Vec<String>>,
    /// The estimates of jobs without a limit of their own, by the name of the partition.
    pub partition_limits: Vec<(String, Seconds)>,
    /// Only jobs of this cluster. None: all, and it is an error if there are several.
    pub cluster: Option<String>,
    /// The requests of the jobs, in the place of those in the log.
    pub requests: Option<RequestFile>,
}
