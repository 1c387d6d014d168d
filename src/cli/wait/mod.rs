//! `sim wait`: when will a job start, and how well can that be predicted?

mod codes;
mod history;
mod live;
mod question;

use std::io::{self, Write};
use std::sync::Mutex;
use std::time::Instant;

use clap::parser::ValueSource;
use clap::{ArgGroup, ArgMatches, Args, ValueEnum};

use super::failure::UsageError;
use super::log::{LogArgs, read_and_clean};
use super::names::NamesOption;
use super::notes::{report_cleaning, report_requests};
use super::options;
use super::output_options::{OutputFiles, OutputOptions};
use super::progress::Progress;
use super::slurm_conf::{self, SLURM_CONF};
use super::stderr::note;
use super::{CommandForm, parsed};
use crate::experiment::{Options, Section, simulate};
use crate::job::{Job, JobId, Submission};
use crate::metrics::cells;
use crate::report::{Width, counted, grouped, percent, swept_cells, with_swept, write_settings, write_wrapped};
use crate::spec::{Spec, SpecList, parse_list};
use crate::text::printable;
use crate::time::{DAY, Seconds, Time, parse_date_time, readable_duration};
use crate::trace::{Log, PresentQueue, PresentStage, Workload};
use crate::wait::{
    AnswerRow, Evaluation, EvaluationPhase, EvaluationPlan, JobAnswerRow, Learning, SiteSchedule, WaitAnswer,
    WaitMethod, WaitRow, answer, calibration_columns, confusion_columns, confusion_rows, evaluate, job_answer_columns,
    wait_columns, write_answer, write_tables,
};
use crate::{predict, schedule};
use codes::Codes;
use history::History;
use question::{WaitQuestion, parse_question};

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "wait",
    about: "Predict how long jobs will wait, for a whole log or one job",
    arguments: |command| {
        let command = options::add(
            WaitArgs::augment_args(command),
            &[Section::Log, Section::Machine, Section::Reading, Section::Estimates, Section::Shape],
        );
        slurm_conf::add(command, SLURM_CONF).mut_arg("names", |names| {
            let help = "Show the names of users, queues and partitions of the queue. Without it no output has them";
            names.help(help).help_heading("Now").requires("queue")
        })
    },
    run: |matches, quiet| execute(&parsed(matches), matches, quiet),
};

#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  sim wait CTC.swf.gz                    four methods on the log's own waits
  sim wait CTC.swf.gz --method knn,ibl:k=5 --format csv
  sim wait KTH.swf.gz --scheduler easy --method knn,simulate
  sim wait CTC.swf.gz --method knn,knn:point=linear,knn:point=rbf \\
    --regression-every 10
  sim wait CTC.swf.gz --at 41234         the answer for this job at its arrival
  sim wait CTC.swf.gz --ask procs=64,estimate=2h
      a job that arrives at the end of the log
  sim wait sacct.txt --queue squeue.txt  all jobs that wait now
  sim wait sacct.txt --queue squeue.txt --user alice --names
  sim wait sacct.txt --queue squeue.txt --html waits.html --quiet
  sim wait sacct.txt --queue squeue.txt --ask procs=64,estimate=2h,user=alice

