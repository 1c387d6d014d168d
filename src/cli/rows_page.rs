//! A page of an answer and its rows, for commands without charts.

use std::collections::BTreeSet;

use maud::html;

use crate::report::html::{ChartFigure, DataCell, DataTable, Fact, Page, PageSection, figures_markup};
use crate::report::{Cell, grouped};

/// A page with what came out first, a chart if there is one, and then a table of all rows. Columns in which every row has the same are facts.
pub fn page<N: AsRef<str>>(
    title: String,
    result: String,
    chart: Option<ChartFigure>,
    rows: &[Vec<(N, Cell)>],
) -> String {
    let names: Vec<&str> = rows.first().into_iter().flatten().map(|(name, _)| name.as_ref()).collect();
    let texts_of = |at: usize| rows.iter().map(|row| row[at].1.text()).collect::<BTreeSet<_>>();
    let (shared, columns): (Vec<usize>, Vec<usize>) =
        (0..names.len()).partition(|&at| rows.len() > 1 && texts_of(at).len() == 1);
    let mut table = DataTable::new(1, columns.iter().map(|&at| names[at])).sortable();
    rows.iter().for_each(|row| table.push(columns.iter().map(|&at| shown(&row[at].1))));
    let same = shared.iter().map(|&at| (names[at], rows[0][at].1.text())).filter(|(_, value)| !value.is_empty());
    let same = same.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ");
    let mut facts = vec![Fact::new("program", format!("Shadowtime {}", env!("CARGO_PKG_VERSION")))];
    facts.extend((!same.is_empty()).then(|| Fact::new("of all rows", same)));
    let chart = chart.map(|chart| PageSection { title: chart.title.clone(), content: figures_markup(&[chart]) });
    let rows = PageSection { title: "All rows".to_string(), content: table.markup() };
    let sections = chart.into_iter().chain([rows]).collect();
    Page { title, result: vec![html! { (result) }], remark: html! {}, facts, sections }.write()
}

fn shown(cell: &Cell) -> DataCell {
    match cell {
        Cell::Count(count) => DataCell::shown(grouped(*count), *count as f64),
        Cell::Whole(number) => DataCell::shown(number.to_string(), *number as f64),
        Cell::Seconds(number) | Cell::Real(number) | Cell::Number(number) => {
            DataCell::shown(format!("{number:.2}"), *number)
        }
        cell => DataCell::text(cell.text()),
    }
}
