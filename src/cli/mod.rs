//! The command line, with one file per subcommand. Each parses its arguments, calls the library and prints a report.
//!
//! It needs the feature `cli`, which is on by default. A program of another crate can run this command line with its own
//! predictors added. They then work in every command, such as sweeps, comparisons and `sim list predictors`.
//!
//! `sim list predictors --example rust` prints this one:
//!
#![doc = concat!("```no_run\n", include_str!("examples/half.rs"), "```")]
//!
//! Results in the folder of a sweep are identified by the text of the predictor, not by its code. After you have changed
//! the code of your predictor, use a new folder.

mod compare;
mod completions;
mod estimates;
mod failure;
mod fidelity;
mod generate;
mod help;
mod interrupt;
mod list;
mod log;
mod malleable;
mod man;
mod meta;
mod notes;
#[cfg(test)]
mod one_language;
mod options;
mod output_options;
mod places;
mod plain_arguments;
mod predict;
mod progress;
mod recommend;
mod report;
mod reproduce;
mod search;
mod settings;
mod simulate;
mod slurm_conf;
mod stderr;
mod sweep;
mod trace;
mod wait;
mod width;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgMatches, FromArgMatches, Parser, Subcommand};

use crate::experiment::Section;
use crate::predict::catalog::{self, Entry};
use crate::report::{Output, OutputError};

use output_options::{listing, printing, reporting};

/// How long would jobs wait under this scheduler, with this predictor of runtimes?
///
/// Simulates a log under a scheduler that plans with predicted runtimes, and prints waits, slowdowns and the accuracy of
/// the predictions. The log may be in the Standard Workload Format, or an accounting file of Slurm, PBS, LSF or Grid
/// Engine. Without one it simulates a small embedded log.
#[derive(Debug, Parser)]
#[command(name = "sim", version, after_help = EXAMPLES, subcommand_value_name = "COMMAND")]
#[command(subcommand_help_heading = "Other commands", override_usage = "sim [OPTIONS] [LOG]\n       sim <COMMAND> ...")]
struct Cli {
    /// The log, plain, .gz or .zst; - for standard input [default: the embedded log, compared with easy/estimate]
    #[arg(value_name = "LOG", conflicts_with = "trace", display_order = 0)]
    log: Option<String>,
    #[command(flatten)]
    simulate: simulate::SimulateArgs,
    #[command(subcommand)]
    command: Option<Command>,
    /// Print only warnings and errors to standard error: no notes, times or progress
    #[arg(short, long, global = true, help_heading = "Output")]
    quiet: bool,
}

