//! One stream of jobs, many sites: to which queue does each job go?
//!
//! A [`MetaSystem`] is sites, each a machine with a scheduler and a predictor of its own, and the jobs of all of them merged
//! into one stream. [`run`] steps the sites' simulations on one clock and deals the jobs out by a [`DispatchPolicy`];
//! [`summarize_system`] reads the record. After Kumar and Vadhiyar, "Prediction of Queue Waiting Times for Metascheduling
//! on Parallel Batch Systems", sections 4 and 5.2.
//!
//! ```
//! use shadowtime::experiment::Setting;
//! use shadowtime::meta::{Grid, Policy, Site, run, summarize_grid};
//! use shadowtime::metrics::Measure;
//!
//! let site = |name: &str, procs| {
//!     let mut workload = shadowtime::trace::demo_workload();
//!     workload.procs = procs;
//!     Site { name: name.to_string(), workload, setting: Setting::parse("easy", "estimate").unwrap() }
//! };
//! let grid = Grid::new(vec![site("small", 128), site("large", 256)]).unwrap();
//! let policy = Policy::parse("least-loaded").unwrap();
//! let record = run(&grid, &policy, &mut |_| ()).unwrap();
//! let summary = summarize_grid(&grid, &policy, &record, &Measure::default());
//! assert_eq!(summary.waits.jobs, 10_000);
//! ```
//!
#![doc = include_str!("../cli/help/meta.md")]

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
pub use rows::{mean_over, policy_row, site_rows, write_policies, write_scenarios};
pub use scenarios::{Partitioning, SCENARIO_DAYS, Scenario};
pub use site_text::{SiteText, SitesFile};
pub use system::{MetaSystem, MetaSystemError, Site, SiteMachine, StreamJob};
pub use waits::SiteWaitPredictor;
