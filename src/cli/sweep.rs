//! `sim sweep`: a grid of runs on all cores or on a cluster. It can be stopped and resumed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Subcommand};

use super::failure::UsageError;
use super::interrupt;
use super::options;
use super::output_options::{Format, OutputOptions};
use super::places::refuse_collisions;
use super::progress::Progress;
use super::stderr::{self, note, warning};
use crate::experiment::{OPTIONS, what_draws};
use crate::metrics::columns::SETTING;
use crate::metrics::{Groups, RunRow};
use crate::report::{Cell, Output, group_cells, grouped, write_groups, write_json_list, write_runs};
use crate::settings_file::{MOST_OF_GRID, read_text};
use crate::sweep::{
    Failure, FinishedRow, Grid, GridList, Keys, REPLICATIONS, ResultColumn, Shard, StartMode, Store, Submitted, Sweep,
    SweepProgress, active_job, finished_rows, run, submit, write_results,
};
use crate::time::readable_duration;

#[derive(Debug, Args)]
#[command(subcommand_negates_reqs = true, args_conflicts_with_subcommands = true)]
pub struct SweepArgs {
    #[command(subcommand)]
    command: Option<SweepCommand>,
    /// A TOML file with one line per option: predictor = ["estimate", "ruh:window={2|3}"]; options on the command line replace
    /// those of the file
    file: Option<PathBuf>,
    /// The folder of the sweep; results.csv in it is the result
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run", help_heading = "Sweep")]
    out: Option<PathBuf>,
    /// Continue the sweep in the folder: only missing cells are computed. Without lists, the grid of the folder is used
    #[arg(long, help_heading = "Sweep")]
    resume: bool,
    /// Resume with the lists given here instead of those in the folder; finished cells are kept and reused if the new grid
    /// contains them
    #[arg(long, help_heading = "Sweep")]
    change_grid: bool,
    /// Run each cell on the log as it is and on N - 1 slightly shaken copies (submissions moved by up to 30 s), and print
    /// means with 95% intervals: the same as --replication 0..N-1 with all other columns in --group-by
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000), help_heading = "Sweep")]
    replications: Option<u32>,
    /// Print the number of cells, and for each cell the command that runs it alone; run nothing
    #[arg(long, help_heading = "Sweep")]
    dry_run: bool,
    /// Run only every N-th cell, beginning with the I-th; implies --resume
    #[arg(long, value_name = "I/N", value_parser = Shard::parse, help_heading = "Cluster")]
    shard: Option<Shard>,
    /// Submit the missing cells to Slurm, with these options for sbatch, and do not wait for them; implies --resume
    #[arg(long, value_name = "SBATCH OPTIONS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with = "shard", help_heading = "Cluster")]
    slurm: Option<String>,
    /// The number of tasks into which --slurm divides the sweep
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    #[arg(help_heading = "Cluster")]
    shards: u32,
    /// Print means with 95% intervals over the rows that have the same values in these columns, such as scheduler,predictor
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Output")]
    group_by: Vec<String>,
    #[command(flatten)]
    output: OutputOptions,
}

#[derive(Debug, Subcommand)]
enum SweepCommand {
    /// Join the finished cells of all shards of a sweep into results.csv, and print which cells are missing
    Merge(FolderArgs),
    /// Print how many cells of a sweep are done, failed and missing
    Status(FolderArgs),
}

#[derive(Debug, Args)]
struct FolderArgs {
    /// The folder of the sweep
    folder: PathBuf,
}

pub const HELP: &str =
    "Lists are written with commas or by repeating the option, ranges as 1..10 or 0.8..1.2:0.1, alternatives in
braces: 'ruh:window={2|3},cap={on|off}'. The grid is the product of all lists, in the order given, the last
list changing fastest. A log is parsed once and shared by all threads.

