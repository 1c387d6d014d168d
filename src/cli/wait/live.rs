//! When will jobs that wait now start? The present queue comes from a file, or from the log itself.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use super::arguments::{AskArgs, OnOff};
use super::codes::Codes;
use super::history::{History, QueueClock, QueuedJob, add_to_history, asked_now, nodes_of};
use super::index_of_job;
use crate::cli::failure::refuse;
use crate::cli::output_options::OutputFiles;
use crate::cli::progress::Progress;
use crate::cli::stderr::{note, warning};
use crate::experiment::{Options, Setting};
use crate::job::{Job, JobId, Submission};
use crate::machine::Outages;
use crate::report::{Width, counted};
use crate::request::RequestId;
use crate::schedule::Accounts;
use crate::sort::sort_by_key;
use crate::text::printable;
use crate::time::{Seconds, Time, readable_duration};
use crate::trace::{PresentJob, PresentQueue, PresentStage, QueueReading, RowCause, Source, read_queue};
use crate::tres::Resource;
use crate::wait::{
    ForwardPlans, ForwardSetting, LiveJob, LiveNames, LivePlan, LiveReport, QueueSnapshot, RatioHistory, SiteSchedule,
    SnapshotJob, snapshot_at,
};

/// A question, ready to be answered.
struct LiveQuestion {
    snapshot: QueueSnapshot,
    jobs: Vec<LiveJob>,
    /// The places of the answered jobs in the snapshot.
    wanted: Vec<usize>,
    /// How many jobs of the log have arrived before.
    arrived: usize,
    title: String,
    /// Whether one job was asked about.
    one: bool,
    actual: Option<Seconds>,
    /// The Unix time of the log's time 0, as far as it is known.
    unix_start: Option<Time>,
    /// Why the past of the log does not tell anything about this queue.
    doubts: Vec<String>,
}

impl LiveQuestion {
    /// Without the waiting jobs that can never start, such as those over a limit for ever: they are listed with the reason.
    fn without_never(mut self, forward: &ForwardSetting) -> anyhow::Result<LiveQuestion> {
        // Every job can start on a pool of processors that comes back.
        if self.snapshot.shapes.is_none() && self.snapshot.outages.is_none() {
            return Ok(self);
        }
        let never = self.snapshot.never_starting(forward)?;
        if let Some(why) = self.wanted.first().filter(|_| self.one).and_then(|place| never.get(place)) {
            return refuse(format!("the job can never start: {why}"));
        }
        let is_kept: Vec<bool> = (0..self.snapshot.waiting.len()).map(|place| !never.contains_key(&place)).collect();
        let mut new_places = Vec::new();
        for job in &mut self.jobs {
            let Some(place) = job.place.map(|place| self.wanted[place]) else { continue };
            if is_kept[place] {
                job.place = Some(new_places.len());
                new_places.push(is_kept[..place].iter().filter(|is_kept| **is_kept).count());
            } else {
                (job.place, job.reason) = (None, Some(format!("it can never start: {}", never[&place])));
            }
        }
        self.wanted = new_places;
        let mut kept = is_kept.into_iter();
        self.snapshot.waiting.retain(|_| kept.next().expect("one per job"));
        Ok(self)
    }
}

/// Reads the queue of `--queue`.
pub fn read_present(file: &str, options: &Options) -> anyhow::Result<PresentQueue> {
    let source = Source::from_argument(file);
    let reading = QueueReading {
        unit: options.reading.unit,
        procs_field: options.cleaning.procs_field,
        skip_bad_lines: options.skip_bad_lines,
    };
    let queue = read_queue(&source, &reading)?;
    report_queue(&queue);
    Ok(queue)
}

