//! The main figures of all settings as bars.

use super::{Chart, ChartFigure, Compared, Draw};
use crate::comparison::base_name;
use crate::figure_in_words;
use crate::html::bars::{Bar, BarChart, BarGroup};
use crate::html::units::upper;
use crate::metrics::Column;
use crate::metrics::columns::{BSLD_MEAN, UTILIZATION, UTILIZATION_OF, WAIT_MEAN};
use shadowtime_core::tres::Resource;

/// The mean waits.
pub const WAITS: Chart = Chart {
    title: "Mean wait by setting",
    probe: |_, _| None,
    draw: Draw::Together(|compared| chart(compared, &WAIT_MEAN)),
};

/// The mean bounded slowdowns.
pub const SLOWDOWNS: Chart = Chart {
    title: "Mean bounded slowdown by setting",
    probe: |_, _| None,
    draw: Draw::Together(|compared| chart(compared, &BSLD_MEAN)),
};

/// What jobs are given of the machine, which a change of a site may make larger or smaller.
pub const USE: Chart = Chart { title: "Use of the machine", probe: |_, _| None, draw: Draw::Together(use_of_machine) };

/// The most settings in a chart.
const MOST_BARS: usize = 40;

/// A figure of all settings, the baseline first, and what of it is left out. None if there is nothing to compare.
fn bars_of(compared: &Compared<'_>, column: &Column) -> Option<(Vec<Bar>, String)> {
    let settings = compared.figures;
    let first = settings[0];
    let is_own = settings.len() == 1 && first.is_baseline();
    let baseline = base_name(first).filter(|_| !is_own).map(|name| Bar {
        name: name.to_string(),
        series: 0,
        runs: first.count(),
        mean: first.base_mean(column),
    });
    let others = (1..).zip(settings).map(|(series, setting)| Bar {
        name: setting.name(),
        series,
        runs: setting.count(),
        mean: setting.mean(column),
    });
    let mut bars: Vec<Bar> = baseline.into_iter().chain(others).collect();
    let note = match bars.len() {
        0 | 1 => return None,
        all if all > MOST_BARS => format!(" The first {MOST_BARS} of {all} settings are shown."),
        _ => String::new(),
    };
    bars.truncate(MOST_BARS);
    Some((bars, note))
}

fn chart(compared: &Compared<'_>, column: &'static Column) -> Option<ChartFigure> {
    let (bars, note) = bars_of(compared, column)?;
    let title = format!("{} by setting", upper(figure_in_words(column)));
    let groups = vec![BarGroup { heading: String::new(), bars }];
    Some(BarChart { title, column, headings: ("", "setting"), groups, note }.figure())
}

/// None unless the settings are changes of a site: at one site they do the same work in about the same time.
fn use_of_machine(compared: &Compared<'_>) -> Option<ChartFigure> {
    if !compared.are_changes() {
        return None;
    }
    let of_nodes = Resource::OF_NODES.into_iter().zip(UTILIZATION_OF.iter());
    let of_nodes = of_nodes.map(|(kind, column)| (format!("{} given to jobs", kind.many()), column));
    let is_there = |bars: &[Bar]| bars.iter().any(|bar| bar.mean.mean.is_finite());
    let group = |(heading, column): (String, &Column)| {
        let (bars, note) = bars_of(compared, column)?;
        is_there(&bars).then_some((BarGroup { heading, bars }, note))
    };
    let mut groups: Vec<(BarGroup, String)> = of_nodes.filter_map(group).collect();
    if groups.is_empty() {
        groups.extend(group((String::new(), &UTILIZATION)));
    }
    let note = groups.first()?.1.clone();
    let groups = groups.into_iter().map(|(group, _)| group).collect();
    let headings = ("resource", "setting");
    Some(BarChart { title: USE.title.to_string(), column: &UTILIZATION, headings, groups, note }.figure())
}