Examples:
  sim sweep --trace KTH.swf,CTC.swf --scheduler easy,sjbf --predictor estimate,ruh --out study
  sim sweep --predictor 'ruh:window={1|2|3},cap={on|off}' --load 0.8..1.2:0.1 --out study --group-by predictor
  sim sweep --out study --resume                      continues where it stopped
  sim sweep study.toml --out study --slurm='--partition=short --time=30' --shards 32
  sim sweep status study";

/// Adds the lists to the command: every option of the main command, which may be repeated. Help shows them first.
pub fn with_lists(command: Command) -> Command {
    let trace = Arg::new("trace").long("trace").value_name("FILE").help("Logs [default: the embedded log]");
    let lists = [trace].into_iter().chain(OPTIONS.iter().map(options::argument));
    let about = command.get_about().cloned().unwrap_or_default();
    let command = Command::new("sweep").after_help(HELP);
    // A list for a switch must have its values written: --pass-on-miss=on,off.
    let command = command.args(
        lists.zip(0..).map(|(list, order)| list.action(ArgAction::Append).display_order(order).help_heading("Grid")),
    );
    // Set last: clap would otherwise use the comment of the flattened struct as the description of the command.
    SweepArgs::augment_args(command).about(about)
}

pub fn execute(args: &SweepArgs, matches: &ArgMatches, quiet: bool) -> anyhow::Result<()> {
    match &args.command {
        Some(SweepCommand::Merge(folder)) => return merge(&Sweep::open(&folder.folder)?, quiet),
        Some(SweepCommand::Status(folder)) => return status(&Sweep::open(&folder.folder)?),
        None => {}
    }
    let lists = lists(args, matches)?;
    let given = match lists.is_empty() {
        // Without lists a new sweep is one run of the embedded log, and a resumed sweep uses its own grid.
        true if args.is_resuming() => None,
        _ => Some(Grid::new(&lists)?),
    };
    if let Some(grid) = &given {
        // Checked here, so that an error comes before any work is done.
        grid.columns_named(&args.group_by)?;
        for seed in grid.idle_seeds() {
            warning(format_args!("--{} has no effect without {}", seed.name, what_draws(&seed.name)));
        }
    }
    let Some(folder) = args.out.as_deref().filter(|_| !args.dry_run) else {
        let grid = match (given, &args.out) {
            (Some(grid), _) => grid,
            (None, Some(folder)) => Sweep::open(folder)?.grid,
            (None, None) => Grid::new(&[])?,
        };
        return dry_run(&grid, quiet);
    };
    let how = match args.is_resuming() {
        _ if args.change_grid => StartMode::ChangeGrid,
        true => StartMode::Resume,
        false => StartMode::New,
    };
    let sweep = Sweep::begin(folder, given, how)?;
    sweep.grid.columns_named(&args.group_by)?;
    let logs = sweep.grid.axes().iter().filter(|axis| axis.name == "trace").flat_map(|axis| &axis.values);
    refuse_collisions(&[], &logs.map(|log| ("--trace", log.as_str())).collect::<Vec<_>>(), true)?;
    let threads = args.output.threads();
    let store = Store::open(folder)?;
    let keys = Keys::of(&sweep.grid, &store, threads);
    if store.damaged > 0 && !quiet {
        note(format_args!("{} lines of finished cells were incomplete: these cells are computed again", store.damaged));
    }
    match &args.slurm {
        Some(sbatch_options) => submit_to_slurm(&sweep, &keys, &store, args.shards as usize, sbatch_options, quiet),
        None => run_here(args, &sweep, &keys, &store, threads, quiet),
    }
}

impl SweepArgs {
    fn is_resuming(&self) -> bool {
        self.resume || self.change_grid || self.shard.is_some() || self.slurm.is_some()
    }
}

