//! `sim trace`: inspects a log before it is simulated.

use clap::{ArgMatches, Args, Command, Subcommand};

use super::estimates::write_log_with_estimates;
use super::failure::refuse;
use super::log::{LogArgs, read_log, write_names_of};
use super::notes::{report_reading, report_unit, warn_of_peak};
use super::options;
use super::output_options::{OutputFiles, PrintOptions, listing, reporting};
use super::places::refuse_collisions;
use super::progress::Progress;
use super::resample::write_resampled_log;
use super::stderr::{note, warning};
use super::{CommandForm, parsed};
use crate::experiment::{Options, Section};
use crate::metrics::{Given, cells};
use crate::report::{
    Cell, FINDING_COLUMNS, counted, finding_rows, grouped, survey_columns, write_findings, write_log, write_requests,
    write_survey,
};
use crate::trace::{
    CONVERTED, ConditionSurvey, FeedbackModel, Header, Log, Source, TraceError, Unit, UnitDoubt, over_machine, peak,
    read_joined, survey, validate,
};

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "trace",
    about: "Inspect or check a log, or convert it to SWF",
    arguments: |command| {
        let info = |command| options::add(command, &[Section::Log, Section::Reading]);
        let reading = |command| options::add(command, &[Section::Reading]);
        let validate = |command| options::add_named(reading(listing(command)), &["procs"]);
        let convert = |command| {
            let command = options::add_named(reading(reporting(command)), &["procs", "skip-bad-lines"]);
            let command =
                options::add_named(command, &["estimates", "estimates-seed"]).mut_arg("estimates", |estimates| {
                    estimates.conflicts_with_all(["names_out", "requests_out", "feedback", "procs", "requests"])
                });
            let parts = ["seed", "from", "to", "first"];
            let command = options::add_named(command, &[&["resample"], &parts[..]].concat());
            let needs_resample = |command: Command, name: &str| command.mut_arg(name, |part| part.requires("resample"));
            parts
                .into_iter()
                .fold(command, needs_resample)
                .mut_arg("resample", |resample| resample.conflicts_with_all(["names_out", "requests_out", "estimates"]))
        };
        let command = TraceArgs::augment_args(command).mut_subcommand("info", info);
        command.mut_subcommand("validate", validate).mut_subcommand("convert", convert)
    },
    run: |matches| execute(&parsed(matches), matches),
};

#[derive(Debug, Args)]
struct TraceArgs {
    #[command(subcommand)]
    command: TraceCommand,
}

#[derive(Debug, Subcommand)]
enum TraceCommand {
    /// Print what a log contains: machine, jobs, users, time span, load, unknown fields, and what cleaning would drop
    #[command(
        after_help = "Examples:\n  sim trace info KTH.swf.gz\n  sim trace info CTC.swf --procs 512 --format json\n  sim trace info sacct.txt --log-format auto:unit=nodes"
    )]
    Info(PrintedLogArgs),
    /// Check a log: print every faulty line with its position, and other findings; the exit code is 2 if the log is not sound
    #[command(after_help = "Example:\n  sim trace validate new.swf && sim new.swf")]
    Validate(PrintedLogArgs),
    /// Convert a log of any format to SWF, or join rotated files into one log
    #[command(after_help = "Examples:
  sim trace convert sacct.txt --out site.swf
  sim trace convert 20260101 20260102 20260103 --out pbs.swf
      rotated files of PBS
  sim trace convert sacct.txt --log-format sacct:unit=nodes --procs 512 \\
    --out nodes.swf
  sim trace convert sacct.txt --names-out names.csv --out site.swf
      who is user 1?
  sim trace convert site.swf --feedback think --out linked.swf
      who reacted to which job, in fields 17 and 18
  sim trace convert CTC.swf.gz --estimates tsafrir:tmax=18h,at-tmax=23.8 \\
    --estimates-seed 1 --out made.swf
      other estimates; see `sim list estimates`
  sim trace convert CTC.swf.gz --resample users --seed 1 --out year.swf
      another year of the same users; see `sim help comparisons`
  sim trace convert sacct.txt --requests-out asked.csv --out site.swf
  sim site.swf --requests asked.csv    memory, GPUs, partitions of jobs
  sim trace convert jobs.csv --out jobs.swf \\
    --log-format csv:submit=submit_time,wait=wait_time,run=run_time,procs=nodes

