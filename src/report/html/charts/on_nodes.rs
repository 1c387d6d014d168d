//! What a machine of nodes adds: why jobs wait, and how long they wait in each partition.

use super::{Chart, ChartFigure, Compared, Draw, PicturedSetting};
use crate::html::bars::{Bar, BarChart, BarGroup};
use crate::metrics::columns::WAIT_MEAN;
use crate::metrics::{
    Breakdown, Cell, Column, EndedRun, GroupBy, Groupings, Interval, Measure, Probe, WaitReason, WaitReasonMeter,
    WaitReasons,
};
use crate::trace::Workload;
use crate::{reason_in_words, shown_reasons};

/// The figure of the chart of reasons.
static WAITED: Column =
    Column::duration("wait_sum", "seconds that jobs wait for this reason, all together", |_| Cell::None)
        .lower()
        .heading("sum of waits");

/// The chart of reasons. None on a pool, unless it is the site of changes.
pub const REASONS: Chart = Chart { title: "Why jobs wait", probe: reason_meter, draw: Draw::Together(reasons) };

/// The chart of partitions. None if there is only one.
pub const PARTITIONS: Chart =
    Chart { title: "Mean wait by partition", probe: by_partition, draw: Draw::Together(partitions) };

/// What meters why jobs wait. None on a pool.
fn reason_meter(workload: &Workload, measure: &Measure) -> Option<Box<dyn Probe>> {
    workload.shapes.as_ref()?;
    Some(Box::new(WaitReasonMeter::new(workload, measure)))
}

/// The most partitions of a chart. The others are one more.
const MOST_PARTITIONS: usize = 12;

/// The figures of the jobs of each partition.
#[derive(Debug, Default)]
struct ByPartition(Option<Breakdown>);

/// None if the machine has at most one partition.
fn by_partition(workload: &Workload, _: &Measure) -> Option<Box<dyn Probe>> {
    let several = workload.shapes.as_ref()?.cluster().partitions.len() > 1;
    several.then(|| Box::<ByPartition>::default() as Box<dyn Probe>)
}

impl Probe for ByPartition {
    fn end(&mut self, run: &EndedRun<'_>) {
        let groupings = Groupings::of(run.workload, run.measure, &[(GroupBy::Partition, Some(MOST_PARTITIONS))]);
        self.0 = Breakdown::of(&groupings, run.workload, run.record, run.measure).pop();
    }
}

/// A bar of each setting.
fn bars(compared: &Compared<'_>, figure: impl Fn(&PicturedSetting<'_>) -> Option<f64>) -> Vec<Bar> {
    let bar = |(series, setting): &(usize, &PicturedSetting<'_>)| {
        let mean = Interval { mean: figure(setting)?, half_width: None };
        Some(Bar { name: setting.name.clone(), series: *series, runs: 1, mean })
    };
    compared.settings.iter().filter_map(bar).collect()
}

/// Why the jobs of a setting wait.
fn of(setting: &PicturedSetting<'_>) -> Option<WaitReasons> {
    setting.seen.get::<WaitReasonMeter>().map(WaitReasonMeter::sums)
}

fn reasons(compared: &Compared<'_>) -> Option<ChartFigure> {
    let all = compared.settings.iter().filter_map(|(_, setting)| of(setting)).collect::<Vec<_>>();
    all.first()?;
    let on_nodes = compared.settings.iter().any(|(_, setting)| setting.workload.shapes.is_some());
    let group = |reason: WaitReason| BarGroup {
        heading: reason_in_words(reason, on_nodes),
        bars: bars(compared, |setting| of(setting).map(|reasons| reasons.seconds(reason))),
    };
    let groups = shown_reasons(all.iter()).into_iter().map(group).collect();
    let note = " A job waits for want of what would let it start if there were enough of it, and behind others if it could be \
                placed at once."
        .to_string();
    let (title, headings) = ("Why jobs wait".to_string(), ("reason", "setting"));
    Some(BarChart { title, column: &WAITED, headings, groups, note }.figure())
}

/// The figures of the partitions of a setting.
fn of_partitions<'a>(setting: &PicturedSetting<'a>) -> Option<&'a Breakdown> {
    setting.seen.get::<ByPartition>()?.0.as_ref()
}

fn partitions(compared: &Compared<'_>) -> Option<ChartFigure> {
    let first = compared.settings.iter().find_map(|(_, setting)| of_partitions(setting))?;
    if first.grouping.values.len() < 2 {
        return None;
    }
    // A change of the site may have other partitions.
    let wait_in = |breakdown: &Breakdown, name: &String| {
        let at = breakdown.grouping.values.iter().position(|other| other == name)?;
        Some(breakdown.summaries[at].wait_mean)
    };
    let group = |(at, name): (usize, &String)| BarGroup {
        heading: format!("{name}: {:.1}% of the area", first.grouping.area_pct[at]),
        bars: bars(compared, |setting| wait_in(of_partitions(setting)?, name)),
    };
    let groups = first.grouping.values.iter().enumerate().map(group).collect();
    let (title, note) = ("Mean wait by partition".to_string(), String::new());
    Some(BarChart { title, column: &WAIT_MEAN, headings: ("partition", "setting"), groups, note }.figure())
}
