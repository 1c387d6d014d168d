//! What a machine of nodes adds: why jobs wait, and how long they wait in each partition.

use super::{Chart, ChartFigure, Compared, Draw, PicturedSetting};
use crate::html::bars::{Bar, BarChart, BarGroup};
use crate::metrics::columns::WAIT_MEAN;
use crate::metrics::{Breakdown, Cell, Column, Interval, WaitReason};
use crate::{reason_in_words, shown_reasons};

/// The figure of the chart of reasons.
static WAITED: Column =
    Column::duration("wait_sum", "seconds that jobs wait for this reason, all together", |_| Cell::None)
        .lower()
        .heading("sum of waits");

/// The chart of reasons. None on a pool.
pub const REASONS: Chart = Chart { title: "Why jobs wait", probe: None, draw: Draw::Together(reasons) };

/// The chart of partitions. None if there is only one.
pub const PARTITIONS: Chart = Chart { title: "Mean wait by partition", probe: None, draw: Draw::Together(partitions) };

/// A bar of each setting.
fn bars(compared: &Compared<'_>, figure: impl Fn(&PicturedSetting<'_>) -> Option<f64>) -> Vec<Bar> {
    let bar = |(series, setting): &(usize, &PicturedSetting<'_>)| {
        let mean = Interval { mean: figure(setting)?, half_width: None };
        Some(Bar { name: setting.name.clone(), series: *series, runs: 1, mean })
    };
    compared.settings.iter().filter_map(bar).collect()
}

fn reasons(compared: &Compared<'_>) -> Option<ChartFigure> {
    let all = compared.settings.iter().filter_map(|(_, setting)| setting.reasons.as_ref());
    all.clone().next()?;
    let group = |reason: WaitReason| BarGroup {
        heading: reason_in_words(reason, true),
        bars: bars(compared, |setting| setting.reasons.map(|reasons| reasons.seconds(reason))),
    };
    let groups = shown_reasons(all).into_iter().map(group).collect();
    let note = " A job waits for want of what would let it start if there were enough of it, and behind others if it could be \
                placed at once."
        .to_string();
    let (title, headings) = ("Why jobs wait".to_string(), ("reason", "setting"));
    Some(BarChart { title, column: &WAITED, headings, groups, note }.figure())
}

fn partitions(compared: &Compared<'_>) -> Option<ChartFigure> {
    let first: &Breakdown = compared.settings.iter().find_map(|(_, setting)| setting.partitions)?;
    if first.grouping.values.len() < 2 {
        return None;
    }
    let group = |(at, name): (usize, &String)| BarGroup {
        heading: format!("{name}: {:.1}% of the area", first.grouping.area_pct[at]),
        bars: bars(compared, |setting| Some(setting.partitions?.summaries[at].wait_mean)),
    };
    let groups = first.grouping.values.iter().enumerate().map(group).collect();
    let (title, note) = ("Mean wait by partition".to_string(), String::new());
    Some(BarChart { title, column: &WAIT_MEAN, headings: ("partition", "setting"), groups, note }.figure())
}