/// Says what was wrong with a queue.
fn report_queue(queue: &PresentQueue) {
    let (report, name) = (&queue.report, printable(&queue.name));
    if report.unusable() > 0 {
        let jobs = counted(report.unusable(), "job");
        warning(format_args!("{name}: {jobs} without processors, a submit time, a start or a known state left out"));
    }
    if let Some(state) = &report.first_unknown_state {
        warning(format_args!("{name}: the state '{}' is not known", printable(state)));
    }
    if let Some(array) = &report.first_cut_array {
        let arrays = counted(report.causes[RowCause::CutArray], "array");
        warning(format_args!(
            "{name}: tasks of {arrays} are missing, because Slurm shortened their lists, first of {}: use squeue -r",
            printable(array)
        ));
    }
    if report.left_out() > 0 {
        let jobs = counted(report.left_out(), "job");
        let devices = Resource::DEVICES.map(Resource::many).join(" or ");
        warning(format_args!(
            "{name}: {jobs} left out: tasks beyond a million, jobs without {devices}, or long past their limits"
        ));
    }
    if queue.skipped.count > 0 {
        warning(format_args!("{name}: {} skipped", counted(queue.skipped.count, "faulty line")));
    }
}

/// Answers for the jobs of a queue, or for one that joins it.
pub fn answer_queue(
    args: &AskArgs,
    mut history: History,
    queue: &PresentQueue,
    options: &Options,
    page: OutputFiles<1>,
) -> anyhow::Result<()> {
    let label = history.workload.label.clone();
    let mut codes = Codes::new(&history.names, &mut history.workload.wide);
    if let Some(user) = &args.user
        && !queue.jobs.iter().any(|job| job.user.as_deref() == Some(user))
        && (!codes.has_names() || codes.code("user", Some(user)).is_none())
    {
        let name = printable(&queue.name);
        return refuse(format!("--user: neither {name} nor the log has a user '{}'", printable(user)));
    }
    let asked = args.job.as_ref().map(|question| question.submission(&mut codes)).transpose()?;
    let (mut jobs, mut unknown) = (Vec::new(), 0u64);
    for job in &queue.jobs {
        let mut code = |kind, name: &Option<std::sync::Arc<str>>| codes.code(kind, name.as_deref());
        let user = code("user", &job.user);
        unknown += u64::from(user.is_none());
        let submission = Submission {
            user: user.unwrap_or(-1),
            group: code("group", &job.group).unwrap_or(-1),
            executable: code("executable", &job.executable).unwrap_or(-1),
            queue: code("queue", &job.queue).unwrap_or(-1),
            partition: code("partition", &job.partition).unwrap_or(-1),
            ..Submission::new(job.eligible.unwrap_or(job.submit), job.procs, job.estimate.unwrap_or(0))
        };
        jobs.push(QueuedJob { job, submission, request: Ok(RequestId::NONE) });
    }
    if unknown > 0 {
        let jobs = counted(unknown, "job");
        note(format_args!(
            "the users of {jobs} of the queue are not in the log: runtimes are drawn from the jobs of all users"
        ));
    }
    let clock = QueueClock::of(args, &history, queue)?;
    let longest = history.workload.jobs.iter().map(|job| job.submission.estimate).max().unwrap_or(1);
    for QueuedJob { job, submission, request } in &mut jobs {
        *request = history.request(submission, job.request.as_deref().cloned(), false);
        let estimate = if submission.estimate > 0 { submission.estimate } else { longest };
        *submission = Submission { submit: clock.log_time(submission.submit), estimate, ..*submission };
    }
    let asked_request = asked.map_or(Ok(RequestId::NONE), |job| history.asked_request(args, &job))?;
    // Slurm holds back jobs that would reach into a maintenance. They start after it.
    let is_held = |reason: &str| options.outages.is_none() || !reason.replace('_', " ").contains(OF_MAINTENANCE);
    add_to_history(&mut history, &jobs, &clock);
    history.workload.outages = outages_at(&mut history, options, &clock, asked.map(|job| (job, asked_request)))?;
    let workload = &history.workload;
    let schedule = SiteSchedule::new(workload, &history.starts);
    let ratios = RatioHistory::of(&schedule, clock.now);
    let mut snapshot = QueueSnapshot {
        now: clock.now,
        first_submission: workload.first_submit(),
        unix_start: workload.unix_start,
        accounts: Arc::new(Accounts::of(&workload.jobs, &workload.wide)),
        procs: workload.procs,
        shapes: workload.shapes.clone(),
        outages: workload.outages.clone(),
        running: Vec::new(),
        waiting: Vec::new(),
    };
    let in_snapshot = |submission: Submission, request: RequestId, elapsed: Seconds| {
        let predicted = submission.estimate.max(elapsed + 1);
        let ratios = ratios.ratios(submission.user);
        SnapshotJob { submission, request, on: None, array: None, elapsed, predicted, ratios }
    };
    let (mut waiting, mut held, mut without_room) = (Vec::new(), Vec::new(), 0);
    for QueuedJob { job, submission, request } in jobs {
        match (&job.stage, request) {
            (PresentStage::Running { .. }, Err(_)) => without_room += 1,
            (PresentStage::Waiting | PresentStage::Held { .. }, Err(why)) => {
                held.push((job, submission, why.to_string()))
            }
            (PresentStage::Running { start }, Ok(request)) => {
                // At least a second, so that it has its processors before any waiting job.
                let elapsed = (clock.now - clock.log_time(*start)).max(1);
                let on = nodes_of(job, workload);
                snapshot.running.push(SnapshotJob { on, ..in_snapshot(submission, request, elapsed) });
            }
            (PresentStage::Held { reason }, _) if is_held(reason) => held.push((job, submission, reason.to_string())),
            (PresentStage::Waiting | PresentStage::Held { .. }, Ok(_))
                if workload.shapes.is_none() && submission.procs > workload.procs =>
            {
                let reason =
                    format!("wider than the machine of {}, see --procs", counted(workload.procs.into(), "processor"));
                held.push((job, submission, reason));
            }
            (PresentStage::Waiting | PresentStage::Held { .. }, Ok(request)) => {
                waiting.push((job, submission, request))
            }
        }
    }
    sort_by_key(&mut snapshot.running, |job| std::cmp::Reverse(job.elapsed));
    sort_by_key(&mut waiting, |(_, submission, _)| submission.submit);
    let live = |job: &PresentJob, submission, place, reason| LiveJob {
        name: job.name.clone(),
        submission,
        expected: job.expected_start.map(|time| clock.log_time(time)),
        place,
        reason,
        names: shown_names(args, job),
    };
    // All tasks of a large array wait, and some of them are listed.
    let is_wanted = |job: &PresentJob| args.user.is_none() || job.user.as_deref() == args.user.as_deref();
    let is_listed = |job: &PresentJob| is_wanted(job) && (!job.is_inner_task || args.at.as_ref() == Some(&job.name));
    let (mut listed, mut wanted, mut arrays) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (job, submission, request) in waiting {
        if is_listed(job) {
            listed.push(live(job, submission, Some(wanted.len()), None));
            wanted.push(snapshot.waiting.len());
        }
        let next = arrays.len() as u32;
        let array = job.name.split_once('_').map(|(array, _)| *arrays.entry(array).or_insert(next));
        snapshot.waiting.push(SnapshotJob { array, ..in_snapshot(submission, request, 0) });
    }
    let held = held.into_iter().filter(|(job, ..)| is_listed(job));
    listed.extend(held.map(|(job, submission, reason)| live(job, submission, None, Some(reason))));
    let unlisted = queue.jobs.iter().filter(|job| is_wanted(job) && !is_listed(job)).count();
    if unlisted > 0 && asked.is_none() && args.at.is_none() {
        let tasks = counted(unlisted as u64, "task");
        note(format_args!(
            "of large arrays only the first and the last task are listed, without {tasks} between them: --at JOB answers for any"
        ));
    }
    let in_use: u64 = snapshot.running.iter().map(|job| u64::from(job.submission.procs)).sum();
    let mut doubts: Vec<String> = clock.doubt.iter().cloned().collect();
    if in_use > u64::from(workload.procs) {
        let (in_use, procs) = (counted(in_use, "processor"), counted(workload.procs.into(), "processor"));
        warning(format_args!("the running jobs use {in_use}, the machine has {procs}: see --procs"));
        doubts.push(format!("the running jobs use {in_use}, and its machine has {procs} (see --procs)"));
    }
    without_room += snapshot.without_room();
    if without_room > 0 {
        let jobs = counted(without_room as u64, "running job");
        warning(format_args!("{jobs} left out: the machine has no room for them; see `sim machine`"));
        doubts.push(format!("its machine has no room for {jobs}"));
    }
    let mut one = asked.is_some();
    let mut what = match (&asked, &args.user) {
        (Some(job), _) => question_in_words(job),
        (None, Some(user)) if args.names.is_given() => format!("the jobs of user {user} that wait"),
        (None, Some(_)) => "the jobs of one user that wait".to_string(),
        (None, None) => "the jobs that wait".to_string(),
    };
    if let Some(name) = &args.at {
        let found = listed.iter().find(|job| job.name == *name && job.place.is_some()).cloned();
        let Some(found) = found else {
            let held = listed.iter().find(|job| job.name == *name).and_then(|job| job.reason.clone());
            return refuse(match held {
                Some(reason) => format!("job {name} does not wait for processors: {reason}"),
                None => format!("no job {name} waits in {}", printable(&queue.name)),
            });
        };
        (one, what) = (true, format!("job {name}, {}", question_in_words(&found.submission)));
        wanted = found.place.map(|place| wanted[place]).into_iter().collect();
        listed = vec![LiveJob { place: Some(0), ..found }];
    }
    if let Some(job) = asked {
        let submission = asked_now(job, clock.now, workload)?;
        wanted = vec![snapshot.waiting.len()];
        snapshot.waiting.push(in_snapshot(submission, asked_request, 0));
        listed = vec![LiveJob::asked(String::new(), submission)];
    }
    let title = format!("{what}; history: {label}");
    let arrived = workload.jobs.partition_point(|job| job.submission.submit <= clock.now);
    let unix_start = clock.unix_start;
    let asked = LiveQuestion { snapshot, jobs: listed, wanted, arrived, title, one, actual: None, unix_start, doubts };
    answer(args, &history, &schedule, asked, (options.shaping.seed, page))
}

