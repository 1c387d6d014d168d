//! `sim predict`: predictions for a batch system that is running.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::SystemTime;

use clap::builder::PossibleValuesParser;
use clap::{ArgMatches, Args};

use super::failure::{UsageError, refuse};
use super::interrupt;
use super::log::read_log;
use super::notes::report_cleaning;
use super::options;
use super::places::{given_files, refuse_collisions};
use super::progress::Progress;
use super::stderr::{note, warning};
use super::{CommandForm, parsed};
use crate::experiment::Options;
use crate::experiment::Section::{Log, Reading};
use crate::files;
use crate::predict;
use crate::production::{InputLine, LONGEST_LINE, ProductionError, Service, learn, read_line};
use crate::report::{Output, OutputError};
use crate::text::{counted, grouped};
use crate::time::{Seconds, parse_duration};
use crate::trace::{Cleaning, Source, TraceError, clean_out};

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "predict",
    about: "Predict runtimes for a batch system that is running",
    arguments: |command| options::add(PredictArgs::augment_args(command), &[Log, Reading]),
    run: |matches| execute(&parsed(matches), matches),
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim predict --state events.jsonl  for the hook of a batch system
  sim predict --predictor kin --learn-from sacct.txt --state events.jsonl
  sim predict --predictor sbh --learn-from pbs.log < today.jsonl
      nothing is kept
  sim predict --state events.jsonl < /dev/null
      exit code 0 if this state can be used
  sim predict --example hook > hook.py
      the hook for PBS; `--example follow` and `service` are its other parts

