//! The distributions of waits and slowdowns.

use super::{ChartFigure, Compared, CurveChart, DataCell};
use crate::html::axis::ChartAxis;
use crate::metrics::{Distribution, Pictures};
use crate::text::grouped;

/// The largest limit of all settings.
fn most(compared: &Compared<'_>, of: fn(&Pictures) -> &Distribution) -> f64 {
    let last = |setting: &super::PicturedSetting<'_>| of(setting.pictures).shares().last().map(|(limit, _)| limit);
    compared.settings.iter().filter_map(|(_, setting)| last(setting)).fold(0.0, f64::max)
}

/// A curve that has ended has all jobs.
fn share(share: Option<f64>) -> DataCell {
    DataCell::share(share.unwrap_or(1.0))
}

/// The chart of waits.
pub fn waits(compared: &Compared<'_>) -> ChartFigure {
    let chart = CurveChart {
        title: "How long jobs wait",
        label: "How long jobs wait",
        x: (ChartAxis::durations(most(compared, |pictures| &pictures.waits)), "wait"),
        y: (ChartAxis::shares(), "jobs that wait at most this long"),
        heading: "wait up to",
        place: DataCell::duration,
        value: share,
        caption:
            "At each wait the share of jobs that wait at most so long: a curve further up is better. The left end is \
                  the share of jobs that wait at most a second."
                .to_string(),
    };
    chart.figure(compared, |setting| setting.pictures.waits.shares().collect())
}

/// The chart of slowdowns.
pub fn slowdowns(compared: &Compared<'_>) -> ChartFigure {
    let ratio = |value: f64| if value < 1e6 { grouped(value as u64) } else { format!("{value:.0e}") };
    let most = most(compared, |pictures| &pictures.slowdowns);
    let chart = CurveChart {
        title: "How much jobs are slowed down",
        label: "How much jobs are slowed down",
        x: (ChartAxis::numbers(1.0, most, ratio), "bounded slowdown"),
        y: (ChartAxis::shares(), "jobs with at most this slowdown"),
        heading: "bounded slowdown up to",
        place: |limit| DataCell::shown(format!("{limit:.2}"), limit),
        value: share,
        caption:
            "At each bounded slowdown the share of jobs that have at most so much: a curve further up is better. 1 is \
                  a job that did not wait."
                .to_string(),
    };
    chart.figure(compared, |setting| setting.pictures.slowdowns.shares().collect())
}