const EXAMPLES: &str = "Examples:
  sim                                                 the embedded log, compared with plain EASY
  sim KTH.swf.gz --predictor ruh                      one log, one predictor
  sim CTC.swf --procs 512 --scheduler easy --predictor estimate --format csv
  sim KTH.swf --predictor easy++ --baseline easy/estimate --jobs-out jobs.csv
  zcat KTH.swf.gz | sim - --predictor 'ruh:window=2,metric=mean'
  sim KTH.swf --predictor sbh --baseline sjbf/ruh --replications 10   is the gain chance?
  sim report KTH.swf --out report.html                charts of all this, as one page for a browser
  sim recommend KTH.swf                               what to use instead of easy/estimate, and what it brings
  sim fidelity KTH.swf                                which scheduler comes nearest to the site's own?
  sim sacct.txt --slurm-conf slurm.conf               under the scheduler of a site with Slurm
  sim sweep --trace KTH.swf,CTC.swf --predictor estimate,ruh,easy++ --out study
  sim search CTC.swf --out ctc.templates              which past jobs predict best
  sim NASA.swf --estimates tsafrir                    a log without estimates, with estimates of a model
  sim malleable                                       how many processors should a malleable job take?
  sim wait CTC.swf --ask procs=64,estimate=2h         when would such a job start?
  sim meta --site A=KTH.swf --site B=CTC.swf          one stream of jobs, two machines
  sim list predictors                                 the predictors, with their keys
  sim help sweeps                                     a page of the manual
  sim predict --predictor ruh --state events.jsonl    predictions for a batch system that is running
  sim trace info KTH.swf.gz                           what is in a log
  sim CTC.swf --predictor ruh,sbh --baseline easy/estimate --by width,user    who gains, who pays?
  sim compare old.csv new.csv --tolerance 0.1%        which figures of two outputs differ
  sim sacct.txt --baseline easy/estimate              the accounting of a site with Slurm: see `sim help logs`";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a grid of settings on all cores or on a cluster; it can be stopped and resumed
    Sweep(sweep::SweepArgs),
    /// Inspect a log: what it contains, and whether it is sound; or convert it to SWF
    Trace(trace::TraceArgs),
    /// Print all predictors, schedulers, estimate models, strategies, policies or methods, with their keys and defaults, or the
    /// columns of results
    List(list::ListArgs),
    /// Which scheduler and predictor should a site use, what would it bring, and who would pay?
    Recommend(recommend::RecommendArgs),
    /// How near does a simulated schedule come to the one that a log recorded, and which scheduler comes nearest?
    Fidelity(fidelity::FidelityArgs),
    /// Write a report with charts as one HTML file: what came out, who gains, who pays, and whether it is chance
    Report(report::ReportArgs),
    /// Compute the tables of a paper again, with published and measured figures side by side
    Reproduce(reproduce::ReproduceArgs),
    /// Find templates that predict the runtimes of a log well, and compare them with other predictors
    Search(search::SearchArgs),
    /// Send each job of many sites to one of them, and compare policies that choose the site
    Meta(meta::MetaArgs),
    /// Replace the estimates of a log by those of a model
    Estimates(estimates::EstimatesArgs),
    /// Predict how long jobs will wait: ranges with probabilities, for a whole log or one job
    Wait(wait::WaitArgs),
    /// Predict the runtimes of jobs for a batch system that is running: its events in, predictions out
    Predict(predict::PredictArgs),
    /// Compare two outputs: which figures differ, by how much; the exit code says whether any does
    Compare(compare::CompareArgs),
    /// Make a log from a model
    Generate(generate::GenerateArgs),
    /// Let malleable jobs choose their number of processors by predicted queue times
    Malleable(malleable::MalleableArgs),
    /// Print a script with which a shell completes commands, options, names and keys
    Completions(completions::CompletionsArgs),
    /// Write manual pages for `man`
    Man(man::ManArgs),
}

const SLURM_CONF: &str = "Take the keys of the scheduler slurm from this slurm.conf; without --scheduler, slurm is used; see `sim help slurm`";

/// The command line, with the options of experiments added to the commands that use them.
fn command() -> clap::Command {
    use Section::{Engine, Estimates, Log, Metrics, Reading, Run, Shape};
    let info = |command| options::add(printing(command, "it"), &[Log, Reading]);
    let validate = |command| options::add_named(options::add(listing(command, "the findings"), &[Reading]), &["procs"]);
    let reading = |command| options::add(command, &[Reading]);
    let convert = |command| options::add_named(reading(reporting(command)), &["procs", "skip-bad-lines"]);
    let trace = |command: clap::Command| {
        let command = command.mut_subcommand("info", info).mut_subcommand("validate", validate);
        command.mut_subcommand("convert", convert)
    };
    // These are added first, so that help shows them first.
    let experiment = options::add(clap::Command::new("sim"), &[Run, Log, Reading, Estimates, Shape, Engine, Metrics]);
    let experiment = slurm_conf::add(options::with_lists(experiment), SLURM_CONF);
    let command = <Cli as clap::Args>::augment_args(experiment)
        .mut_subcommand("trace", trace)
        .mut_subcommand("sweep", |command| {
            let command = command.mut_subcommand("status", |status| listing(status, "the state"));
            let command = command.mut_subcommand("merge", reporting).mut_subcommand("report", reporting);
            slurm_conf::add(printing(sweep::with_lists(command), "the results"), SLURM_CONF).display_order(0)
        })
        .mut_subcommand("recommend", |command| {
            let command = options::add(printing(command, "the answer"), &[Log, Reading, Estimates, Engine]);
            let command = options::add_named(command, &["from", "to", "first", "load", "bsld-threshold"]);
            slurm_conf::add(command, "Take what the site uses now from its slurm.conf; see `sim help slurm`")
        })
        .mut_subcommand("fidelity", |command| fidelity::with_options(printing(command, "the figures")))
        .mut_subcommand("report", |command| {
            let sections = &[Run, Log, Reading, Estimates, Shape, Engine, Metrics];
            slurm_conf::add(options::with_lists(options::add(reporting(command), sections)), SLURM_CONF)
        })
        .mut_subcommand("reproduce", |command| command.mut_subcommands(|study| printing(study, "the figures")))
        .mut_subcommand("meta", |command| options::add(command, &[Log, Reading, Estimates, Shape, Engine, Metrics]))
        .mut_subcommand("search", |command| {
            options::add(printing(command, "the comparison"), &[Log, Reading, Estimates, Shape])
        })
        .mut_subcommand("wait", |command| {
            let command = options::add(printing(command, "the figures"), &[Log, Reading, Estimates, Shape]);
            slurm_conf::add(command, SLURM_CONF)
        })
        .mut_subcommand("predict", |command| options::add(command, &[Log, Reading]))
        .mut_subcommand("compare", |command| printing(command, "the differences"))
        .mut_subcommand("list", |command| listing(command, "the list"))
        .mut_subcommand("generate", |command| command.mut_subcommands(reporting))
        .mut_subcommand("estimates", |command| options::add_named(reading(reporting(command)), &["skip-bad-lines"]));
    help::add(command)
}