Lines in, one JSON object each. Ids and names are texts or numbers, times are seconds since 1970:
  {\"event\":\"arrival\",\"time\":1700000000,
   \"job\":{\"id\":\"17.pbs\",\"user\":\"alice\",\"procs\":4,\"estimate\":3600}} (on one line)
  {\"event\":\"start\",\"time\":1700000060,\"id\":\"17.pbs\"}
  {\"event\":\"termination\",\"time\":1700000900,\"id\":\"17.pbs\"}
A job can also have a group, executable, queue, partition and submit (the time of its submission), and a termination a
runtime. A waiting job that is withdrawn has the event \"cancellation\". A running job that is deleted has a termination.

One line out for each, at once: the predictions that changed, in order of arrival. A prediction is the whole runtime of a
job, in seconds.
  {\"predict\":{\"17.pbs\":3600}}
  {}
  {\"error\":\"line 3: job '18.pbs' is not in the system: send its arrival first\"}
An error changes nothing, and the next line can follow. A job that outlives its prediction gets a longer one. This is worked
out before the next event, and is part of the answer to it. The event \"miss\" asks for it at once; nobody has to send it.

The times of events must not decrease. So one event in the far future would end the use of all that follow: an event that is
more than --max-ahead ahead of the clock of this machine is answered with an error. An event may be sent again if its answer
was lost: the last one has the same answer again, and the arrival of a job in the system has its prediction in force.

The state file has the events and not the state of the predictor. It is replayed at the start, also with another predictor:
then the first answer has the new predictions of all jobs in the system. The file is locked (FILE.lock), and is safe against a
kill at any moment, but not against a power cut. Its lines have checksums, so that damage is noticed at the start. No other
program may change, replace or remove it: this is an error at the next event. When it has doubled, the oldest ended jobs are
forgotten. If there are events in it, --learn-from is not read again.

This command can be tried on a log: --predictor 'exec:command=sim predict --predictor kin' of the other commands asks it, and
gives the results of kin. `sim help production` shows how to connect it to PBS, and what is possible with Slurm.")]
struct PredictArgs {
    /// How runtimes are predicted, name or name:key=value,...; see `sim list predictors`. The predictions of the default are
    /// never above the estimate of the user, except after a missed deadline
    #[arg(long, value_name = "SPEC", default_value = predict::catalog::DEFAULT, value_parser = checked_predictor, display_order = 1)]
    predictor: String,
    /// Learn from this log first, plain, .gz or .zst: from its jobs as they ran. Times without a zone are UTC
    #[arg(long, value_name = "LOG", display_order = 2)]
    learn_from: Option<String>,
    /// Keep the events in this file, and begin with those that are in it [default: nothing is kept]
    #[arg(long, value_name = "FILE", display_order = 3)]
    state: Option<String>,
    /// Keep this number of ended jobs: older ones are forgotten when there are twice as many
    #[arg(long = "keep-jobs", value_name = "JOBS", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000), display_order = 4)]
    keep: u32,
    /// How far the time of an event may be ahead of the clock of this machine; off for events of a simulation. Times in the
    /// past are never too old
    #[arg(long, value_name = "DURATION|off", default_value = "1d", value_parser = parse_max_ahead, display_order = 5)]
    max_ahead: MaxAhead,
    /// Print a program that connects this command to a batch system, and do nothing else; without a name, which there are; see
    /// `sim help production`
    #[arg(long, value_name = "EXAMPLE", num_args = 0..=1, value_parser = PossibleValuesParser::new(EXAMPLES.map(|(name, ..)| name)), display_order = 6)]
    example: Option<Option<String>>,
}

/// The programs that `--example` prints: a name, a line about it, and its text.
const EXAMPLES: [(&str, &str, &str); 3] = [
    ("hook", "a hook for PBS that sets soft_walltime of new jobs", include_str!("examples/hook.py")),
    (
        "follow",
        "a service that answers the hook and follows the accounting log of PBS",
        include_str!("examples/follow.py"),
    ),
    ("service", "the unit with which systemd starts follow.py", include_str!("examples/shadowtime.service")),
];

/// Prints a program, or the names of all.
fn print_example(wanted: Option<&str>) -> Result<(), OutputError> {
    Output::stdout().fill(|out| match EXAMPLES.iter().find(|(name, ..)| Some(*name) == wanted) {
        Some((.., text)) => out.write_all(text.as_bytes()),
        None => EXAMPLES.iter().try_for_each(|(name, about, _)| writeln!(out, "{name:<8}{about}")),
    })
}

/// How far an event may be ahead of the clock. Its own type, because clap gives an option of an `Option` another meaning.
#[derive(Clone, Copy, Debug)]
struct MaxAhead(Option<Seconds>);

fn parse_max_ahead(text: &str) -> Result<MaxAhead, String> {
    match text {
        "off" => Ok(MaxAhead(None)),
        _ => parse_duration(text).map(|most| MaxAhead(Some(most))).map_err(|why| format!("{why}, or off")),
    }
}

fn checked_predictor(text: &str) -> Result<String, String> {
    Service::parse_predictor(text).map(|_| text.to_string()).map_err(|why| why.to_string())
}

fn execute(args: &PredictArgs, matches: &ArgMatches) -> anyhow::Result<()> {
    if let Some(program) = &args.example {
        return Ok(print_example(program.as_deref())?);
    }
    let options = options::read(matches)?;
    refuse_files(args)?;
    let mut service = Service::new(Service::parse_predictor(&args.predictor)?, args.keep as usize);
    service.set_max_ahead(args.max_ahead.0);
    if let Some(file) = &args.state {
        open_state(&mut service, file)?;
        interrupt::add_to_message(format!("{file} has all events that were answered"));
    }
    if let Some(log) = &args.learn_from {
        if service.system().is_new() {
            learn_from(&mut service, log, &options)?;
        } else {
            note(format_args!("{log} was not read: the state file has events already"));
        }
    }
    if io::stdin().is_terminal() {
        note("reading events from the terminal, one JSON object per line; see `sim predict --help`");
    }
    serve(&mut service)
}

fn refuse_files(args: &PredictArgs) -> Result<(), UsageError> {
    if args.learn_from.as_deref() == Some("-") {
        let why = "--learn-from: standard input has the events, so the log cannot be there: give the name of a file";
        return refuse(why);
    }
    if let Some(file) = &args.state {
        if Output::is_stdout(file) {
            return refuse("--state: give the name of a file, not standard output");
        }
        if [".gz", ".zst"].iter().any(|ending| file.ends_with(ending)) {
            let why = format!("--state '{file}': a state file is not compressed, give it another name");
            return refuse(why);
        }
    }
    let (outputs, inputs) =
        (given_files([("--state", &args.state)]), given_files([("--learn-from", &args.learn_from)]));
    refuse_collisions(&outputs, &inputs, true).map(|_| ())
}

/// Replays the events of the state file.
fn open_state(service: &mut Service, file: &str) -> Result<(), ProductionError> {
    let replayed = {
        let progress = Progress::counting("replaying", "events", None);
        service.open_state(file, &mut |events| progress.set(events))?
    };
    if replayed.was_empty {
        warning(format_args!("{file} was empty: it has no events to begin with"));
    }
    if replayed.torn > 0 {
        let bytes = counted(replayed.torn, "byte");
        note(format_args!("{file}: its last line was incomplete and was dropped ({bytes})"));
    }
    if replayed.had_no_sums {
        note(format_args!("{file} had no checksums: it was written again with them"));
    }
    if let Some(other) = replayed.other_predictor {
        let own = service.system().spec().in_full();
        note(format_args!("{file} was used with {other}: its events were replayed with {own}"));
    }
    if replayed.events > 0 {
        let (events, jobs) = (counted(replayed.events, "event"), counted(service.system().jobs() as u64, "job"));
        note(format_args!("{file}: {events} replayed, {jobs} waiting or running"));
    }
    Ok(())
}

fn learn_from(service: &mut Service, name: &str, options: &Options) -> anyhow::Result<()> {
    let mut log = read_log(&Source::from_argument(name), options.read_options())?;
    // The size of the machine does not matter here: no job is too wide unless it is said.
    let procs = options.cleaning.procs.or(Some(u32::MAX));
    let workload = match clean_out(&mut log, &Cleaning { procs, ..options.cleaning }, None) {
        // The log of a machine that is new. Its batch system must not be without answers for that.
        Err(TraceError::NoJobs { .. }) => {
            warning(format_args!("{name} has no ended jobs: nothing was learned from it"));
            return Ok(());
        }
        cleaned => cleaned?.as_recorded(),
    };
    report_cleaning(&log, &workload);
    if workload.unix_start.is_none() {
        warning(format_args!("{name} does not say when it begins (UnixStartTime): its jobs count as very old ones"));
    }
    let learned = {
        let progress = Progress::counting("learning", "events", None);
        learn(service, &workload, &log.names, &mut |events| progress.set(events))?
    };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_secs());
    if u64::try_from(learned.end).is_ok_and(|end| end > now) {
        warning(format_args!(
            "{name} ends at {}, in the future: events of today are refused (times without a zone are read as UTC)",
            learned.end
        ));
    }
    let (jobs, all) = (counted(learned.jobs as u64, "job"), workload.jobs.len());
    let which = match all > learned.jobs {
        true => format!("{jobs}, the last of {}", grouped(all as u64)),
        false => jobs,
    };
    note(format_args!("{name}: learned from {which}; events must not be before {}", learned.end));
    if learned.without_wait > 0 {
        let jobs = counted(learned.without_wait as u64, "job");
        note(format_args!("{name}: {jobs} without a wait in the log started when submitted"));
    }
    Ok(())
}

/// Answers lines until the end of the input.
fn serve(service: &mut Service) -> anyhow::Result<()> {
    let mut ended = Ok(());
    files::add_input(Path::new("-"));
    Output::create("-")?.fill(|out| {
        let (mut input, mut line) = (io::stdin().lock(), Vec::new());
        loop {
            let answer = match read_line(&mut input, &mut line) {
                Ok(InputLine::Whole) => service.answer(&line).map_err(anyhow::Error::from),
                Ok(InputLine::TooLong) => {
                    Ok(service.refuse(&format!("it is longer than {} bytes", grouped(LONGEST_LINE as u64))))
                }
                Ok(InputLine::End) => return Ok(()),
                Err(error) => Err(anyhow::Error::new(error).context("cannot read standard input")),
            };
            match answer {
                Ok(answer) => {
                    out.write_all(answer)?;
                    out.write_all(b"\n")?;
                    out.flush()?;
                }
                Err(error) => {
                    ended = Err(error);
                    return Ok(());
                }
            }
            // After the answer, because it takes longer than an answer.
            if let Err(error) = service.forget_old_jobs() {
                ended = Err(error.into());
                return Ok(());
            }
        }
    })?;
    ended
}
