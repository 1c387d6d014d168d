//! The queue and the machine over time: means of days or weeks if the log is long.

use super::{Chart, ChartFigure, Compared, Curve, CurveChart, DataCell, Draw, PicturedSetting, gone};
use crate::html::axis::ChartAxis;
use crate::metrics::{Measure, Probe, Series, SeriesStep};
use crate::text::counted;
use crate::time::{DAY, HOUR, MINUTE, Seconds, Time, date};
use crate::trace::Workload;

/// The chart of waiting jobs.
pub const QUEUE: Chart = Chart { title: "Jobs in the queue", probe: series, draw: Draw::Together(queue) };

/// The chart of processors in use.
pub const UTILIZATION: Chart = Chart { title: "Utilization", probe: series, draw: Draw::Together(utilization) };

/// The times of which a chart shows the mean, and their names. The first is taken of which a log has at most [`MOST_POINTS`].
const TIMES: [(Seconds, &str); 7] = [
    (MINUTE, "minute"),
    (10 * MINUTE, "10 minutes"),
    (HOUR, "hour"),
    (6 * HOUR, "6 hours"),
    (DAY, "day"),
    (7 * DAY, "week"),
    (30 * DAY, "30 days"),
];

/// The most points of a curve, about. The simulation may take longer than the submissions.
const MOST_POINTS: Seconds = 250;

/// The steps of a series in one point.
const STEPS: Seconds = 24;

/// What bands from the top are.
const HANGING: &str = " Shaded at the top: the share of the machine that is out, or reserved.";

/// With more settings than this there are no bands: they would cover each other.
const MOST_BANDS: usize = 2;

/// A log that is shorter has hours on its axis, and not dates.
const SHORTEST_WITH_DATES: Seconds = 5 * DAY;

/// The time of one point, with its name.
fn time_of_point(workload: &Workload) -> (Seconds, String) {
    let longest = workload.jobs.iter().map(|job| job.runtime).max().unwrap_or(0);
    let length = workload.last_submit() - workload.first_submit() + longest;
    match TIMES.into_iter().find(|(time, _)| length / time <= MOST_POINTS) {
        Some((time, name)) => (time, name.to_string()),
        None => {
            let days = (length / MOST_POINTS / (30 * DAY) + 1) * 30;
            (days * DAY, counted(days as u64, "day"))
        }
    }
}

/// What is watched of a run.
fn series(workload: &Workload, _: &Measure) -> Option<Box<dyn Probe>> {
    let step = (time_of_point(workload).0 / STEPS).max(MINUTE);
    Some(Box::new(Series::new(workload.procs, workload.first_submit(), step)))
}

fn queue(compared: &Compared<'_>) -> Option<ChartFigure> {
    chart(
        compared,
        ("Jobs in the queue", "waiting jobs"),
        ChartAxis::counts,
        |step| step.waiting as f64,
        |count| count.map_or(DataCell::text("-"), |count| DataCell::shown(format!("{count:.1}"), count)),
        "The number of jobs that wait. Where one curve is below the other, jobs pass faster.",
    )
}

fn utilization(compared: &Compared<'_>) -> Option<ChartFigure> {
    chart(
        compared,
        ("Utilization", "processors in use"),
        |_| ChartAxis::shares(),
        |step| step.utilization,
        |share| share.map_or(DataCell::text("-"), DataCell::share),
        "The share of the machine that is used.",
    )
}