/// Prints help or the version. clap could print it too, but ignores errors of the output.
fn print_help(help: &clap::Error) -> Result<(), OutputError> {
    // clap writes to standard output itself. `Output` only checks that standard output is open, and flushes it.
    Output::stdout().fill(|_| help.print())
}

/// Runs the program. `arguments` begin with the name of the program.
///
/// Errors are printed to standard error. The exit code is 0, 1 for a failure at run time, 2 for bad input or bad usage, or 130
/// after an interrupt. Arguments that cannot be parsed end the process.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match execute(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if failure::is_closed_pipe(&error) => ExitCode::SUCCESS,
        // They were printed: there is nothing to add.
        Err(error) if error.is::<failure::Differences>() => ExitCode::FAILURE,
        Err(error) => {
            stderr::error(format_args!("{error:#}"));
            ExitCode::from(failure::exit_code(&error))
        }
    }
}

/// Like [`run`], with the predictors of another crate added to those of this one. Call it once per process.
///
/// ```standalone_crate
/// # use shadowtime::{job::JobId, predict::{Board, Predictor, catalog::Entry}, spec::Form};
/// # struct Half;
/// # impl Predictor for Half {
/// #     fn on_arrival(&mut self, id: JobId, board: &mut Board) {
/// #         let estimate = board.job(id).estimate;
/// #         board.predict(id, (estimate / 2).max(1));
/// #     }
/// # }
/// static HALF: Form = Form { name: "half", about: "half of the estimate", keys: &[] };
/// static MINE: [Entry; 1] = [(&HALF, |_| Box::new(Half))];
/// let arguments = ["mine", "-q", "--predictor", "half", "--baseline", "sjbf/ruh"].map(Into::into);
/// let code = shadowtime::cli::run_with(&MINE, arguments);
/// assert_eq!(code, std::process::ExitCode::SUCCESS);
/// // A second list is an error: results would depend on when it was added.
/// assert!(shadowtime::predict::catalog::extend(&MINE).is_err());
/// ```
pub fn run_with(predictors: &'static [Entry], arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match catalog::extend(predictors) {
        Ok(()) => run(arguments),
        Err(error) => {
            stderr::error(error);
            ExitCode::from(2)
        }
    }
}

