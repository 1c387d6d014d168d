//! What is seen of a site: who waits, who runs. Told by events, whoever tells them: a replayed log or a simulation.

use crate::job::{JobId, Submission};
use crate::time::{Seconds, Time};

/// A job in the system.
#[derive(Clone, Copy, Debug)]
pub struct SiteJob {
    pub id: JobId,
    pub procs: u32,
    pub estimate: Seconds,
    /// When it started; of a waiting job, nothing.
    pub start: Time,
}

impl SiteJob {
    /// Processor-seconds asked for.
    pub fn demand(&self) -> i128 {
        i128::from(self.procs) * i128::from(self.estimate)
    }

    /// Of those, what is left of a running job. Never below 0: a job that outlives its estimate asks for nothing.
    pub fn remaining(&self, now: Time) -> i128 {
        i128::from(self.procs) * i128::from((self.estimate - (now - self.start)).max(0))
    }
}

/// The jobs in the system.
#[derive(Clone, Debug, Default)]
pub struct SiteState {
    waiting: Vec<SiteJob>,
    running: Vec<SiteJob>,
    occupied: i64,
}

impl SiteState {
    /// A job joins the queue.
    pub fn arrive(&mut self, id: JobId, job: &Submission) {
        self.waiting.push(SiteJob { id, procs: job.procs, estimate: job.estimate, start: 0 });
    }

    /// A waiting job starts. False if no such job waits.
    pub fn start(&mut self, id: JobId, now: Time) -> bool {
        let Some(job) = take(&mut self.waiting, id) else { return false };
        self.occupied += i64::from(job.procs);
        self.running.push(SiteJob { start: now, ..job });
        true
    }

    /// A running job ends. False if no such job runs.
    pub fn end(&mut self, id: JobId) -> bool {
        let Some(job) = take(&mut self.running, id) else { return false };
        self.occupied -= i64::from(job.procs);
        true
    }

    /// A waiting job is withdrawn. False if no such job waits.
    pub fn cancel(&mut self, id: JobId) -> bool {
        take(&mut self.waiting, id).is_some()
    }

    pub fn waiting(&self) -> &[SiteJob] {
        &self.waiting
    }

    pub fn running(&self) -> &[SiteJob] {
        &self.running
    }

    /// Processors in use.
    pub fn occupied(&self) -> i64 {
        self.occupied
    }
}

/// Order does not matter to anyone: all that is read of the jobs are counts and sums.
fn take(jobs: &mut Vec<SiteJob>, id: JobId) -> Option<SiteJob> {
    jobs.iter().position(|job| job.id == id).map(|at| jobs.swap_remove(at))
}