fn chart(
    compared: &Compared<'_>,
    (label, y_title): (&str, &str),
    y_axis: fn(f64) -> ChartAxis,
    of_step: fn(&SeriesStep) -> f64,
    value: fn(Option<f64>) -> DataCell,
    caption: &str,
) -> Option<ChartFigure> {
    // A change of the site may take longer.
    let times = compared.settings.iter().map(|(_, setting)| time_of_point(setting.workload));
    let (first, (time, name)) = (compared.first_submit, times.max()?);
    let has_bands = compared.settings.len() <= MOST_BANDS && time > MINUTE;
    let curve = |&(series, setting): &(usize, &PicturedSetting<'_>)| {
        let steps = setting.seen.of::<Series>().clone().finish().unwrap_or_default();
        let mut curve = Curve { series, ..Curve::default() };
        for steps in steps.chunk_by(|a, b| (a.time - first) / time == (b.time - first) / time) {
            let middle = ((steps[0].time - first) / time * time) as f64 + time as f64 / 2.0;
            let Thinned { mean, low, high } = Thinned::of(steps.iter().map(of_step).collect());
            curve.points.push((middle, mean));
            curve.band.extend(has_bands.then_some((middle, low, high)));
        }
        curve
    };
    let curves: Vec<Curve> = compared.settings.iter().map(curve).collect();
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let ends = curves.iter().flat_map(|curve| &curve.band).map(|band| band.2);
    let most = points().map(|point| point.1).chain(ends).fold(0.0, f64::max);
    let end = points().map(|point| point.0).fold(0.0, f64::max) + time as f64 / 2.0;
    let zero = compared.workload.unix_start.map(|start| start + first);
    let zero = zero.filter(|_| end >= SHORTEST_WITH_DATES as f64);
    let x = match zero {
        Some(zero) => (ChartAxis::dates(zero, end), format!("date (UTC), from {} on", date(zero))),
        None => (ChartAxis::time_between(0.0, end), "time since the first submission".to_string()),
    };
    let is_missing = curves.iter().any(|curve| curve.points.is_empty());
    let missing = if is_missing { " A run that takes too long for a chart is missing." } else { "" };
    let bands = match has_bands {
        true => format!(" Lines are means of each {name}; bands have the middle 80% of its time."),
        false => format!(" Lines are means of each {name}."),
    };
    let shown = first..first + end as Time;
    // What changes of the site have out is in the charts of their schedules.
    let outages = |workload: &Workload| workload.outages.as_ref().map(|outages| outages.list.clone());
    let is_same = |setting: &PicturedSetting<'_>| outages(setting.workload) == outages(compared.workload);
    let outages_of = compared.settings.iter().all(|(_, setting)| is_same(setting)).then_some(compared.workload);
    let hanging = outages_of.map_or(Vec::new(), |workload| gone::hanging(workload, &shown));
    let out = if hanging.is_empty() { "" } else { HANGING };
    let begin = |middle: f64| middle - time as f64 / 2.0;
    let chart = CurveChart {
        label,
        x: (x.0, &x.1),
        y: (y_axis(most), y_title),
        heading: "time",
        place: &|middle| match zero {
            Some(zero) if time >= DAY => DataCell::shown(date(zero + begin(middle) as Seconds), middle),
            _ => DataCell::shown(crate::time::readable_duration(begin(middle)), middle),
        },
        value,
        caption: format!("{caption}{bands}{missing}{out}"),
        bands: hanging,
    };
    let mut figure = chart.figure_of(compared, curves);
    figure.legend.extend(outages_of.map_or(Vec::new(), |workload| gone::legend(workload, &shown)));
    Some(figure)
}

/// What is shown of the values of one point: their mean, and between which two the middle 80% are.
#[derive(Debug, PartialEq)]
struct Thinned {
    mean: f64,
    low: f64,
    high: f64,
}

impl Thinned {
    fn of(mut values: Vec<f64>) -> Thinned {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.sort_unstable_by(f64::total_cmp);
        let tenth = values.len() / 10;
        Thinned { mean, low: values[tenth], high: values[values.len() - 1 - tenth] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_has_the_mean_and_the_middle_of_its_values() {
        let values = |values: &[f64]| Thinned::of(values.to_vec());
        assert_eq!(values(&[3.0]), Thinned { mean: 3.0, low: 3.0, high: 3.0 });
        assert_eq!(values(&[4.0, 0.0]), Thinned { mean: 2.0, low: 0.0, high: 4.0 });
        let many: Vec<f64> = (0..20).rev().map(f64::from).collect();
        assert_eq!(values(&many), Thinned { mean: 9.5, low: 2.0, high: 17.0 });
    }

    #[test]
    fn long_logs_have_few_points() {
        let of = |days: i64| {
            let mut workload = crate::trace::demo_workload();
            let last = workload.jobs.len() - 1;
            workload.jobs.iter_mut().for_each(|job| job.runtime = 1);
            workload.jobs[last].submission.submit = workload.first_submit() + days * DAY;
            time_of_point(&workload).1
        };
        assert_eq!([of(30), of(200), of(340), of(3000)], ["6 hours", "day", "week", "30 days"]);
        assert_eq!(of(20_000), "90 days");
    }
}
