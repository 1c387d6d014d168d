//! The command line: arguments in, library call, report out. One file a subcommand.

mod estimates;
mod failure;
mod generate;
mod help;
mod interrupt;
mod list;
mod log;
mod malleable;
mod meta;
mod notes;
mod options;
mod output_options;
mod places;
mod progress;
mod replications;
mod reproduce;
mod search;
mod simulate;
mod stderr;
mod sweep;
mod trace;
mod wait;

use clap::error::ErrorKind;
use clap::{ArgMatches, FromArgMatches, Parser, Subcommand};

use crate::experiment::Section;
use crate::report::{Output, OutputError};

use output_options::printing;

pub use failure::{exit_code, is_closed_pipe};
pub use stderr::error as print_error;

/// How long would jobs wait under this scheduler, with this way of predicting runtimes?
///
/// Simulates a log in the Standard Workload Format under a scheduler that plans with predicted runtimes, and prints
/// waits, slowdowns and the accuracy of the predictions. Without --trace it simulates a small log of its own.
#[derive(Debug, Parser)]
#[command(name = "sim", version, after_help = EXAMPLES, subcommand_value_name = "COMMAND")]
#[command(subcommand_help_heading = "Other commands", override_usage = "sim [OPTIONS]\n       sim <COMMAND> ...")]
struct Cli {
    #[command(flatten)]
    simulate: simulate::SimulateArgs,
    #[command(subcommand)]
    command: Option<Command>,
    /// No notes, timing or progress on standard error; warnings and errors only
    #[arg(short, long, global = true, help_heading = "Output")]
    quiet: bool,
}

const EXAMPLES: &str = "Examples:
  sim                                                 the embedded log, compared with plain EASY
  sim --trace KTH.swf.gz --predictor ruh              one log, one predictor
  sim --trace CTC.swf --procs 512 --scheduler easy --predictor estimate --format csv
  sim --trace KTH.swf --predictor easy++ --baseline easy/estimate --jobs-out jobs.csv
  zcat KTH.swf.gz | sim --trace - --predictor 'ruh:window=2,metric=mean'
  sim --trace KTH.swf --predictor sbh --baseline sjbf/ruh --replications 10   is the gain chance?
  sim sweep --trace KTH.swf,CTC.swf --predictor estimate,ruh,easy++ --out study
  sim search --trace CTC.swf --out ctc.templates      which past jobs predict best
  sim --trace NASA.swf --estimates tsafrir            a log without estimates, with made ones
  sim malleable                                       how many processors should a malleable job take?
  sim wait --trace CTC.swf --ask procs=64,estimate=2h when would such a job start?
  sim meta --site A=KTH.swf --site B=CTC.swf          one stream of jobs, two machines
  sim list predictors                                 what can stand after --predictor
  sim help sweeps                                     a page of the manual
  sim trace info KTH.swf.gz                           what is in a log";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a grid of settings on every core or on a cluster, resumably
    Sweep(sweep::SweepArgs),
    /// Look into a log: what is in it, is it sound
    Trace(trace::TraceArgs),
    /// Print the predictors, schedulers, estimate models, strategies, policies or methods there are, with their keys and
    /// defaults, or the columns of results
    List(list::ListArgs),
    /// Compute the tables of a paper again, published and measured side by side
    Reproduce(reproduce::ReproduceArgs),
    /// Find templates that predict a log's jobs well, and compare them with other predictors
    Search(search::SearchArgs),
    /// Send each job of many sites to one of them, and compare the ways to choose
    Meta(meta::MetaArgs),
    /// Replace the estimates of a log by those of a model
    Estimates(estimates::EstimatesArgs),
    /// Predict how long jobs will wait: ranges with probabilities, for a whole log or one job
    Wait(wait::WaitArgs),
    /// Make a log from a model
    Generate(generate::GenerateArgs),
    /// Let malleable jobs choose their processors by predicted queue times
    Malleable(malleable::MalleableArgs),
}

/// The command line, with the options of experiments where they belong.
fn command() -> clap::Command {
    use Section::{Engine, Estimates, Log, Metrics, Run, Shape};
    let info = |command| options::add(printing(command, "it"), &[Log]);
    let trace = |command: clap::Command| command.mut_subcommand("info", info);
    // Before the others, so that help shows them first.
    let experiment = options::add(clap::Command::new("sim"), &[Run, Log, Estimates, Shape, Engine, Metrics]);
    let command = <Cli as clap::Args>::augment_args(experiment)
        .mut_subcommand("trace", trace)
        .mut_subcommand("sweep", |command| printing(sweep::with_lists(command), "the results").display_order(0))
        .mut_subcommand("reproduce", |command| command.mut_subcommands(|study| printing(study, "the figures")))
        .mut_subcommand("meta", |command| options::add(command, &[Log, Estimates, Shape, Engine, Metrics]))
        .mut_subcommand("search", |command| options::add(printing(command, "the comparison"), &[Log, Estimates, Shape]))
        .mut_subcommand("wait", |command| options::add(printing(command, "the figures"), &[Log, Estimates, Shape]));
    help::add(command)
}

/// Prints help or the version. clap would do it, but would not say if it cannot be written.
fn print_help(help: &clap::Error) -> Result<(), OutputError> {
    // Nothing is written through the output, but it knows whether there is one, and flushes it.
    Output::stdout().fill(|_| help.print())
}

/// Runs the program on these arguments, its own name first.
pub fn run(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> anyhow::Result<()> {
    interrupt::watch();
    let matches = match command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) if error.use_stderr() => error.exit(),
        Err(help) => return Ok(print_help(&help)?),
    };
    if let Some(names) = help::asked(&matches) {
        return help::execute(&names);
    }
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    if let Some(name) = matches.subcommand_name() {
        refuse_options_of_the_main_command(&matches, name);
    }
    match cli.command {
        None => simulate::execute(&cli.simulate, &matches, cli.quiet),
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
        Some(Command::Meta(args)) => {
            let matches = matches.subcommand_matches("meta").expect("this is `meta`");
            meta::execute(&args, matches, cli.quiet)
        }
        Some(Command::List(args)) => list::execute(&args),
        Some(Command::Estimates(args)) => estimates::execute(&args, cli.quiet),
        Some(Command::Generate(args)) => generate::execute(&args, cli.quiet),
        Some(Command::Malleable(args)) => malleable::execute(&args, cli.quiet),
    }
}

/// `sim --trace x list` is a mistake: the subcommand would not see the option.
fn refuse_options_of_the_main_command(matches: &ArgMatches, subcommand: &str) {
    let command = command();
    for option in command.get_arguments().filter(|option| !option.is_global_set()) {
        let id = option.get_id().as_str();
        if matches.try_contains_id(id).is_ok() && options::is_given(matches, id) {
            let text = format!(
                "'{}' belongs to the main command: it cannot stand before the command '{subcommand}'",
                option.get_long().map_or_else(|| option.get_id().to_string(), |long| format!("--{long}"))
            );
            self::command().error(ErrorKind::ArgumentConflict, text).exit();
        }
    }
}
