//! Published tables, computed again: figures of papers beside ours, with what must differ said.
//!
//! A study is data: the published figures with their places, the runs that measure each, and a note where ours must
//! differ. Nothing is tuned to a published figure.
//!
#![doc = include_str!("../cli/help/reproduce.md")]

mod downey;
mod downey_tables;
mod figure;
mod judge;
mod kumar_meta;
mod kumar_wait;
mod logs;
mod smith;
mod talby;
mod tsafrir;

pub use downey::Downey;
pub use figure::{Figure, write_figures};
pub use kumar_meta::{KumarMeta, kumar_meta_logs};
pub use kumar_wait::{KumarWait, kumar_wait_logs};
pub use logs::{FoundLog, LogName, acknowledgements, find_logs};
pub use smith::{Smith, smith_logs};
pub use talby::{Talby, talby_logs};
pub use tsafrir::{Tsafrir, tsafrir_logs};