/// The lists of the file and of the options, in the order given. Options replace lists of the same name in the file.
fn lists(args: &SweepArgs, matches: &ArgMatches) -> anyhow::Result<Vec<GridList>> {
    let mut lists = match &args.file {
        None => Vec::new(),
        Some(path) => {
            let (file, text) = (path.display().to_string(), read_text(path, MOST_OF_GRID).map_err(UsageError)?);
            let lists = Grid::from_toml(&text).map_err(|error| UsageError(format!("{file}: {error}")))?;
            lists.into_iter().map(|list| list.in_file(&file)).collect()
        }
    };
    let mut given: Vec<(usize, GridList)> = Vec::new();
    for name in ["trace"].into_iter().chain(OPTIONS.iter().map(|option| option.name)) {
        if let (Some(texts), Some(mut places)) = (matches.get_many::<String>(name), matches.indices_of(name)) {
            given.push((places.next().unwrap_or(0), GridList::new(name, texts.cloned())));
        }
    }
    given.sort_by_key(|(place, _)| *place);
    let replications = args.replications.map(|number| GridList::new(REPLICATIONS, [number.to_string()]));
    for list in given.into_iter().map(|(_, list)| list).chain(replications) {
        match lists.iter_mut().find(|other| other.name == list.name) {
            Some(other) => *other = list,
            None => lists.push(list),
        }
    }
    Ok(lists)
}

/// The columns to group by: those of `--group-by`; without it, if there are replications, all swept columns except
/// `replication`.
fn groups(args: &SweepArgs, grid: &Grid) -> Vec<String> {
    match grid.is_averaged() {
        true if args.group_by.is_empty() => {
            let always = SETTING.map(|column| column.name.to_string());
            let swept = grid.added_columns().map(|(_, name)| name.to_string()).filter(|name| name != "replication");
            always.into_iter().chain(swept).collect()
        }
        _ => args.group_by.clone(),
    }
}

fn dry_run(grid: &Grid, quiet: bool) -> anyhow::Result<()> {
    Output::stdout().fill(|out| (0..grid.len()).try_for_each(|cell| writeln!(out, "{}", grid.cell(cell).command())))?;
    if !quiet {
        let axes: Vec<_> = grid.axes().iter().map(|axis| format!("{} {}", axis.values.len(), axis.name)).collect();
        note(format_args!("{} cells: {}", grouped(grid.len() as u64), axes.join(" x ")));
    }
    Ok(())
}

/// Runs a sweep, or a shard of it, on this machine.
fn run_here(
    args: &SweepArgs,
    sweep: &Sweep,
    keys: &Keys,
    store: &Store,
    threads: usize,
    quiet: bool,
) -> anyhow::Result<()> {
    let began = std::time::Instant::now();
    let folder = sweep.folder.display();
    interrupt::add_to_message(format!("finished cells are kept in {folder}; the same command with --resume continues"));
    let report = {
        let progress = Progress::counting("sweeping", "cells", None, quiet);
        run(&sweep.grid, keys, store, args.shard.unwrap_or(Shard::WHOLE), threads, &|done, all| {
            progress.set_of(done, all)
        })
        .context("the sweep stopped; finished cells are kept, and --resume continues when the error is fixed")?
    };
    if !quiet {
        note(format_args!(
            "{} cells: {} reused, {} computed{}, {} failed, in {}",
            grouped(report.cells as u64),
            grouped(report.reused as u64),
            grouped(report.computed as u64),
            if report.equal > 0 {
                format!(", {} equal to others", grouped(report.equal as u64))
            } else {
                String::new()
            },
            grouped(report.failures.len() as u64),
            readable_duration(began.elapsed().as_secs_f64())
        ));
    }
    print_not_done("failed", &sweep.grid, &report.failures);
    if let Some(shard) = args.shard.filter(|&shard| shard != Shard::WHOLE) {
        return match report.failures.len() {
            0 => Ok(()),
            failures => anyhow::bail!("{failures} cells of shard {}/{} failed", shard.index, shard.of),
        };
    }
    let store = Store::open(&sweep.folder)?;
    let file = write_results(sweep, keys, &store)?;
    print_results(args, sweep, keys, &store, &file)?;
    let file = file.display();
    match SweepProgress::of(sweep, keys, &store) {
        progress if progress.is_complete() => Ok(()),
        progress if progress.missing.is_empty() => {
            anyhow::bail!("{} of {} cells failed; the others are in {file}", progress.failed.len(), progress.cells)
        }
        progress => {
            print_missing(&sweep.grid, &progress.missing);
            let (missing, cells) = (progress.cells - progress.done, progress.cells);
            anyhow::bail!(
                "{missing} of {cells} cells are missing, although they were computed: their files were removed from {}; \
                 the others are in {file}, and --resume computes the missing ones again",
                sweep.folder.join("parts").display()
            )
        }
    }
}

