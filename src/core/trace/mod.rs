//! From a log to a workload: logs of several formats in, SWF out, cleaning and shaping.
//!
//! [`read`] returns a [`Log`] with all records as written. [`clean`] makes a [`Workload`] from it and counts what each rule
//! changed. [`shape`] selects a part of it, repeats it or changes its load.
//!
#![cfg_attr(doc, doc = include_str!("../../cli/help/logs.md"))]

mod clean;
mod conditions;
mod demo;
mod error;
mod feedback;
mod formats;
mod header;
mod ids;
mod join;
mod known_run;
mod labels;
mod lines;
mod log;
mod log_format;
mod log_text;
mod number;
mod on_cluster;
mod outages;
mod queue;
mod read;
mod record;
mod requests;
mod resample;
mod resampled;
mod rows;
mod shape;
mod shown_names;
mod source;
mod survey;
mod time_unit;
mod unit_doubt;
mod validate;
mod wide;
mod workload;
mod write;
mod zone;

pub use clean::{Cleaning, MissingEstimate, Overrun, ProcsField, clean, clean_at, clean_out, peak};
pub use conditions::{
    CONDITION_FIELDS, ConditionSurvey, ConditionTexts, Conditions, Dependency, DependencyKind, GatedJob, Hold,
    JobArray, Links, LogConditions, NeverEligible, TaskArrays, recorded_eligibility,
};
pub use demo::{demo, demo_workload};
pub use error::{FIELD_NAMES, FaultKind, LineFault, TraceError};
pub use feedback::{
    FeedbackLinks, FeedbackModel, FollowingJob, LinkedGroup, LogFeedback, Preceding, ReactionGroup, feedback_forms,
};
pub use formats::{CsvColumns, log_formats};
pub use header::Header;
pub use ids::{LogId, LogIds};
pub use join::CONVERTED;
pub use known_run::RunFacts;
pub use labels::labels;
pub use log::{Log, ReadOptions, Skipped};
pub use log_format::LogFormat;
pub use log_text::LogText;
pub use on_cluster::{LogSite, PartitionMap, put_on_cluster};
pub use outages::{nodes_of, outages_of};
pub use queue::{PresentJob, PresentQueue, PresentStage, QueueReading, read_queue};
pub use read::{read, read_joined};
pub use record::{Fields, Record, field_texts};
pub use requests::{
    DeviceSurvey, MemoryRange, REQUEST_FIELDS, RequestField, RequestFile, RequestSurvey, Said, beyond_a_pool,
};
pub use resample::{Resample, resample_forms};
pub use resampled::Resampled;
pub use rows::{EstimateField, LogNames, LogReading, NameKind, RowCause, SourceReport, SubmitTime, Unit};
pub use shape::{Moment, Shaping, shape, shape_like};
pub use shown_names::{ShownNames, shown_texts};
pub use source::{Source, digest};
pub use survey::{GivenProcs, Survey, survey};
pub use time_unit::TimeUnit;
pub use unit_doubt::UnitDoubt;
pub use validate::{Finding, Findings, over_machine, validate};
pub use wide::WideNumbers;
pub use workload::{CleaningCause, CleaningReport, Workload};
pub use write::{write_header, write_record, write_texts};
pub use zone::{LocalClock, Zone};
