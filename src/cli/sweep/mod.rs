//! `sim sweep`: a grid of runs on all cores or on a cluster. It can be stopped and resumed.

mod report;
mod results;
mod stored;
mod years;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Subcommand};

use results::print_results;
use stored::{merge, missing_cells, print_missing, print_not_done, status};
use years::resample_by_default;

use super::{CommandForm, parsed};
use crate::cli::failure::{UsageError, refuse, refuse_program};
use crate::cli::interrupt;
use crate::cli::notes::report_remarks;
use crate::cli::options;
use crate::cli::output_options::{Format, OutputOptions, PrintOptions, listing, reporting};
use crate::cli::places::{given_files, refuse_collisions};
use crate::cli::plain_arguments::{PlainArguments, refuse_unknown_word};
use crate::cli::progress::Progress;
use crate::cli::slurm_conf::{self, SLURM_CONF, SiteConf};
use crate::cli::stderr::note;
use crate::experiment::{OPTIONS, OptionForm, Options};
use crate::machine::associations::Associations;
use crate::metrics::{Given, When, cells};
use crate::report::{FEEDBACK_NOTE, JsonRows, Output, counted, counted_as, csv_line, grouped};
use crate::runs::{Executor, FinishedRow, GridList, GridText, REPLICATIONS, RowsAlone, RunPlan, RunStep, Shard, Store};
use crate::settings_file::{MOST_OF_GRID, read_text};
use crate::sort::sort_by_key;
use crate::spec::quote;
use crate::sweep::{PLAN_COLUMNS, PlannedCell, StartMode, Submitted, Sweep, SweepCells, submit};
use crate::time::readable_duration;
use crate::trace::{Source, TraceError};

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "sweep",
    about: "Run a grid of settings, which can be stopped and resumed",
    arguments: |command| {
        let command = with_lists(command).mut_subcommand("status", listing);
        let command = command.mut_subcommand("merge", reporting).mut_subcommand("report", reporting);
        slurm_conf::add(command, SLURM_CONF)
    },
    run: |matches| execute(&parsed(matches), matches),
};

#[derive(Debug, Args)]
#[command(subcommand_negates_reqs = true, args_conflicts_with_subcommands = true)]
struct SweepArgs {
    #[command(subcommand)]
    command: Option<SweepCommand>,
    /// A TOML file with one line per option: predictor = ["estimate", "ruh:window=1..3"]; options on the command line replace
    /// those of the file. Or logs: the same as --trace
    #[arg(value_name = "FILE")]
    files: Vec<String>,
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
    /// Run each cell also on N resamples of the users of its log, and print means with 95% intervals. With --resample none, or if a log is
    /// too short, each cell runs on the log and on N - 1 slightly shaken copies (submissions moved by up to 30 s). The same as
    /// --replication 0..N (0..N-1) with all other columns in --group-by
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000), help_heading = "Sweep")]
    replications: Option<u32>,
    /// Allow the programs of `exec` predictors and schedulers that are named in a file of lists or in the folder of a sweep
    #[arg(long, help_heading = "Sweep")]
    allow_exec: bool,
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
    /// Write the results as a page when all cells are done, as `sim sweep report` does
    #[arg(long, value_name = "FILE", help_heading = "Output", conflicts_with_all = ["dry_run", "shard", "slurm"])]
    html: Option<String>,
    #[command(flatten)]
    output: OutputOptions,
}

#[derive(Debug, Subcommand)]
enum SweepCommand {
    /// Join the finished cells of all shards of a sweep into results.csv, and print which cells are missing
    Merge(StoredArgs),
    /// Write the results of a sweep as one HTML file: the best settings, bars of all, and a chart for each swept number
    Report(report::SweepReportArgs),
    /// Print how many cells of a sweep are done, failed and missing
    Status(StoredArgs),
}

#[derive(Debug, Args)]
struct StoredArgs {
    /// The folder of the sweep
    folder: PathBuf,
    #[command(flatten)]
    print: PrintOptions,
}

