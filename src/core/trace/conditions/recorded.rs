//! When the jobs of a log became eligible in the log's own schedule.

use std::sync::Arc;

use super::Links;
use crate::job::Job;
use crate::time::Time;
use crate::trace::workload::Workload;

/// The jobs of a workload with the instants at which their conditions were met in the log's own schedule as their submit times.
/// Their recorded waits count from there. A job that started earlier, or whose wait is not known, was eligible when it started, or
/// was submitted. None if no job has conditions.
pub fn recorded_eligibility(workload: &Workload) -> Option<Vec<Job>> {
    let (jobs, links) = (&workload.jobs, Links::of(&workload.jobs, &workload.conditions));
    if links.gated.is_empty() {
        return None;
    }
    let start = |at: u32| jobs[at as usize].submission.submit + jobs[at as usize].recorded_wait.get().unwrap_or(0);
    let end = |at: u32| start(at) + jobs[at as usize].runtime;
    // A task of an array beyond the limit is eligible when enough others have ended, in order of submission.
    let mut ends: Vec<Vec<Time>> = vec![Vec::new(); links.limits.len()];
    for gated in &links.gated {
        if let Some(array) = gated.array {
            ends[array as usize].push(end(gated.job));
        }
    }
    ends.iter_mut().for_each(|ends| ends.sort_unstable());
    let mut tasks = vec![0; links.limits.len()];
    let mut eligible = jobs.to_vec();
    for gated in &links.gated {
        let job = &mut eligible[gated.job as usize];
        let mut time = job.submission.submit + gated.delay;
        time = gated.after_starts.iter().map(|&other| start(other)).fold(time, Time::max);
        time = gated.after_ends.iter().map(|&other| end(other)).fold(time, Time::max);
        if let Some(array) = gated.array {
            let (task, limit) = (&mut tasks[array as usize], links.limits[array as usize] as usize);
            if *task >= limit {
                time = time.max(ends[array as usize][*task - limit]);
            }
            *task += 1;
        }
        let waited = (time - job.submission.submit).min(job.recorded_wait.get().unwrap_or(0));
        job.submission.submit += waited;
        job.recorded_wait = job.recorded_wait.get().map(|wait| wait - waited).into();
    }
    Some(eligible)
}

impl Workload {
    /// The workload of the log's own schedule: without conditions, and each job arrives when its conditions were met there. For
    /// studies that do not simulate conditions.
    pub fn as_recorded(mut self) -> Workload {
        if let Some(jobs) = recorded_eligibility(&self) {
            self.jobs = jobs;
            self.jobs.sort_by_key(|job| job.submission.submit);
            self.conditions = Arc::new(self.conditions.only_arrays());
        }
        self
    }
}
