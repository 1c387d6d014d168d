//! Writes breakdowns: the figures of groups of jobs.

use std::io::{self, Write};

use super::shown::shown;
use super::table::Table;
use super::table_cell::TableCell;
use super::wrap::{Width, shortened_to, write_wrapped};
use crate::metrics::columns::{
    BSLD_MEAN, JAIN, JOBS, MAKESPAN, UTILIZATION, WAIT_MAX, WAIT_MEAN, WIDE_WAIT_MEAN, columns,
};
use crate::metrics::{
    Breakdown, Cell, Cells, Column, Given, GroupBaseline, Grouping, ListedColumn, SEVERAL_NAME, Summary, When,
};
use crate::text::grouped;

/// The figures of a group in CSV. The number of jobs is a label of the group; the others are those of a whole machine, or
/// of all its users.
fn figures() -> impl Iterator<Item = &'static Column> {
    let without = [&JOBS, &UTILIZATION, &MAKESPAN, &JAIN, &WIDE_WAIT_MEAN].map(|column| column.name);
    columns(Given::default()).filter(move |column| column.is_number() && !without.contains(&column.name))
}

/// A group of jobs as a row of CSV.
struct GroupRow {
    by: &'static str,
    value: String,
    area_pct: f64,
    summary: Summary,
    compared: Option<GroupBaseline>,
}

/// A column of groups. Its value may be that of a column of runs.
struct GroupColumn {
    listed: ListedColumn,
    value: Box<dyn Fn(&GroupRow) -> Cell>,
}

/// The columns of groups: `key,value,jobs,area_pct`, the figures, and with a baseline its figures, the improvements, and how
/// many jobs gain and lose.
fn group_columns() -> Vec<GroupColumn> {
    let own = |column: Column<GroupRow>| GroupColumn {
        listed: column.listed(),
        value: Box::new(move |row| column.cell(row)),
    };
    let figure = |column: &'static Column| GroupColumn {
        listed: column.listed(),
        value: Box::new(|row| column.summary_cell(&row.summary)),
    };
    let of_baseline = |column: &'static Column| GroupColumn {
        listed: ListedColumn { name: format!("base_{}", column.name), when: When::Baseline, ..column.listed() },
        value: Box::new(|row| row.compared.map(|base| column.summary_cell(&base.summary)).into()),
    };
    let gain = |column: &'static Column| {
        let gain = |row: &GroupRow| column.improvement(&row.compared?.summary, &row.summary).map(Cell::Real);
        let listed = column.gain_column()?.listed();
        Some(GroupColumn { listed, value: Box::new(move |row| gain(row).into()) })
    };
    let mut columns = vec![
        own(Column::key("key", "by what jobs are grouped", |row| Cell::Word(row.by))),
        own(Column::key("value", "the group", |row| Cell::Text(row.value.clone()))),
        figure(&JOBS),
        own(Column::percent("area_pct", "its share of the area of all jobs in percent", |row| {
            Cell::Real(row.area_pct)
        })),
    ];
    columns.extend(figures().map(figure));
    columns.extend(figures().map(of_baseline));
    columns.extend(figures().filter_map(gain));
    let jobs = |name, about, value| own(Column::count(name, about, value).only(When::Baseline));
    columns.push(jobs("jobs_gain", "jobs that wait less than in the baseline", |row| {
        row.compared.map(|base| Cell::Count(base.gain as u64)).into()
    }));
    columns.push(jobs("jobs_lose", "jobs that wait longer than in the baseline", |row| {
        row.compared.map(|base| Cell::Count(base.lose as u64)).into()
    }));
    columns
}

/// The columns of groups of jobs, for lists.
pub fn listed_groups() -> Vec<ListedColumn> {
    [ListedColumn::of_setting()].into_iter().chain(group_columns().into_iter().map(|column| column.listed)).collect()
}

/// The groups of a breakdown as rows of CSV. If there are several settings, the first column is their name.
pub fn breakdown_cells(setting: Option<&str>, breakdown: &Breakdown) -> Vec<Cells> {
    let mut columns = group_columns();
    let given = Given::of([(When::Baseline, !breakdown.compared.is_empty())]);
    columns.retain(|column| given.has(column.listed.when));
    let row = |at: usize| {
        let setting = setting.map(|setting| (SEVERAL_NAME.to_string(), Cell::Text(setting.to_string())));
        let Grouping { by, values, area_pct } = &*breakdown.grouping;
        let (by, value, area_pct) = (by.name(), values[at].clone(), area_pct[at]);
        let (summary, compared) = (breakdown.summaries[at], breakdown.compared.get(at).copied());
        let row = GroupRow { by, value, area_pct, summary, compared };
        setting.into_iter().chain(columns.iter().map(|one| (one.listed.name.clone(), (one.value)(&row)))).collect()
    };
    (0..breakdown.summaries.len()).map(row).collect()
}

/// Writes the line above a table of groups: the name of the run, by what its jobs are grouped, and the time zone of hours and
/// weeks. A name that is wider than the table may be is shortened.
pub fn write_group_caption(
    out: &mut dyn Write,
    width: Width,
    setting: &str,
    by: &str,
    zone: Option<&str>,
) -> io::Result<()> {
    let zone = zone.map_or(String::new(), |zone| format!(" ({zone})"));
    let setting = shortened_to(setting, width.columns.saturating_sub(1), 0.5);
    write_wrapped(out, "", &format!("{setting}, by {by}{zone}"), width)
}

/// Writes a breakdown as a table. `setting` is the name of the run, `zone` that of the time zone of hours and weeks.
pub fn write_breakdown(
    out: &mut dyn Write,
    width: Width,
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
        let figure = |column: &Column| shown(column.shown, column.figure_of(summary).unwrap_or(f64::NAN));
        let cells = [
            grouping.values[at].clone(),
            grouped(summary.jobs as u64),
            format!("{:.1}%", grouping.area_pct[at]),
            figure(&WAIT_MEAN),
            figure(&WAIT_MAX),
            figure(&BSLD_MEAN),
        ];
        let mut cells = cells.map(TableCell::from).to_vec();
        if let Some(GroupBaseline { summary: base, gain, lose }) = breakdown.compared.get(at) {
            let improvement = |column: &Column| TableCell::gain(column.improvement(base, summary));
            cells.push(shown(WAIT_MEAN.shown, base.wait_mean).into());
            cells.extend([improvement(&WAIT_MEAN), improvement(&BSLD_MEAN)]);
            cells.extend([*gain, *lose].map(|jobs| grouped(jobs as u64).into()));
        }
        table.push(cells);
    }
    table.write(out, width)
}
