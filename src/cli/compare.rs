//! `sim compare`: which figures of two outputs differ, and by how much.

use std::io::{self, Write};

use clap::Args;

use super::failure::{Differences, refuse};
use super::output_options::{Format, PrintOptions};
use super::places::refuse_collisions;
use super::stderr::{note, warning};
use super::width;
use super::{CommandForm, parsed};
use crate::compare::{CompareError, Comparison, DIFFERENCE_COLUMNS, Difference, DifferenceCounts, RowKind, Tolerance};
use crate::metrics::Column;
use crate::report::{Cell, JsonRows, Output, Table, counted, csv_line, grouped, write_wrapped};
use crate::sort::sort_by;
use crate::text::plural;
use crate::trace::Source;

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "compare",
    about: "Compare two outputs: which figures differ, and by how much",
    arguments: CompareArgs::augment_args,
    run: |matches| execute(&parsed(matches)),
};

#[derive(Debug, Args)]
#[command(
    after_help = "Rows are matched by what was run: trace, procs, scheduler, predictor, baseline, options and swept columns; jobs
by their id in the log and setting. Of jobs the first lines say who gains and who loses. Columns that only one file has are named and not compared. A row that only one
file has is a difference. Changes are from the first file to the second, in percent of the first. A change is
better or worse if lower or higher values of its column are better (`sim list columns`). Files with their rows
in the same order are compared without loading them.

Exit code: 0 if nothing differs beyond the tolerance, 1 if something does, 2 if the files cannot be compared. It is the same
if only the beginning of the output is read (`| head`).

Examples:
  sim compare old.csv new.csv       every figure that has changed, largest first
  sim compare old.csv new.csv --tolerance 0.1%    only changes of more than 0.1%
  sim compare study/results.csv other/results.csv --column wait_mean,bsld_mean
  sim compare jobs.csv.gz new-jobs.csv.gz
      two files of --jobs-out: who waits less now, who more
  sim --format csv | sim compare figures.csv -"
)]
struct CompareArgs {
    /// The output to compare with, plain, .gz or .zst; - for standard input
    #[arg(value_name = "FIRST")]
    first: String,
    /// The output to compare, of the same kind
    #[arg(value_name = "SECOND")]
    second: String,
    /// How much numbers may differ: a percentage of the first one (0.1%), or a number (0.5) [default: not at all]
    #[arg(long, value_name = "PERCENT%|NUMBER", value_parser = Tolerance::parse)]
    tolerance: Option<Tolerance>,
    /// Compare only these columns
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    column: Vec<String>,
    /// The number of differences in the table, the largest first; csv and json have all of them
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Output")]
    top: usize,
    #[command(flatten)]
    print: PrintOptions,
}

fn execute(args: &CompareArgs) -> anyhow::Result<()> {
    if args.first == "-" && args.second == "-" {
        return refuse("standard input can be read only once: give a file for one of the two");
    }
    refuse_collisions(&[], &[("FIRST", &args.first), ("SECOND", &args.second)], true)?;
    let sources = [&args.first, &args.second].map(|name| Source::from_argument(name));
    let mut comparison = Comparison::open([&sources[0], &sources[1]], &args.column)?;
    let names = comparison.names();
    for (name, missing) in names.iter().zip(comparison.missing()) {
        if let [_, ..] = missing[..] {
            let (word, columns) = (plural(missing.len() as u64, "column"), missing.join(", "));
            warning(format_args!("{name} has no {word} {columns}: not compared"));
        }
    }
    let tolerance = args.tolerance.unwrap_or_default();
    let about =
        About { rows: comparison.rows(), columns: comparison.columns(), keys: comparison.keys(), names, tolerance };
    let mut result = Ok(DifferenceCounts::default());
    Output::stdout().fill(|out| {
        let out = &mut UntilClosed(out);
        result = match args.print.format() {
            Format::Table => table(&mut comparison, &about, args.top, out),
            Format::Csv => csv(&mut comparison, &about, args.print.header(), out),
            Format::Json => json(&mut comparison, &about, out),
        };
        match &mut result {
            // Returned as an error of the output.
            Err(CompareError::Output(error)) => Err(std::mem::replace(error, io::ErrorKind::Other.into())),
            _ => Ok(()),
        }
    })?;
    let counts = result?;
    if args.print.format() != Format::Table {
        let gains = comparison.gains().map(|gains| gains.in_words(counts.alone));
        gains.into_iter().flatten().for_each(note);
        note(about.in_words(&counts));
    }
    match counts.is_same() {
        true => Ok(()),
        false => Err(Differences.into()),
    }
}

