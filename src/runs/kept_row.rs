//! What the folder of finished runs keeps of each.

use super::execute::FinishedRun;
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

/// The row of a run with this number of replications, and its format. With several, users are compared over all of them.
pub fn row_of_replications(replications: u32) -> (fn(&FinishedRun<'_>) -> RunRow, String) {
    match replications {
        0 | 1 => (|run| run.row(), row_format()),
        _ => (|run| run.row_with_users(), format!("{} with users", row_format())),
    }
}

/// The format of kept [`RunRow`]s, which is a part of the keys of runs.
pub fn row_format() -> String {
    format!("rows {LINE_FORMAT}")
}
