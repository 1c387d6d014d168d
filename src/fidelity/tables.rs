//! Writes comparisons of simulated schedules with the recorded one.

use std::io::{self, Write};

use super::columns::{FIDELITY_COLUMNS, FidelityColumn, RECORDED, SIMULATED, in_tables};
use super::figures::FidelityFigures;
use super::moving::SameWindows;
use super::recorded::{FidelityBreakdown, ScheduleFidelity};
use crate::report::{Cell, Table, csv_cell, write_group_caption, write_wrapped};
use crate::text::{counted, counted_as, printable};
use crate::time::{Seconds, print_duration};
use crate::trace::Workload;

/// What all schedules are compared with.
#[derive(Clone, Copy, Debug)]
pub struct FidelityHeading<'a> {
    /// The simulated jobs.
    pub workload: &'a Workload,
    /// The options that differ from the defaults, as in the column `options`.
    pub options: &'a str,
    /// The number of jobs that are not compared because they have no recorded wait.
    pub without_wait: u64,
    /// The length of the windows of the moving mean, in seconds.
    pub window: Seconds,
}

/// The cells of figures, by the names of the columns.
fn figure_cells(figures: &FidelityFigures) -> impl Iterator<Item = (String, Cell)> {
    FIDELITY_COLUMNS.iter().map(|column| (column.name.to_string(), (column.cell)(figures)))
}

/// The row of a schedule: what was run, the figures, and the options.
pub fn fidelity_cells(
    heading: &FidelityHeading<'_>,
    (scheduler, predictor): (&str, &str),
    swept: &[(String, Cell)],
    figures: &FidelityFigures,
) -> Vec<(String, Cell)> {
    let FidelityHeading { workload, options, without_wait, window } = heading;
    let text = |name: &str, text: &str| (name.to_string(), Cell::Text(text.to_string()));
    let count = |name: &str, count| (name.to_string(), Cell::Count(count));
    let mut cells = vec![
        text("trace", &workload.label),
        count("procs", workload.procs.into()),
        text("scheduler", scheduler),
        text("predictor", predictor),
    ];
    cells.extend(figure_cells(figures));
    cells.extend([count("without_wait", *without_wait), count("dropped", workload.cleaning.dropped())]);
    cells.push(text("window", &print_duration(*window)));
    cells.extend(swept.iter().cloned());
    cells.push(text("options", options));
    cells
}

/// Writes the table of all schedules, in the order in which they are given: the nearest first.
pub fn write_fidelity(
    out: &mut dyn Write,
    width: usize,
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
    let columns: Vec<_> = in_tables().skip_while(|(column, _)| column.name != SIMULATED.name).collect();
    let headings = columns.iter().skip(1).map(|(_, text)| *text);
    table.headings(["", "mean wait"].into_iter().chain(headings));
    if let Some(figures) = all.first() {
        let recorded = RECORDED.shown_value(figures);
        table.push(vec!["as recorded".to_string(), recorded]);
    }
    for (name, figures) in names.iter().zip(all) {
        let cells = columns.iter().map(|(column, _)| column.shown_value(figures));
        table.push([name.clone()].into_iter().chain(cells).collect());
    }
    table.write(out, width)?;
    writeln!(out)?;
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

/// The groups of a breakdown as rows of CSV. If there are several settings, the first column is their name.
pub fn fidelity_group_cells(setting: Option<&str>, breakdown: &FidelityBreakdown) -> Vec<Vec<(String, Cell)>> {
    let grouping = &breakdown.grouping;
    let text = |name: &str, text: &str| (name.to_string(), Cell::Text(text.to_string()));
    let row = |(value, figures): (&String, &FidelityFigures)| {
        let labels = setting.map(|setting| text("setting", setting)).into_iter();
        let labels = labels.chain([text("key", grouping.by.name()), text("value", value)]);
        labels.chain(figure_cells(figures)).collect()
    };
    grouping.values.iter().zip(&breakdown.figures).map(row).collect()
}

/// Writes a breakdown as a table. `setting` is the name of the run, `zone` that of the time zone of hours and weeks.
pub fn write_fidelity_groups(
    out: &mut dyn Write,
    width: usize,
    setting: &str,
    zone: Option<&str>,
    breakdown: &FidelityBreakdown,
) -> io::Result<()> {
    let by = breakdown.grouping.by.name();
    write_group_caption(out, width, setting, by, zone)?;
    // A column that no group has, as the moving error of weeks, is left out.
    let is_there = |(column, _): &(&FidelityColumn, &str)| {
        breakdown.figures.iter().any(|figures| (column.cell)(figures) != Cell::None)
    };
    let columns: Vec<_> = in_tables().filter(is_there).collect();
    let mut table = Table::default();
    table.headings([by].into_iter().chain(columns.iter().map(|(_, text)| *text)));
    for (value, figures) in breakdown.grouping.values.iter().zip(&breakdown.figures) {
        let cells = columns.iter().map(|(column, _)| column.shown_value(figures));
        table.push([value.clone()].into_iter().chain(cells).collect());
    }
    table.write(out, width)
}

/// Writes the CSV of compared jobs: one line per job, in order of submission. `jobs` are their indexes in the workload. If the
/// runs are named, because there are several, the name is the first column.
pub fn write_fidelity_jobs<'a>(
    out: &mut dyn Write,
    workload: &Workload,
    jobs: &[u32],
    runs: impl Iterator<Item = (Option<&'a str>, &'a ScheduleFidelity)>,
) -> io::Result<()> {
    for (at, (setting, comparison)) in runs.enumerate() {
        if at == 0 {
            let first = if setting.is_some() { "setting," } else { "" };
            writeln!(out, "{first}job,user,queue,submit,procs,wait_recorded,wait_simulated,difference")?;
        }
        let setting = setting.map_or(String::new(), |setting| format!("{},", csv_cell(setting)));
        for (&index, waits) in jobs.iter().zip(&comparison.waits) {
            let job = &workload.jobs[index as usize];
            let [user, queue] = [job.submission.user, job.submission.queue].map(|code| workload.wide.number(code));
            let (recorded, simulated) = (waits.recorded, waits.simulated);
            writeln!(
                out,
                "{setting}{},{user},{queue},{},{},{recorded},{simulated},{}",
                job.number,
                waits.submit,
                job.submission.procs,
                simulated - recorded
            )?;
        }
    }
    Ok(())
}

/// Writes the CSV of moving means: one line per window that has jobs. Named runs as in [`write_fidelity_jobs`].
pub fn write_fidelity_windows<'a>(
    out: &mut dyn Write,
    runs: impl Iterator<Item = (Option<&'a str>, Vec<SameWindows>)>,
) -> io::Result<()> {
    for (at, (setting, windows)) in runs.enumerate() {
        if at == 0 {
            let first = if setting.is_some() { "setting," } else { "" };
            writeln!(out, "{first}time,jobs,wait_recorded,wait_simulated")?;
        }
        let setting = setting.map_or(String::new(), |setting| format!("{},", csv_cell(setting)));
        for window in windows {
            let (recorded, simulated) = window.means();
            writeln!(out, "{setting}{},{},{recorded:.3},{simulated:.3}", window.begin, window.jobs)?;
        }
    }
    Ok(())
}
