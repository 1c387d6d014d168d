//! `sim wait`: when will a job start, and how well can that be predicted?

mod arguments;
mod codes;
mod evaluation;
mod history;
mod live;
mod question;

use std::sync::Arc;

use clap::{ArgMatches, Args, Command};

use super::failure::{UsageError, refuse};
use super::log::read_and_clean;
use super::notes::{report_cleaning, report_requests, warn_of_never};
use super::options;
use super::progress::Progress;
use super::slurm_conf;
use super::stderr::note;
use super::{CommandForm, is_given, parsed};
use crate::experiment::{Options, Section, simulate};
use crate::job::{Job, JobId, Submission};
use crate::report::{counted, write_wrapped};
use crate::schedule;
use crate::sort::sort_by_key;
use crate::spec::{Spec, SpecList, parse_list};
use crate::text::printable;
use crate::time::{DAY, Seconds, Time};
use crate::trace::{CleaningCause, Log, PresentQueue, PresentStage, Workload};
use crate::wait::{AnswerRow, Learning, SiteSchedule, WaitAnswer, WaitMethod, answer, recorded_starts, write_answer};
use arguments::{AskArgs, EvaluateArgs, RETRAIN, SharedArgs};
use codes::Codes;
use evaluation::evaluate_all;
use history::History;

/// The subcommand.
pub const COMMAND: CommandForm = CommandForm {
    name: "wait",
    about: "Predict how long jobs will wait: how well, and for a queue or a job",
    arguments: |command| {
        let ask = AskArgs::augment_args(Command::new("ask")).about("When will the jobs of a queue, or one job, start?");
        let ask = with_options(ask).mut_arg("names", |names| {
            let help = "Show the names of users, queues and partitions of the queue. Without it no output has them";
            names.help(help).requires("queue")
        });
        with_options(EvaluateArgs::augment_args(command)).subcommand(ask)
    },
    run: |matches| match matches.subcommand() {
        Some((_, matches)) => ask(parsed(matches), matches),
        None => evaluate(parsed(matches), matches),
    },
};

fn with_options(command: Command) -> Command {
    use Section::{Estimates, Log, Machine, Reading, Shape};
    let about = "A site's slurm.conf: the scheduler slurm has its keys, and its nodes are the machine, unless --machine or --procs is given; see `sim help slurm`";
    slurm_conf::add(options::add(command, &[Log, Machine, Reading, Estimates, Shape]), about)
}

/// The options of a run, with the scheduler of a slurm.conf if there is one.
fn read_options(
    shared: &mut SharedArgs,
    methods: Option<&SpecList<WaitMethod>>,
    matches: &ArgMatches,
) -> anyhow::Result<Options> {
    let conf = slurm_conf::read(matches)?;
    if let Some(conf) = &conf {
        shared.scheduler = match is_given(matches, "scheduler") {
            true => conf.complete(&shared.scheduler)?,
            false => conf.scheduler(),
        };
    }
    let (scheduler, predictor) = (shared.scheduler.clone(), shared.predictor.clone());
    let mut options = Options { scheduler, predictor, ..options::read(matches)? };
    slurm_conf::set_one_machine(matches, conf.as_ref(), &mut options, [&shared.scheduler].into_iter())?;
    // The seed is that of drawn runtimes too, and outages count in simulations of the queue.
    options::check_effects(matches, std::slice::from_ref(&options), &["seed", "outages"])?;
    let simulated: Vec<&Spec> = methods.iter().flat_map(|list| &list.items).filter_map(WaitMethod::scheduler).collect();
    if options.outages.is_some() && options.setting().is_replay() && methods.is_some() && simulated.is_empty() {
        return refuse("--outages has no effect on replay and on these methods; simulate is one that knows of outages");
    }
    options::warn_of_machines(std::slice::from_ref(&options));
    Ok(options)
}

fn learning(shared: &SharedArgs, options: &Options, every: u32) -> Learning {
    Learning { history: shared.history as usize, first: 0, every: every as usize, seed: options.shaping.seed }
}

