//! Published tables, computed again: figures of papers beside ours, with what must differ said.
//!
//! A [`Study`] is data: the published figures with their places, the runs that measure each, and a reason where ours
//! must differ. Nothing is tuned to a published figure. [`STUDIES`] lists them all.
//!
#![doc = include_str!("../cli/help/reproduce.md")]

mod downey;
mod downey_tables;
mod figure;
mod gaussier;
mod judge;
mod kept;
mod kumar_meta;
mod kumar_wait;
mod logs;
mod orders;
mod ours;
mod smith;
mod study;
mod tables;
mod talby;
mod tsafrir;

pub use downey::{Downey, PAPER_DAYS};
pub use figure::{Agreement, Figure};
pub use gaussier::{GAUSSIER_LOGS, Gaussier};
pub use kept::KeptFigures;
pub use kumar_meta::KumarMeta;
pub use kumar_wait::{KUMAR_LOGS, KumarWait};
pub use logs::{ArchiveLog, FoundLog, acknowledgements, find_logs, other_logs};
pub use orders::{ORDERS_LOGS, Orders};
pub use ours::{OURS_LOGS, Ours};
pub use smith::{SMITH_LOGS, Smith};
pub use study::{STUDIES, Setup, Study, StudyError, StudyForm};
pub use tables::{count_agreements, write_figures, write_overview};
pub use talby::{TALBY_LOGS, Talby};
pub use tsafrir::{TSAFRIR_LOGS, Tsafrir};
