//! The Gantt charts of a report.

use std::ops::Range;

use super::Window;
use crate::engine::RunRecord;
use crate::experiment::Options;
use crate::metrics::{Gantt, busiest_window, shrink_window};
use crate::report::html::PicturedSetting;
use crate::runs::Simulated;
use crate::time::Time;
use crate::trace::Workload;

/// What charts show of a run, with the name of its setting.
pub fn pictured<'a>(name: &str, run: &'a Simulated) -> PicturedSetting<'a> {
    PicturedSetting { name: name.to_string(), seen: &run.seen, users: &run.users }
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
    let records: Vec<&RunRecord> = runs.iter().map(|(_, run)| run.seen.record()).collect();
    let window = match wanted {
        Some(window) => window.times(workload)?,
        None => busiest_window(workload, records[0]),
    };
    let window = shrink_window(window, workload, &records);
    let chart = |(name, run): &(String, &Simulated)| {
        (name.clone(), Gantt::of(workload, run.seen.record(), run.seen.of(), &window))
    };
    let charts = runs.iter().map(chart).collect();
    Ok((window, charts))
}
