//! How good predictions are: during the life of jobs, and whether they were long enough.

use super::{ChartFigure, Compared, CurveChart, DataCell, DataTable, Frame, PicturedSetting, draw_curves};
use crate::html::axis::ChartAxis;
use crate::metrics::LIFE_PARTS;

/// Prediction lengths with fewer jobs than this are not drawn.
const FEW_JOBS: u64 = 10;

/// The chart of accuracy during life.
pub fn during_life(compared: &Compared<'_>) -> ChartFigure {
    let chart = CurveChart {
        title: "Accuracy during the life of a job",
        label: "Mean relative accuracy by the share of the job's life that has passed",
        x: (ChartAxis::shares(), "share of the job's life that has passed"),
        y: (ChartAxis::shares(), "mean relative accuracy (RA)"),
        heading: "share of the life",
        place: |middle| {
            let percent = |parts: f64| (100.0 * (middle + parts / LIFE_PARTS as f64)).round();
            DataCell::text(format!("{}% to {}%", percent(-0.5), percent(0.5)))
        },
        value: |ra| ra.map_or(DataCell::text("-"), DataCell::share),
        caption:
            "A life lasts from submission to end. RA is the smaller of prediction and runtime over the larger; 100% is \
                  exact. Curves that rise are of predictors that learn while jobs wait and run."
                .to_string(),
    };
    let middle = |part: usize| (part as f64 + 0.5) / LIFE_PARTS as f64;
    chart.figure(compared, |setting| {
        setting.pictures.life.iter().enumerate().map(|(part, ra)| (middle(part), *ra)).collect()
    })
}

/// The chart of predictions that were long enough. Its table has the numbers of jobs too.
pub fn long_enough(compared: &Compared<'_>) -> ChartFigure {
    let settings = || compared.settings.iter().map(|(_, setting)| *setting);
    let longest = |setting: &PicturedSetting<'_>| {
        let accuracy = &setting.pictures.accuracy;
        accuracy.lengths.iter().rposition(|length| length.jobs > 0).map_or(1.0, |at| accuracy.limits[at])
    };
    let most = settings().map(longest).fold(0.0, f64::max);
    let curves = compared.curves(true, |setting| {
        let accuracy = &setting.pictures.accuracy;
        let all = accuracy.limits.iter().zip(&accuracy.lengths).filter(|(_, length)| length.jobs >= FEW_JOBS);
        all.map(|(limit, length)| (*limit, length.kept as f64 / length.jobs as f64)).collect()
    });
    let frame = Frame::new(
        "Share of jobs that end by their prediction, by its length",
        (ChartAxis::durations(most), "predicted at arrival"),
        (ChartAxis::shares(), "jobs that end by their prediction"),
    );
    let names =
        settings().flat_map(|PicturedSetting { name, .. }| [format!("{name}, jobs"), format!("{name}, end by it")]);
    let mut data = DataTable::new(1, ["predicted up to".to_string()].into_iter().chain(names));
    let limits = &compared.settings[0].1.pictures.accuracy.limits;
    for (at, &limit) in limits.iter().enumerate().filter(|(_, limit)| **limit <= most) {
        let cells = settings().flat_map(|setting| {
            let length = setting.pictures.accuracy.lengths[at];
            [DataCell::count(length.jobs), DataCell::share(length.kept as f64 / length.jobs as f64)]
        });
        data.push([DataCell::duration(limit)].into_iter().chain(cells));
    }
    ChartFigure {
        title: "Predictions that were long enough".to_string(),
        legend: compared.legend(),
        picture: draw_curves(&frame, &curves),
        caption: format!(
            "The share of jobs that do not run longer than predicted at arrival, by the length of the prediction. A job that \
             runs longer gets a new prediction. Lengths with fewer than {FEW_JOBS} jobs are in the data only."
        ),
        data,
        ..ChartFigure::default()
    }
}
