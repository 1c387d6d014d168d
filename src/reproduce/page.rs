//! The figures of a study as a page: published against measured ones.

use maud::{Markup, html};

use super::figure::Figure;
use super::logs::FoundLog;
use super::tables::count_agreements;
use crate::report::html::{
    ChartAxis, ChartFigure, DataCell, DataTable, Fact, Frame, Ink, Mark, Page, PageSection, TALL, figures_markup,
    outside,
};
use crate::stats::range;
use crate::text::{counted, grouped};

/// A column with fewer published numbers than this has no chart.
const FEWEST: usize = 3;

/// The page of the study with this name, computed from these logs by this command.
pub fn study_page(study: &str, command: String, logs: &[FoundLog], figures: &[Figure]) -> String {
    let counts = count_agreements(figures);
    let published: u64 = counts.iter().map(|(_, _, count)| count).sum();
    let agree: u64 = counts.iter().filter(|(agreement, ..)| agreement.is_agreement()).map(|(_, _, count)| count).sum();
    let mut facts =
        vec![Fact::code("command", command), Fact::new("program", format!("Shadowtime {}", env!("CARGO_PKG_VERSION")))];
    facts.extend(logs.iter().map(|found| Fact::new("log", found.file.display().to_string())));
    let mut overview = DataTable::new(1, ["published figures", "number"]);
    counts.iter().for_each(|(_, what, count)| overview.push([DataCell::text(*what), DataCell::count(*count)]));
    let first = PageSection { title: "How many agree".to_string(), content: overview.markup() };
    let tables = figures.chunk_by(|a, b| a.table == b.table).map(section);
    Page {
        title: format!("Published and measured: {study}"),
        result: vec![html! { (grouped(agree)) " of " (counted(published, "published figure")) " agree with ours." }],
        remark: html! { "Published figures are printed with the units and signs of the paper." },
        facts,
        sections: [first].into_iter().chain(tables).collect(),
    }
    .write()
}

/// A table of the paper. Each of its columns has a chart, because columns have different units.
fn section(figures: &[Figure]) -> PageSection {
    let mut columns: Vec<(&str, Vec<&Figure>)> = Vec::new();
    for figure in figures.iter().filter(|figure| figure.published_number().is_some() && figure.measured.is_some()) {
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

fn table(figures: &[Figure]) -> Markup {
    let headings = ["row", "column", "published", "measured", "95% interval", "agrees", "remark"];
    let mut table = DataTable::new(2, headings);
    let number = |number: f64| format!("{number:.2}");
    for figure in figures {
        let measured = DataCell::shown(figure.measured.map(number).unwrap_or_default(), figure.measured);
        let interval = figure.interval.map(|(low, high)| format!("{} to {}", number(low), number(high)));
        let agreement = figure.agreement();
        let differs = if agreement.is_difference() { "\u{2260} " } else { "" };
        table.push([
            DataCell::text(&figure.row),
            DataCell::text(&figure.column),
            DataCell::shown(&figure.published, figure.published_number()),
            measured,
            DataCell::text(interval.unwrap_or_default()),
            DataCell::text(format!("{differs}{}", agreement.word())),
            DataCell::text(figure.remark()),
        ]);
    }
    table.markup()
}

/// Published against measured numbers of a column.
fn chart(name: &str, figures: &[&Figure]) -> ChartFigure {
    let pairs: Vec<(&Figure, f64, f64)> =
        figures.iter().filter_map(|&figure| Some((figure, figure.published_number()?, figure.measured?))).collect();
    let all = || pairs.iter().flat_map(|(_, published, measured)| [*published, *measured]);
    let (low, high) = range(all());
    let room = ((high - low) * 0.06).max(high.abs() * 0.01).max(1e-3);
    let axis = || match low > 0.0 && high / low >= 100.0 {
        true => ChartAxis::numbers(low * 0.8, high * 1.25, |value| match value >= 1000.0 {
            true => grouped(value as u64),
            false => value.to_string(),
        }),
        false => ChartAxis::between(low - room, high + room),
    };
    let label = format!("Published against measured figures of {}: {name}", figures[0].table);
    let frame = Frame { height: TALL, ..Frame::new(&label, (axis(), "published"), (axis(), "measured")) };
    let picture = frame.draw(|drawing, inside| {
        drawing.line(axis().ends().map(|end| inside.at(end, end)), Ink::Axis, 1.0);
        for (figure, published, measured) in &pairs {
            let ink = if figure.agreement().is_difference() { Ink::Loss } else { Ink::Gain };
            let title =
                format!("{}, {}: published {}, measured {measured:.2}", figure.row, figure.column, figure.published);
            drawing.titled(&outside(&title), |drawing| {
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