/// Writes until the reader closes the pipe (`| head`), and nothing afterwards. The comparison goes on, because the exit code
/// says whether there are differences.
struct UntilClosed<'a>(&'a mut dyn Write);

impl Write for UntilClosed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// What is compared.
struct About {
    rows: RowKind,
    columns: usize,
    keys: Vec<String>,
    names: [String; 2],
    tolerance: Tolerance,
}

impl About {
    /// The closing line.
    fn in_words(&self, counts: &DifferenceCounts) -> String {
        let row = if self.rows == RowKind::Jobs { "job" } else { "row" };
        let compared = format!("{}, {} compared", counted(counts.rows, row), counted(self.columns as u64, "column"));
        let mut found = Vec::new();
        if counts.cells > 0 {
            let (cells, rows) = (counts.cells, counts.rows_with_differences);
            let verb = if cells == 1 { "differs" } else { "differ" };
            found.push(format!("{} in {} {verb}", counted(cells, "cell"), counted(rows, row)));
        }
        for (alone, name) in counts.alone.iter().zip(&self.names).filter(|(alone, _)| **alone > 0) {
            found.push(format!("{} only in {name}", counted(*alone, row)));
        }
        let is_of_runs = matches!(self.rows, RowKind::Runs | RowKind::Means);
        if is_of_runs && counts.rows == 0 && counts.alone.iter().all(|&alone| alone > 0) {
            found.push("no run is in both files; to compare settings use lists and --baseline".to_string());
        }
        if found.is_empty() {
            found.push("no difference".to_string());
        }
        if self.tolerance != Tolerance::Exact {
            let within = match counts.cells_within {
                0 => String::new(),
                cells => format!(" ({} within it)", counted(cells, "cell")),
            };
            found.push(format!("tolerance {}{within}", self.tolerance));
        }
        format!("{compared}: {}", found.join(", "))
    }
}

/// The largest differences as a table.
fn table(
    comparison: &mut Comparison,
    about: &About,
    top: usize,
    out: &mut dyn Write,
) -> Result<DifferenceCounts, CompareError> {
    let (mut largest, mut all): (Vec<Difference>, u64) = (Vec::new(), 0);
    let counts = comparison.run(about.tolerance, &mut |difference| {
        all += 1;
        largest.push(difference);
        // Sorted from time to time, so that not all differences are kept. The sort is stable: of equal ones the first stay.
        if largest.len() >= 2 * top.max(500) {
            sort_by(&mut largest, Difference::larger_first);
            largest.truncate(top);
        }
        Ok(())
    })?;
    sort_by(&mut largest, Difference::larger_first);
    largest.truncate(top);
    let gains = comparison.gains().map_or(Vec::new(), |gains| gains.in_words(counts.alone));
    write_gains(&gains, out).map_err(CompareError::Output)?;
    write_table(about, &largest, out).map_err(CompareError::Output)?;
    let more = all - largest.len() as u64;
    write_closing(about, &counts, more, !largest.is_empty(), out).map_err(CompareError::Output)?;
    Ok(counts)
}

/// Writes who gains and who loses, above the table.
fn write_gains(gains: &[String], out: &mut dyn Write) -> io::Result<()> {
    gains.iter().try_for_each(|words| write_wrapped(out, "", words, width::of_stdout()))?;
    if gains.is_empty() { Ok(()) } else { writeln!(out) }
}

/// Writes what was compared and found, after the table if there is one. `more` differences are not in the table.
fn write_closing(
    about: &About,
    counts: &DifferenceCounts,
    more: u64,
    after_table: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let width = width::of_stdout();
    if after_table {
        writeln!(out)?;
    }
    if more > 0 {
        write_wrapped(out, "", &format!("and {} more: --format csv prints all", grouped(more)), width)?;
    }
    write_wrapped(out, "", &about.in_words(counts), width)
}

