//! `sim wait`: when will a job start, and how well can that be predicted?

use std::io::{self, Write};
use std::sync::Mutex;
use std::time::Instant;

use clap::{ArgMatches, Args};

use super::failure::UsageError;
use super::log::{LogArgs, read_workload};
use super::options;
use super::output_options::{OutputFiles, OutputOptions};
use super::progress::Progress;
use super::stderr::note;
use super::width;
use crate::experiment::{Options, simulate};
use crate::job::{Job, JobId, Submission};
use crate::report::{Cell, Output, counted, grouped, percent, swept_cells, write_csv, write_forms, write_wrapped};
use crate::spec::{Spec, SpecList, parse_list};
use crate::text::printable;
use crate::time::{Seconds, Time, parse_duration, readable_duration};
use crate::trace::{WideNumbers, Workload};
use crate::wait::{
    Evaluation, EvaluationPhase, EvaluationPlan, Learning, SiteSchedule, WaitAnswer, WaitMethod, answer, answer_cells,
    calibration_cells, confusion_cells, evaluate, figures_cells, job_cells, write_answer, write_tables,
};
use crate::{predict, schedule};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sim wait CTC.swf.gz                                     three methods on the log's own waits
  sim wait CTC.swf.gz --method knn,ibl:k=5 --format csv
  sim wait KTH.swf.gz --scheduler easy --method knn,simulate
  sim wait CTC.swf.gz --method knn,knn:point=linear,knn:point=rbf --regression-every 10
  sim wait CTC.swf.gz --at 41234                          the prediction for this job at its arrival
  sim wait CTC.swf.gz --ask procs=64,estimate=2h          a job that arrives at the end of the log

