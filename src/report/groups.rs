//! Means over groups of runs, each with its interval, for people.

use std::io::{self, Write};

use super::row::Cell;
use super::table::Table;
use crate::time::humane;

/// Writes groups: first what they agree in (so many cells) and their number of rows, then pairs of a mean and the
/// half-width of its 95% interval.
pub fn write_groups(out: &mut dyn Write, groups: &[Vec<(String, Cell)>], agree: usize) -> io::Result<()> {
    let mut people = Table::with_left(agree);
    let is_interval = |name: &str| name.ends_with("_ci95");
    if let Some(first) = groups.first() {
        let names = first.iter().filter(|(name, _)| !is_interval(name));
        people.push(names.map(|(name, _)| name.replace("_improvement_pct", " gain")).collect());
    }
    for group in groups {
        let mut cells: Vec<String> = group[..agree + 1].iter().map(|(_, cell)| cell.text()).collect();
        for pair in group[agree + 1..].chunks(2) {
            let mean = for_people(&pair[0].0, &pair[0].1.text());
            cells.push(match pair[1].1.text() {
                none if none.is_empty() => mean,
                half => format!("{mean} +- {}", for_people(&pair[0].0, &half)),
            });
        }
        people.push(cells);
    }
    people.write(out)
}

/// A number of a column as people read it.
pub fn for_people(column: &str, text: &str) -> String {
    let Ok(number) = text.parse::<f64>() else { return text.to_string() };
    match column {
        "wait_mean" | "ai_mean" => humane(number),
        "bsld_mean" => format!("{number:.2}"),
        "ra_mean" | "utilization" => format!("{:.1}%", number * 100.0),
        gain if gain.ends_with("_improvement_pct") && number.abs() < 0.05 => "0.0%".to_string(),
        gain if gain.ends_with("_improvement_pct") => format!("{number:.1}%"),
        _ => text.to_string(),
    }
}
