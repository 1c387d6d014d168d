//! The groups of `--by` and `--by-out`: those of tables, and those of the file.

use std::sync::OnceLock;

use crate::cli::output_options::GroupOptions;
use crate::engine::RunRecord;
use crate::metrics::{Breakdown, GroupBy, Groupings, Measure};
use crate::runs::FinishedRun;
use crate::trace::Workload;

/// The groupings of tables and of the file. One that is the same in both is computed once.
pub struct GroupPlan {
    groupings: Groupings,
    measure: Measure,
    /// The indexes of those in tables, and of those in the file.
    pub tables: Vec<usize>,
    pub file: Vec<usize>,
    of_baseline: OnceLock<Vec<Breakdown>>,
}

impl GroupPlan {
    pub fn new(workload: &Workload, measure: &Measure, options: &GroupOptions) -> GroupPlan {
        let mut keys: Vec<_> = options.file_keys(workload).into_iter().map(|by| (by, None)).collect();
        let file = (0..keys.len()).collect();
        let table = |by: GroupBy| {
            let key = (by, by.is_by_name().then_some(options.top));
            keys.iter().position(|other| *other == key).unwrap_or_else(|| {
                keys.push(key);
                keys.len() - 1
            })
        };
        let tables = options.keys().into_iter().map(table).collect();
        let groupings = Groupings::of(workload, measure, &keys);
        GroupPlan { groupings, measure: *measure, tables, file, of_baseline: OnceLock::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.groupings.each().is_empty()
    }

    /// The breakdown of a run on the log as it is by each grouping, compared with its baseline.
    pub fn of(&self, run: &FinishedRun<'_>) -> Vec<Breakdown> {
        if self.is_empty() {
            return Vec::new();
        }
        let break_down = |record: &RunRecord| Breakdown::of(&self.groupings, run.workload, record, &self.measure);
        let mut parts = break_down(run.own.record());
        if let Some(base) = run.baseline.as_ref().map(|base| base.record()) {
            let of_base = self.of_baseline.get_or_init(|| break_down(base));
            let measured = self.measure.jobs(run.workload.jobs.len());
            Breakdown::compare(&mut parts, of_base, &self.groupings, measured, run.own.record(), base);
        }
        parts
    }
}
