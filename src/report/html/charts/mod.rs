//! The charts of a comparison: one file for each kind, and the list of all of them, in the order of the page. A file says what its
//! chart is called, what it has to see of a run, and how it is drawn; the table of a chart is its CSV.

mod by_setting;
mod distribution;
mod gantt;
mod gone;
mod heat_map;
mod long_enough;
mod on_nodes;
mod other_years;
mod over_time;
mod scatter;

pub use gantt::{GanttColors, GanttData, GanttSetting};

use super::axis::ChartAxis;
use super::curves::{Curve, draw_curves};
use super::data_table::{DataCell, DataTable};
use super::figure::{ChartFigure, Mark};
use super::frame::{Band, Frame};
use super::outside;
use super::svg::Point;
use crate::metrics::{Measure, Probe, Replicates, Seen, UserTotals, WaitReasonMeter, Watched};
use crate::time::Time;
use crate::trace::Workload;

/// The charts by section of the page. Those of the first are beside its table.
pub const SECTIONS: [(&str, &[Chart]); 6] = [
    ("The figures", &[by_setting::WAITS, by_setting::SLOWDOWNS, distribution::WAITS]),
    ("Who gains, who pays", &[other_years::CHART, heat_map::CHART, scatter::CHART]),
    ("The machine", &[on_nodes::REASONS, on_nodes::PARTITIONS, by_setting::USE]),
    ("Slowdowns and predictions", &[distribution::SLOWDOWNS, long_enough::CHART]),
    ("Over time", &[over_time::QUEUE, over_time::UTILIZATION]),
    ("Gantt chart", &[gantt::CHART]),
];

/// Makes what watches a run of a workload. None if there is nothing to watch, or if the figures of users are enough.
type NewProbe = fn(&Workload, &Measure) -> Option<Box<dyn Probe>>;

/// A kind of chart.
pub struct Chart {
    /// What it shows, in a few words: its heading, and the name of its files.
    title: &'static str,
    /// What it has to see of a run.
    probe: NewProbe,
    /// How it is drawn.
    draw: Draw,
}

/// How a chart is drawn. It need not have a title.
enum Draw {
    /// One chart of all settings, if there is something to show.
    Together(fn(&Compared<'_>) -> Option<ChartFigure>),
    /// One chart of each setting but the first, with which it is compared.
    Against(fn(&Compared<'_>, &PicturedSetting<'_>, &PicturedSetting<'_>) -> ChartFigure),
}

/// Adds what all charts have to see of a run. Of a site and its changes they show why jobs wait on a pool too.
pub fn watch_for_charts(watched: &mut Watched<'_>, are_changes: bool) {
    SECTIONS.iter().flat_map(|(_, charts)| *charts).for_each(|chart| watched.add_some(chart.probe));
    if are_changes {
        watched.add(WaitReasonMeter::new);
    }
}

/// A setting with what charts show of it.
pub struct PicturedSetting<'a> {
    /// Its name.
    pub name: String,
    /// What charts have seen of its run.
    pub seen: &'a Seen,
    /// The figures of its users.
    pub users: &'a UserTotals,
    /// Its jobs and its machine.
    pub workload: &'a Workload,
}

/// What is compared in charts.
pub struct Compared<'a> {
    /// The figures of all settings but the baseline, of which each has those too.
    pub figures: &'a [&'a Replicates<'a>],
    /// The settings with the numbers of their colours. 0 is that of the baseline.
    pub settings: Vec<(usize, &'a PicturedSetting<'a>)>,
    /// The submission of the first job.
    pub first_submit: Time,
    /// The simulated jobs, by which users are shown.
    pub workload: &'a Workload,
    /// The Gantt chart.
    pub gantt: &'a GanttData<'a>,
}

impl Compared<'_> {
    /// Whether they are a site and its changes.
    fn are_changes(&self) -> bool {
        self.figures[0].is_change()
    }

    /// Where the first setting was run: "under easy/estimate".
    fn in_base(&self) -> String {
        if self.are_changes() {
            "in the site as it is".to_string()
        } else {
            format!("under {}", outside(&self.settings[0].1.name))
        }
    }

    /// The charts of a section: first those of all settings, then those of one setting after the other.
    pub fn figures(&self, charts: &[Chart]) -> Vec<ChartFigure> {
        let together = charts.iter().filter_map(|chart| match chart.draw {
            Draw::Together(draw) => Some(ChartFigure { title: chart.title.to_string(), ..draw(self)? }),
            Draw::Against(_) => None,
        });
        let (_, first) = self.settings[0];
        let single = self.settings[1..].iter().flat_map(|(_, setting)| {
            charts.iter().filter_map(move |chart| match chart.draw {
                Draw::Together(_) => None,
                Draw::Against(draw) => {
                    let title = format!("{}: {}", setting.name, chart.title);
                    Some(ChartFigure { title, ..draw(self, first, setting) })
                }
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
    /// What the chart shows, for people who cannot see it.
    label: &'a str,
    x: (ChartAxis, &'a str),
    y: (ChartAxis, &'a str),
    /// The heading of the places in the table.
    heading: &'a str,
    /// A place in the table.
    place: &'a dyn Fn(f64) -> DataCell,
    /// A value in the table. None if the curve has ended.
    value: fn(Option<f64>) -> DataCell,
    caption: String,
    bands: Vec<Band>,
}

impl CurveChart<'_> {
    fn figure(self, compared: &Compared<'_>, points: impl Fn(&PicturedSetting<'_>) -> Vec<Point>) -> ChartFigure {
        self.figure_of(compared, compared.curves(false, points))
    }

    /// The chart of these curves, one for each setting. Ends of bands come last in the table.
    fn figure_of(self, compared: &Compared<'_>, curves: Vec<Curve>) -> ChartFigure {
        let names = || compared.settings.iter().map(|(_, setting)| &setting.name);
        let with_bands = || curves.iter().filter(|curve| !curve.band.is_empty());
        let band_names = names().zip(&curves).filter(|(_, curve)| !curve.band.is_empty());
        let band_names = band_names.flat_map(|(name, _)| [format!("{name}, lower end"), format!("{name}, upper end")]);
        let headings = [self.heading.to_string()].into_iter().chain(names().cloned()).chain(band_names);
        let mut data = DataTable::new(1, headings);
        let longest = curves.iter().map(|curve| &curve.points).max_by_key(|points| points.len());
        for (at, (place, _)) in longest.into_iter().flatten().enumerate() {
            let values = curves.iter().map(|curve| curve.points.get(at).map(|point| point.1));
            let ends = with_bands().flat_map(|curve| {
                let band = curve.band.get(at);
                [band.map(|band| band.1), band.map(|band| band.2)]
            });
            data.push([(self.place)(*place)].into_iter().chain(values.chain(ends).map(self.value)));
        }
        ChartFigure {
            legend: compared.legend(),
            picture: draw_curves(&Frame { bands: self.bands, ..Frame::new(self.label, self.x, self.y) }, &curves),
            caption: self.caption,
            data,
            ..ChartFigure::default()
        }
    }
}