const HELP: &str =
    "Lists are written with commas or by repeating the option, ranges as 1..10 or 0.8..1.2:0.1 (also for a key:
ruh:window=1..10), alternatives in braces: 'ruh:window={1..3|5},cap={on|off}'. The grid is the product of all
lists, in the order given, the last list changing fastest. A swept option has a column in the results, and so
has a swept key of a spec (predictor.window). A log is parsed once and shared by all threads.

Examples:
  sim sweep KTH.swf CTC.swf --scheduler easy,sjbf --predictor estimate,ruh \\
    --out study
  sim sweep --predictor ruh:window=1..10 --load 0.8..1.2:0.1 --out study \\
    --group-by predictor.window
  sim sweep --out study --resume            continues where it stopped
  sim sweep study.toml --out study --slurm='--partition=short --time=30' \\
    --shards 32
  sim sweep status study
  sim sweep report study --out study.html   charts of the results, for a browser";

/// Adds the lists to the command: every option of the main command, which may be repeated. Help shows them first.
fn with_lists(command: Command) -> Command {
    let trace =
        Arg::new("trace").long("trace").value_name("FILE").help("The logs, as a list [default: the embedded log]");
    let lists = [trace].into_iter().chain(OPTIONS.iter().map(options::argument));
    let lists = lists.map(|list| match OptionForm::find(list.get_id().as_str()) {
        Some(option) => list.value_parser(options::checked_list(option)),
        None => list,
    });
    // A list for a switch must have its values written: --pass-on-miss=on,off.
    let command = command.after_help(HELP).args(
        lists.zip(0..).map(|(list, order)| list.action(ArgAction::Append).display_order(order).help_heading("Grid")),
    );
    SweepArgs::augment_args(command)
}

fn execute(args: &SweepArgs, matches: &ArgMatches) -> anyhow::Result<()> {
    match &args.command {
        Some(SweepCommand::Merge(args)) => return merge(&Sweep::open(&args.folder)?, &args.print),
        Some(SweepCommand::Status(args)) => return status(&Sweep::open(&args.folder)?, &args.print.or_table()),
        Some(SweepCommand::Report(args)) => return report::execute(args),
        None => {}
    }
    let mut lists = lists(args, matches)?;
    let conf = slurm_conf::read(matches)?;
    if let Some(conf) = &conf {
        complete_schedulers(&mut lists, conf)?;
    }
    set_machine(&mut lists, conf.as_ref(), matches)?;
    resample_by_default(&mut lists)?;
    let given = match lists.is_empty() {
        // Without lists a new sweep is one run of the embedded log, and a resumed sweep uses its own grid.
        true if args.is_resuming() => None,
        _ => Some(RunPlan::new(&lists)?),
    };
    if let Some(grid) = &given {
        // Checked here, so that an error comes before any work is done.
        grid.columns_named(&args.group_by)?;
        grid.refuse_idle()?;
    }
    let Some(folder) = args.out.as_deref().filter(|_| !args.dry_run) else {
        let grid = match (given, &args.out) {
            (Some(grid), _) => grid,
            (None, Some(folder)) => Sweep::open(folder)?.grid,
            (None, None) => RunPlan::new(&[])?,
        };
        return dry_run(&grid, &args.output.print);
    };
    let how = match args.is_resuming() {
        _ if args.change_grid => StartMode::ChangeGrid,
        true => StartMode::Resume,
        false => StartMode::New,
    };
    if let Some(grid) = given.as_ref().filter(|_| how == StartMode::New) {
        refuse_missing_logs(grid)?;
    }
    if !args.allow_exec {
        refuse_programs_of_files(&lists)?;
    }
    let is_from_folder = given.is_none();
    let sweep = Sweep::begin(folder, given, how)?;
    sweep.grid.columns_named(&args.group_by)?;
    if is_from_folder && !args.allow_exec {
        refuse_program(&format!("{}: ", folder.join("grid.toml").display()), sweep.grid.programs().first())?;
    }
    if args.html.as_deref().is_some_and(Output::is_stdout) {
        return refuse("--html: standard output has the results: give the name of a file");
    }
    let (logs, pages) = (sweep.grid.logs(), given_files([("--html", &args.html)]));
    refuse_collisions(&pages, &logs.iter().map(|log| ("--trace", log.as_str())).collect::<Vec<_>>(), true)?;
    let html = args.html.as_deref().map(Output::create).transpose()?;
    let by_qos = sweep.grid.has_nodes().then(|| sweep.grid.have(Associations::has_preemption));
    slurm_conf::warn_of_preemption(sweep.grid.schedulers().iter(), by_qos);
    if sweep.grid.has_nodes() {
        slurm_conf::note_idle_limits(sweep.grid.schedulers().iter(), sweep.grid.have(Associations::has_limits));
        options::warn_of_pools(sweep.grid.schedulers().iter());
    }
    slurm_conf::warn_of_associations(sweep.grid.accounts().iter())?;
    let threads = args.output.threads();
    let cells = SweepCells::of(&sweep, threads)?;
    if cells.store.damaged > 0 {
        let lines = counted_as(
            cells.store.damaged as u64,
            "line of finished cells was incomplete: its cell is",
            "lines of finished cells were incomplete: their cells are",
        );
        note(format_args!("{lines} computed again"));
    }
    match &args.slurm {
        Some(sbatch_options) => submit_to_slurm(&cells, args.shards as usize, sbatch_options),
        None => run_here(args, html, cells, threads),
    }
}

