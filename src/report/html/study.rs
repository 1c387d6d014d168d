//! The report of a study: published against measured figures.

use maud::{Markup, html};

use super::axis::ChartAxis;
use super::data_table::{DataCell, DataTable};
use super::figure::{ChartFigure, Mark, figures as figures_markup};
use super::frame::{Frame, TALL, WIDTH};
use super::page::{Fact, Page, PageSection};
use super::svg::Ink;
use crate::text::grouped;

/// A column with fewer published numbers than this has no chart.
const FEWEST: usize = 3;

/// A figure of a paper beside ours.
#[derive(Clone, Debug, Default)]
pub struct StudyFigure {
    /// The place in the paper, such as `Table 2`.
    pub table: String,
    /// The row of that table.
    pub row: String,
    /// The column of that table.
    pub column: String,
    /// As printed in the paper; empty if the paper has only a picture.
    pub published: String,
    /// The published number. None if it is not one number.
    pub number: Option<f64>,
    /// What was measured.
    pub measured: Option<f64>,
    /// The 95% interval of what was measured.
    pub interval: Option<(f64, f64)>,
    /// Whether the two agree, in a word.
    pub agreement: &'static str,
    /// Whether they differ.
    pub differs: bool,
    /// How it was measured, or why it differs.
    pub remark: String,
}

/// What the report of a study needs.
pub struct StudyReport {
    /// The heading.
    pub title: String,
    /// What came out.
    pub result: String,
    /// What was run.
    pub facts: Vec<Fact>,
    /// The first page of the study's output, line by line.
    pub overview: Vec<(String, u64)>,
    /// All figures, those of one table together.
    pub figures: Vec<StudyFigure>,
}

impl StudyReport {
    /// The page.
    pub fn page(self) -> String {
        let mut overview = DataTable::new(1, ["published figures", "number"]);
        self.overview.iter().for_each(|(what, count)| overview.push([DataCell::text(what), DataCell::count(*count)]));
        let first = PageSection { title: "How many agree".to_string(), content: overview.markup() };
        let tables = self.figures.chunk_by(|a, b| a.table == b.table).map(section);
        let sections = [first].into_iter().chain(tables).collect();
        let remark = html! { "Published figures are printed with the units and signs of the paper." };
        Page { title: self.title, result: self.result, remark, facts: self.facts, sections }.write()
    }
}

/// A table of the paper. Each of its columns has a chart, because columns have different units.
fn section(figures: &[StudyFigure]) -> PageSection {
    let mut columns: Vec<(&str, Vec<&StudyFigure>)> = Vec::new();
    for figure in figures.iter().filter(|figure| figure.number.is_some() && figure.measured.is_some()) {
        match columns.iter_mut().find(|(name, _)| *name == figure.column) {
            Some((_, column)) => column.push(figure),
            None => columns.push((&figure.column, vec![figure])),
        }
    }
    let charts: Vec<ChartFigure> =
        columns.iter().filter(|(_, column)| column.len() >= FEWEST).map(|(name, column)| chart(name, column)).collect();
    let content = html! {
        @if !charts.is_empty() { (figures_markup(&charts)) }
        (table(figures))
    };
    PageSection { title: figures[0].table.clone(), content }
}

fn table(figures: &[StudyFigure]) -> Markup {
    let headings = ["row", "column", "published", "measured", "95% interval", "agrees", "remark"];
    let mut table = DataTable::new(2, headings);
    let number = |number: f64| format!("{number:.2}");
    for figure in figures {
        let measured = figure.measured.map_or(DataCell::text(""), |value| DataCell::shown(number(value), value));
        let interval = figure.interval.map(|(low, high)| format!("{} to {}", number(low), number(high)));
        let agreement =
            if figure.differs { format!("\u{2260} {}", figure.agreement) } else { figure.agreement.to_string() };
        table.push([
            DataCell::text(&figure.row),
            DataCell::text(&figure.column),
            figure.number.map_or(DataCell::text(&figure.published), |value| DataCell::shown(&figure.published, value)),
            measured,
            DataCell::text(interval.unwrap_or_default()),
            DataCell::text(agreement),
            DataCell::text(&figure.remark),
        ]);
    }
    html! { (table.markup()) }
}

/// Published against measured numbers of a column.
fn chart(name: &str, figures: &[&StudyFigure]) -> ChartFigure {
    let pairs: Vec<(&StudyFigure, f64, f64)> =
        figures.iter().filter_map(|&figure| Some((figure, figure.number?, figure.measured?))).collect();
    let all = || pairs.iter().flat_map(|(_, published, measured)| [*published, *measured]);
    let (low, high) =
        all().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let room = ((high - low) * 0.06).max(high.abs() * 0.01).max(1e-3);
    let axis = || match low > 0.0 && high / low >= 100.0 {
        true => ChartAxis::numbers(low * 0.8, high * 1.25, |value| match value >= 1000.0 {
            true => grouped(value as u64),
            false => value.to_string(),
        }),
        false => ChartAxis::between(low - room, high + room),
    };
    let label = format!("Published against measured figures of {}: {name}", figures[0].table);
    let frame = Frame { size: (WIDTH, TALL), ..Frame::new(&label, (axis(), "published"), (axis(), "measured")) };
    let picture = frame.draw(|drawing, inside| {
        drawing.line(axis().ends().map(|end| inside.at(end, end)), Ink::Axis, 1.0);
        for (figure, published, measured) in &pairs {
            let ink = if figure.differs { Ink::Loss } else { Ink::Gain };
            let title =
                format!("{}, {}: published {}, measured {measured:.2}", figure.row, figure.column, figure.published);
            drawing.titled(&super::outside(&title), |drawing| {
                if let Some((from, to)) = figure.interval {
                    drawing.line([from, to].map(|end| inside.at(*published, end)), ink, 1.4);
                }
                drawing.point(inside.at(*published, *measured), 3.2, ink, 0.8);
            });
        }
    });
    let mut data = DataTable::new(2, ["row", "column", "published", "measured"]).sortable();
    for (figure, published, measured) in &pairs {
        data.push([
            DataCell::text(&figure.row),
            DataCell::text(&figure.column),
            DataCell::shown(&figure.published, *published),
            DataCell::shown(format!("{measured:.2}"), *measured),
        ]);
    }
    ChartFigure {
        title: format!("Published against measured: {name}"),
        legend: vec![
            (Mark::Box(Ink::Gain, 0.8), "agrees (circle)".to_string()),
            (Mark::Box(Ink::Loss, 0.8), "differs (triangle)".to_string()),
        ],
        picture,
        caption: "One point per published number; on the line both are equal. Vertical bars are 95% intervals of ours."
            .to_string(),
        data,
        ..ChartFigure::default()
    }
}
