//! The ledger: the events of a live system in a compact form, from which the system can be built again.

use super::event::{EventKind, JobArrival, JobEvent};
use super::names::Names;
use crate::job::{JobId, Submission};
use crate::time::{Seconds, Time};

/// The jobs and events since the system was last built, by job id and in order of events.
#[derive(Debug, Default)]
pub struct Ledger {
    jobs: Vec<LedgerJob>,
    events: Vec<LedgerEvent>,
}

/// A job, which may be gone.
#[derive(Debug)]
pub struct LedgerJob {
    /// The job's id in the batch system.
    pub name: Box<str>,
    pub submission: Submission,
    /// 0 before the end.
    runtime: Seconds,
    is_gone: bool,
}

#[derive(Clone, Copy, Debug)]
struct LedgerEvent {
    time: Time,
    job: JobId,
    kind: LedgerKind,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerKind {
    Arrival,
    Start,
    Termination,
    /// A miss or a cancellation, which a system that is built again does not get.
    Other,
}

impl Ledger {
    /// The number of events.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// The number of jobs that have arrived.
    pub fn jobs(&self) -> usize {
        self.jobs.len()
    }

    /// A job that has arrived.
    pub fn job(&self, id: JobId) -> &LedgerJob {
        &self.jobs[id.index()]
    }

    /// The jobs in the system, in order of arrival.
    pub fn present(&self) -> impl Iterator<Item = JobId> {
        self.jobs.iter().zip(0..).filter(|(job, _)| !job.is_gone).map(|(_, id)| JobId(id))
    }

    pub fn arrive(&mut self, time: Time, name: Box<str>, submission: Submission) {
        let job = JobId(self.jobs.len() as u32);
        self.jobs.push(LedgerJob { name, submission, runtime: 0, is_gone: false });
        self.add(time, job, LedgerKind::Arrival);
    }

    pub fn add(&mut self, time: Time, job: JobId, kind: LedgerKind) {
        self.events.push(LedgerEvent { time, job, kind });
    }

    /// A job leaves. `runtime` is 0 if it did not run.
    pub fn leave(&mut self, job: JobId, runtime: Seconds) {
        let job = &mut self.jobs[job.index()];
        (job.runtime, job.is_gone) = (runtime, true);
    }

    /// The events of the jobs in the system and of the last `keep` ended jobs, in order. Misses are not among them, because
    /// they are worked out again.
    pub fn kept<'a>(&'a self, keep: usize, names: &'a Names) -> impl Iterator<Item = JobEvent<'a>> {
        let mut is_kept: Vec<bool> = self.jobs.iter().map(|job| !job.is_gone).collect();
        let ended = self.events.iter().rev().filter(|entry| entry.kind == LedgerKind::Termination);
        ended.take(keep).for_each(|entry| is_kept[entry.job.index()] = true);
        let kept = self.events.iter().filter(move |entry| is_kept[entry.job.index()]);
        kept.filter_map(|entry| self.event(entry, names))
    }

    fn event<'a>(&'a self, entry: &LedgerEvent, names: &'a Names) -> Option<JobEvent<'a>> {
        let LedgerJob { name, submission, runtime, .. } = self.job(entry.job);
        let what = match entry.kind {
            LedgerKind::Arrival => {
                let Submission { user, group, executable, queue, partition, .. } = *submission;
                let names = [user, group, executable, queue, partition].map(|code| names.name(code));
                let Submission { procs, estimate, submit, .. } = *submission;
                EventKind::Arrival(JobArrival { names, procs, estimate, submit })
            }
            LedgerKind::Start => EventKind::Start,
            LedgerKind::Termination => EventKind::Termination(Some(*runtime)),
            LedgerKind::Other => return None,
        };
        Some(JobEvent { time: entry.time, id: (&**name).into(), what })
    }
}