/// Refuses a new sweep of which no log exists, before its folder is made. If only some are missing, their cells fail, and the
/// others are computed.
fn refuse_missing_logs(grid: &RunPlan) -> Result<(), TraceError> {
    match grid.logs().first() {
        Some(first) if !grid.logs().iter().any(|log| Path::new(log).exists()) => {
            Source::from_argument(first).open().map(|_| ())
        }
        _ => Ok(()),
    }
}

/// Refuses programs in those lists of a file that no option has replaced.
fn refuse_programs_of_files(lists: &[GridList]) -> anyhow::Result<()> {
    let in_file = |text: &&GridText| !text.place.is_empty();
    for list in lists {
        if let Some(GridText { place, .. }) = list.texts.iter().find(in_file) {
            refuse_program(place, RunPlan::new(std::slice::from_ref(list))?.programs().first())?;
        }
    }
    Ok(())
}

impl SweepArgs {
    fn is_resuming(&self) -> bool {
        self.resume || self.change_grid || self.shard.is_some() || self.slurm.is_some()
    }
}

/// The lists of the file and of the options, in the order given. Options replace lists of the same name in the file.
fn lists(args: &SweepArgs, matches: &ArgMatches) -> anyhow::Result<Vec<GridList>> {
    let PlainArguments { settings, logs } = PlainArguments::of(&args.files, MOST_OF_GRID)?;
    let mut lists = match settings {
        None => Vec::new(),
        Some(file) => {
            let text = read_text(Path::new(file), MOST_OF_GRID).map_err(UsageError)?;
            let lists = RunPlan::from_toml(&text).map_err(|error| UsageError(format!("{file}: {error}")))?;
            lists.into_iter().map(|list| list.in_file(file)).collect()
        }
    };
    let mut given: Vec<(usize, GridList)> = Vec::new();
    if let (false, Some(mut places)) = (logs.is_empty(), matches.indices_of("files")) {
        if matches.contains_id("trace") {
            return refuse(format!("'{}' and --trace both name logs: give all of them in one way", logs[0]));
        }
        let command = COMMAND.whole();
        logs.iter().try_for_each(|log| refuse_unknown_word(log, &command))?;
        // In quotes, so that commas and braces are part of a name.
        given.push((places.next().unwrap_or(0), GridList::new("trace", logs.iter().map(|log| quote(log)))));
    }
    for name in ["trace"].into_iter().chain(OPTIONS.iter().map(|option| option.name)) {
        if let (Some(texts), Some(mut places)) = (matches.get_many::<String>(name), matches.indices_of(name)) {
            given.push((places.next().unwrap_or(0), GridList::new(name, texts.cloned())));
        }
    }
    sort_by_key(&mut given, |(place, _)| *place);
    let replications = args.replications.map(|number| GridList::new(REPLICATIONS, [number.to_string()]));
    for list in given.into_iter().map(|(_, list)| list).chain(replications) {
        match lists.iter_mut().find(|other| other.name == list.name) {
            Some(other) => *other = list,
            None => lists.push(list),
        }
    }
    Ok(lists)
}

