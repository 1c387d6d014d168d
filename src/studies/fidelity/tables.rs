//! Writes comparisons of simulated schedules with the recorded one.

use std::io::{self, Write};

use super::columns::{FIDELITY_COLUMNS, schedule_columns};
use super::figures::FidelityFigures;
use super::recorded::FidelityBreakdown;
use super::rows::{FidelityHeading, FidelityRow};
use super::verdict::verdict_in_words;
use crate::metrics::{Cell, Cells, Column, Given, ListedColumn, Main, SEVERAL_NAME, When, cells, listed};
use crate::report::{Table, Width, named_rows, write_group_caption, write_wrapped};
use crate::text::{counted, counted_as, printable};
use crate::time::{print_duration, readable_duration};

impl FidelityRow<'_> {
    /// What was run, the figures, the swept keys, and the options.
    pub fn cells(&self, swept: &[(String, Cell)], figures: &FidelityFigures) -> Cells {
        let [before, after] = schedule_columns();
        let mut after = cells(&after, self, Given::default());
        let options = after.split_off(after.len() - 1);
        [
            cells(&before, self, Given::default()),
            cells(FIDELITY_COLUMNS, figures, Given::default()),
            after,
            swept.to_vec(),
            options,
        ]
        .concat()
    }
}

/// The columns of schedules, and those of groups of jobs, for lists.
pub fn listed_fidelity() -> [Vec<ListedColumn>; 2] {
    let [before, after] = schedule_columns().map(|columns| listed(&columns));
    let labels = [("key", "by what jobs are grouped"), ("value", "the group")];
    let labels = labels.map(|(name, about)| ListedColumn::key(name, about, When::Always));
    let groups = [&[ListedColumn::of_setting()], &labels[..], &listed(FIDELITY_COLUMNS)].concat();
    [[before, listed(FIDELITY_COLUMNS), after].concat(), groups]
}

/// Writes the table of all schedules, in the order in which they are given: the nearest first.
pub fn write_fidelity(
    out: &mut dyn Write,
    width: Width,
    heading: &FidelityHeading<'_>,
    names: &[String],
    all: &[&FidelityFigures],
) -> io::Result<()> {
    let FidelityHeading { workload, options, without_wait, window } = heading;
    let jobs = counted(workload.jobs.len() as u64, "job");
    let mut caption =
        format!("{}: {}, {jobs}", printable(&workload.label), counted(workload.procs.into(), "processor"));
    if !options.is_empty() {
        caption.push_str(&format!("; {options}"));
    }
    write_wrapped(out, "", &caption, width)?;
    let compared = all.first().map_or(0, |figures| figures.jobs);
    if *without_wait > 0 {
        let left_out = counted_as(*without_wait, "job without a recorded wait is", "jobs without a recorded wait are");
        let text = format!("{} compared; {left_out} left out", counted(compared as u64, "job"));
        write_wrapped(out, "", &text, width)?;
    }
    writeln!(out)?;
    let mut table = Table::default();
    // All schedules are compared with the same waits, which are in the first line.
    let columns: Vec<_> = in_tables().skip_while(|column| column.name != "wait_simulated").collect();
    let headings = columns.iter().skip(1).map(|column| column.heading);
    table.headings(["", "mean wait"].into_iter().chain(headings));
    if let Some(figures) = all.first() {
        table.push(vec!["as recorded".to_string(), readable_duration(figures.recorded)]);
    }
    table.append(named_rows("", &columns, names.iter().map(String::as_str).zip(all.iter().copied())));
    table.write(out, width)?;
    writeln!(out)?;
    if let Some(figures) = all.first() {
        let subject = if all.len() == 1 { "This schedule" } else { "The nearest schedule" };
        write_wrapped(out, "", &verdict_in_words(subject, figures), width)?;
        writeln!(out)?;
    }
    let has_moving = all.first().is_some_and(|figures| figures.moving.is_some());
    let order = if has_moving { "moving error" } else { "start error" };
    let length = print_duration(*window);
    let mut note = match all.len() {
        1 => String::new(),
        _ => format!("Nearest first, by the {order}. "),
    };
    match has_moving {
        true => note.push_str(&format!(
            "Moving error: how far the mean wait of the jobs submitted within {length} is from the recorded one, as the mean of \
             all such windows, one of which begins every hour. "
        )),
        false => note.push_str(&format!(
            "There is no moving error: the jobs with recorded waits were submitted in less than {length} (see --window), or \
             none of them waited. "
        )),
    }
    note.push_str(
        "Start error: how far a job starts from its recorded start, as the mean of all jobs. Within 1m: the share of jobs that \
         start at most a minute from their recorded start.",
    );
    write_wrapped(out, "", &note, width)
}

/// The columns of tables.
fn in_tables() -> impl Iterator<Item = &'static Column<FidelityFigures>> {
    FIDELITY_COLUMNS.iter().filter(|column| column.main == Main::Always)
}

/// The groups of a breakdown as rows of CSV. If there are several settings, the first column is their name.
pub fn fidelity_group_cells(setting: Option<&str>, breakdown: &FidelityBreakdown) -> Vec<Cells> {
    let grouping = &breakdown.grouping;
    let text = |name: &str, text: &str| (name.to_string(), Cell::Text(text.to_string()));
    let row = |(value, figures): (&String, &FidelityFigures)| {
        let labels = setting.map(|setting| text(SEVERAL_NAME, setting)).into_iter();
        let labels = labels.chain([text("key", grouping.by.name()), text("value", value)]);
        labels.chain(cells(FIDELITY_COLUMNS, figures, Given::default())).collect()
    };
    grouping.values.iter().zip(&breakdown.figures).map(row).collect()
}

/// Writes a breakdown as a table. `setting` is the name of the run, `zone` that of the time zone of hours and weeks.
pub fn write_fidelity_groups(
    out: &mut dyn Write,
    width: Width,
    setting: &str,
    zone: Option<&str>,
    breakdown: &FidelityBreakdown,
) -> io::Result<()> {
    let by = breakdown.grouping.by.name();
    write_group_caption(out, width, setting, by, zone)?;
    // A column that no group has, as the moving error of weeks, is left out.
    let is_there =
        |column: &&Column<FidelityFigures>| breakdown.figures.iter().any(|figures| column.cell(figures) != Cell::None);
    let columns: Vec<_> = in_tables().filter(is_there).collect();
    let values = breakdown.grouping.values.iter().map(String::as_str);
    named_rows(by, &columns, values.zip(&breakdown.figures)).write(out, width)
}
