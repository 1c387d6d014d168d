//! One stream of jobs, many sites: to which queue does each job go?
//!
//! A [`Grid`] is sites, each a machine with a scheduler and a predictor of its own, and the jobs of all of them merged
//! into one stream. [`run`] steps the sites' simulations on one clock and deals the jobs out by a [`Policy`];
//! [`summarize_grid`] reads the record. After Kumar and Vadhiyar, "Prediction of Queue Waiting Times for Metascheduling
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
mod grid;
mod live_site;
mod load;
mod policies;
mod rows;
mod scenarios;
mod site_text;
mod waits;

pub use clock::{GridRecord, run, run_with};
pub use figures::{Fairness, GridSummary, PlacedJob, SiteSummary, Waits, placed_jobs, summarize_grid};
pub use grid::{Arrival, Grid, GridError, Machine, Site};
pub use load::Load;
pub use policies::{LEAST_STARTS, Policy, SiteView, policy_forms};
pub use rows::{mean_over, policy_row, site_rows, write_policies, write_scenarios};
pub use scenarios::{Partitioning, SCENARIO_DAYS, Scenario};
pub use site_text::{GridFile, SiteText};
pub use waits::SiteWaits;
