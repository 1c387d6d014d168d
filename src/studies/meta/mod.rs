//! One stream of jobs, many sites: to which queue does each job go?
//!
//! A [`MetaSystem`] is a list of sites, each a machine with its own scheduler and predictor, and the jobs of all sites
//! merged into one stream. [`run`] steps the simulations of the sites on one clock and sends each job to sites by a
//! [`DispatchPolicy`]; [`summarize_system`] computes the results. After Kumar and Vadhiyar, "Prediction of Queue
//! Waiting Times for Metascheduling on Parallel Batch Systems", sections 4 and 5.2.
//!
//! ```
//! # mod shadowtime {
//! #     pub use {shadowtime_core::*, shadowtime_studies::*};
//! # }
//! use shadowtime::experiment::Setting;
//! use shadowtime::meta::{MetaSystem, DispatchPolicy, Site, run, summarize_system};
//! use shadowtime::metrics::Measure;
//!
//! let site = |name: &str, procs| {
//!     let mut workload = shadowtime::trace::demo_workload();
//!     workload.procs = procs;
//!     Site { name: name.to_string(), workload, setting: Setting::parse("easy", "estimate").unwrap() }
//! };
//! let system = MetaSystem::new(vec![site("small", 128), site("large", 256)]).unwrap();
//! let policy = DispatchPolicy::parse("least-loaded").unwrap();
//! let record = run(&system, &policy, &mut |_| ()).unwrap();
//! let summary = summarize_system(&system, &policy, &record, &Measure::default());
//! assert_eq!(summary.waits.jobs, 10_000);
//! ```
//!
#![cfg_attr(doc, doc = include_str!("../../cli/help/meta.md"))]

mod clock;
mod figures;
mod live_site;
mod load;
mod policies;
mod rows;
mod scenarios;
mod site_text;
mod system;
mod waits;

pub use clock::{MetaRecord, run, run_with};
pub use figures::{Fairness, MetaSummary, PlacedJob, SiteSummary, WaitSummary, placed_jobs, summarize_system};
pub use load::Load;
pub use policies::{DispatchPolicy, LEAST_STARTS, SiteView, dispatch_forms};
pub use rows::{
    PlacedRow, PolicyRow, SiteRow, listed_meta, mean_over, policy_columns, site_columns, site_rows, write_placed_jobs,
    write_policies, write_scenarios,
};
pub use scenarios::{Partitioning, SCENARIO_DAYS, Scenario};
pub use site_text::{SiteText, SitesFile};
pub use system::{MetaSystem, Site, SiteMachine, StreamJob};
pub use waits::SiteWaitPredictor;