/// Gives the schedulers and the baselines of a grid the keys of a slurm.conf. Without a list of them, its own is the only one.
fn complete_schedulers(lists: &mut Vec<GridList>, conf: &SiteConf) -> anyhow::Result<()> {
    conf.complete_lists(lists)?;
    for (name, value) in [("scheduler", conf.scheduler().to_string()), ("baseline", conf.baseline().pair())] {
        if lists.iter().all(|list| list.name != name) {
            lists.push(GridList::new(name, [value]));
        }
    }
    Ok(())
}

/// The nodes of the slurm.conf that schedulers name are the machine of a grid, if it has one log and no other machine.
fn set_machine(lists: &mut Vec<GridList>, conf: Option<&SiteConf>, matches: &ArgMatches) -> anyhow::Result<()> {
    let traces = lists.iter().find(|list| list.name == "trace").map_or(1, |list| list.texts.len());
    let has_machine = lists.iter().any(|list| ["machine", "procs"].contains(&list.name.as_str()));
    if lists.is_empty() || traces > 1 || has_machine {
        return Ok(());
    }
    let (mut options, schedulers) = (Options::default(), RunPlan::new(lists)?.schedulers());
    slurm_conf::set_one_machine(matches, conf, &mut options, schedulers.iter())?;
    lists.extend(options.machine.map(|machine| GridList::new("machine", [quote(&machine.file)])));
    Ok(())
}

fn dry_run(grid: &RunPlan, print: &PrintOptions) -> anyhow::Result<()> {
    let planned = (0..grid.count()).map(|cell| PlannedCell { number: cell + 1, run: grid.run(cell) });
    let mut rows = planned.clone().map(|cell| cells(PLAN_COLUMNS, &cell, Given::default()));
    Output::stdout().fill(|out| match print.given() {
        // A command that can be copied is the default everywhere.
        None | Some(Format::Table) => planned.clone().try_for_each(|cell| writeln!(out, "{}", cell.run.command())),
        // A grid may have millions of cells: they are written one at a time.
        Some(Format::Csv) => {
            if print.header() {
                writeln!(out, "{}", PLAN_COLUMNS.iter().map(|column| column.name).collect::<Vec<_>>().join(","))?;
            }
            rows.try_for_each(|row| writeln!(out, "{}", csv_line(&row)))
        }
        Some(Format::Json) => {
            let mut list = JsonRows::new(out);
            rows.try_for_each(|row| list.push(&row))?;
            list.finish()
        }
    })?;
    let axes: Vec<_> = grid.axes().iter().map(|axis| format!("{} {}", axis.values.len(), axis.name)).collect();
    note(format_args!("{}: {}", counted(grid.count() as u64, "cell"), axes.join(" x ")));
    Ok(())
}