Methods: knn (similar jobs), ibl, qbets (an upper bound), downey (for jobs that arrive at an empty queue), simulate (a
simulation of the present queue). `sim list methods` prints them with their keys. The wait of a job is predicted when the job
arrives, from jobs that have started by then. 50,000 predictions by the default methods take two to three minutes of
processor time. The answer for one job or a queue is by `simulate`, recalibrated, unless --method is given.")]
#[command(group(ArgGroup::new("question").args(["at", "ask", "queue"]).multiple(true)))]
struct WaitArgs {
    #[command(flatten)]
    log: LogArgs,
    /// How waits are predicted: a list of knn, ibl, qbets, downey, simulate, with their keys; see `sim list methods`
    #[arg(long, value_name = "SPECS", default_value = "knn,ibl,qbets,simulate:draws=30,recalibrate=on", value_parser = options::checked_specs("method", WaitMethod::parse), display_order = 0)]
    method: String,
    /// Which waits are predicted: those recorded in the log (replay), or those of the log simulated under this scheduler
    #[arg(long, value_name = "SPEC", default_value = "replay", value_parser = parse_scheduler, display_order = 0)]
    scheduler: Spec,
    /// The runtime predictor of that simulation
    #[arg(long, value_name = "SPEC", default_value = predict::catalog::DEFAULT, value_parser = parse_predictor, display_order = 0)]
    predictor: Spec,
    /// Predict the wait of this job of the log, given by its number, at its arrival; with --queue, of this job of the queue
    #[arg(long, value_name = "JOB", help_heading = "One job", conflicts_with_all = EVALUATION)]
    at: Option<String>,
    /// Predict the wait of a job that arrives now, or with the last submission of the log: procs=N,estimate=DURATION and, if
    /// known, user=, group=, queue=
    #[arg(long, value_name = "KEY=VALUE,...", value_parser = parse_question, help_heading = "One job")]
    #[arg(conflicts_with_all = EVALUATION, conflicts_with = "at")]
    ask: Option<WaitQuestion>,
    /// The present queue of a site, beside the log with its history: the output of squeue (see `sim help waits` for the
    /// command), of squeue --json, or SWF records with a runtime of -1; - for standard input
    #[arg(long, value_name = "FILE", help_heading = "Now", conflicts_with_all = EVALUATION, conflicts_with_all = ["method", "predictor", "retrain"])]
    queue: Option<String>,
    /// The present time: 2026-01-31T12:00:00 (UTC), or seconds as in the queue [default: the latest time that the queue shows]
    #[arg(long, value_name = "TIME", value_parser = parse_now, help_heading = "Now", requires = "queue")]
    now: Option<Now>,
    /// Only the jobs of this user of the queue
    #[arg(long, value_name = "NAME", help_heading = "Now", requires = "queue", conflicts_with_all = ["at", "ask"])]
    user: Option<String>,
    #[command(flatten)]
    names: NamesOption,
    /// Write the answers for the queue as a page for a web server: one HTML file that fetches nothing; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Now", requires = "queue", conflicts_with_all = ["at", "ask"])]
    html: Option<String>,
    /// How often the queue is simulated with drawn runtimes, for one job or a queue
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "Now")]
    #[arg(requires = "question", conflicts_with = "method")]
    draws: u32,
    /// Correct the simulated waits by those of past jobs with similar ones. Off where --scheduler is exactly that of the site
    #[arg(long, value_enum, value_name = "SWITCH", default_value_t = Switch::On, help_heading = "Now")]
    #[arg(requires = "question", conflicts_with = "method")]
    recalibrate: Switch,
    /// The number of latest starts that predictions are made from
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Evaluation")]
    history: u32,
    /// The first job that is predicted, counted from 1 [default: 10001, or the middle of a log of at most 10,000 jobs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..), help_heading = "Evaluation")]
    begin: Option<u32>,
    /// The largest number of jobs that are predicted
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Evaluation")]
    most: u32,
    /// The probabilities are learned again after every N jobs
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Evaluation")]
    retrain: u32,
    /// Regressions, which are slow, predict only every N-th of these jobs
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Evaluation")]
    regression_every: u32,
    /// Write a CSV with one line per job and method; - for standard output (the figures then go to standard error)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    jobs_out: Option<String>,
    /// Write a CSV with the confusion matrix of every method; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    confusion_out: Option<String>,
    /// Write a CSV that compares predicted probabilities of ranges with actual frequencies; - for standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    calibration_out: Option<String>,
    #[command(flatten)]
    output: OutputOptions,
}

/// Options that have no meaning for a single job.
const EVALUATION: [&str; 6] = ["begin", "most", "regression_every", "jobs_out", "confusion_out", "calibration_out"];

/// Whether something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// The present time as given.
#[derive(Clone, Copy, Debug)]
enum Now {
    /// A Unix time.
    Date(Time),
    /// As the times of the queue.
    Seconds(Time),
}