/// Says what reading did to the log.
fn report(log: &Log, history: &History, options: &Options) {
    report_cleaning(log, &history.workload);
    report_requests(&log.name, &history.workload, options.reading.unit);
}

fn evaluate(mut args: EvaluateArgs, matches: &ArgMatches) -> anyhow::Result<()> {
    let methods = parse_list("method", [args.method.as_str()], WaitMethod::parse)?;
    let outputs = args.outputs()?;
    let options = read_options(&mut args.shared, Some(&methods), matches)?;
    let (history, log) = read_history(&args.shared, &options, false)?;
    report(&log, &history, &options);
    let schedule = SiteSchedule::new(&history.workload, &history.starts);
    let learning = learning(&args.shared, &options, args.retrain);
    evaluate_all(&args, &history.workload, &schedule, &methods, learning, outputs)
}

fn ask(mut args: AskArgs, matches: &ArgMatches) -> anyhow::Result<()> {
    let methods = args.method.as_deref().map(|list| parse_list("method", [list], WaitMethod::parse)).transpose()?;
    let options = read_options(&mut args.shared, methods.as_ref(), matches)?;
    let (args, given) = (&args, args.shared.log.given());
    if args.queue.as_deref() == Some("-") && given == Some("-") {
        return refuse("only one of the log and --queue can be standard input");
    }
    if let (Some(queue), None) = (&args.queue, given) {
        let queue = printable(queue);
        return refuse(format!(
            "--queue needs the log of the site's past jobs, which tells how long jobs wait: sim wait ask LOG --queue {queue} \
             (`sim help logs` has the command that writes it; if {queue} is SWF with past jobs in it, it can be LOG too)"
        ));
    }
    let page = args.page()?;
    let mut queue = args.queue.as_deref().map(|file| live::read_present(file, &options)).transpose()?;
    let (mut history, mut log) = read_history(&args.shared, &options, queue.is_some())?;
    let mut is_queue = args.queue.is_some() && args.queue.as_deref() == given;
    if queue.is_none() && args.job.is_some() && methods.is_none() {
        queue = open_jobs(given, &options, &history)?;
        is_queue = queue.is_some();
        if is_queue && !options.setting().is_replay() {
            (history, log) = read_history(&args.shared, &options, true)?;
        }
    }
    // The records of a queue in the log are not jobs of the history: nothing is lost.
    if !is_queue {
        report(&log, &history, &options);
    }
    let learning = learning(&args.shared, &options, RETRAIN);
    if let Some(queue) = &queue {
        return live::answer_queue(args, history, queue, &options, page);
    }
    // The methods of the paper answer if they are named. Otherwise there is one answer.
    if let Some(methods) = methods {
        let mut codes = Codes::new(&history.names, &mut history.workload.wide);
        let asked = args.job.as_ref().map(|question| question.submission(&mut codes)).transpose()?;
        return answer_one(args, history, &methods, learning, asked);
    }
    live::answer_in_log(args, history, learning.seed)
}

/// Jobs of a log that have been open for longer than this are taken for faults of the log.
const OLDEST_OPEN: Seconds = 30 * DAY;

/// The jobs of an SWF log that have not ended: it was cut while they waited or ran. None if there are none.
fn open_jobs(given: Option<&str>, options: &Options, history: &History) -> anyhow::Result<Option<PresentQueue>> {
    let has_open = history.is_swf && history.workload.cleaning.count(CleaningCause::NegativeRuntime) > 0;
    let Some(file) = given.filter(|file| *file != "-" && has_open) else { return Ok(None) };
    let queue = live::read_present(file, options)?;
    let running = queue.jobs.iter().filter(|job| matches!(job.stage, PresentStage::Running { .. })).count();
    let waiting = queue.jobs.iter().filter(|job| job.stage == PresentStage::Waiting).count();
    let oldest = queue.jobs.iter().map(|job| job.submit).min().zip(queue.now);
    if running + waiting == 0 {
        return Ok(None);
    }
    // Archives have records of jobs whose end is not known. They are no queue.
    if oldest.is_some_and(|(oldest, now)| now - oldest > OLDEST_OPEN) {
        let jobs = counted((running + waiting) as u64, "job");
        note(format_args!(
            "{jobs} of the log did not end, some of them since long ago: they are left out (see --queue)"
        ));
        return Ok(None);
    }
    let (waiting, running) = (counted(waiting as u64, "job"), counted(running as u64, "job"));
    note(format_args!("records with a runtime of -1 are the present queue: {waiting} waiting, {running} running"));
    Ok(Some(queue))
}