The new log takes about 72 bytes of memory per job, and SWF logs also as much as their text.")]
    Convert(ConvertArgs),
}

/// The arguments of a command that prints something about a log.
#[derive(Debug, Args)]
struct PrintedLogArgs {
    #[command(flatten)]
    log: LogArgs,
    #[command(flatten)]
    print: PrintOptions,
}

#[derive(Debug, Args)]
struct ConvertArgs {
    /// The files of one log, plain, .gz or .zst; - for standard input
    #[arg(required_unless_present = "trace", conflicts_with = "trace", value_name = "LOG")]
    logs: Vec<String>,
    /// The same as LOG; repeat the option for more files
    #[arg(long, value_name = "FILE")]
    trace: Vec<String>,
    /// The SWF log to write; - for standard output
    #[arg(long, value_name = "FILE")]
    out: String,
    /// Write a CSV with the names behind the numbers, and the original job ids; - for standard output
    #[arg(long, value_name = "FILE")]
    names_out: Option<String>,
    /// Write a CSV with what each job asks for and waits for, by the new job numbers, with the names of partitions, QOS and
    /// accounts; - for standard output
    #[arg(long, value_name = "FILE")]
    requests_out: Option<String>,
    /// Write how users react into fields 17 and 18, for `sim --feedback swf`: think, or think:limit=1h; see `sim help feedback`
    #[arg(long, value_name = "MODEL", value_parser = FeedbackModel::parse)]
    feedback: Option<FeedbackModel>,
    #[command(flatten)]
    print: PrintOptions,
}

fn execute(args: &TraceArgs, matches: &ArgMatches) -> anyhow::Result<()> {
    let (_, of_command) = matches.subcommand().expect("clap requires a command");
    let options = options::read(of_command)?;
    match &args.command {
        TraceCommand::Info(args) => {
            refuse_collisions(&[], &args.log.files(), true)?;
            let log = read_log(&args.log.source_without_note(), options.read_options())?;
            let mut survey = survey(&log, &options.cleaning)?;
            survey.given = survey.given.filter(|_| options.reading.unit == Unit::Cpus);
            report_unit(&log, || UnitDoubt::of(&options.clean(&log).ok()?));
            if let (Some(peak), Some(procs)) = (survey.peak, survey.procs)
                && peak > procs
            {
                warning(format_args!("{}: {} {}", log.name, grouped(peak.into()), over_machine(peak, procs)));
            }
            Ok(args.print.print_row(false, &cells(&survey_columns(), &survey, Given::default()), |out, width| {
                write_survey(out, width, &survey)
            })?)
        }
        TraceCommand::Validate(args) => {
            refuse_collisions(&[], &args.log.files(), true)?;
            let source = args.log.source_without_note();
            let progress = Progress::counting("reading", "records", None);
            let (how, procs) = (options.read_options(), options.cleaning.procs);
            let findings = validate(&source, &how, procs, &mut |records| progress.set(records))?;
            drop(progress);
            let rows = finding_rows(&source.label(), &findings);
            let rows: Vec<_> = rows.iter().map(|row| cells(FINDING_COLUMNS, row, Given::default())).collect();
            args.print.or_table().print_rows(false, &rows, |out, _| write_findings(out, &source.name(), &findings))?;
            if findings.is_sound() { Ok(()) } else { refuse(format!("{} is not sound", source.name())) }
        }
        TraceCommand::Convert(args) => convert(args, &options),
    }
}