/// Why Slurm does not start a job that would reach into a maintenance.
const OF_MAINTENANCE: &str = "Reserved for maintenance";

/// The outages of the jobs of a history, and of one more, on the clock of its queue.
fn outages_at(
    history: &mut History,
    options: &Options,
    clock: &QueueClock,
    asked: Option<(Submission, RequestId)>,
) -> anyhow::Result<Option<Arc<Outages>>> {
    let History { workload, names, .. } = history;
    let (unix_start, jobs) = (workload.unix_start, workload.jobs.len());
    workload.unix_start = clock.unix_start;
    workload.jobs.extend(asked.map(|(job, request)| Job { request, ..Job::new(job, 1) }));
    let outages = options.outages_of(workload, names);
    workload.unix_start = unix_start;
    workload.jobs.truncate(jobs);
    let outages = outages?;
    if outages.as_ref().is_some_and(|outages| outages.over_by(clock.now) == outages.list.len() as u64) {
        note("--outages: all of them are over now");
    }
    Ok(outages)
}

/// The names of a job that are shown: none without `--names`.
fn shown_names(args: &AskArgs, job: &PresentJob) -> LiveNames {
    let shown = |name: &Option<Arc<str>>| name.as_deref().filter(|_| args.names.is_given()).map(str::to_string);
    LiveNames { user: shown(&job.user), queue: shown(&job.queue), partition: shown(&job.partition) }
}

