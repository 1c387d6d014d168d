//! Writes breakdowns: the figures of groups of jobs.

use std::io::{self, Write};

use super::shown::{shown, signed_percent};
use super::table::Table;
use super::wrap::{shortened_to, write_wrapped};
use crate::metrics::columns::{
    BSLD_MEAN, JAIN, JOBS, MAKESPAN, UTILIZATION, WAIT_MAX, WAIT_MEAN, WIDE_WAIT_MEAN, columns,
};
use crate::metrics::{Breakdown, Cell, Column, GroupBaseline};
use crate::text::grouped;

/// The figures of a group in CSV. The number of jobs is a label of the group; the others are those of a whole machine, or
/// of all its users.
fn figures() -> impl Iterator<Item = &'static Column> {
    let without = [&JOBS, &UTILIZATION, &MAKESPAN, &JAIN, &WIDE_WAIT_MEAN].map(|column| column.name);
    columns(false).filter(move |column| column.is_number() && !without.contains(&column.name))
}

/// The groups of a breakdown as rows of CSV: `key,value,jobs,area_pct`, the figures, and with a baseline its figures, the
/// improvements, and how many jobs gain and lose. If there are several settings, the first column is their name.
pub fn breakdown_cells(setting: Option<&str>, breakdown: &Breakdown) -> Vec<Vec<(String, Cell)>> {
    let grouping = &breakdown.grouping;
    let row = |at: usize| {
        let summary = &breakdown.summaries[at];
        let mut cells = Vec::new();
        let mut add = |name: &str, cell| cells.push((name.to_string(), cell));
        if let Some(setting) = setting {
            add("setting", Cell::Text(setting.to_string()));
        }
        add("key", Cell::Text(grouping.by.name().to_string()));
        add("value", Cell::Text(grouping.values[at].clone()));
        add("jobs", Cell::Count(summary.jobs as u64));
        add("area_pct", Cell::Real(grouping.area_pct[at]));
        for column in figures() {
            add(column.name, column.summary_cell(summary));
        }
        if let Some(GroupBaseline { summary: base, gain, lose }) = breakdown.compared.get(at) {
            for column in figures() {
                add(&format!("base_{}", column.name), column.summary_cell(base));
            }
            for column in figures() {
                if let Some(improvement) = column.improvement_column() {
                    add(improvement.name, column.improvement(base, summary).map_or(Cell::None, Cell::Real));
                }
            }
            add("jobs_gain", Cell::Count(*gain as u64));
            add("jobs_lose", Cell::Count(*lose as u64));
        }
        cells
    };
    (0..grouping.values.len()).map(row).collect()
}

/// Writes the line above a table of groups: the name of the run, by what its jobs are grouped, and the time zone of hours and
/// weeks. A name that is wider than the table may be is shortened.
pub fn write_group_caption(
    out: &mut dyn Write,
    width: usize,
    setting: &str,
    by: &str,
    zone: Option<&str>,
) -> io::Result<()> {
    let zone = zone.map_or(String::new(), |zone| format!(" ({zone})"));
    let setting = shortened_to(setting, width.saturating_sub(1), 0.5);
    write_wrapped(out, "", &format!("{setting}, by {by}{zone}"), width)
}

/// Writes a breakdown as a table. `setting` is the name of the run, `zone` that of the time zone of hours and weeks.
pub fn write_breakdown(
    out: &mut dyn Write,
    width: usize,
    setting: &str,
    zone: Option<&str>,
    breakdown: &Breakdown,
) -> io::Result<()> {
    let (grouping, is_compared) = (&breakdown.grouping, !breakdown.compared.is_empty());
    let by = grouping.by.name();
    write_group_caption(out, width, setting, by, zone)?;
    let mut table = Table::default();
    let mut headings = vec![by, "jobs", "area", "mean wait", "longest wait", "mean slowdown"];
    if is_compared {
        headings.extend(["baseline wait", "wait gain", "slowdown gain", "jobs that gain", "jobs that lose"]);
    }
    table.headings(headings);
    for (at, summary) in breakdown.summaries.iter().enumerate() {
        let figure = |column: &Column| shown(column.shown, column.figure(summary).unwrap_or(f64::NAN));
        let mut cells = vec![
            grouping.values[at].clone(),
            grouped(summary.jobs as u64),
            format!("{:.1}%", grouping.area_pct[at]),
            figure(&WAIT_MEAN),
            figure(&WAIT_MAX),
            figure(&BSLD_MEAN),
        ];
        if let Some(GroupBaseline { summary: base, gain, lose }) = breakdown.compared.get(at) {
            let improvement =
                |column: &Column| column.improvement(base, summary).map_or("-".to_string(), signed_percent);
            cells.push(shown(WAIT_MEAN.shown, base.wait_mean));
            cells.extend([improvement(&WAIT_MEAN), improvement(&BSLD_MEAN)]);
            cells.extend([grouped(*gain as u64), grouped(*lose as u64)]);
        }
        table.push(cells);
    }
    table.write(out, width)
}