Methods: knn (similar jobs), ibl, qbets (an upper bound), downey (for jobs that arrive at an empty queue), simulate (a
simulation of the present queue). `sim list methods` prints them with their keys. The wait of a job is predicted when the job
arrives, from jobs that have started by then. 50,000 predictions by three methods, with ten trainings of the support vector
machine, take about a minute of processor time.")]
pub struct WaitArgs {
    #[command(flatten)]
    log: LogArgs,
    /// How waits are predicted: a list of knn, ibl, qbets, downey, simulate, with their keys; see `sim list methods`
    #[arg(long, value_name = "SPECS", default_value = "knn,ibl,qbets", value_parser = parse_methods, display_order = 0)]
    method: String,
    /// Which waits are predicted: those recorded in the log (replay), or those of the log simulated under this scheduler
    #[arg(long, value_name = "SPEC", default_value = "replay", value_parser = parse_scheduler, display_order = 0)]
    scheduler: Spec,
    /// The runtime predictor of that simulation
    #[arg(long, value_name = "SPEC", default_value = "estimate", value_parser = parse_predictor, display_order = 0)]
    predictor: Spec,
    /// Predict the wait of this job of the log, given by its number, at its arrival
    #[arg(long, value_name = "JOB", help_heading = "One job", conflicts_with_all = EVALUATION)]
    at: Option<i64>,
    /// Predict the wait of a job that arrives with the last submission of the log: procs=N,estimate=DURATION and, if known,
    /// user=, group=, queue=
    #[arg(long, value_name = "KEY=VALUE,...", value_parser = parse_question, help_heading = "One job")]
    #[arg(conflicts_with_all = EVALUATION, conflicts_with = "at")]
    ask: Option<Question>,
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

/// The word in place of methods that prints all of them.
const HELP: &str = "help";

fn parse_methods(text: &str) -> Result<String, String> {
    match text {
        HELP => Ok(text.to_string()),
        _ => options::checked_specs("method", WaitMethod::parse)(text),
    }
}

fn parse_scheduler(text: &str) -> Result<Spec, String> {
    schedule::catalog::parse(text).map_err(|error| error.to_string())
}

fn parse_predictor(text: &str) -> Result<Spec, String> {
    predict::catalog::parse(text).map_err(|error| error.to_string())
}

/// A job that is asked about. Its user, group and queue are numbers as in the log.
#[derive(Clone, Copy, Debug)]
struct Question {
    job: Submission,
    user: i64,
    group: i64,
    queue: i64,
}

impl Question {
    /// The job with the numbers as jobs of the log have them.
    fn submission(self, wide: &mut WideNumbers) -> Submission {
        let Question { job, user, group, queue } = self;
        Submission { user: wide.code(user), group: wide.code(group), queue: wide.code(queue), ..job }
    }
}

/// Parses a job such as `procs=64,estimate=2h,user=5`.
fn parse_question(text: &str) -> Result<Question, String> {
    let mut question = Question { job: Submission::new(0, 0, 0), user: -1, group: -1, queue: -1 };
    let job = &mut question.job;
    let mut given = Vec::new();
    for piece in text.split(',') {
        let (key, value) = piece.split_once('=').ok_or_else(|| format!("'{piece}' is not key=value"))?;
        if given.contains(&key) {
            return Err(format!("the key '{key}' is given twice"));
        }
        given.push(key);
        let id = || value.parse::<i64>().map_err(|_| format!("{key}: '{value}' is not a whole number"));
        match key {
            "procs" => job.procs = value.parse().map_err(|_| format!("procs: '{value}' is not a whole number"))?,
            "estimate" => job.estimate = parse_duration(value)?,
            "user" => question.user = id()?,
            "group" => question.group = id()?,
            "queue" => question.queue = id()?,
            _ => return Err(format!("no key '{key}'; the keys are procs, estimate, user, group, queue")),
        }
    }
    match job.procs > 0 && job.estimate > 0 {
        true => Ok(question),
        false => Err("a job needs at least procs=1 and estimate=1s".to_string()),
    }
}

impl WaitArgs {
    /// Opens the files for jobs, confusion matrices and the calibration.
    fn outputs(&self) -> anyhow::Result<OutputFiles<3>> {
        let (jobs, confusion, calibration) = (&self.jobs_out, &self.confusion_out, &self.calibration_out);
        let outputs = [("--jobs-out", jobs), ("--confusion-out", confusion), ("--calibration-out", calibration)];
        OutputFiles::open(outputs, &self.log.files())
    }
}

pub fn execute(args: &WaitArgs, matches: &ArgMatches, quiet: bool) -> anyhow::Result<()> {
    if args.method == HELP {
        return Ok(Output::stdout().fill(|out| write_forms(out, "", width::of_stdout(), &WaitMethod::forms()))?);
    }
    let methods = parse_list("method", [args.method.as_str()], WaitMethod::parse)?;
    let outputs = args.outputs()?;
    let options =
        Options { scheduler: args.scheduler.clone(), predictor: args.predictor.clone(), ..options::read(matches)? };
    let (mut workload, starts) = read_schedule(args, &options, quiet)?;
    let learning =
        Learning { history: args.history as usize, first: 0, every: args.retrain as usize, seed: options.shaping.seed };
    match (args.at, args.ask) {
        (None, None) => {
            let schedule = SiteSchedule::new(&workload, &starts);
            evaluate_all(args, &workload, &schedule, &methods, learning, outputs, quiet)
        }
        (at, asked) => {
            let asked = asked.map(|question| question.submission(&mut workload.wide));
            answer_one(args, workload, starts, &methods, learning, at, asked)
        }
    }
}

/// The jobs of the log with the start of each: as recorded, or in a simulation of the log.
fn read_schedule(args: &WaitArgs, options: &Options, quiet: bool) -> anyhow::Result<(Workload, Vec<Time>)> {
    let source = args.log.source(quiet);
    let workload = read_workload(&source, options, quiet)?;
    let setting = options.setting();
    if setting.is_replay() {
        let start = |job: &Job| job.submission.submit + job.recorded_wait.get().unwrap_or(0);
        let starts = workload.jobs.iter().map(start).collect();
        return Ok((workload, starts));
    }
    let progress = Progress::counting("simulating", "jobs", Some(workload.jobs.len()), quiet);
    let record = simulate(&workload, &setting, &mut |arrived| progress.set(arrived))?;
    let starts = record.finished(&workload.jobs).map(|job| job.start()).collect();
    Ok((workload, starts))
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
        let rows = (0..evaluation.jobs.len()).flat_map(|at| {
            let evaluation = &evaluation;
            (0..methods.items.len()).filter_map(move |method| job_cells(evaluation, schedule, at, method))
        });
        let rows: Vec<_> = rows.collect();
        out.fill(|out| write_csv(out, &rows, true))?;
    }
    if let Some(out) = confusion_out {
        let rows: Vec<_> = figures.iter().flat_map(confusion_cells).collect();
        out.fill(|out| write_csv(out, &rows, true))?;
    }
    if let Some(out) = calibration_out {
        let rows: Vec<_> = evaluation.calibration().iter().map(calibration_cells).collect();
        out.fill(|out| write_csv(out, &rows, true))?;
    }
    let scheduler = args.scheduler.to_string();
    let seed = plan.learning.seed;
    let row = |(at, one)| {
        let cells = figures_cells(one, &workload.label, &scheduler).into_iter();
        let cells = cells.map(|(name, cell)| (name.to_string(), cell)).chain(swept_cells(&methods.keys, at));
        cells.chain([("seed".to_string(), Cell::Count(seed))]).collect::<Vec<_>>()
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
    width: usize,
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

fn answer_one(
    args: &WaitArgs,
    mut workload: Workload,
    mut starts: Vec<Time>,
    methods: &SpecList<WaitMethod>,
    learning: Learning,
    at: Option<i64>,
    asked: Option<Submission>,
) -> anyhow::Result<()> {
    let (id, number, name) = match (at, asked) {
        (Some(number), _) => {
            let place = workload.jobs.iter().position(|job| job.number == number).ok_or_else(|| {
                let (first, last) = (workload.jobs[0].number, workload.jobs[workload.jobs.len() - 1].number);
                UsageError(format!(
                    "no job {number}: the jobs of the log have numbers from {first} to {last}, without those that were dropped"
                ))
            })?;
            (place, Some(number), format!("{}, job {number}", workload.label))
        }
        (None, asked) => {
            let job = asked.expect("--at or --ask is given");
            if job.procs > workload.procs {
                let (needed, procs) = (job.procs, workload.procs);
                return Err(UsageError(format!("procs={needed} is more than the machine has ({procs})")).into());
            }
            // Adds the job at the end of the log. Its start and its runtime are not used.
            let submission = Submission { submit: workload.last_submit(), ..job };
            let (place, record) = (workload.jobs.len(), u32::MAX);
            workload.jobs.push(Job { submission, runtime: 1, recorded_wait: None.into(), record, number: -1 });
            starts.push(submission.submit);
            (place, None, format!("{}, a job when the log ends", workload.label))
        }
    };
    let schedule = SiteSchedule::new(&workload, &starts);
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
    let mut row = answer_cells(answer, number, actual);
    row.push(("seed".to_string(), Cell::Count(seed)));
    Ok(args.output.print.print_row(false, &row, |out, width| {
        write_answer(out, width, answer, name, schedule, actual)?;
        write_wrapped(out, "", &format!("seed {seed}"), width)
    })?)
}
