//! Which format a log has.

use std::fmt;

use super::formats::csv_columns::CsvColumns;

/// The format of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFormat {
    pub(super) name: &'static str,
    /// Those of a table, which has no other names for them.
    pub(super) columns: Option<Box<CsvColumns>>,
    /// Whether its times are dates. If not, they count from the start of the log.
    pub(super) has_dates: bool,
}

impl LogFormat {
    /// The name without columns.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        self.columns.as_ref().map_or(Ok(()), |columns| write!(f, ":{columns}"))
    }
}