/// The jobs of the log with the start of each: as recorded, or in a simulation of the log. Beside a queue they are as recorded.
/// Also the log, for the report of what was dropped.
fn read_history(shared: &SharedArgs, options: &Options, has_queue: bool) -> anyhow::Result<(History, Log)> {
    let source = shared.log.source();
    let replay = schedule::catalog::parse("replay").expect("replay is in the catalog");
    let options = match has_queue {
        // Its outages are those of its own clock.
        true => &Options { scheduler: replay, outages: None, ..options.clone() },
        false => options,
    };
    let (workload, mut log) = read_and_clean(&source, options)?;
    let (mut workload, names) = (options.shape(workload)?, std::mem::take(&mut log.names));
    let is_swf = log.source.format == "swf";
    let partition_map = options.partition_map.clone();
    let setting = options.setting();
    if setting.is_replay() {
        workload = workload.as_recorded();
        let starts = recorded_starts(&workload);
        return Ok((History { workload, starts, names, is_swf, partition_map }, log));
    }
    let progress = Progress::counting("simulating", "jobs", Some(workload.jobs.len()));
    let record = simulate(&workload, &setting, &mut |ended| progress.set(ended))?;
    if record.never.count() > 0 {
        warn_of_never(&[(setting.pair(), record.never.in_words())].into());
    }
    let all = record.finished_in(&workload.jobs, 0..workload.jobs.len());
    let (kept, mut starts): (Vec<usize>, Vec<Time>) = all.map(|(at, job)| (at, job.start())).unzip();
    let jobs = record.arrived.as_ref().unwrap_or(&workload.jobs);
    let jobs: Vec<Job> = kept.iter().map(|&at| jobs[at]).collect();
    if record.arrived.is_some() {
        // Jobs with conditions are in the order in which they joined the queue.
        let mut jobs: Vec<(Job, Time)> = jobs.into_iter().zip(starts).collect();
        sort_by_key(&mut jobs, |(job, _)| job.submission.submit);
        (workload.jobs, starts) = jobs.into_iter().unzip();
        workload.conditions = Arc::new(workload.conditions.only_arrays());
    } else {
        workload.jobs = jobs;
    }
    Ok((History { workload, starts, names, is_swf, partition_map }, log))
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
    args: &AskArgs,
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
            let id = history.append(args, asked.expect("--at or --job is required"))?;
            (id, None, format!("{}, a job when the log ends", history.workload.label))
        }
    };
    let schedule = SiteSchedule::new(&history.workload, &history.starts);
    let id = JobId(id as u32);
    let Some(answer) = answer(&schedule, id, &methods.items, learning, args.shared.output.threads())? else {
        return refuse("no job has started before this one: nothing to predict from");
    };
    let actual = number.map(|_| schedule.wait(id));
    print_answer(args, &answer, &name, &schedule, (number, actual), learning.seed)
}

fn print_answer(
    args: &AskArgs,
    answer: &WaitAnswer,
    name: &str,
    schedule: &SiteSchedule<'_>,
    (number, actual): (Option<i64>, Option<Seconds>),
    seed: u64,
) -> anyhow::Result<()> {
    let row = AnswerRow { answer, number, actual, seed }.cells();
    Ok(args.shared.output.print.print_row(false, &row, |out, width| {
        write_answer(out, width, answer, name, schedule, actual)?;
        write_wrapped(out, "", &format!("seed {seed}"), width)
    })?)
}
