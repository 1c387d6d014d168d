//! The command line, with one file per subcommand. Each parses its arguments, calls the library and prints a report.
//!
//! It needs the feature `cli`, which is on by default. A program of another crate can run this command line with its own
//! predictors added. They then work in every command, such as sweeps, comparisons and `sim list predictors`.
//!
//! `sim list predictors --example rust` prints this one:
//!
#![doc = concat!("```no_run\n", include_str!("examples/half.rs"), "```")]
//!
//! And a scheduler:
//!
#![doc = concat!("```no_run\n", include_str!("examples/widest.rs"), "```")]
//!
//! Results in the folder of a sweep are identified by the text of the predictor, not by its code. After you have changed
//! the code of your predictor, use a new folder.

mod color;
mod compare;
mod completions;
mod estimates;
mod example;
mod failure;
mod fidelity;
mod generate;
mod help;
mod interrupt;
mod known_site;
mod lacking;
mod list;
mod log;
mod machine;
mod malleable;
mod man;
mod meta;
mod names;
mod notes;
mod old_words;
mod one_language;
mod options;
mod output_options;
mod pager;
mod places;
mod plain_arguments;
mod predict;
mod progress;
mod quiet;
mod recommend;
mod report;
mod report_files;
mod reproduce;
mod resample;
mod rows_page;
mod search;
mod settings;
mod simulate;
mod slurm_conf;
mod stderr;
mod sweep;
mod trace;
mod wait;
mod what_if;
mod width;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches};

use crate::predict::catalog::{self as predictors, Entry};
use crate::schedule::catalog::{self as schedulers, SchedulerEntry};

/// A subcommand. Its file has its form, and [`forms`] has all of them.
struct CommandForm {
    name: &'static str,
    /// One line for the list of commands.
    about: &'static str,
    /// Adds the arguments.
    arguments: fn(clap::Command) -> clap::Command,
    /// Runs it with its arguments.
    run: fn(&ArgMatches) -> anyhow::Result<()>,
}

/// The subcommands in the groups of the short help, each with its heading.
const GROUPS: [(&str, &[&CommandForm]); 3] = [
    ("Simulate", &[&report::COMMAND, &sweep::COMMAND, &compare::COMMAND, &trace::COMMAND, &list::COMMAND]),
    (
        "My site",
        &[
            &recommend::COMMAND,
            &fidelity::COMMAND,
            &wait::COMMAND,
            &predict::COMMAND,
            &machine::COMMAND,
            &example::COMMAND,
        ],
    ),
    ("Research", &[&reproduce::COMMAND, &search::COMMAND, &meta::COMMAND, &malleable::COMMAND, &generate::COMMAND]),
];

/// The subcommands that are about the program itself.
const OWN: [&CommandForm; 2] = [&completions::COMMAND, &man::COMMAND];

/// All subcommands, in the order of help.
fn forms() -> impl Iterator<Item = &'static CommandForm> {
    GROUPS.iter().flat_map(|(_, forms)| forms.iter()).chain(&OWN).copied()
}

impl CommandForm {
    /// The command with its arguments.
    fn whole(&self) -> clap::Command {
        // The description is set last: the comments of structs with arguments would replace it.
        help::complete((self.arguments)(clap::Command::new(self.name))).about(self.about)
    }

    /// The command as a list of commands shows it.
    fn outline(&self) -> clap::Command {
        clap::Command::new(self.name).about(self.about)
    }
}

/// The arguments of a command. Errors end the program: clap has checked all values already.
fn parsed<A: FromArgMatches>(matches: &ArgMatches) -> A {
    A::from_arg_matches(matches).unwrap_or_else(|error| error.exit())
}

/// Whether an option was given on the command line, rather than set by default. A command may have only some of the options.
fn is_given(matches: &ArgMatches, name: &str) -> bool {
    matches.try_contains_id(name).is_ok() && matches.value_source(name) == Some(ValueSource::CommandLine)
}

const ABOUT: &str = "How long would jobs wait under this scheduler, with this predictor of runtimes?";

const LONG_ABOUT: &str = "How long would jobs wait under this scheduler, with this predictor of runtimes?

Simulates a log under a scheduler that plans with predicted runtimes, and prints waits, slowdowns and the accuracy of the \
predictions. The log may be in the Standard Workload Format, or an accounting file of Slurm, PBS, LSF or Grid Engine. Without \
one it simulates a small embedded log.";

const EXAMPLES: &str = "Examples:
  sim                                      the embedded log, compared with EASY
  sim KTH.swf.gz --predictor ruh           one log, one predictor
  sim CTC.swf --procs 512 --scheduler easy --predictor estimate --format csv
  sim KTH.swf --predictor easy++ --baseline easy/estimate --jobs-out jobs.csv
  zcat KTH.swf.gz | sim - --predictor 'ruh:window=2,metric=mean'
  sim KTH.swf --predictor sbh --baseline sjbf/ruh --replications 10
      is the gain chance?
  sim CTC.swf --predictor ruh,sbh --baseline easy/estimate --by width,user
      who gains, who pays?
  sim sacct.txt --baseline easy/estimate   the accounting of a site with Slurm
  sim sacct.txt --slurm-conf slurm.conf    under the scheduler of a site
  sim NASA.swf --estimates none,tsafrir    every option may be a list
  sim report KTH.swf --out report.html     charts of all this, for a browser
  sim recommend KTH.swf                    what to use instead, what it brings
  sim fidelity KTH.swf                     which scheduler is the site's own?
  sim sweep --trace KTH.swf,CTC.swf --predictor estimate,ruh,easy++ --out study
  sim search CTC.swf --out ctc.templates   which past jobs predict best
  sim malleable                            jobs that choose their processors
  sim wait ask CTC.swf --job procs=64,estimate=2h
      when would such a job start?
  sim meta --site A=KTH.swf --site B=CTC.swf
      one stream of jobs, two machines
  sim predict --predictor ruh --state events.jsonl
      predictions for a batch system that is running
  sim compare old.csv new.csv --tolerance 0.1%
      which figures of two outputs differ
  sim trace info KTH.swf.gz                what is in a log
  sim machine slurm.conf                   nodes and partitions of a site
  sim list predictors                      the predictors, with their keys
  sim help sweeps                          a page of the manual";

