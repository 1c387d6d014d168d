//! The charts of a comparison: one file per kind of chart, and the list of all of them, in the order of the page.

mod accuracy;
mod density;
mod distribution;
mod gantt;
mod heat_map;
mod on_nodes;
mod over_time;
mod scatter;

pub use gantt::{GanttColors, GanttData};
pub use on_nodes::charts as charts_on_nodes;

use super::axis::ChartAxis;
use super::curves::{Curve, draw_curves};
use super::data_table::{DataCell, DataTable};
use super::figure::{ChartFigure, Mark};
use super::frame::Frame;
use super::svg::Point;
use crate::metrics::{Breakdown, Pictures, UserTotals, WaitReasons};
use crate::time::Time;
use crate::trace::Workload;

/// A kind of chart.
pub enum Chart {
    /// One chart of all settings.
    Together(fn(&Compared<'_>) -> ChartFigure),
    /// One chart of each setting.
    Each(fn(&PicturedSetting<'_>) -> ChartFigure),
    /// One chart of each setting but the first, in comparison with the first.
    Against(fn(&Compared<'_>, &PicturedSetting<'_>, &PicturedSetting<'_>) -> ChartFigure),
}

use Chart::{Against, Each, Together};

/// All charts of a comparison, by the sections of its page.
pub const SECTIONS: [(&str, &[Chart]); 5] = [
    ("Waits and slowdowns", &[Together(distribution::waits), Together(distribution::slowdowns)]),
    ("Who gains, who pays", &[Against(heat_map::chart), Against(scatter::chart)]),
    ("Over time", &[Together(over_time::queue), Together(over_time::utilization)]),
    ("Predictions", &[Together(accuracy::during_life), Together(accuracy::long_enough), Each(density::chart)]),
    ("Gantt chart", &[Together(gantt::chart)]),
];

/// A setting with what charts show of it.
pub struct PicturedSetting<'a> {
    /// Its name.
    pub name: String,
    /// What charts show of its run.
    pub pictures: &'a Pictures,
    /// The figures of its users.
    pub users: &'a UserTotals,
    /// Why its jobs wait. None on a pool.
    pub reasons: Option<WaitReasons>,
    /// The figures of partitions. None on a pool, and on a machine with only one.
    pub partitions: Option<&'a Breakdown>,
}

/// What is compared in charts.
pub struct Compared<'a> {
    /// The settings with the numbers of their colours. 0 is that of the baseline.
    pub settings: Vec<(usize, &'a PicturedSetting<'a>)>,
    /// The submission of the first job.
    pub first_submit: Time,
    /// The simulated jobs, by which users are shown.
    pub workload: &'a Workload,
    /// The Gantt chart.
    pub gantt: &'a GanttData,
}

impl Compared<'_> {
    /// The charts of a section: first those of all settings, then those of one setting after the other.
    pub fn figures(&self, charts: &[Chart]) -> Vec<ChartFigure> {
        let together = charts.iter().filter_map(|chart| match chart {
            Together(draw) => Some(draw(self)),
            _ => None,
        });
        let (_, first) = self.settings[0];
        let single = self.settings.iter().enumerate().flat_map(|(at, (_, setting))| {
            charts.iter().filter_map(move |chart| match chart {
                Together(_) => None,
                Each(draw) => Some(draw(setting)),
                Against(draw) => (at > 0).then(|| draw(self, first, setting)),
            })
        });
        together.chain(single).collect()
    }

    /// A curve of each setting.
    fn curves(&self, dots: bool, points: impl Fn(&PicturedSetting<'_>) -> Vec<Point>) -> Vec<Curve> {
        let curve = |&(series, setting): &(usize, &PicturedSetting<'_>)| Curve {
            series,
            points: points(setting),
            dots,
            ..Curve::default()
        };
        self.settings.iter().map(curve).collect()
    }

    /// The names of the settings beside their lines.
    fn legend(&self) -> Vec<(Mark, String)> {
        self.settings.iter().map(|(number, setting)| (Mark::Line(*number), setting.name.clone())).collect()
    }
}

/// A chart with a curve of each setting, whose points are at the same places. Its table has a row for each place.
struct CurveChart<'a> {
    title: &'a str,
    /// What the chart shows, for people who cannot see it.
    label: &'a str,
    x: (ChartAxis, &'a str),
    y: (ChartAxis, &'a str),
    /// The heading of the places in the table.
    heading: &'a str,
    /// A place in the table.
    place: fn(f64) -> DataCell,
    /// A value in the table. None if the curve has ended.
    value: fn(Option<f64>) -> DataCell,
    caption: String,
}

impl CurveChart<'_> {
    fn figure(self, compared: &Compared<'_>, points: impl Fn(&PicturedSetting<'_>) -> Vec<Point>) -> ChartFigure {
        let curves = compared.curves(false, points);
        let names = compared.settings.iter().map(|(_, setting)| setting.name.as_str());
        let mut data = DataTable::new(1, [self.heading].into_iter().chain(names));
        let longest = curves.iter().map(|curve| &curve.points).max_by_key(|points| points.len());
        for (at, (place, _)) in longest.into_iter().flatten().enumerate() {
            let values = curves.iter().map(|curve| (self.value)(curve.points.get(at).map(|point| point.1)));
            data.push([(self.place)(*place)].into_iter().chain(values));
        }
        ChartFigure {
            title: self.title.to_string(),
            legend: compared.legend(),
            picture: draw_curves(&Frame::new(self.label, self.x, self.y), &curves),
            caption: self.caption,
            data,
            ..ChartFigure::default()
        }
    }
}
