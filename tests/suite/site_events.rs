//! The events of a schedule at a site, sorted by their definition: the reference for the order of events in a replay.

use shadowtime::job::JobId;
use shadowtime::time::Time;
use shadowtime::wait::SiteSchedule;

/// An event of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    Arrival,
    Start,
    End,
}

/// All events, in order. At one instant: ends, then starts of jobs that arrived earlier, then arrivals, all in workload
/// order; a job that starts at its arrival starts before the next job arrives.
pub fn happenings(schedule: &SiteSchedule<'_>) -> Vec<(Time, JobId, Happening)> {
    use Happening::{Arrival, End, Start};
    let mut all = Vec::with_capacity(3 * schedule.workload.jobs.len());
    for (id, (job, &start)) in (0..).map(JobId).zip(schedule.workload.jobs.iter().zip(schedule.starts)) {
        let submit = job.submission.submit;
        let at_once = u8::from(start == submit);
        all.push(((start + job.runtime, 0, id, 0), End));
        all.push(((start, 1 + at_once, id, at_once), Start));
        all.push(((submit, 2, id, 0), Arrival));
    }
    all.sort_unstable_by_key(|(key, _)| *key);
    all.into_iter().map(|((time, _, id, _), happening)| (time, id, happening)).collect()
}
