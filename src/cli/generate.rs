//! `sim generate`: makes a log from a model.

use std::io::{self, Write};

use clap::{Args, Subcommand, ValueEnum};

use super::failure::UsageError;
use super::options;
use super::output_options::{MadeLogOptions, reporting};
use super::progress::Progress;
use super::stderr::note;
use super::{CommandForm, parsed};
use crate::model::{
    Downey, EstimateModel, LoadMeter, Lublin, LublinClass, ModelJob, Origin, Sample, Sessions, generate_sessions,
    header, meet_load,
};
use crate::report::{Cell, OutputError, counted, counted_as};
use crate::time::Seconds;
use crate::trace::{write_header, write_record};

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "generate",
    about: "Make a log from a model",
    arguments: |command| GenerateArgs::augment_args(command).mut_subcommands(reporting),
    run: |matches| execute(&parsed(matches)),
};

#[derive(Debug, Args)]
struct GenerateArgs {
    #[command(subcommand)]
    model: Model,
}

#[derive(Debug, Subcommand)]
enum Model {
    /// Users who work in sessions on a busy machine; the embedded log was made with this model
    #[command(after_help = "Examples:
  sim generate sessions --jobs 20000 --procs 256 --seed 42 --out busy.swf
  sim generate sessions | sim - --predictor ruh --baseline easy/estimate
  sim generate sessions --preceding | sim - --feedback swf")]
    Sessions(SessionsArgs),
    /// Batch and interactive jobs with a daily cycle, by the model of Lublin and Feitelson
    ///
    /// Sizes, runtimes and arrivals follow the distributions that the authors fitted to logs of the 1990s (J. Parallel
    /// Distrib. Comput. 63(11), 2003), scaled to the size of the machine. The queue is 1 for batch jobs and 0 for interactive
    /// jobs. Writes about a million jobs per second; memory does not grow with the number of jobs.
    #[command(after_help = "Examples:
  sim generate lublin --jobs 50000 --procs 128 --seed 42 --out lublin.swf
  sim generate lublin --only batch --procs 1024 --offered-load 0.9 --users 100 \\
    --out busy.swf
  sim generate lublin --jobs 10000000 | gzip > big.swf.gz
  sim generate lublin --users 40 --offered-load 0.9 --estimates tsafrir \\
    | sim - --predictor sbh")]
    Lublin(LublinArgs),
    /// Jobs whose lifetime and parallelism are log-uniform, by Downey's model
    ///
    /// Each job runs on as many processors as its average parallelism, rounded up. The average parallelism is between 1 and
    /// the size of the machine. Jobs arrive at random between 8:00 and 20:00, by default at the rate of the paper (Using queue
    /// time predictions for processor allocation, sections 2.2 and 4).
    #[command(after_help = "Examples:
  sim generate downey --jobs 30000 --procs 128 --seed 42 --out downey.swf
  sim generate downey --offered-load 0.7 --users 40 --estimates f:f=3 | sim -")]
    Downey(StreamArgs),
}

#[derive(Debug, Args)]
struct SessionsArgs {
    #[command(flatten)]
    size: SizeArgs,
    /// The number of users; a few of them submit most of the jobs
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    users: u32,
    /// The submitted work as a share of what the machine can do in the time of the log
    #[arg(long, value_name = "LOAD", default_value_t = 0.85, value_parser = options::number("a load", (0.01, 100.0), 0.85))]
    offered_load: f64,
    /// Write which job each user waited for, and the think time (fields 17 and 18), for `sim --feedback swf`
    #[arg(long)]
    preceding: bool,
    #[command(flatten)]
    made: MadeLogOptions,
}

#[derive(Debug, Args)]
struct SizeArgs {
    /// The number of jobs
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    jobs: u32,
    /// The number of processors of the machine
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    procs: u32,
}

/// The arguments of models that make one job after the other, so that the log need not fit into memory.
#[derive(Debug, Args)]
struct StreamArgs {
    #[command(flatten)]
    size: SizeArgs,
    /// Assign the jobs to N users who work in sessions: jobs with the same program, the same size and similar runtimes
    /// [default: no users]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    users: Option<u32>,
    /// Scale the times between arrivals until the submitted work is this share of what the machine can do in the time of the
    /// log [default: the times of the model]
    #[arg(long, value_name = "LOAD", value_parser = options::number("a load", (0.01, 100.0), 0.85))]
    offered_load: Option<f64>,
    /// Give each job an estimate by this model, such as tsafrir, f:f=3 or feit; see `sim list estimates` [default: no estimates]
    #[arg(long, value_name = "MODEL", value_parser = EstimateModel::parse)]
    estimates: Option<EstimateModel>,
    #[command(flatten)]
    made: MadeLogOptions,
}

