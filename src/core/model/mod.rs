//! Models of workloads and estimates, one file per model, and the distributions and curves that they use.
//!
#![cfg_attr(doc, doc = include_str!("../../cli/help/workloads.md"))]

mod daily_cycle;
mod downey;
pub mod estimates;
mod lifetimes;
mod lublin;
mod model_job;
mod offered_load;
mod queue_time;
mod sessions;
mod speedup;
mod users;

pub use daily_cycle::{BUCKETS, DailyCycle};
pub use downey::Downey;
pub use estimates::{Assignment, EstimateModel, Mode, Modes, Sample, ks_distance, replace_estimates};
pub use lifetimes::{Aged, Lifetimes, UniformLog};
pub use lublin::{Lublin, LublinArrivals, LublinClass, LublinParameters, LublinShapes};
pub use model_job::{ModelJob, Origin, Shape, header};
pub use offered_load::{LOAD_TOLERANCE, LoadMet, LoadMeter, meet_load};
pub use queue_time::{Outlook, QueueTimeMethod, SHORTEST_QUEUE_TIME};
pub use sessions::{Sessions, generate_sessions};
pub use speedup::speedup;
pub use users::Users;