fn parse_now(text: &str) -> Result<Now, String> {
    let date = parse_date_time(text.as_bytes()).map(Now::Date);
    let now = date.or_else(|| text.parse().ok().map(Now::Seconds));
    now.ok_or_else(|| format!("'{text}' is not a time such as 2026-01-31T12:00:00, or a number of seconds"))
}

fn parse_scheduler(text: &str) -> Result<Spec, String> {
    schedule::catalog::parse(text).map_err(|error| error.to_string())
}

fn parse_predictor(text: &str) -> Result<Spec, String> {
    predict::catalog::parse(text).map_err(|error| error.to_string())
}

impl WaitArgs {
    /// Opens the files for jobs, confusion matrices and the calibration.
    fn outputs(&self) -> anyhow::Result<OutputFiles<3>> {
        let (jobs, confusion, calibration) = (&self.jobs_out, &self.confusion_out, &self.calibration_out);
        let outputs = [("--jobs-out", jobs), ("--confusion-out", confusion), ("--calibration-out", calibration)];
        OutputFiles::open(outputs, &self.log.files())
    }

    /// Opens the page of a queue.
    fn page(&self) -> anyhow::Result<OutputFiles<1>> {
        let queue = self.queue.as_deref().map(|queue| ("--queue", queue));
        OutputFiles::open([("--html", &self.html)], &[self.log.files(), queue.into_iter().collect()].concat())
    }
}

fn execute(args: &WaitArgs, matches: &ArgMatches, quiet: bool) -> anyhow::Result<()> {
    let methods = parse_list("method", [args.method.as_str()], WaitMethod::parse)?;
    let mut args = args.clone();
    let conf = slurm_conf::read(matches, quiet)?;
    if let Some(conf) = &conf {
        args.scheduler = match options::is_given(matches, "scheduler") {
            true => conf.complete(&args.scheduler)?,
            false => conf.scheduler(),
        };
    }
    let args = &args;
    let outputs = args.outputs()?;
    let mut options =
        Options { scheduler: args.scheduler.clone(), predictor: args.predictor.clone(), ..options::read(matches)? };
    conf.iter().for_each(|conf| conf.set_procs(&mut options));
    if options.machine.is_some() && !schedule::catalog::is_replay(&args.scheduler) {
        options::warn_of_pools([&args.scheduler].into_iter());
    }
    if args.queue.as_deref() == Some("-") && args.log.given() == Some("-") {
        return Err(UsageError("only one of the log and --queue can be standard input".to_string()).into());
    }
    if let (Some(queue), None) = (&args.queue, args.log.given()) {
        let queue = printable(queue);
        return Err(UsageError(format!(
            "--queue needs the log of the site's past jobs, which tells how long jobs wait: sim wait LOG --queue {queue} \
             (`sim help logs` has the command that writes it; if {queue} is SWF with past jobs in it, it can be LOG too)"
        ))
        .into());
    }
    let page = args.page()?;
    let mut queue = args.queue.as_deref().map(|file| live::read_present(file, &options)).transpose()?;
    let (mut history, mut log) = read_history(args, &options, queue.is_some(), quiet)?;
    let learning =
        Learning { history: args.history as usize, first: 0, every: args.retrain as usize, seed: options.shaping.seed };
    let by_methods = matches.value_source("method") == Some(ValueSource::CommandLine);
    let mut is_queue = args.queue.is_some() && args.queue.as_deref() == args.log.given();
    if queue.is_none() && args.ask.is_some() && !by_methods {
        queue = open_jobs(args, &options, &history, quiet)?;
        is_queue = queue.is_some();
        if is_queue && !options.setting().is_replay() {
            (history, log) = read_history(args, &options, true, quiet)?;
        }
    }
    // The records of a queue in the log are not jobs of the history: nothing is lost.
    if !is_queue {
        report_cleaning(&log, &history.workload, quiet);
        report_requests(&log.name, &history.workload, options.reading.unit, quiet);
    }
    if let Some(queue) = &queue {
        return live::answer_queue(args, history, queue, (learning.seed, page), quiet);
    }
    if args.at.is_none() && args.ask.is_none() {
        let schedule = SiteSchedule::new(&history.workload, &history.starts);
        return evaluate_all(args, &history.workload, &schedule, &methods, learning, outputs, quiet);
    }
    // The methods of the paper answer if they are named. Otherwise there is one answer.
    if by_methods {
        let mut codes = Codes::new(&history.names, &mut history.workload.wide);
        let asked = args.ask.as_ref().map(|question| question.submission(&mut codes)).transpose()?;
        return answer_one(args, history, &methods, learning, asked);
    }
    live::answer_in_log(args, history, learning.seed, quiet)
}

