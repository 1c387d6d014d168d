//! How near a simulated schedule is to the one that a log recorded.
//!
#![cfg_attr(doc, doc = include_str!("../../cli/help/fidelity.md"))]

mod columns;
mod figures;
mod files;
mod moving;
mod recorded;
mod recorded_fit;
mod rows;
mod tables;
mod verdict;

pub use columns::{COMPARED_JOB_COLUMNS, FIDELITY_COLUMNS, WINDOW_COLUMNS};
pub use figures::{FidelityFigures, NEAR};
pub use files::{write_compared_jobs, write_windows};
pub use moving::{MovingError, MovingJob, SameWindows, Windows};
pub use recorded::{ComparedWaits, FidelityBreakdown, RecordedComparison, RecordedWaits};
pub use recorded_fit::RecordedFit;
pub use rows::{ComparedJob, FidelityHeading, FidelityRow, compared_jobs};
pub use tables::{fidelity_group_cells, listed_fidelity, write_fidelity, write_fidelity_groups};
pub use verdict::{NO_WAITS, SITE_COLUMN, SiteCheck, SiteVerdict, known_in_words, verdict_in_words};

use crate::time::{DAY, Seconds};

/// The length of the windows of the moving mean, if none is given.
pub const DEFAULT_WINDOW: Seconds = 14 * DAY;

/// The schedulers that are compared if none is given: each kind that there is, and EASY with the orders of the queue that sites
/// use most: short jobs, wide jobs, and jobs that have waited long for their length first.
pub const DEFAULT_SCHEDULERS: &str = "fcfs,easy,sjbf,conservative,slurm,easy:queue=spf,easy:queue=lqf,easy:queue=expf";

/// The predictor that is used if none is given. A site plans with the estimates of its users.
pub const DEFAULT_PREDICTOR: &str = "estimate";
