//! The report of a sweep: a chart for each swept number, and a table of all settings.

use maud::html;

use super::axis::ChartAxis;
use super::curves::{Curve, draw_curves};
use super::data_table::{DataCell, DataTable};
use super::figure::{ChartFigure, Mark, figures};
use super::frame::Frame;
use super::page::{Fact, Page, PageSection};
use super::svg::Ink;
use crate::metrics::{Group, Interval, NumberLines, Shown};
use crate::report::with_interval;
use crate::text::{counted, grouped};

/// The most lines of a chart. The first colour is that of baselines, which a sweep has not.
const MOST_LINES: usize = Ink::SERIES - 1;

/// The most rows of the table.
const MOST_ROWS: usize = 2000;

/// What the report of a sweep needs.
pub struct SweepReport {
    /// The heading.
    pub title: String,
    /// What came out.
    pub result: String,
    /// What was run.
    pub facts: Vec<Fact>,
    /// The charts.
    pub charts: Vec<NumberLines>,
    /// The names of the columns that say what was run.
    pub names: Vec<String>,
    /// The means of all settings.
    pub groups: Vec<Group>,
}

impl SweepReport {
    /// The page.
    pub fn page(self) -> String {
        let charts: Vec<ChartFigure> = self.charts.iter().map(figure).collect();
        let charts = match charts.is_empty() {
            true => html! { p { "No option of this sweep has several numbers as its values, so there is no chart." } },
            false => figures(&charts),
        };
        let runs: usize = self.groups.iter().map(|group| group.rows).sum();
        let averaged = runs > self.groups.len();
        let remark = html! {
            @if averaged { "Figures are means over runs that differ in their seed alone, with 95% intervals." }
            @else { "Each figure is that of one run." }
        };
        let left_out = self.groups.len().saturating_sub(MOST_ROWS);
        let table = table(&self.names, &self.groups);
        let all = html! {
            @if left_out > 0 {
                p.note { "The table has the first " (grouped(MOST_ROWS as u64)) " settings; results.csv has all of them." }
            }
            (table.markup())
        };
        let sections = vec![
            PageSection { title: "Charts".to_string(), content: charts },
            PageSection { title: "All settings".to_string(), content: all },
        ];
        Page { title: self.title, result: self.result, remark, facts: self.facts, sections }.write()
    }
}

/// All settings, with the means of their figures.
fn table(names: &[String], groups: &[Group]) -> DataTable {
    let means =
        groups.first().map(|group| group.means.iter().map(|mean| mean.column.name.to_string())).into_iter().flatten();
    let headings = names.iter().cloned().chain(["runs".to_string()]).chain(means);
    let mut table = DataTable::new(names.len(), headings).sortable();
    for group in groups.iter().take(MOST_ROWS) {
        let labels = group.labels.iter().map(|label| match label.parse::<f64>() {
            Ok(number) => DataCell::shown(label, number),
            Err(_) => DataCell::text(label),
        });
        let runs = [DataCell::count(group.rows as u64)];
        let means = group.means.iter().map(|mean| {
            let interval = Interval { mean: mean.mean, half_width: mean.half_width };
            DataCell::shown(with_interval(mean.column.shown, interval), mean.mean)
        });
        table.push(labels.chain(runs).chain(means));
    }
    table
}

fn figure(chart: &NumberLines) -> ChartFigure {
    let (option, column) = (&chart.option, chart.column);
    let lines = &chart.lines[..chart.lines.len().min(MOST_LINES)];
    let points = || lines.iter().flat_map(|line| &line.points);
    let (low, high) = range(points().map(|point| point.x));
    let ends = points().flat_map(|point| {
        let half = point.mean.half_width.unwrap_or(0.0);
        [point.mean.mean - half, point.mean.mean + half]
    });
    let (least, most) = range(ends.filter(|end| end.is_finite()));
    let room = ((most - least) * 0.08).max(most.abs() * 0.002);
    let (least, most) = (if least >= 0.0 { (least - room).max(0.0) } else { least - room }, most + room);
    let label = format!("{} by {option}", column.name);
    let is_wide = low > 0.0 && high / low >= 100.0;
    let title = match column.shown {
        Shown::Improvement | Shown::Percent => format!("{} (percent)", column.name),
        _ => column.name.to_string(),
    };
    let x =
        if is_wide { ChartAxis::numbers(low, high, |value| value.to_string()) } else { ChartAxis::between(low, high) };
    let y = if column.shown == Shown::Duration {
        ChartAxis::time_between(least, most)
    } else {
        ChartAxis::between(least, most)
    };
    let frame = Frame::new(&label, (x, option), (y, &title));
    let drawn: Vec<Curve> = (1..)
        .zip(lines)
        .map(|(series, line)| {
            let band = line.points.iter().filter_map(|point| {
                let half = point.mean.half_width?;
                Some((point.x, point.mean.mean - half, point.mean.mean + half))
            });
            let points = line.points.iter().filter(|point| point.mean.mean.is_finite());
            let points = points.map(|point| (point.x, point.mean.mean)).collect();
            Curve { series, points, dots: true, band: band.collect() }
        })
        .collect();
    let picture = draw_curves(&frame, &drawn);
    let mut data = DataTable::new(1, ["line", option.as_str(), "runs", column.name]).sortable();
    for (line, point) in chart.lines.iter().flat_map(|line| line.points.iter().map(move |point| (line, point))) {
        data.push([
            DataCell::text(&line.name),
            DataCell::shown(point.x.to_string(), point.x),
            DataCell::count(point.runs as u64),
            DataCell::shown(with_interval(column.shown, point.mean), point.mean.mean),
        ]);
    }
    let left_out = match chart.lines.len() - lines.len() {
        0 => String::new(),
        more => format!(" {} are in the data only.", counted(more as u64, "more line")),
    };
    let bands = if points().any(|point| point.mean.half_width.is_some()) { " Bands are 95% intervals." } else { "" };
    ChartFigure {
        title: label.clone(),
        legend: (1..).zip(lines).map(|(series, line)| (Mark::Line(series), line.name.clone())).collect(),
        picture,
        caption: format!(
            "{}. One line for each combination of the other options.{bands}{left_out}",
            upper(column.about)
        ),
        data,
        ..ChartFigure::default()
    }
}

/// The smallest and the largest of some numbers; 0 and 1 if there are none.
fn range(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let found =
        numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| (low.min(number), high.max(number)));
    if found.0.is_finite() { found } else { (0.0, 1.0) }
}

/// A text with a capital letter at its beginning.
fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
