//! The queue and the machine over time.

use super::{ChartFigure, Compared, CurveChart, DataCell};
use crate::html::axis::ChartAxis;
use crate::metrics::SeriesStep;

/// The chart of waiting jobs.
pub fn queue(compared: &Compared<'_>) -> ChartFigure {
    let steps = compared.settings.iter().flat_map(|(_, setting)| &setting.pictures.series);
    let longest = steps.map(|step| step.waiting).max().unwrap_or(0);
    chart(
        compared,
        "Jobs in the queue",
        (ChartAxis::counts(longest as f64), "waiting jobs"),
        |step| step.waiting as f64,
        |count| count.map_or(DataCell::text("-"), |count| DataCell::count(count as u64)),
        "The number of jobs that wait. Where one curve is below the other, jobs pass faster.",
    )
}

/// The chart of processors in use.
pub fn utilization(compared: &Compared<'_>) -> ChartFigure {
    chart(
        compared,
        "Utilization",
        (ChartAxis::shares(), "processors in use"),
        |step| step.utilization,
        |share| share.map_or(DataCell::text("-"), DataCell::share),
        "The share of the machine that is used, as the mean of each step of time.",
    )
}

fn chart(
    compared: &Compared<'_>,
    title: &str,
    y: (ChartAxis, &str),
    of_step: fn(&SeriesStep) -> f64,
    value: fn(Option<f64>) -> DataCell,
    caption: &str,
) -> ChartFigure {
    let first = compared.first_submit;
    let series = || compared.settings.iter().map(|(_, setting)| &setting.pictures.series);
    let end = series().filter_map(|series| series.last()).map(|step| step.time).max().unwrap_or(first);
    let is_missing = series().any(|series| series.is_empty());
    let missing = if is_missing { " A run that takes too long for a chart is missing." } else { "" };
    let chart = CurveChart {
        title,
        label: title,
        x: (ChartAxis::time_between(0.0, (end - first) as f64), "time since the first submission"),
        y,
        heading: "time",
        place: DataCell::duration,
        value,
        caption: format!("{caption}{missing}"),
    };
    chart.figure(compared, |setting| {
        setting.pictures.series.iter().map(|step| ((step.time - first) as f64, of_step(step))).collect()
    })
}