/// Answers for a job of the log at its arrival, or for one that arrives when the log ends.
pub fn answer_in_log(args: &AskArgs, mut history: History, seed: u64) -> anyhow::Result<()> {
    let mut codes = Codes::new(&history.names, &mut history.workload.wide);
    let asked = args.job.as_ref().map(|question| question.submission(&mut codes)).transpose()?;
    let (id, name) = match (&args.at, asked) {
        (Some(number), _) => (index_of_job(&history.workload, number)?, number.clone()),
        (None, asked) => (history.append(args, asked.expect("--at or --job is given"))?, String::new()),
    };
    let words = question_in_words(&history.workload.jobs[id].submission);
    let what = match &args.at {
        Some(number) => format!("job {number}, {words}"),
        None => format!("{words}, when the log ends"),
    };
    let schedule = SiteSchedule::new(&history.workload, &history.starts);
    let mut snapshot = snapshot_at(&schedule, &forward(args), JobId(id as u32))?.expect("the job is in the log");
    if args.at.is_none() {
        snapshot.outages = history.workload.outages.clone();
    }
    let submission = history.workload.jobs[id].submission;
    let wanted = vec![snapshot.waiting.len() - 1];
    let jobs = vec![LiveJob::asked(name, submission)];
    let actual = args.at.as_ref().map(|_| schedule.wait(JobId(id as u32)));
    let title = format!("{what}; history: {}", history.workload.label);
    let unix_start = history.workload.unix_start;
    let doubts = Vec::new();
    let asked = LiveQuestion { snapshot, jobs, wanted, arrived: id, title, one: true, actual, unix_start, doubts };
    let page = OutputFiles { files: [None], stdout_taken: false };
    answer(args, &history, &schedule, asked, (seed, page))
}