fn execute(arguments: impl IntoIterator<Item = OsString>) -> anyhow::Result<()> {
    interrupt::watch();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Some(shell) = completions::requested() {
        return Ok(completions::answer(&shell, arguments, command())?);
    }
    let program = program_name(&arguments);
    // Made once: it takes longer than a simulation of a thousand jobs.
    let mut command = command();
    // Checked first, because clap would report the options of the command that was meant as unknown.
    refuse_unknown_commands(&command, &arguments)?;
    let matches = match command.try_get_matches_from_mut(arguments) {
        Ok(matches) => matches,
        Err(error) if error.use_stderr() => error.exit(),
        Err(help) => return Ok(print_help(&help)?),
    };
    if let Some(names) = help::asked(&matches) {
        return help::execute(&names);
    }
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    if let Some(name) = matches.subcommand_name() {
        refuse_options_of_the_main_command(&mut command, &matches, name);
    }
    match cli.command {
        None => {
            let mut simulate = cli.simulate;
            if let Some(log) = cli.log {
                plain_arguments::refuse_unknown_word(&log, &command)?;
                simulate.trace = Some(log);
            }
            simulate::execute(&simulate, &matches, cli.quiet)
        }
        Some(Command::Sweep(args)) => {
            let matches = matches.subcommand_matches("sweep").expect("this is `sweep`");
            sweep::execute(&args, matches, cli.quiet)
        }
        Some(Command::Trace(args)) => trace::execute(&args, &matches, cli.quiet),
        Some(Command::Reproduce(args)) => reproduce::execute(&args, cli.quiet),
        Some(Command::Search(args)) => {
            let matches = matches.subcommand_matches("search").expect("this is `search`");
            search::execute(&args, matches, cli.quiet)
        }
        Some(Command::Wait(args)) => {
            let matches = matches.subcommand_matches("wait").expect("this is `wait`");
            wait::execute(&args, matches, cli.quiet)
        }
        Some(Command::Recommend(args)) => {
            let matches = matches.subcommand_matches("recommend").expect("this is `recommend`");
            recommend::execute(&args, matches, cli.quiet)
        }
        Some(Command::Fidelity(args)) => {
            let matches = matches.subcommand_matches("fidelity").expect("this is `fidelity`");
            fidelity::execute(&args, matches, cli.quiet)
        }
        Some(Command::Report(args)) => {
            let matches = matches.subcommand_matches("report").expect("this is `report`");
            report::execute(&args, matches, cli.quiet)
        }
        Some(Command::Predict(args)) => {
            let matches = matches.subcommand_matches("predict").expect("this is `predict`");
            predict::execute(&args, matches, cli.quiet)
        }
        Some(Command::Meta(args)) => {
            let matches = matches.subcommand_matches("meta").expect("this is `meta`");
            meta::execute(&args, matches, cli.quiet)
        }
        Some(Command::List(args)) => list::execute(&args),
        Some(Command::Estimates(args)) => {
            let matches = matches.subcommand_matches("estimates").expect("this is `estimates`");
            estimates::execute(&args, matches, cli.quiet)
        }
        Some(Command::Compare(args)) => compare::execute(&args, cli.quiet),
        Some(Command::Generate(args)) => generate::execute(&args, cli.quiet),
        Some(Command::Malleable(args)) => malleable::execute(&args, cli.quiet),
        Some(Command::Completions(args)) => completions::execute(&args, &program),
        Some(Command::Man(args)) => man::execute(&args, cli.quiet),
    }
}

/// The name of the program without its folder: `sim`, or the name of a program that uses [`run_with`].
fn program_name(arguments: &[OsString]) -> String {
    let path = arguments.first().map(Path::new);
    path.and_then(Path::file_stem).map_or("sim".to_string(), |name| name.to_string_lossy().into_owned())
}

/// Refuses a word in the place of a command, or of the file that could be there instead, that is neither.
fn refuse_unknown_commands(mut command: &clap::Command, arguments: &[OsString]) -> Result<(), failure::UsageError> {
    let words = arguments.iter().skip(1).map_while(|word| word.to_str());
    // This option may be before a command.
    let words = words.filter(|word| !["-q", "--quiet"].contains(word));
    for word in words.take_while(|word| !word.starts_with('-')) {
        match command.find_subcommand(word) {
            Some(below) => command = below,
            // Without plain arguments clap knows that the word should be a command.
            None if command.has_subcommands() && command.get_positionals().next().is_some() => {
                return plain_arguments::refuse_unknown_word(word, command);
            }
            None => return Ok(()),
        }
    }
    Ok(())
}

/// `sim --trace x list` is an error, because the subcommand would ignore the option.
fn refuse_options_of_the_main_command(command: &mut clap::Command, matches: &ArgMatches, subcommand: &str) {
    let is_given = |option: &&clap::Arg| {
        let id = option.get_id().as_str();
        !option.is_global_set() && matches.try_contains_id(id).is_ok() && options::is_given(matches, id)
    };
    let Some(option) = command.get_arguments().find(is_given) else { return };
    let text = match option.get_long() {
        Some(long) => {
            format!("'--{long}' belongs to the main command: it cannot be given before the command '{subcommand}'")
        }
        None => format!("a log cannot be given before the command '{subcommand}': give it after the command"),
    };
    command.error(ErrorKind::ArgumentConflict, text).exit();
}
