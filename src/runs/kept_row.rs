//! What the folder of finished runs keeps of each.

use super::plan::PlannedRun;
use crate::metrics::{LINE_FORMAT, RunRow};

/// What is kept of a finished run.
pub trait KeptRow: Sized + Send {
    /// The row as a line of text, without a line end.
    fn to_line(&self) -> String;

    /// Reads a line.
    ///
    /// # Errors
    /// If it has another form; the message says why.
    fn from_line(line: &str) -> Result<Self, String>;

    /// Sets what is not part of the key of the run: the name of its log, and specs as they are written.
    fn relabel(&mut self, run: &PlannedRun, trace: String);
}

impl KeptRow for RunRow {
    fn to_line(&self) -> String {
        RunRow::to_line(self)
    }

    fn from_line(line: &str) -> Result<RunRow, String> {
        RunRow::from_line(line)
    }

    fn relabel(&mut self, run: &PlannedRun, trace: String) {
        self.label.trace = trace;
        self.label.scheduler = run.options.scheduler.to_string();
        self.label.predictor = run.options.predictor.to_string();
        if let (Some(row), Some(setting)) = (&mut self.baseline, &run.options.baseline) {
            row.name = setting.pair();
        }
    }
}

/// The format of kept [`RunRow`]s, which is a part of the keys of runs.
pub fn row_format() -> String {
    format!("rows {LINE_FORMAT}")
}
