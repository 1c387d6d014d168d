//! The past of a site and its present queue on one clock.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::arguments::{AskArgs, Now};
use crate::cli::failure::{UsageError, refuse};
use crate::cli::stderr::warning;
use crate::job::{Job, Submission};
use crate::machine::{HostList, Unplaceable};
use crate::request::{Request, RequestId};
use crate::sort::sort_by_key;
use crate::time::{DAY, Seconds, Time, readable_duration};
use crate::trace::{LogNames, PartitionMap, PresentJob, PresentQueue, PresentStage, Workload};

/// The log with the starts of its jobs.
pub struct History {
    pub workload: Workload,
    pub starts: Vec<Time>,
    pub names: LogNames,
    /// Whether the log is in SWF, so that open jobs may be in it.
    pub is_swf: bool,
    /// Other names for partitions.
    pub partition_map: PartitionMap,
}

impl History {
    /// Adds a job that arrives with the last one of the log, and returns its place. Its start and its runtime are not used.
    pub fn append(&mut self, args: &AskArgs, job: Submission) -> Result<usize, UsageError> {
        let request = self.asked_request(args, &job)?;
        let job = asked_now(job, self.workload.last_submit(), &self.workload)?;
        let (place, record) = (self.workload.jobs.len(), u32::MAX);
        self.workload.jobs.push(Job { record, number: -1, request, ..Job::new(job, 1) });
        self.starts.push(job.submit);
        Ok(place)
    }

    /// The number of what a job asks for that is not in the log, or why it can never run.
    pub fn request(
        &mut self,
        job: &Submission,
        request: Option<Request>,
        is_new: bool,
    ) -> Result<RequestId, Unplaceable> {
        self.workload.add_request(job, request, &self.partition_map, is_new)
    }

    /// The same for the job of `--job`.
    pub fn asked_request(&mut self, args: &AskArgs, job: &Submission) -> Result<RequestId, UsageError> {
        let is_on_nodes = self.workload.shapes.is_some();
        let request = args.job.as_ref().map(|question| question.request(is_on_nodes)).transpose()?.flatten();
        self.request(job, request, true).map_err(|why| UsageError(format!("--job: {why}")))
    }
}

/// A job of the queue as the log would have it.
pub struct QueuedJob<'q> {
    pub job: &'q PresentJob,
    pub submission: Submission,
    /// What it asks of the nodes, or why it can never run there.
    pub request: Result<RequestId, Unplaceable>,
}

/// The nodes of a running job on a cluster. None if the queue does not name them, or the cluster has none of these names.
pub fn nodes_of(job: &PresentJob, workload: &Workload) -> Option<Arc<[u32]>> {
    let cluster = workload.shapes.as_ref()?.cluster();
    let names = HostList::parse(job.nodes.as_deref()?)?.names();
    let place = |name: &String| cluster.nodes.iter().position(|node| node.name == *name).map(|place| place as u32);
    let mut places: Vec<u32> = names.iter().map(place).collect::<Option<_>>()?;
    places.sort_unstable();
    Some(places.into())
}

/// Adds the jobs of the queue to those of the log: past jobs found them running or waiting, too. A large array is left out but for
/// its first and its last task, or its tasks would be all of the latest jobs.
pub fn add_to_history(history: &mut History, queue: &[QueuedJob<'_>], clock: &QueueClock) {
    let History { workload, starts, is_swf, .. } = history;
    // A log that goes on after the queue has its jobs.
    let known: FxHashSet<(i64, Time)> = match is_swf {
        true => workload.jobs.iter().map(|job| (job.number, job.submission.submit)).collect(),
        false => FxHashSet::default(),
    };
    let is_new = |QueuedJob { job, submission, .. }: &&QueuedJob<'_>| {
        !job.is_inner_task && !job.name.parse().is_ok_and(|number| known.contains(&(number, submission.submit)))
    };
    let open = queue.iter().filter(is_new).filter_map(|QueuedJob { job, submission, request }| {
        let request = *request.as_ref().ok()?;
        let start = match job.stage {
            PresentStage::Running { start } => clock.log_time(start).max(submission.submit),
            PresentStage::Waiting if submission.procs > workload.procs => return None,
            PresentStage::Waiting => (clock.now + 1).max(submission.submit),
            PresentStage::Held { .. } => return None,
        };
        // It ends after all that is simulated.
        let (runtime, recorded_wait) = (OPEN_RUNTIME, Some(start - submission.submit).into());
        let number = job.name.parse().unwrap_or(-1);
        Some((Job { recorded_wait, record: u32::MAX, number, request, ..Job::new(*submission, runtime) }, start))
    });
    let open: Vec<(Job, Time)> = open.collect();
    let mut all: Vec<(Job, Time)> = workload.jobs.drain(..).zip(starts.drain(..)).chain(open).collect();
    sort_by_key(&mut all, |(job, _)| job.submission.submit);
    (workload.jobs, *starts) = all.into_iter().unzip();
}