/// Jobs of a log that have been open for longer than this are taken for faults of the log.
const OLDEST_OPEN: Seconds = 30 * DAY;

/// The jobs of an SWF log that have not ended: it was cut while they waited or ran. None if there are none.
fn open_jobs(
    args: &WaitArgs,
    options: &Options,
    history: &History,
    quiet: bool,
) -> anyhow::Result<Option<PresentQueue>> {
    let has_open = history.is_swf && history.workload.cleaning.negative_runtime > 0;
    let Some(file) = args.log.given().filter(|file| *file != "-" && has_open) else { return Ok(None) };
    let queue = live::read_present(file, options)?;
    let running = queue.jobs.iter().filter(|job| matches!(job.stage, PresentStage::Running { .. })).count();
    let waiting = queue.jobs.iter().filter(|job| job.stage == PresentStage::Waiting).count();
    let oldest = queue.jobs.iter().map(|job| job.submit).min().zip(queue.now);
    if running + waiting == 0 {
        return Ok(None);
    }
    // Archives have records of jobs whose end is not known. They are no queue.
    if oldest.is_some_and(|(oldest, now)| now - oldest > OLDEST_OPEN) {
        if !quiet {
            let jobs = counted((running + waiting) as u64, "job");
            note(format_args!(
                "{jobs} of the log did not end, some of them since long ago: they are left out (see --queue)"
            ));
        }
        return Ok(None);
    }
    if !quiet {
        let (waiting, running) = (counted(waiting as u64, "job"), counted(running as u64, "job"));
        note(format_args!("records with a runtime of -1 are the present queue: {waiting} waiting, {running} running"));
    }
    Ok(Some(queue))
}

/// The jobs of the log with the start of each: as recorded, or in a simulation of the log. Beside a queue they are as recorded.
/// Also the log, for the report of what was dropped.
fn read_history(args: &WaitArgs, options: &Options, has_queue: bool, quiet: bool) -> anyhow::Result<(History, Log)> {
    let source = args.log.source(quiet);
    let replay = schedule::catalog::parse("replay").expect("replay is in the catalog");
    let options = match has_queue {
        true => &Options { scheduler: replay, ..options.clone() },
        false => options,
    };
    let (workload, mut log) = read_and_clean(&source, options, quiet)?;
    let (mut workload, names) = (options.shape(workload)?, std::mem::take(&mut log.names));
    let is_swf = log.source.format == "swf";
    let partition_map = options.partition_map.clone();
    let setting = options.setting();
    if setting.is_replay() {
        workload = workload.as_recorded();
        let start = |job: &Job| job.submission.submit + job.recorded_wait.get().unwrap_or(0);
        let starts = workload.jobs.iter().map(start).collect();
        return Ok((History { workload, starts, names, is_swf, partition_map }, log));
    }
    let progress = Progress::counting("simulating", "jobs", Some(workload.jobs.len()), quiet);
    let record = simulate(&workload, &setting, &mut |arrived| progress.set(arrived))?;
    let mut starts: Vec<Time> = record.finished(&workload.jobs).map(|job| job.start()).collect();
    if let Some(arrived) = record.arrived {
        // Jobs with conditions are in the order in which they joined the queue.
        let mut jobs: Vec<(Job, Time)> = arrived.into_iter().zip(starts).collect();
        jobs.sort_by_key(|(job, _)| job.submission.submit);
        (workload.jobs, starts) = jobs.into_iter().unzip();
        workload.conditions = Default::default();
    }
    Ok((History { workload, starts, names, is_swf, partition_map }, log))
}

