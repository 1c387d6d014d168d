//! Prints the results of a sweep: rows, or means over groups of them.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use super::SweepArgs;
use crate::cli::output_options::Format;
use crate::cli::stderr::warning;
use crate::cli::width;
use crate::files;
use crate::metrics::RunRow;
use crate::metrics::columns::SETTING;
use crate::report::{
    Cell, Output, Width, counted, group_cells, write_groups, write_json_list, write_paragraph, write_runs,
};
use crate::runs::{Axis, FinishedRow, ResultColumn, RunPlan};
use crate::sweep::{SweepCells, groups, pooled};

pub fn print_results(args: &SweepArgs, all: &SweepCells<'_>, file: &Path) -> anyhow::Result<()> {
    let (print, sweep) = (&args.output.print, all.sweep);
    let names = group_columns(args, &sweep.grid);
    if !names.is_empty() {
        let rows = all.rows().collect::<Result<Vec<_>, _>>()?;
        let groups = groups(&sweep.grid, &names, &rows)?;
        let cells = group_cells(&names, &groups);
        let pooled = pooled_in_words(&pooled(&sweep.grid, &groups), &names);
        print.print_rows(false, &cells, |out, width| {
            write_groups(out, width, &names, &groups)?;
            pooled.iter().try_for_each(|pooled| write_paragraph(out, &format!("Note: {pooled}"), width))
        })?;
        // A program reads the rows of CSV and JSON, and a person the warning.
        if let Some(pooled) = pooled.filter(|_| print.format() != Format::Table) {
            warning(pooled);
        }
        return Ok(());
    }
    match print.format() {
        Format::Csv => {
            // The file is copied, because it may be larger than memory.
            let mut rows = BufReader::new(files::open(file)?);
            let mut header = String::new();
            rows.read_line(&mut header)?;
            Output::stdout().fill(|out| {
                out.write_all(if print.header() { header.as_bytes() } else { b"" })?;
                io::copy(&mut rows, out).map(|_| ())
            })?;
        }
        Format::Table => {
            const SHOWN: usize = 50;
            let rows = all.rows().take(SHOWN).collect::<Result<Vec<_>, _>>()?;
            let done = all.progress().done;
            Output::stdout().fill(|out| {
                write_rows(out, width::of_stdout(), &sweep.grid, &rows)?;
                match done.saturating_sub(SHOWN) {
                    0 => writeln!(out, "\nall columns: {}", file.display()),
                    more => {
                        writeln!(out, "\nand {}; all columns: {}", counted(more as u64, "more row"), file.display())
                    }
                }
            })?;
        }
        Format::Json => {
            let columns = sweep.grid.columns();
            let cells = |row: FinishedRow| -> Vec<(String, Cell)> {
                columns.iter().map(|column| (column.name().to_string(), column.cell(&row))).collect()
            };
            let rows = all.rows().map(|row| row.map(cells)).collect::<Result<Vec<_>, _>>()?;
            Output::stdout().fill(|out| write_json_list(out, &rows))?;
        }
    }
    Ok(())
}

/// What a reader of intervals must know if groups pool runs that differ in more than their seeds. None if they do not.
fn pooled_in_words(axes: &[&Axis], names: &[String]) -> Option<String> {
    if axes.is_empty() {
        return None;
    }
    let pooled: Vec<String> =
        axes.iter().map(|axis| format!("{} of {}", counted(axis.values.len() as u64, "value"), axis.name)).collect();
    let all: Vec<&str> = names.iter().map(String::as_str).chain(axes.iter().map(|axis| axis.name.as_str())).collect();
    Some(format!(
        "the means pool runs with {}: their intervals show how much these differ, and not noise. `--group-by {}` keeps them \
         apart.",
        pooled.join(" and "),
        all.join(",")
    ))
}

/// Writes a table of the most important columns.
fn write_rows(out: &mut dyn Write, width: Width, grid: &RunPlan, rows: &[FinishedRow]) -> io::Result<()> {
    // The keys of specs are in the texts of the specs, which the table shows.
    let columns: Vec<_> = grid.shown_columns().filter(|column| !column.name().contains('.')).collect();
    let names: Vec<&str> = columns.iter().map(ResultColumn::name).collect();
    let added = |row: &FinishedRow| columns.iter().map(|column| column.cell(row).text()).collect();
    let rows: Vec<(&RunRow, Vec<String>)> = rows.iter().map(|row| (&row.run, added(row))).collect();
    write_runs(out, width, grid.given(), &names, &rows)
}

/// The columns to group by: those of `--group-by`; without it, if there are replications, all swept columns except
/// `replication`.
fn group_columns(args: &SweepArgs, grid: &RunPlan) -> Vec<String> {
    match grid.is_averaged() {
        true if args.group_by.is_empty() => all_settings(grid),
        _ => args.group_by.clone(),
    }
}

/// The columns that say what was run, without the replication.
fn all_settings(grid: &RunPlan) -> Vec<String> {
    let always = SETTING.map(|column| column.name.to_string());
    let swept = grid.shown_columns().map(|column| column.name().to_string()).filter(|name| name != "replication");
    always.into_iter().chain(swept).collect()
}
