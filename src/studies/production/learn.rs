//! Learns from a log: its own schedule, as events.

use super::error::ProductionError;
use super::event::{EventKind, JobArrival, JobEvent};
use super::service::{PROGRESS_EVERY, Service};
use crate::job::{Job, JobId, Submission};
use crate::sort::sort_by_key;
use crate::time::Time;
use crate::trace::{LogNames, NameKind, Workload};

/// What was learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learned {
    /// The number of jobs, which are the last of the log to end.
    pub jobs: usize,
    /// How many of them have no wait in the log. They started when they were submitted.
    pub without_wait: usize,
    /// The time of the last event.
    pub end: Time,
}

/// The events of a job, in the order of the engine at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LearnedEvent {
    Termination,
    Arrival,
    Start,
}

/// Gives a service the jobs of a log, as the log says that they ran, and no more of them than it keeps. Times become Unix
/// times if the log says when it begins. `names` are the names behind the numbers of an accounting file; the numbers of an
/// SWF log are the names. `progress` is called from time to time with the number of events.
///
/// # Errors
/// If the predictor breaks its contract, or the state file cannot be written.
pub fn learn(
    service: &mut Service,
    workload: &Workload,
    names: &LogNames,
    progress: &mut dyn FnMut(usize),
) -> Result<Learned, ProductionError> {
    let begin = workload.unix_start.unwrap_or(0);
    let start = |job: &Job| begin + job.submission.submit + job.recorded_wait.get().unwrap_or(0);
    let end = |job: &Job| start(job) + job.runtime;
    let mut ids: Vec<JobId> = (0..workload.jobs.len() as u32).map(JobId).collect();
    let job = |id: JobId| &workload.jobs[id.index()];
    sort_by_key(&mut ids, |&id| (end(job(id)), id));
    ids.drain(..ids.len().saturating_sub(service.keep()));
    let mut events: Vec<(Time, LearnedEvent, JobId)> = Vec::with_capacity(3 * ids.len());
    for &id in &ids {
        events.push((begin + job(id).submission.submit, LearnedEvent::Arrival, id));
        events.push((start(job(id)), LearnedEvent::Start, id));
        events.push((end(job(id)), LearnedEvent::Termination, id));
    }
    events.sort_unstable();
    for (&(time, kind, id), done) in events.iter().zip(1u64..) {
        // Numbers of jobs may repeat in a log, but not places.
        let name = format!("log:{}", id.0).into();
        let what = match kind {
            LearnedEvent::Arrival => EventKind::Arrival(arrival(time, &job(id).submission, workload, names)),
            LearnedEvent::Start => EventKind::Start,
            LearnedEvent::Termination => EventKind::Termination(Some(job(id).runtime)),
        };
        service.learn_event(&JobEvent { time, id: name, what })?;
        if done.is_multiple_of(PROGRESS_EVERY) {
            progress(done as usize);
        }
    }
    service.rebuild()?;
    let without_wait = ids.iter().filter(|&&id| job(id).recorded_wait.get().is_none()).count();
    Ok(Learned { jobs: ids.len(), without_wait, end: events.last().map_or(begin, |event| event.0) })
}

fn arrival<'a>(submit: Time, job: &Submission, workload: &Workload, log_names: &'a LogNames) -> JobArrival<'a> {
    let Submission { estimate, procs, user, group, executable, queue, partition, .. } = *job;
    let mut kinds = NameKind::ALL.into_iter();
    let names = [user, group, executable, queue, partition].map(|code| {
        let kind = kinds.next()?;
        let number = workload.wide.number(code);
        let name = log_names.name(kind, number).map(String::from_utf8_lossy);
        name.or_else(|| (number >= 0).then(|| number.to_string().into()))
    });
    JobArrival { names, procs, estimate, submit }
}
