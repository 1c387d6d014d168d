//! Malleable jobs: predicted queue times decide how many processors a job takes (Downey, "Using queue time predictions
//! for processor allocation").
//!
//! [`MalleableWorkload`] makes the jobs, [`Outlook`](crate::model::Outlook) predicts queue times, a [`Strategy`]
//! defines how a job chooses its processors by them, [`schedule_malleable`] makes the schedule, and
//! [`MalleableFigures`] are its results. [`run_cases`] compares strategies. Times are real numbers here, as in the
//! paper.
//!
#![cfg_attr(doc, doc = include_str!("../../cli/help/malleable.md"))]

mod decide;
mod figures;
mod line;
mod machine;
mod schedule;
mod strategy;
mod study;
mod tables;
mod workload;

pub use decide::HoldOut;
pub use figures::{MalleableFigures, saved, utilization};
pub use line::{CorrectionLine, Scatter};
pub use schedule::{
    Allocation, DecisionKind, JobStart, MalleableSchedule, QueueTimePair, StudyView, schedule_malleable,
};
pub use strategy::{LineCorrection, Objective, PredictionSettings, Rule, Strategy};
pub use study::{CaseOutcome, StudyCase, most_runs, run_cases, run_workloads};
pub use tables::{STUDY_COLUMNS, StudyRow, listed_study, write_allocations, write_pairs, write_tables};
pub use workload::{DaySequence, LIFETIMES, MalleableJob, MalleableWorkload};