/// Prints cells that are not done, each with the command that runs it alone.
fn print_not_done(what: &str, grid: &Grid, cells: &[Failure]) {
    /// More would be too long to read, and the others are likely to have the same reason.
    const SHOWN: usize = 20;
    for failure in cells.iter().take(SHOWN) {
        stderr::line(format_args!("{what}: {}\n  again: {}", failure.message, grid.cell(failure.cell).command()));
    }
    if cells.len() > SHOWN {
        stderr::line(format_args!("{what}: and {} more cells", grouped((cells.len() - SHOWN) as u64)));
    }
}

fn print_missing(grid: &Grid, cells: &[usize]) {
    let missing = cells.iter().map(|&cell| Failure { cell, message: "not computed yet".to_string() });
    print_not_done("missing", grid, &missing.collect::<Vec<_>>());
}

fn print_results(args: &SweepArgs, sweep: &Sweep, keys: &Keys, store: &Store, file: &Path) -> anyhow::Result<()> {
    let print = &args.output.print;
    let names = groups(args, &sweep.grid);
    if !names.is_empty() {
        let columns = sweep.grid.columns_named(&names)?;
        let mut groups = Groups::new(sweep.grid.has_baseline());
        for row in finished_rows(sweep, keys, store) {
            let row = row?;
            groups.add(columns.iter().map(|column| column.cell(&row).text()).collect(), Some(row.key), &row.run);
        }
        let groups = groups.means();
        let cells: Vec<_> = groups.iter().map(|group| group_cells(&names, group)).collect();
        return Ok(print.print_rows(false, &cells, |out| write_groups(out, &names, &groups))?);
    }
    match print.format() {
        Format::Csv => {
            // The file is copied, because it may be larger than memory.
            let mut rows = BufReader::new(File::open(file)?);
            let mut header = String::new();
            rows.read_line(&mut header)?;
            Output::stdout().fill(|out| {
                out.write_all(if print.header() { header.as_bytes() } else { b"" })?;
                io::copy(&mut rows, out).map(|_| ())
            })?;
        }
        Format::Table => {
            const SHOWN: usize = 50;
            let rows = finished_rows(sweep, keys, store).take(SHOWN).collect::<Result<Vec<_>, _>>()?;
            let all = keys.keys.iter().filter(|key| key.is_some_and(|key| store.is_done(key))).count();
            Output::stdout().fill(|out| {
                write_rows(out, &sweep.grid, &rows)?;
                match all.saturating_sub(SHOWN) {
                    0 => writeln!(out, "\nall columns: {}", file.display()),
                    more => writeln!(out, "\nand {} more rows; all columns: {}", grouped(more as u64), file.display()),
                }
            })?;
        }
        Format::Json => {
            let columns = sweep.grid.columns();
            let cells = |row: FinishedRow<'_>| -> Vec<(String, Cell)> {
                columns.iter().map(|column| (column.name().to_string(), json_cell(column, &row))).collect()
            };
            let rows = finished_rows(sweep, keys, store).map(|row| row.map(cells)).collect::<Result<Vec<_>, _>>()?;
            Output::stdout().fill(|out| write_json_list(out, &rows))?;
        }
    }
    Ok(())
}