fn write_table(about: &About, shown: &[Difference], out: &mut dyn Write) -> io::Result<()> {
    if shown.is_empty() {
        return Ok(());
    }
    // Of the labels only those that differ; for one row, or for equal labels, the one that says most.
    let varies = |at: &usize| shown.iter().any(|difference| difference.keys[*at] != shown[0].keys[*at]);
    let mut keys: Vec<usize> = (0..about.keys.len()).filter(varies).collect();
    if keys.is_empty() {
        let says_most = |name: &str| about.keys.iter().position(|key| key == name);
        keys.push(says_most("job").or(says_most("predictor")).unwrap_or(about.keys.len() - 1));
    }
    let columns: Vec<_> = DIFFERENCE_COLUMNS.iter().filter(|column| is_shown(column, shown)).collect();
    let mut table = Table::with_left(keys.len() + 1);
    let names = keys.iter().map(|&at| about.keys[at].as_str());
    table.headings(names.chain(columns.iter().map(|column| column.heading)));
    for difference in shown {
        let labels = keys.iter().map(|&at| difference.keys[at].clone());
        table.push(labels.chain(columns.iter().map(|column| shown_cell(column, difference))).collect());
    }
    table.write(out, width::of_stdout())
}

/// Whether a table has a column: the effect only if one of the differences has one.
fn is_shown(column: &Column<Difference>, shown: &[Difference]) -> bool {
    column.name != "effect" || shown.iter().any(|difference| difference.effect().is_some())
}

/// The value of a column in a table: changes have their signs.
fn shown_cell(column: &Column<Difference>, difference: &Difference) -> String {
    match (column.name, column.cell(difference)) {
        ("change", _) => difference.printed_change().unwrap_or_default(),
        ("change_pct", Cell::Real(percent)) => format!("{percent:+.2}%"),
        (_, cell) => cell.text(),
    }
}

/// A difference as a row of CSV or JSON.
fn cells<'a>(about: &'a About, difference: &Difference) -> Vec<(&'a str, Cell)> {
    let labels = about.keys.iter().map(String::as_str).zip(difference.keys.iter().cloned().map(Cell::Text));
    labels.chain(DIFFERENCE_COLUMNS.iter().map(|column| (column.name, column.cell(difference)))).collect()
}

/// The same for JSON, where values that are numbers are written as numbers.
fn json_cells<'a>(about: &'a About, difference: &Difference) -> Vec<(&'a str, Cell)> {
    let mut cells = cells(about, difference);
    for (name, cell) in cells.iter_mut().skip(about.keys.len()).filter(|_| difference.change.is_some()) {
        if let ("first" | "second", Cell::Text(text)) = (*name, &*cell) {
            // A large whole number is not exact as a float.
            let whole = text.parse().map(Cell::Count);
            *cell = whole.or_else(|_| text.parse().map(Cell::Number)).unwrap_or(Cell::Text(text.clone()));
        }
    }
    cells
}

fn csv(
    comparison: &mut Comparison,
    about: &About,
    header: bool,
    out: &mut dyn Write,
) -> Result<DifferenceCounts, CompareError> {
    if header {
        let names = about.keys.iter().map(String::as_str).chain(DIFFERENCE_COLUMNS.iter().map(|column| column.name));
        let line: Vec<_> = names.map(|name| ((), Cell::Text(name.to_string()))).collect();
        writeln!(out, "{}", csv_line(&line)).map_err(CompareError::Output)?;
    }
    comparison.run(about.tolerance, &mut |difference| writeln!(out, "{}", csv_line(&cells(about, &difference))))
}

fn json(comparison: &mut Comparison, about: &About, out: &mut dyn Write) -> Result<DifferenceCounts, CompareError> {
    let mut rows = JsonRows::new(out);
    let counts = comparison.run(about.tolerance, &mut |difference| rows.push(&json_cells(about, &difference)))?;
    rows.finish().map_err(CompareError::Output)?;
    Ok(counts)
}