/// The asked job with its submission, if the machine is large enough.
pub fn asked_now(job: Submission, submit: Time, workload: &Workload) -> Result<Submission, UsageError> {
    if job.procs > workload.procs {
        let (needed, procs) = (job.procs, workload.procs);
        return refuse(format!("procs={needed} is more than the machine has ({procs})"));
    }
    Ok(Submission { submit, ..job })
}

/// The runtime of jobs that have not ended: a century.
const OPEN_RUNTIME: Seconds = 36_525 * DAY;

/// The longest time from the last event of a queue until now.
const LATEST_NOW: Seconds = 366 * DAY;

/// Relates the times of a queue to those of the log.
pub struct QueueClock {
    /// The present instant, in the time of the log.
    pub now: Time,
    /// What must be added to a time of the queue.
    shift: Seconds,
    pub unix_start: Option<Time>,
    /// Why the history is not that of the queue.
    pub doubt: Option<String>,
}

impl QueueClock {
    pub fn of(args: &AskArgs, history: &History, queue: &PresentQueue) -> Result<QueueClock, UsageError> {
        let workload = &history.workload;
        let log_ends = history.starts.iter().copied().max().unwrap_or(0).max(workload.last_submit());
        let queue_start = match queue.report.format {
            "swf" => queue.header.number("UnixStartTime"),
            _ => Some(0),
        };
        let given = match (args.now, queue_start) {
            (None, _) => None,
            (Some(Now::Seconds(seconds)), _) => Some(seconds),
            (Some(Now::Date(unix)), Some(start)) => Some(unix - start),
            (Some(Now::Date(_)), None) => {
                let message = format!("--now: {} does not say when it begins: give seconds of its time", queue.name);
                return refuse(message);
            }
        };
        let Some(now) = given.or(queue.now) else {
            // An empty queue.
            return Ok(QueueClock { now: log_ends, shift: 0, unix_start: workload.unix_start, doubt: None });
        };
        let latest = queue.now.unwrap_or(now);
        if now < latest {
            let late = readable_duration(latest.abs_diff(now) as f64);
            return refuse(format!("--now is {late} before the last event of {}", queue.name));
        }
        if latest.abs_diff(now) > LATEST_NOW.unsigned_abs() {
            return refuse(format!("--now is more than a year after the last event of {}", queue.name));
        }
        let shift = match (queue_start, workload.unix_start) {
            (Some(queue), Some(log)) => queue - log,
            // Two logs in SWF have the same times.
            (None, _) if history.is_swf => 0,
            // The queue is taken as that of the log's last moment.
            _ => log_ends - now,
        };
        let unix_start = workload.unix_start.or(queue_start.map(|start| start - shift));
        let mut clock = QueueClock { now: now + shift, shift, unix_start, doubt: None };
        // A log of jobs that have ended is complete up to the last end.
        let ends = workload.jobs.iter().zip(&history.starts).map(|(job, start)| start + job.runtime);
        let apart = clock.now - log_ends.max(ends.max().unwrap_or(0).min(clock.now));
        if apart.abs() > DAY {
            let (time, side) = (readable_duration(apart.abs() as f64), if apart > 0 { "before" } else { "after" });
            warning(format_args!("the log ends {time} {side} the queue: its history is that of another time"));
            clock.doubt = (apart > 0).then(|| format!("it ends {time} before now (at most a day is allowed)"));
        }
        Ok(clock)
    }

    pub fn log_time(&self, time: Time) -> Time {
        time + self.shift
    }
}