/// A cell of the results in JSON. Empty text is null, the value of an option is a number if it can be parsed as one, and all
/// numbers are written with a decimal point.
fn json_cell(column: &ResultColumn<'_>, row: &FinishedRow<'_>) -> Cell {
    match (column, column.cell(row)) {
        (_, Cell::Text(text)) if text.is_empty() => Cell::None,
        (ResultColumn::Swept { .. }, Cell::Text(text)) => {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            number.map_or(Cell::Text(text), Cell::Number)
        }
        (_, Cell::Count(count)) => Cell::Number(count as f64),
        (_, cell) => cell,
    }
}

/// Writes a table of the most important columns.
fn write_rows(out: &mut dyn Write, grid: &Grid, rows: &[FinishedRow<'_>]) -> io::Result<()> {
    let (axes, names): (Vec<usize>, Vec<&str>) = grid.added_columns().unzip();
    let added = |row: &FinishedRow<'_>| axes.iter().map(|&axis| row.values[axis].to_string()).collect();
    let rows: Vec<(&RunRow, Vec<String>)> = rows.iter().map(|row| (&row.run, added(row))).collect();
    write_runs(out, grid.has_baseline(), &names, &rows)
}

fn merge(sweep: &Sweep, quiet: bool) -> anyhow::Result<()> {
    let store = Store::open(&sweep.folder)?;
    let keys = Keys::recorded(&sweep.grid, &store);
    let progress = SweepProgress::of(sweep, &keys, &store);
    let file = write_results(sweep, &keys, &store)?;
    let file = file.display();
    if progress.is_complete() {
        if !quiet {
            note(format_args!("{} cells in {file}", grouped(progress.cells as u64)));
        }
        return Ok(());
    }
    print_not_done("failed", &sweep.grid, &progress.failed);
    print_missing(&sweep.grid, &progress.missing);
    anyhow::bail!(
        "{} of {} cells are missing, {} of them failed; the others are in {file}",
        progress.cells - progress.done,
        progress.cells,
        progress.failed.len()
    )
}

fn status(sweep: &Sweep) -> anyhow::Result<()> {
    let store = Store::open(&sweep.folder)?;
    let progress = SweepProgress::of(sweep, &Keys::recorded(&sweep.grid, &store), &store);
    // Without Slurm this is an error, and nothing is printed about jobs.
    let job = active_job(sweep).ok().flatten();
    Output::stdout().fill(|out| {
        writeln!(
            out,
            "{} cells: {} done, {} failed, {} missing",
            progress.cells,
            progress.done,
            progress.failed.len(),
            progress.missing.len()
        )?;
        if let Some((job, tasks)) = job {
            writeln!(out, "jobs {job}: {tasks} tasks queued or running")?;
        }
        if progress.is_complete() && sweep.results_file().exists() {
            writeln!(out, "results: {}", sweep.results_file().display())?;
        }
        Ok(())
    })?;
    Ok(())
}

fn submit_to_slurm(
    sweep: &Sweep,
    keys: &Keys,
    store: &Store,
    shards: usize,
    sbatch_options: &str,
    quiet: bool,
) -> anyhow::Result<()> {
    let progress = SweepProgress::of(sweep, keys, store);
    let mut missing = progress.missing.clone();
    missing.extend(progress.failed.iter().map(|failure| failure.cell));
    if missing.is_empty() {
        let file = write_results(sweep, keys, store)?;
        Output::stdout().fill(|out| writeln!(out, "all {} cells are done: {}", progress.cells, file.display()))?;
        return Ok(());
    }
    let program = std::env::current_exe().unwrap_or_else(|_| Path::new("sim").to_path_buf());
    let sbatch_options: Vec<String> = sbatch_options.split_whitespace().map(str::to_string).collect();
    let Submitted { array, tasks, merge } = submit(sweep, &missing, shards, &program, &sbatch_options)?;
    Output::stdout().fill(|out| writeln!(out, "array job {array}, tasks {tasks}\nmerge job {merge}"))?;
    if !quiet {
        let (cells, folder) = (grouped(missing.len() as u64), sweep.folder.display());
        note(format_args!("{cells} cells submitted; `sim sweep status {folder}` prints how many are done"));
    }
    Ok(())
}
