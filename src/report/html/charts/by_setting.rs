//! The main figures of all settings as bars.

use super::{Chart, ChartFigure, Compared, Draw};
use crate::figure_in_words;
use crate::html::bars::{Bar, BarChart, BarGroup};
use crate::html::units::upper;
use crate::metrics::Column;
use crate::metrics::columns::{BSLD_MEAN, WAIT_MEAN};

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

/// The most settings in a chart.
const MOST_BARS: usize = 40;

/// A figure of all settings, the baseline first. None if there is nothing to compare.
fn chart(compared: &Compared<'_>, column: &'static Column) -> Option<ChartFigure> {
    let settings = compared.figures;
    let first = settings[0];
    let is_own = settings.len() == 1 && first.is_baseline();
    let baseline = first.baseline().filter(|_| !is_own).map(|name| Bar {
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
    let title = format!("{} by setting", upper(figure_in_words(column)));
    let groups = vec![BarGroup { heading: String::new(), bars }];
    Some(BarChart { title, column, headings: ("", "setting"), groups, note }.figure())
}