#[derive(Debug, Args)]
struct LublinArgs {
    /// Make jobs of one class only [default: both]
    #[arg(long, value_enum, value_name = "CLASS")]
    only: Option<Only>,
    #[command(flatten)]
    stream: StreamArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Only {
    /// Larger jobs, most of them longer
    Batch,
    /// Small and short jobs, most of them during the day
    Interactive,
}

impl Only {
    fn class(self) -> LublinClass {
        match self {
            Only::Batch => LublinClass::Batch,
            Only::Interactive => LublinClass::Interactive,
        }
    }
}

fn execute(args: &GenerateArgs) -> anyhow::Result<()> {
    match &args.model {
        Model::Sessions(args) => execute_sessions(args),
        Model::Lublin(args) => {
            let StreamArgs { size: SizeArgs { jobs, procs }, users, .. } = args.stream;
            let (jobs, seed) = (jobs as usize, args.stream.made.seed);
            let only = args.only.map(Only::class);
            let option = args.only.and_then(|only| only.to_possible_value());
            let option = option.map_or(String::new(), |only| format!(" --only {}", only.get_name()));
            let about = ModelAbout {
                name: "lublin",
                model: "the model of Lublin and Feitelson (2003)",
                longest_runtime: Lublin::longest_runtime(),
                more: &["Queues: 0 interactive, 1 batch"],
                option: &option,
            };
            let made = |gap_factor| Lublin { jobs, procs, only, users, gap_factor, seed }.jobs();
            execute_stream(&args.stream, &about, made)
        }
        Model::Downey(args) => {
            let StreamArgs { size: SizeArgs { jobs, procs }, users, .. } = *args;
            let (jobs, seed) = (jobs as usize, args.made.seed);
            let about = ModelAbout {
                name: "downey",
                model: "the workload of Downey (1997)",
                longest_runtime: Downey::longest_runtime(),
                more: &[],
                option: "",
            };
            let made = |gap_factor| Downey { jobs, procs, users, gap_factor, seed }.jobs();
            execute_stream(args, &about, made)
        }
    }
}

fn execute_sessions(args: &SessionsArgs) -> anyhow::Result<()> {
    let SessionsArgs { size: SizeArgs { jobs, procs }, users, offered_load, preceding, .. } = *args;
    let MadeLogOptions { seed, out: ref file, print } = args.made;
    let out = args.made.open(&[])?;
    let model = Sessions { jobs: jobs as usize, procs, users, offered_load, seed, preceding };
    let (header, records) = generate_sessions(&model);
    out.fill(|out| {
        write_header(out, &header)?;
        records.iter().try_for_each(|record| write_record(out, record))
    })?;
    // The load of this model is what the users intend to submit.
    let row = report_row("sessions", u64::from(jobs), procs, Cell::Real(offered_load), Cell::Count(0), seed);
    Ok(print.report(file, &row, || {
        let (jobs, procs) = (counted(u64::from(jobs), "job"), counted(u64::from(procs), "processor"));
        note(format_args!("{jobs} on {procs}, seed {seed}"));
    })?)
}

/// What was made, as a row.
fn report_row(
    model: &str,
    jobs: u64,
    procs: u32,
    offered_load: Cell,
    over_estimate: Cell,
    seed: u64,
) -> [(&'static str, Cell); 6] {
    [
        ("model", Cell::Text(model.to_string())),
        ("jobs", Cell::Count(jobs)),
        ("procs", Cell::Count(u64::from(procs))),
        ("offered_load", offered_load),
        ("over_estimate", over_estimate),
        ("seed", Cell::Count(seed)),
    ]
}

/// What the header of the log says about the model.
struct ModelAbout<'a> {
    name: &'a str,
    model: &'a str,
    longest_runtime: i64,
    /// More header lines.
    more: &'a [&'a str],
    /// The model's own options that were given, as written in the command.
    option: &'a str,
}

