//! Jobs that were requeued, and may not start again yet.

use std::collections::VecDeque;

use crate::job::{JobId, Submission};
use crate::time::{Seconds, Time};

/// A job that was requeued.
pub struct ReturningJob {
    /// When its nodes were free of it. That is its submission from now on, as far as priorities decide.
    pub since: Time,
    /// When it may start, and its age begins.
    pub begin: Time,
    pub id: JobId,
    pub submission: Submission,
    /// The partition in which it ran, which is the first of its partitions from now on.
    pub partition: Option<usize>,
    /// By partition: the priority that it has until the next recalculation.
    pub priorities: Vec<(usize, i64)>,
}

/// In the order in which they were requeued.
///
/// Slurm gives a job that it requeues a begin time: the job may start when the permission for its last start has expired, which
/// is after 121 seconds (`cred_expire` of AuthInfo is 120).
pub struct Returning {
    delay: Seconds,
    jobs: VecDeque<ReturningJob>,
}

impl Returning {
    /// Each job waits for so long before it may start, at least until the next second.
    pub fn new(delay: Seconds) -> Returning {
        Returning { delay: delay.max(1), jobs: VecDeque::new() }
    }

    /// A job is requeued. Its begin follows from `since`.
    pub fn push(&mut self, job: ReturningJob) {
        self.jobs.push_back(ReturningJob { begin: job.since + self.delay, ..job });
    }

    /// A job leaves the system.
    pub fn remove(&mut self, id: JobId) {
        self.jobs.retain(|returning| returning.id != id);
    }

    /// All priorities have been recalculated at this instant.
    pub fn recalculate(&mut self, now: Time) {
        self.jobs.iter_mut().filter(|job| job.since < now).for_each(|job| job.priorities.clear());
    }

    /// Takes out the jobs that may start at this instant.
    pub fn take_until(&mut self, now: Time) -> Vec<ReturningJob> {
        let ready = self.jobs.partition_point(|job| job.begin <= now);
        self.jobs.drain(..ready).collect()
    }

    /// When the next of them may start.
    pub fn next(&self) -> Option<Time> {
        self.jobs.front().map(|job| job.begin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_keeps_its_priority_until_the_next_recalculation_and_begins_after_the_delay() {
        let mut returning = Returning::new(0);
        let (id, submission) = (JobId(3), Submission::new(0, 1, 60));
        returning.push(ReturningJob {
            since: 100,
            begin: 100,
            id,
            submission,
            partition: None,
            priorities: vec![(0, 7)],
        });
        let priorities = |returning: &Returning| returning.jobs[0].priorities.len();
        returning.recalculate(100);
        assert_eq!(priorities(&returning), 1);
        returning.recalculate(101);
        assert_eq!(priorities(&returning), 0);
        assert_eq!(returning.next(), Some(101));
        assert_eq!((returning.take_until(100).len(), returning.take_until(101).len()), (0, 1));
    }
}
