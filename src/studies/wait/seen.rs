//! The queues that past jobs found: answers for a longer queue have nothing to be judged by.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::schedule::SiteSchedule;
use crate::job::Submission;
use crate::time::{Seconds, Time};

/// The jobs that wait before another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueAhead {
    /// The number of jobs.
    pub jobs: usize,
    /// Their processors times their estimates, in processor seconds.
    pub work: u128,
}

impl QueueAhead {
    /// Adds a job.
    pub fn add(&mut self, job: &Submission) {
        self.jobs += 1;
        self.work += work(job);
    }
}

fn work(job: &Submission) -> u128 {
    u128::from(job.procs) * job.estimate.max(0) as u128
}

/// The most that past jobs found and waited. Only jobs that have started count: of the others it is not known how long the queue
/// kept them waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenQueues {
    /// The largest number of jobs, and the most work, not necessarily of the same job.
    pub ahead: QueueAhead,
    /// The longest wait.
    pub wait: Seconds,
}

impl SeenQueues {
    /// The jobs at these places of the schedule, as far as they have started by `now`.
    pub fn of(schedule: &SiteSchedule<'_>, places: Range<usize>, now: Time) -> SeenQueues {
        let (mut seen, mut ahead) = (SeenQueues::default(), QueueAhead::default());
        let mut waiting = BinaryHeap::new();
        for (place, (job, &start)) in schedule.workload.jobs[..places.end].iter().zip(schedule.starts).enumerate() {
            let job = &job.submission;
            while let Some(&Reverse((started, work))) = waiting.peek()
                && started <= job.submit
            {
                waiting.pop();
                ahead = QueueAhead { jobs: ahead.jobs - 1, work: ahead.work - work };
            }
            if place >= places.start && start <= now {
                seen.ahead.jobs = seen.ahead.jobs.max(ahead.jobs);
                seen.ahead.work = seen.ahead.work.max(ahead.work);
                seen.wait = seen.wait.max(start - job.submit);
            }
            ahead.add(job);
            waiting.push(Reverse((start, work(job))));
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Job;
    use crate::trace::Workload;

    /// Job 2 finds jobs 0 and 1 waiting, with 200 and 100 processor seconds, and starts at 40. Job 3 finds jobs 1 and 2, with 100
    /// and 400. Job 4 finds three, but still waits.
    #[test]
    fn queues_by_hand() {
        let job = |submit, procs| Job::new(Submission::new(submit, procs, 100), 1);
        let jobs = vec![job(0, 2), job(5, 1), job(10, 4), job(30, 1), job(31, 1)];
        let workload = Workload { procs: 4, jobs, ..Workload::default() };
        let schedule = SiteSchedule::new(&workload, &[20, 50, 40, 60, 90]);
        let seen = |places, now| {
            let SeenQueues { ahead, wait } = SeenQueues::of(&schedule, places, now);
            (ahead.jobs, ahead.work, wait)
        };
        assert_eq!(seen(0..5, 80), (2, 500, 45));
        assert_eq!(seen(0..5, 90), (3, 600, 59));
        assert_eq!(seen(0..3, 80), (2, 300, 45));
        assert_eq!(seen(0..1, 80), (0, 0, 20));
        assert_eq!(seen(3..5, 80), (2, 500, 30));
        assert_eq!(seen(0..5, 10), (0, 0, 0));
    }
}
