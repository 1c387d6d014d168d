//! Writes means over groups of runs, each with its interval.

use std::io::{self, Write};

use super::runs::GAIN_NOTE;
use super::shown::shown_cell;
use super::table::Table;
use super::table_cell::{TableCell, Tone};
use super::wrap::{Width, write_wrapped};
use crate::metrics::{Cell, Cells, Column, Group, Interval, Shown};

/// Groups as rows of CSV or JSON: the labels under these names, the number of runs, and each mean with the half-width of
/// its interval.
pub fn group_cells(names: &[String], groups: &[Group<'_>]) -> Vec<Cells> {
    // All rows have the same columns.
    let are_years = groups.iter().all(|group| group.runs.is_another_year());
    let row = |group: &Group<'_>| {
        let labels = names.iter().cloned().zip(group.labels.iter().cloned());
        let rows = ("rows".to_string(), Cell::Count(group.runs.drawn().len() as u64));
        labels.chain([rows]).chain(group.runs.main_cells(are_years)).collect()
    };
    groups.iter().map(row).collect()
}

/// Writes the groups as a table.
pub fn write_groups(out: &mut dyn Write, width: Width, names: &[String], groups: &[Group<'_>]) -> io::Result<()> {
    let mut people = Table::with_left(names.len()).turnable();
    if let Some(first) = groups.first() {
        let means = first.runs.main_means().map(|(column, _)| column.heading.to_string());
        people.headings(names.iter().cloned().chain(["rows".to_string()]).chain(means));
    }
    let mean = |(column, Interval { mean, half_width }): (&Column, Interval)| {
        let mean = Cell::from(mean);
        let text = shown_cell(column.shown, &mean);
        // The half-width of an interval has no sign.
        let how = if column.shown == Shown::Improvement { Shown::Percent } else { column.shown };
        let text = match shown_cell(how, &half_width.into()) {
            none if none.is_empty() => text,
            half => format!("{text} +- {half}"),
        };
        let gain = mean.printed().filter(|_| column.is_gain());
        TableCell::new(text, gain.map_or(Tone::Neutral, Tone::of_gain))
    };
    for group in groups {
        let labels = group.labels.iter().map(Cell::text).chain([group.runs.drawn().len().to_string()]);
        people.push(labels.map(TableCell::from).chain(group.runs.main_means().map(mean)).collect());
    }
    people.write(out, width)?;
    match groups.first().is_some_and(|group| group.runs.baseline().is_some()) {
        true => write_wrapped(out, "", GAIN_NOTE, width),
        false => Ok(()),
    }
}
