//! Malleable jobs: predicted queue times decide how many processors a job takes (Downey, "Using queue time predictions
//! for processor allocation").
//!
//! [`MalleableWorkload`] makes the jobs, [`Outlook`] predicts queue times, [`Strategy`] says how a job decides by them,
//! [`schedule()`] is the loop and [`Figures`] what comes of it; [`run_cases`] puts strategies side by side. Times are real
//! numbers here, as in the paper.
//!
#![doc = include_str!("../cli/help/malleable.md")]

mod decide;
mod figures;
mod line;
mod machine;
mod schedule;
mod strategy;
mod study;
mod tables;
mod workload;

pub use decide::Hope;
pub use figures::{Figures, saved, utilization};
pub use line::{Line, Scatter};
pub use schedule::{Allocation, Kind, Pair, Place, Schedule, View, schedule};
pub use strategy::{Care, Correction, Foresight, Rule, Strategy};
pub use study::{Case, Outcome, most_runs, run_cases, run_workloads};
pub use tables::{Row, write_allocations, write_pairs, write_tables};
pub use workload::{LIFETIMES, MalleableJob, MalleableWorkload, WorkloadError};