fn convert(args: &ConvertArgs, options: &Options) -> anyhow::Result<()> {
    let logs = if args.logs.is_empty() { &args.trace } else { &args.logs };
    let inputs: Vec<_> = logs.iter().map(|file| ("LOG", file.as_str())).collect();
    let outputs =
        [("--out", &Some(args.out.clone())), ("--names-out", &args.names_out), ("--requests-out", &args.requests_out)];
    let OutputFiles { files: [out, names, requests], .. } = OutputFiles::open(outputs, &inputs)?;
    let sources: Vec<Source> = logs.iter().map(|file| Source::from_argument(file)).collect();
    let out = out.expect("--out is required");
    if let Some(model) = &options.estimates {
        let [source] = &sources[..] else { return refuse("--estimates needs one log: join the files first") };
        return write_log_with_estimates(source, model, options, (out, &args.out), &args.print);
    }
    if let Some(how) = &options.shaping.resample {
        let [source] = &sources[..] else { return refuse("--resample needs one log: join the files first") };
        return write_resampled_log(source, how, args.feedback.as_ref(), options, (out, &args.out), &args.print);
    }
    let progress = Progress::counting("reading", "records", None);
    let log = read_joined(&sources, &options.read_options(), &mut |records| progress.set(records))?;
    drop(progress);
    let header = converted_header(&log, &sources, options)?;
    let preceding = match &args.feedback {
        None => None,
        Some(model) => Some(model.fields(&options.clean(&log)?, &log.preceding)?),
    };
    out.fill(|out| write_log(out, &log, &header, preceding.as_deref()))?;
    names.map_or(Ok(()), |out| write_names_of(&log, out))?;
    match requests {
        Some(out) => out.fill(|out| write_requests(out, &log))?,
        None => note_lost_conditions(&log),
    }
    let row = [
        ("trace", Cell::Text(log.label.clone())),
        ("format", Cell::Text(log.source.format.to_string())),
        ("records", Cell::Count(log.records.len() as u64)),
        ("rows", Cell::Count(log.source.rows)),
        ("procs", header.procs().map_or(Cell::None, |procs| Cell::Count(u64::from(procs)))),
    ];
    Ok(args.print.report(&args.out, &row, || {
        let (records, rows) = (counted(log.records.len() as u64, "record"), counted(log.source.rows, "row"));
        note(format_args!("{}: {records} of {rows}", log.name));
        if let Some(preceding) = &preceding {
            note(format_args!("{}: {} with a preceding job", log.name, counted(preceding.len() as u64, "record")));
        }
    })?)
}

/// Notes that what jobs wait for is not in the new log.
fn note_lost_conditions(log: &Log) {
    if let Some(words) = ConditionSurvey::of(&log.conditions).in_words() {
        note(format_args!("{}: {words}: SWF has no place for these; --requests-out FILE keeps them", log.name));
    }
}

/// The header of a log that is converted. Prints what reading did to the log.
fn converted_header(log: &Log, sources: &[Source], options: &Options) -> Result<Header, TraceError> {
    report_reading(log);
    if log.records.is_empty() {
        return Err(TraceError::NoJobs { name: log.name.clone(), why: "the log has no records".to_string() });
    }
    report_unit(log, || UnitDoubt::of(&options.clean(log).ok()?));
    let mut header = log.header.with_procs(machine(log, options)?);
    header.push(source_note(log, sources, options.reading.unit).as_bytes());
    Ok(header)
}

/// The processors of the machine of a log that is converted.
fn machine(log: &Log, options: &Options) -> Result<u32, TraceError> {
    if let Some(procs) = options.cleaning.procs.or_else(|| log.header.procs()) {
        return Ok(procs);
    }
    let peak = peak(&log.records, options.cleaning.procs_field);
    let peak = peak.ok_or_else(|| TraceError::no_machine(&log.name))?;
    warn_of_peak(&log.name);
    Ok(peak)
}

/// The line of the header that says where the log is from.
fn source_note(log: &Log, sources: &[Source], unit: Unit) -> String {
    let labels: Vec<_> = sources.iter().map(Source::label).collect();
    let unit = match unit {
        Unit::Cpus => String::new(),
        unit => format!(", a processor is a {}", unit.one()),
    };
    let labels = labels.join(", ").replace(|c: char| c.is_control(), "?");
    format!("; Note: {CONVERTED} {labels}, format {}{unit}", log.source.format)
}
