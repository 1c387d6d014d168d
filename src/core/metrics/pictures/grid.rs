//! The mean waits of jobs by their width and their runtime.

use crate::metrics::breakdown::{RUNTIME_CLASSES, runtime_class, width_class};
use crate::time::Seconds;

/// The classes of widths: 1, 2, 3-4, 5-8 and so on.
const WIDTHS: usize = 33;

/// The jobs of one class of widths and one of runtimes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GridCell {
    /// Their number.
    pub jobs: u64,
    /// The sum of their waits, in seconds.
    wait: i128,
}

impl GridCell {
    /// The mean wait, in seconds. None if there are no jobs.
    pub fn wait_mean(&self) -> Option<f64> {
        (self.jobs > 0).then(|| self.wait as f64 / self.jobs as f64)
    }
}

/// The cells of all classes, as [`GroupBy::Width`](crate::metrics::GroupBy::Width) and
/// [`GroupBy::Runtime`](crate::metrics::GroupBy::Runtime) have them.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitGrid {
    cells: Vec<GridCell>,
}

impl Default for WaitGrid {
    fn default() -> WaitGrid {
        WaitGrid { cells: vec![GridCell::default(); WIDTHS * RUNTIME_CLASSES] }
    }
}

impl WaitGrid {
    pub(super) fn add(&mut self, procs: u32, runtime: Seconds, wait: Seconds) {
        let at = width_class(procs) as usize * RUNTIME_CLASSES + runtime_class(runtime) as usize;
        self.cells[at].jobs += 1;
        self.cells[at].wait += i128::from(wait);
    }

    /// The rows that have jobs: the class of widths, and a cell for each class of runtimes.
    pub fn rows(&self) -> impl Iterator<Item = (i64, &[GridCell])> {
        let rows = self.cells.chunks(RUNTIME_CLASSES).enumerate();
        rows.filter(|(_, cells)| cells.iter().any(|cell| cell.jobs > 0)).map(|(class, cells)| (class as i64, cells))
    }
}
