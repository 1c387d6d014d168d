//! How near a simulated schedule is to the one that a log recorded.
//!
#![doc = include_str!("../cli/help/fidelity.md")]

mod columns;
mod figures;
mod moving;
mod recorded;
mod tables;

pub use columns::{FIDELITY_COLUMNS, FidelityColumn};
pub use figures::{FidelityFigures, NEAR};
pub use moving::{MovingError, MovingJob, SameWindows, Windows};
pub use recorded::{FidelityBreakdown, RecordedWaits, ScheduleFidelity};
pub use tables::{
    FidelityHeading, fidelity_cells, fidelity_group_cells, write_fidelity, write_fidelity_groups, write_fidelity_jobs,
    write_fidelity_windows,
};

/// The schedulers that are compared if none is given: each kind that there is, and EASY with the orders of the queue that sites
/// use most: short jobs, wide jobs, and jobs that have waited long for their length first.
pub const DEFAULT_SCHEDULERS: &str = "fcfs,easy,sjbf,conservative,slurm,easy:queue=spf,easy:queue=lqf,easy:queue=expf";

/// The predictor that is used if none is given. A site plans with the estimates of its users.
pub const DEFAULT_PREDICTOR: &str = "estimate";
