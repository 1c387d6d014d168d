//! The state of a site, updated by events: which jobs wait and which run.

use crate::job::{JobId, Submission};
use crate::time::{Seconds, Time};

/// A waiting or running job.
#[derive(Clone, Copy, Debug)]
pub struct SiteJob {
    /// Its index in the schedule.
    pub id: JobId,
    /// Processors asked for.
    pub procs: u32,
    /// The user's estimate of the run time.
    pub estimate: Seconds,
    /// When it started; meaningless for a waiting job.
    pub start: Time,
}

impl SiteJob {
    /// Estimated processor-seconds.
    pub fn demand(&self) -> i128 {
        i128::from(self.procs) * i128::from(self.estimate)
    }

    /// Estimated processor-seconds that are left of a running job: 0 once it has run longer than its estimate.
    pub fn remaining(&self, now: Time) -> i128 {
        i128::from(self.procs) * i128::from((self.estimate - (now - self.start)).max(0))
    }
}

/// The jobs that wait or run at a site.
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

    /// A waiting job starts. Returns false if no such job waits.
    pub fn start(&mut self, id: JobId, now: Time) -> bool {
        let Some(job) = take(&mut self.waiting, id) else { return false };
        self.occupied += i64::from(job.procs);
        self.running.push(SiteJob { start: now, ..job });
        true
    }

    /// A running job ends. Returns false if no such job runs.
    pub fn end(&mut self, id: JobId) -> bool {
        let Some(job) = take(&mut self.running, id) else { return false };
        self.occupied -= i64::from(job.procs);
        true
    }

    /// A waiting job is cancelled. Returns false if no such job waits.
    pub fn cancel(&mut self, id: JobId) -> bool {
        take(&mut self.waiting, id).is_some()
    }

    /// The waiting jobs, in no particular order.
    pub fn waiting(&self) -> &[SiteJob] {
        &self.waiting
    }

    /// The running jobs, in no particular order.
    pub fn running(&self) -> &[SiteJob] {
        &self.running
    }

    /// Processors in use.
    pub fn occupied(&self) -> i64 {
        self.occupied
    }
}

/// The order of the jobs does not matter: only counts and sums are computed from them.
fn take(jobs: &mut Vec<SiteJob>, id: JobId) -> Option<SiteJob> {
    jobs.iter().position(|job| job.id == id).map(|at| jobs.swap_remove(at))
}
