//! The groups of `--by` and `--by-out`: those of tables, and those of the file.

use std::sync::Arc;

use crate::cli::output_options::GroupOptions;
use crate::metrics::{Breakdown, EndedRun, GroupBy, Groupings, KeptRecord, Measure, Probe, Watched};
use crate::runs::FinishedRun;
use crate::trace::Workload;

/// The groupings of tables and of the file. One that is the same in both is computed once.
pub struct GroupPlan {
    groupings: Arc<Groupings>,
    measure: Measure,
    /// The indexes of those in tables, and of those in the file.
    pub tables: Vec<usize>,
    pub file: Vec<usize>,
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
        let groupings = Arc::new(Groupings::of(workload, measure, &keys));
        GroupPlan { groupings, measure: *measure, tables, file }
    }

    /// Adds what groups show of a run.
    pub fn watch(&self, watched: &mut Watched<'_>) {
        if !self.groupings.each().is_empty() {
            let groupings = self.groupings.clone();
            watched.add(move |_, _| GroupFigures { groupings: groupings.clone(), breakdowns: Vec::new() });
            watched.add(|_, _| KeptRecord::default());
        }
    }

    /// The breakdown of a run on the log as it is by each grouping, compared with its baseline.
    pub fn of(&self, run: &FinishedRun<'_>) -> Vec<Breakdown> {
        let Some(own) = run.own.seen.get::<GroupFigures>() else { return Vec::new() };
        let mut parts = own.breakdowns.clone();
        if let Some(base) = &run.baseline {
            let (of_base, measured) = (base.seen.of::<GroupFigures>(), self.measure.jobs(run.workload.jobs.len()));
            let (own, base) = (run.own.seen.record(), base.seen.record());
            Breakdown::compare(&mut parts, &of_base.breakdowns, &self.groupings, measured, own, base);
        }
        parts
    }
}

/// The figures of the groups of a run.
#[derive(Debug)]
struct GroupFigures {
    groupings: Arc<Groupings>,
    breakdowns: Vec<Breakdown>,
}

impl Probe for GroupFigures {
    fn end(&mut self, run: &EndedRun<'_>) {
        self.breakdowns = Breakdown::of(&self.groupings, run.workload, run.record, run.measure);
    }
}