/// The whole command line.
fn command() -> clap::Command {
    command_with(true, |_| true)
}

/// The part of the command line that these arguments use: it takes longer to make all of it than to simulate a thousand jobs.
fn command_for(arguments: &[OsString]) -> clap::Command {
    let is_given = |word: &str| arguments.iter().any(|given| given == word);
    let first = without_global_options(arguments).next();
    let is_command = |word: &OsString| word == "help" || forms().any(|form| word == form.name);
    // `-h` may be one of several letters: `-qh`.
    let is_help = |word: &OsString| {
        let letters = word.to_str().and_then(|word| word.strip_prefix('-')).filter(|rest| !rest.starts_with('-'));
        word == "--help" || letters.is_some_and(|letters| letters.contains('h'))
    };
    let simulates = !first.is_some_and(|word| is_command(word) || is_help(word));
    let command = command_with(simulates, is_given);
    if is_given(help::ALL) || !arguments.iter().skip(1).any(is_help) {
        return command;
    }
    // Without these, clap's own help is printed: it has all options.
    let command = if is_given("--help") { command } else { command.mut_subcommands(help::briefly) };
    command.override_help(help::summary())
}

/// The words after the name of the program, without the options that may be before a command.
fn without_global_options(arguments: &[OsString]) -> impl Iterator<Item = &OsString> {
    let mut is_value = false;
    arguments.iter().skip(1).filter(move |word| {
        let is_color = *word == color::OPTION;
        let is_left_out = is_color || is_value || *word == "-q" || *word == "--quiet" || color::has_value(word);
        is_value = is_color && !is_value;
        !is_left_out
    })
}

/// The command line, with the options of a simulation if `simulates`, and with the arguments of the commands that are used.
fn command_with(simulates: bool, is_used: impl Fn(&str) -> bool) -> clap::Command {
    let command = clap::Command::new("sim").version(env!("CARGO_PKG_VERSION"));
    let command = if simulates { simulate::with_arguments(command) } else { command };
    let form = |form: &CommandForm| if is_used(form.name) { form.whole() } else { form.outline() };
    let command = command
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .after_help(EXAMPLES)
        .override_usage("sim [OPTIONS] [LOG]\n       sim <COMMAND> ...")
        .subcommand_value_name("COMMAND")
        .subcommand_help_heading("Other commands")
        .subcommands(forms().map(form))
        .arg(color::argument().display_order(999))
        .arg(quiet::argument().display_order(1000));
    help::add(command)
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

/// Like [`run`], with the predictors and schedulers of another crate added to those of this one. Call it once per process.
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
/// let code = shadowtime::cli::run_with(&MINE, &[], arguments);
/// assert_eq!(code, std::process::ExitCode::SUCCESS);
/// // A second list is an error: results would depend on when it was added.
/// assert!(shadowtime::predict::catalog::extend(&MINE).is_err());
/// ```
pub fn run_with(
    predictors: &'static [Entry],
    schedulers: &'static [SchedulerEntry],
    arguments: impl IntoIterator<Item = OsString>,
) -> ExitCode {
    match predictors::extend(predictors).and_then(|()| schedulers::extend(schedulers)) {
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
    color::follow(&arguments);
    let mut command = command_for(&arguments);
    // Checked first, because clap would report the options of the command that was meant as unknown.
    refuse_unknown_commands(&command, &arguments)?;
    let words: Vec<String> =
        without_global_options(&arguments).map(|word| word.to_string_lossy().into_owned()).collect();
    let matches = match command.try_get_matches_from_mut(arguments) {
        Ok(matches) => matches,
        Err(error) if error.use_stderr() => {
            old_words::refuse_unknown(&error, &words)?;
            error.exit()
        }
        Err(help) => return Ok(help::print(&help)?),
    };
    if let Some(names) = help::asked(&matches) {
        return help::execute(&names);
    }
    quiet::follow(&matches);
    match matches.subcommand() {
        None => {
            if let Some(log) = matches.get_one::<String>("log") {
                plain_arguments::refuse_unknown_word(log, &command)?;
            }
            simulate::execute(&matches)
        }
        Some((name, below)) => {
            refuse_options_of_the_main_command(&mut command, &matches, name);
            let form = forms().find(|form| form.name == name).expect("clap knows only these commands");
            (form.run)(below)
        }
    }
}

/// Refuses a word in the place of a command, or of the file that could be there instead, that is neither.
fn refuse_unknown_commands(mut command: &clap::Command, arguments: &[OsString]) -> Result<(), failure::UsageError> {
    let words = without_global_options(arguments).map_while(|word| word.to_str());
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
    let is_own = |option: &&clap::Arg| !option.is_global_set() && is_given(matches, option.get_id().as_str());
    let Some(option) = command.get_arguments().find(is_own) else { return };
    let text = match option.get_long() {
        Some(long) => {
            format!("'--{long}' belongs to the main command: it cannot be given before the command '{subcommand}'")
        }
        None => format!("a log cannot be given before the command '{subcommand}': give it after the command"),
    };
    command.error(ErrorKind::ArgumentConflict, text).exit();
}