/// Runs a sweep, or a shard of it, on this machine.
fn run_here(args: &SweepArgs, html: Option<Output>, mut cells: SweepCells<'_>, threads: usize) -> anyhow::Result<()> {
    let (began, sweep) = (std::time::Instant::now(), cells.sweep);
    let folder = sweep.folder.display();
    interrupt::add_to_message(format!("finished cells are kept in {folder}; the same command with --resume continues"));
    let report = {
        let progress = Progress::counting("sweeping", "cells", None);
        let watch = |step| {
            if let RunStep::Run { done, all } = step {
                progress.set_of(done, all);
            }
        };
        let executor = Executor::of_all(&sweep.grid, threads, &watch);
        let executor = Executor { shard: args.shard.unwrap_or(Shard::WHOLE), ..executor };
        let run = executor.run(&RowsAlone::Plain, Some((&cells.keys, &cells.store)), &mut |_, _, ()| ());
        run.context("the sweep stopped; finished cells are kept, and --resume continues when the error is fixed")?
    };
    note(format_args!(
        "{}: {} reused, {} computed{}, {} failed, in {}",
        counted(report.runs as u64, "cell"),
        grouped(report.reused as u64),
        grouped(report.computed as u64),
        if report.equal > 0 { format!(", {} equal to others", grouped(report.equal as u64)) } else { String::new() },
        grouped(report.failures.len() as u64),
        readable_duration(began.elapsed().as_secs_f64())
    ));
    if sweep.grid.given().has(When::Feedback) {
        note(FEEDBACK_NOTE);
    }
    report_remarks(&report.remarks);
    print_not_done("failed", &sweep.grid, &report.failures);
    if let Some(shard) = args.shard.filter(|&shard| shard != Shard::WHOLE) {
        return match report.failures.len() {
            0 => Ok(()),
            failures => {
                anyhow::bail!("{} of shard {}/{} failed", counted(failures as u64, "cell"), shard.index, shard.of)
            }
        };
    }
    cells.store = Store::open(&sweep.folder)?;
    let file = cells.write_results()?;
    print_results(args, &cells, &file)?;
    if let Some(out) = html {
        let rows = cells.rows().collect::<Result<Vec<FinishedRow>, _>>()?;
        let page = report::page(&cells, &rows, &[])?;
        out.fill(|out| out.write_all(page.page.as_bytes()))?;
    }
    let file = file.display();
    match cells.progress() {
        progress if progress.is_complete() => Ok(()),
        progress if progress.missing.is_empty() => {
            let (failed, cells) = (grouped(progress.failed.len() as u64), counted(progress.cells as u64, "cell"));
            anyhow::bail!("{failed} of {cells} failed; the others are in {file}")
        }
        progress => {
            print_missing(&sweep.grid, &progress.missing);
            let missing = missing_cells(&progress);
            anyhow::bail!(
                "{missing} missing, although computed: files were removed from {}; the others are in {file}, and --resume \
                 computes what is missing again",
                sweep.folder.join("parts").display()
            )
        }
    }
}

fn submit_to_slurm(cells: &SweepCells<'_>, shards: usize, sbatch_options: &str) -> anyhow::Result<()> {
    let (sweep, progress) = (cells.sweep, cells.progress());
    let mut missing = progress.missing.clone();
    missing.extend(progress.failed.iter().map(|failure| failure.at));
    if missing.is_empty() {
        let file = cells.write_results()?;
        Output::stdout().fill(|out| {
            writeln!(out, "done: all of {}, in {}", counted(progress.cells as u64, "cell"), file.display())
        })?;
        return Ok(());
    }
    let program = std::env::current_exe().unwrap_or_else(|_| Path::new("sim").to_path_buf());
    let sbatch_options: Vec<String> = sbatch_options.split_whitespace().map(str::to_string).collect();
    let Submitted { array, tasks, merge } =
        submit(sweep, &missing, shards, &program, &sbatch_options).map_err(anyhow::Error::msg)?;
    Output::stdout().fill(|out| writeln!(out, "array job {array}, tasks {tasks}\nmerge job {merge}"))?;
    let (cells, folder) = (counted(missing.len() as u64, "cell"), sweep.folder.display());
    note(format_args!("{cells} submitted; `sim sweep status {folder}` prints how many are done"));
    Ok(())
}
