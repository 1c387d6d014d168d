//! The Gantt charts of a report.

use std::ops::Range;
use std::sync::Arc;

use super::Window;
use crate::engine::RunRecord;
use crate::experiment::Options;
use crate::metrics::{Breakdown, Gantt, GroupBy, Groupings, Measure, busiest_window, shrink_window};
use crate::report::html::PicturedSetting;
use crate::runs::Simulated;
use crate::time::Time;
use crate::trace::Workload;

/// A run of which charts are made.
pub struct PicturedRun {
    pub run: Arc<Simulated>,
    /// The figures of partitions, if there are several.
    pub partitions: Option<Breakdown>,
}

impl PicturedRun {
    /// What charts show of it, with the name of its setting.
    pub fn named(&self, name: &str) -> PicturedSetting<'_> {
        let Simulated { pictures, users, reasons, .. } = &*self.run;
        let pictures = pictures.as_ref().expect("pictures are wanted of this run");
        PicturedSetting {
            name: name.to_string(),
            pictures,
            users,
            reasons: *reasons,
            partitions: self.partitions.as_ref(),
        }
    }
}

/// The most partitions of a chart. The others are one more.
const MOST_PARTITIONS: usize = 12;

/// The groups of jobs by partition. None if the machine has at most one.
pub fn by_partition(workload: &Workload, measure: &Measure) -> Option<Groupings> {
    let several = workload.shapes.as_ref()?.cluster().partitions.len() > 1;
    several.then(|| Groupings::of(workload, measure, &[(GroupBy::Partition, Some(MOST_PARTITIONS))]))
}

/// The settings of which there is a Gantt chart. With a baseline, which has one too, it is the first that differs from it;
/// otherwise the first two.
pub fn with_gantt(settings: &[Options]) -> Range<usize> {
    match &settings[0].baseline {
        None => 0..settings.len().min(2),
        Some(baseline) => {
            let other = settings.iter().position(|options| !options.setting().is_same(baseline));
            let at = other.unwrap_or(settings.len() - 1);
            at..at + 1
        }
    }
}

/// Gantt charts with the names of their settings, from the top.
type NamedGantts = Vec<(String, Gantt)>;

/// The charts of these runs, and their window, which is that of the first run if none is wanted.
pub fn gantts(
    workload: &Workload,
    wanted: Option<Window>,
    runs: &[(String, &Simulated)],
) -> anyhow::Result<(Range<Time>, NamedGantts)> {
    let records: Vec<&RunRecord> = runs.iter().map(|(_, run)| run.record()).collect();
    let window = match wanted {
        Some(window) => window.times(workload)?,
        None => busiest_window(workload, records[0]),
    };
    let window = shrink_window(window, workload, &records);
    let chart = |(name, run): &(String, &Simulated)| {
        let pictures = run.pictures.as_ref().expect("pictures are wanted of this run");
        (name.clone(), Gantt::of(workload, run.record(), pictures.of(), &window))
    };
    let charts = runs.iter().map(chart).collect();
    Ok((window, charts))
}
