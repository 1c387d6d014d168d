//! `sim trace`: inspects a log before it is simulated.

use clap::{ArgMatches, Args, Subcommand};

use super::failure::UsageError;
use super::log::read_log;
use super::options;
use super::output_options::PrintOptions;
use super::places::{given_files, refuse_collisions};
use super::progress::Progress;
use crate::report::{Output, survey_row, write_findings, write_survey};
use crate::trace::{Source, demo, survey, validate};

#[derive(Debug, Args)]
pub struct TraceArgs {
    #[command(subcommand)]
    command: TraceCommand,
}

#[derive(Debug, Subcommand)]
enum TraceCommand {
    /// Print what a log contains: machine, jobs, users, time span, load, unknown fields, and what cleaning would drop
    #[command(
        after_help = "Examples:\n  sim trace info KTH.swf.gz\n  sim trace info CTC.swf --procs 512 --format json"
    )]
    Info(InfoArgs),
    /// Check a log: print every faulty line with its position, and other findings; the exit code is 2 if the log is not sound
    #[command(after_help = "Example:\n  sim trace validate new.swf && sim --trace new.swf")]
    Validate(ValidateArgs),
}

#[derive(Debug, Args)]
struct InfoArgs {
    /// The log, plain, .gz or .zst; - for standard input [default: the embedded log]
    file: Option<String>,
    #[command(flatten)]
    print: PrintOptions,
}

#[derive(Debug, Args)]
struct ValidateArgs {
    /// The log, plain, .gz or .zst; - for standard input [default: the embedded log]
    file: Option<String>,
}

fn source(file: Option<&String>) -> Source {
    file.map_or_else(demo, |file| Source::from_argument(file))
}

pub fn execute(args: &TraceArgs, matches: &ArgMatches, quiet: bool) -> anyhow::Result<()> {
    match &args.command {
        TraceCommand::Info(args) => {
            let matches = matches.subcommand_matches("trace").and_then(|trace| trace.subcommand_matches("info"));
            let options = options::read(matches.expect("this is `trace info`"))?;
            refuse_collisions(&[], &given_files([("FILE", &args.file)]), true)?;
            let log = read_log(&source(args.file.as_ref()), options.read_options(), quiet)?;
            let survey = survey(&log, &options.cleaning)?;
            Ok(args.print.print_row(false, &survey_row(&survey), |out| write_survey(out, &survey))?)
        }
        TraceCommand::Validate(args) => {
            refuse_collisions(&[], &given_files([("FILE", &args.file)]), true)?;
            let source = source(args.file.as_ref());
            let progress = Progress::counting("reading", "records", None, quiet);
            let findings = validate(&source, &mut |records| progress.set(records))?;
            drop(progress);
            Output::stdout().fill(|out| write_findings(out, &source.name(), &findings))?;
            if findings.is_sound() { Ok(()) } else { Err(UsageError(format!("{} is not sound", source.name())).into()) }
        }
    }
}
