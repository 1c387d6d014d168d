//! Published tables, computed again: the figures of papers beside ours, and the reason where ours must differ.
//!
//! A [`Study`] is a value: the logs that it can use, its defaults, and the function that computes its [`Figure`]s. A figure
//! has its place in the paper, what was published, what is measured, and a reason where ours must differ. Nothing is tuned
//! to a published figure. [`STUDIES`] lists all studies.
//!
#![doc = include_str!("../cli/help/reproduce.md")]

mod downey;
mod figure;
mod gaussier;
mod helios;
mod kept;
mod kumar_meta;
mod kumar_wait;
mod logs;
#[cfg(feature = "cli")]
mod page;
mod smith;
mod study;
mod tables;
mod talby;
mod tsafrir;

pub use figure::{Agreement, Figure, listed_figures};
pub use kept::KeptFigures;
pub use logs::{ArchiveLog, FoundLog, acknowledgements, find_logs};
#[cfg(feature = "cli")]
pub use page::study_page;
pub use study::{Computed, STUDY_RUN_COLUMNS, Setup, StepDone, Study, StudyError, StudyOption};
pub use tables::{count_agreements, write_figures, write_overview};

pub use downey::DOWNEY;
pub use gaussier::GAUSSIER;
pub use helios::{HELIOS, helios_waits};
pub use kumar_meta::KUMAR_META;
pub use kumar_wait::KUMAR_WAIT;
pub use smith::SMITH;
pub use talby::TALBY;
pub use tsafrir::TSAFRIR;

/// Every study, in the order of the papers.
pub const STUDIES: [Study; 8] = [TALBY, SMITH, TSAFRIR, DOWNEY, KUMAR_WAIT, KUMAR_META, GAUSSIER, HELIOS];
