//! The Gantt charts of a report.

use std::ops::Range;

use super::Window;
use crate::experiment::Options;
use crate::metrics::{Gantt, busiest_window, gantt_nodes, shrink_window};
use crate::report::html::{GanttSetting, PicturedSetting};
use crate::runs::Simulated;
use crate::time::Time;
use crate::trace::Workload;

/// What charts show of a run, with the name of its setting and its jobs.
pub fn pictured<'a>(name: &str, run: &'a Simulated, workload: &'a Workload) -> PicturedSetting<'a> {
    PicturedSetting { name: name.to_string(), seen: &run.seen, users: &run.users, workload }
}

/// The settings of which there is a Gantt chart. With a baseline, which has one too, it is the first that differs from it;
/// otherwise the first two.
pub fn with_gantt(settings: &[Options]) -> Range<usize> {
    match &settings[0].baseline {
        None => 0..settings.len().min(2),
        Some(baseline) => {
            let is_other = |options: &Options| options.what_if.is_some() || !options.setting().is_same(baseline);
            let other = settings.iter().position(is_other);
            let at = other.unwrap_or(settings.len() - 1);
            at..at + 1
        }
    }
}

/// The charts of these runs with their names and jobs, from the top, and their window, which is that of the first run if none is wanted.
pub fn gantts<'a>(
    wanted: Option<Window>,
    runs: &[(String, &Simulated, &'a Workload)],
) -> anyhow::Result<(Range<Time>, Vec<GanttSetting<'a>>)> {
    let (_, first, workload) = &runs[0];
    let window = match wanted {
        Some(window) => window.times(workload)?,
        None => busiest_window(workload, first.seen.record()),
    };
    let records: Vec<_> = runs.iter().map(|(_, run, workload)| (*workload, run.seen.record())).collect();
    let window = shrink_window(window, &records);
    let gantt = |(_, run, workload): &(String, &Simulated, &Workload)| {
        Gantt::of(workload, run.seen.record(), run.seen.of(), &window)
    };
    let gantts: Vec<Gantt> = runs.iter().map(gantt).collect();
    let cluster = |workload: &'a Workload| workload.shapes.as_ref().map(|shapes| &**shapes.cluster());
    let nodes = |workload: &'a Workload| {
        let own = cluster(workload)?;
        // Charts of one machine have the same nodes.
        let alike = runs.iter().zip(&gantts).filter(|((_, _, other), _)| cluster(other) == Some(own));
        Some(gantt_nodes(own, &alike.map(|(_, gantt)| gantt).collect::<Vec<_>>(), &window))
    };
    let nodes: Vec<_> = runs.iter().map(|(_, _, workload)| nodes(workload).unwrap_or_default()).collect();
    let setting = |(((name, _, workload), gantt), (nodes, nodes_left_out)): ((&(String, _, &'a Workload), _), _)| {
        GanttSetting { name: name.clone(), gantt, workload, nodes, nodes_left_out }
    };
    let settings = runs.iter().zip(gantts).zip(nodes).map(setting).collect();
    Ok((window, settings))
}