fn evaluate_all(
    args: &WaitArgs,
    workload: &Workload,
    schedule: &SiteSchedule<'_>,
    methods: &SpecList<WaitMethod>,
    learning: Learning,
    OutputFiles { files: [jobs_out, confusion_out, calibration_out], stdout_taken }: OutputFiles<3>,
    quiet: bool,
) -> anyhow::Result<()> {
    let jobs = workload.jobs.len();
    let plan = EvaluationPlan {
        learning: Learning { first: first_predicted(args, jobs, quiet)?, ..learning },
        most: args.most as usize,
        regression_every: args.regression_every as usize,
        threads: args.output.threads(),
        ..EvaluationPlan::default()
    };
    let began = Instant::now();
    let evaluation = run(schedule, &methods.items, &plan, quiet)?;
    if !quiet {
        let jobs = counted(evaluation.jobs.len() as u64, "job");
        let (time, times) =
            (readable_duration(began.elapsed().as_secs_f64()), counted(evaluation.learned as u64, "time"));
        note(format_args!("{jobs} predicted in {time}, probabilities learned {times}"));
    }
    let figures = evaluation.figures();
    if let Some(out) = jobs_out {
        let methods = 0..methods.items.len();
        let pairs = (0..evaluation.jobs.len()).flat_map(|at| methods.clone().map(move |method| (at, method)));
        let rows = pairs.filter_map(|(at, method)| JobAnswerRow::of(&evaluation, schedule, at, method));
        out.fill(|out| write_settings(out, &job_answer_columns(), [(None, rows)].into_iter()))?;
    }
    if let Some(out) = confusion_out {
        let rows = figures.iter().flat_map(confusion_rows);
        out.fill(|out| write_settings(out, &confusion_columns(), [(None, rows)].into_iter()))?;
    }
    if let Some(out) = calibration_out {
        let calibrations = evaluation.calibrations();
        let rows = calibrations.iter().flat_map(|(by, bins)| bins.iter().map(|bin| (by.as_str(), *bin)));
        out.fill(|out| write_settings(out, &calibration_columns(), [(None, rows)].into_iter()))?;
    }
    let scheduler = args.scheduler.to_string();
    let seed = plan.learning.seed;
    let row = |(at, figures)| {
        let row = WaitRow { figures, trace: &workload.label, scheduler: &scheduler, seed };
        with_swept(cells(&wait_columns(), &row, &[]), swept_cells(&methods.keys, at))
    };
    let rows: Vec<_> = figures.iter().enumerate().map(row).collect();
    Ok(args.output.print.print_rows(stdout_taken, &rows, |out, width| {
        write_heading(out, width, workload, schedule, &evaluation, &scheduler, &plan.learning)?;
        write_tables(out, width, &evaluation, &figures)
    })?)
}

/// The number of jobs before the first one that is predicted.
fn first_predicted(args: &WaitArgs, jobs: usize, quiet: bool) -> anyhow::Result<usize> {
    let first = match args.begin {
        Some(begin) => begin as usize - 1,
        None if jobs > 10_000 => 10_000,
        None => {
            if !quiet {
                let (jobs, begin) = (counted(jobs as u64, "job"), grouped(jobs as u64 / 2 + 1));
                note(format_args!("the log has only {jobs}: predictions begin with job {begin} (see --begin)"));
            }
            jobs / 2
        }
    };
    if first >= jobs || first == 0 {
        let jobs = counted(jobs as u64, "job");
        return Err(UsageError(format!("--begin leaves no job to predict: the log has {jobs}")).into());
    }
    Ok(first)
}

