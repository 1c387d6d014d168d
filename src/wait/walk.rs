//! A schedule as the events that a site would have seen.

use crate::job::{Job, JobId};
use crate::time::{Seconds, Time};

/// Jobs, when each started, and the machine they ran on: a log's own schedule or a simulated one.
#[derive(Clone, Debug)]
pub struct Schedule<'a> {
    pub jobs: &'a [Job],
    /// One for each job.
    pub starts: &'a [Time],
    pub procs: u32,
}

impl Schedule<'_> {
    pub fn wait(&self, id: JobId) -> Seconds {
        self.starts[id.index()] - self.jobs[id.index()].submission.submit
    }
}

/// What happens to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    Arrival,
    Start,
    End,
}

/// Everything that happens, in order. At one instant: ends, then starts of jobs that came earlier, then arrivals, all in
/// workload order; a job that starts when it comes starts before the next comes. So an arriving job finds what is left
/// after the instant's ends and starts.
pub fn happenings(schedule: &Schedule<'_>) -> Vec<(Time, JobId, Happening)> {
    use Happening::{Arrival, End, Start};
    let mut all = Vec::with_capacity(3 * schedule.jobs.len());
    for (id, (job, &start)) in (0..).map(JobId).zip(schedule.jobs.iter().zip(schedule.starts)) {
        let submit = job.submission.submit;
        let at_once = u8::from(start == submit);
        all.push(((start + job.runtime, 0, id, 0), End));
        all.push(((start, 1 + at_once, id, at_once), Start));
        all.push(((submit, 2, id, 0), Arrival));
    }
    all.sort_unstable_by_key(|(key, _)| *key);
    all.into_iter().map(|((time, _, id, _), happening)| (time, id, happening)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Submission;

    #[test]
    fn an_instant_has_its_order() {
        let job = |submit, runtime| Job {
            submission: Submission::new(submit, 1, 10),
            runtime,
            recorded_wait: None.into(),
            record: 0,
            number: 0,
        };
        let jobs = [job(0, 10), job(5, 3), job(10, 1), job(10, 1)];
        let schedule = Schedule { jobs: &jobs, starts: &[0, 10, 10, 11], procs: 1 };
        use Happening::{Arrival, End, Start};
        let expected = [
            (0, 0, Arrival),
            (0, 0, Start),
            (5, 1, Arrival),
            (10, 0, End),
            (10, 1, Start),
            (10, 2, Arrival),
            (10, 2, Start),
            (10, 3, Arrival),
            (11, 2, End),
            (11, 3, Start),
            (12, 3, End),
            (13, 1, End),
        ];
        let found: Vec<_> = happenings(&schedule).into_iter().map(|(time, id, what)| (time, id.0, what)).collect();
        assert_eq!(found, expected);
        assert_eq!(schedule.wait(JobId(1)), 5);
    }
}