/// How the queue is simulated.
fn forward(args: &AskArgs) -> ForwardSetting {
    let scheduler = match crate::schedule::catalog::is_replay(&args.shared.scheduler) {
        true => crate::schedule::catalog::parse("easy").expect("easy is in the catalog"),
        false => args.shared.scheduler.clone(),
    };
    let setting = Setting::parse("easy", "estimate").expect("both are in the catalogs");
    ForwardSetting {
        setting: Setting { scheduler, ..setting },
        plans: ForwardPlans::Estimate,
        draws: args.draws as usize,
        recalibrate: args.recalibrate == OnOff::On,
    }
}

fn answer(
    args: &AskArgs,
    history: &History,
    schedule: &SiteSchedule<'_>,
    asked: LiveQuestion,
    (seed, OutputFiles { files: [page], stdout_taken }): (u64, OutputFiles<1>),
) -> anyhow::Result<()> {
    let forward = forward(args);
    let plan = LivePlan { forward, history: args.shared.history as usize, seed, threads: args.shared.output.threads() };
    let asked = asked.without_never(&plan.forward)?;
    let LiveQuestion { snapshot, jobs, wanted, arrived, title, one, actual, unix_start, doubts } = asked;
    let progress = Progress::counting("simulating", "past jobs", None);
    let answer = plan.answer(schedule, arrived, (&snapshot, &wanted), &|done, _| progress.set(done))?;
    drop(progress);
    let mut report = LiveReport {
        title,
        now: snapshot.now,
        unix_start,
        zone: &history.workload.zone,
        running: snapshot.running.len(),
        // A job of the queue is one of those that wait, another one is not.
        waiting: snapshot.waiting.len() - usize::from(one && (args.at.is_none() || args.queue.is_none())),
        occupied: snapshot.running.iter().map(|job| u64::from(job.submission.procs)).sum(),
        procs: snapshot.procs,
        jobs: &jobs,
        asked: one,
        actual,
        answer: &answer,
        recalibrate: plan.forward.recalibrate,
        doubts,
        how: String::new(),
    };
    let method = match report.recalibrated() {
        0 => "not recalibrated",
        _ => "recalibrated on the waits of past jobs",
    };
    let draws = counted(answer.draws as u64, "simulation");
    report.how = format!("{draws} of the queue under {}, {method}; seed {seed}", plan.forward.setting.scheduler);
    if answer.draws < args.draws as usize {
        let (queue, times) = (counted(snapshot.len() as u64, "job"), counted(answer.draws as u64, "time"));
        note(format_args!("the queue has {queue}: it is simulated {times}, not {}", args.draws));
    }
    for weakness in report.weaknesses() {
        warning(weakness);
    }
    if let Some(page) = page {
        page.fill(|out| out.write_all(report.page().as_bytes()))?;
    }
    let rows = report.rows(seed);
    let table = |out: &mut dyn Write, width: Width| report.write(out, width);
    Ok(args.shared.output.print.print_rows(stdout_taken, &rows, table)?)
}

fn question_in_words(job: &Submission) -> String {
    format!("{} for {}", counted(job.procs.into(), "processor"), readable_duration(job.estimate as f64))
}