/// Writes a log of the jobs that `made` returns. Its argument multiplies the times between arrivals.
fn execute_stream<Jobs: Iterator<Item = ModelJob>>(
    args: &StreamArgs,
    about: &ModelAbout,
    made: impl Fn(f64) -> Jobs,
) -> anyhow::Result<()> {
    let StreamArgs { size: SizeArgs { jobs, procs }, users, offered_load, .. } = *args;
    let MadeLogOptions { seed, out: ref file, print } = args.made;
    let estimates = args.estimates.as_ref().map(|model| model.for_runtimes_up_to(about.longest_runtime));
    let jobs = jobs as usize;
    let out = args.made.open(&[])?;
    let gap_factor = match offered_load {
        None => 1.0,
        Some(wanted) => {
            let progress = Progress::counting("measuring the load", "jobs", None);
            let met = meet_load(wanted, procs, &made, &mut |done| progress.set(done));
            let why = "all jobs arrive within one second: --offered-load needs more jobs";
            met.ok_or_else(|| UsageError(why.to_string()))?.gap_factor
        }
    };
    let given = |name: &str, value: Option<String>| value.map_or(String::new(), |value| format!(" --{name} {value}"));
    let command = format!(
        "sim generate {} --jobs {jobs} --procs {procs}{}{}{}{} --seed {seed}",
        about.name,
        about.option,
        given("users", users.map(|users| users.to_string())),
        given("offered-load", offered_load.map(|load| load.to_string())),
        given("estimates", args.estimates.as_ref().map(EstimateModel::to_string)),
    );
    let ModelAbout { model, longest_runtime, more, .. } = *about;
    let header = header(&Origin { model, jobs, procs, longest_runtime, more, command: &command });
    let mut writer = Writer { estimates, seed, load: LoadMeter::default(), short: 0 };
    let progress = Progress::counting("writing", "jobs", Some(jobs));
    let written = out.fill(|out| {
        write_header(out, &header)?;
        writer.write(out, made(gap_factor), &progress)
    });
    drop(progress);
    written.map_err(|OutputError { name, error }| match error.downcast::<UsageError>() {
        Ok(refused) => anyhow::Error::from(refused),
        Err(error) => OutputError { name, error }.into(),
    })?;
    let load = Some(writer.load.load(procs)).filter(|load| load.is_finite());
    let over_estimate = if args.estimates.is_some() { Cell::Count(writer.short) } else { Cell::None };
    let row = report_row(about.name, jobs as u64, procs, load.map_or(Cell::None, Cell::Real), over_estimate, seed);
    Ok(print.report(file, &row, || {
        let load = load.map_or(String::new(), |load| format!("offered load {load:.4}, "));
        let (jobs, procs) = (counted(jobs as u64, "job"), counted(u64::from(procs), "processor"));
        note(format_args!("{jobs} on {procs}, {load}seed {seed}"));
        if writer.short > 0 {
            note(counted_as(writer.short, "job runs longer than its estimate", "jobs run longer than their estimates"));
        }
    })?)
}

/// Jobs are written in blocks of this size. Models of estimates that need many jobs at once get one block.
const BLOCK: usize = 10_000;

/// Writes jobs, and counts what is printed about them afterwards.
struct Writer {
    estimates: Option<EstimateModel>,
    seed: u64,
    load: LoadMeter,
    /// The number of jobs that run longer than their estimate.
    short: u64,
}

impl Writer {
    /// Writes jobs. The cause of an error is a [`UsageError`] if no log can be made from these arguments.
    fn write(
        &mut self,
        out: &mut dyn Write,
        mut jobs: impl Iterator<Item = ModelJob>,
        progress: &Progress,
    ) -> io::Result<()> {
        let mut block = Vec::with_capacity(BLOCK);
        let mut written = 0;
        loop {
            block.clear();
            block.extend(jobs.by_ref().take(BLOCK));
            let Some(last) = block.last() else { return Ok(()) };
            if last.is_beyond_time() {
                return Err(io::Error::other(UsageError(
                    "at this load the jobs take more than 2,000 years, which is too long for a log: give fewer --jobs or a \
                     higher --offered-load"
                        .to_string(),
                )));
            }
            let refused = |why| io::Error::other(UsageError(why));
            let estimates = self.estimates_of(&block, (written / BLOCK) as u64).map_err(refused)?;
            for ((job, estimate), number) in block.iter().zip(estimates).zip(written as i64 + 1..) {
                self.load.add(job);
                write_record(out, &job.fields(number, estimate))?;
            }
            written += block.len();
            progress.set(written);
        }
    }

    /// The estimate of each job of a block; None for all without `--estimates`.
    fn estimates_of(&mut self, jobs: &[ModelJob], block: u64) -> Result<Vec<Option<Seconds>>, String> {
        let Some(model) = &self.estimates else { return Ok(vec![None; jobs.len()]) };
        let samples: Vec<_> =
            jobs.iter().map(|job| Sample { runtime: job.runtime, estimate: None, user: -1 }).collect();
        let estimates = model.assign_block(&samples, self.seed, block)?.estimates;
        self.short += samples.iter().zip(&estimates).filter(|(job, estimate)| job.runtime > **estimate).count() as u64;
        Ok(estimates.into_iter().map(Some).collect())
    }
}