fn run(
    schedule: &SiteSchedule<'_>,
    methods: &[WaitMethod],
    plan: &EvaluationPlan,
    quiet: bool,
) -> anyhow::Result<Evaluation> {
    // One phase follows the other. Only one bar can be on the terminal, so each replaces the one before.
    let shown: Mutex<Option<(EvaluationPhase, Progress)>> = Mutex::new(None);
    Ok(evaluate(schedule, methods, plan, &|phase, done, all| {
        let mut shown = shown.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if shown.as_ref().is_none_or(|(before, _)| *before != phase) {
            *shown = None;
            let (what, unit) = match phase {
                EvaluationPhase::Simulating => ("simulating", "jobs"),
                EvaluationPhase::Learning => ("learning", "pairs of classes"),
                EvaluationPhase::Predicting => ("predicting", "jobs"),
            };
            *shown = Some((phase, Progress::counting(what, unit, Some(all), quiet)));
        }
        if let Some((_, bar)) = &*shown {
            bar.set(done);
        }
    })?)
}

fn write_heading(
    out: &mut dyn Write,
    width: Width,
    workload: &Workload,
    schedule: &SiteSchedule<'_>,
    evaluation: &Evaluation,
    scheduler: &str,
    learning: &Learning,
) -> io::Result<()> {
    let slow = evaluation.jobs.iter().filter(|job| job.wait > crate::time::HOUR).count();
    let share = percent(slow as f64 / evaluation.jobs.len() as f64);
    let (count, first) = (counted(evaluation.jobs.len() as u64, "job"), grouped(learning.first as u64 + 1));
    let (label, procs) = (printable(&workload.label), counted(u64::from(schedule.procs), "processor"));
    write_wrapped(out, "", &format!("{label}: {procs}, waits of {scheduler}, seed {}", learning.seed), width)?;
    let predicted =
        format!("{count} predicted from job {first} on; {share} of them are slow: they waited over an hour");
    write_wrapped(out, "", &predicted, width)?;
    writeln!(out)
}

/// The place of the job with this number.
fn index_of_job(workload: &Workload, number: &str) -> Result<usize, UsageError> {
    let wanted = number.parse().ok();
    workload.jobs.iter().position(|job| Some(job.number) == wanted).ok_or_else(|| {
        let (first, last) = (workload.jobs[0].number, workload.jobs[workload.jobs.len() - 1].number);
        UsageError(format!(
            "no job {number}: the jobs of the log have numbers from {first} to {last}, without those that were dropped"
        ))
    })
}

fn answer_one(
    args: &WaitArgs,
    mut history: History,
    methods: &SpecList<WaitMethod>,
    learning: Learning,
    asked: Option<Submission>,
) -> anyhow::Result<()> {
    let (id, number, name) = match (&args.at, asked) {
        (Some(number), _) => {
            let id = index_of_job(&history.workload, number)?;
            (id, Some(history.workload.jobs[id].number), format!("{}, job {number}", history.workload.label))
        }
        (None, asked) => {
            let id = history.append(args, asked.expect("--at or --ask is given"))?;
            (id, None, format!("{}, a job when the log ends", history.workload.label))
        }
    };
    let schedule = SiteSchedule::new(&history.workload, &history.starts);
    let id = JobId(id as u32);
    let Some(answer) = answer(&schedule, id, &methods.items, learning, args.output.threads())? else {
        return Err(UsageError("no job has started before this one: nothing to predict from".to_string()).into());
    };
    let actual = number.map(|_| schedule.wait(id));
    print_answer(args, &answer, &name, &schedule, (number, actual), learning.seed)
}

fn print_answer(
    args: &WaitArgs,
    answer: &WaitAnswer,
    name: &str,
    schedule: &SiteSchedule<'_>,
    (number, actual): (Option<i64>, Option<Seconds>),
    seed: u64,
) -> anyhow::Result<()> {
    let row = AnswerRow { answer, number, actual, seed }.cells();
    Ok(args.output.print.print_row(false, &row, |out, width| {
        write_answer(out, width, answer, name, schedule, actual)?;
        write_wrapped(out, "", &format!("seed {seed}"), width)
    })?)
}
