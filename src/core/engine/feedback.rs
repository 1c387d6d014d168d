//! Users who react: jobs that are submitted some time after the simulated ends of others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::job::{Job, JobId, Submission};
use crate::time::{Seconds, Time};
use crate::trace::Workload;

/// No group.
const NONE: u32 = u32::MAX;

/// When the jobs of a workload are submitted, if that depends on the ends of others. Jobs are numbered in workload order, which is
/// the order of the log.
#[derive(Clone, Debug)]
pub(super) struct Feedback {
    /// By job: the group in which it precedes others, or `NONE`.
    group_of: Vec<u32>,
    groups: Vec<GroupAhead>,
    /// By job: whether it follows others.
    is_linked: Vec<bool>,
    /// All jobs, with the times of the log.
    jobs: Vec<Job>,
    /// The submissions that are known.
    due: BinaryHeap<Reverse<(Time, JobId)>>,
    /// By job: when it was submitted. `Time::MAX` if it was not.
    submitted: Vec<Time>,
}

/// Jobs after whose last end others are submitted.
#[derive(Clone, Debug)]
struct GroupAhead {
    /// How many of them have not ended.
    left: usize,
    following: Vec<(u32, Seconds)>,
}

impl Feedback {
    /// That of a workload, to which all its jobs must be added. None if it has no feedback.
    pub fn of(workload: &Workload) -> Option<Feedback> {
        let (links, jobs) = (workload.feedback_links()?, workload.jobs.len());
        let is_linked = links.is_linked(jobs);
        let mut group_of = vec![NONE; jobs];
        for (group, at) in links.groups.iter().zip(0..) {
            group.preceding.iter().for_each(|&job| group_of[job as usize] = at);
        }
        let ahead = links
            .groups
            .into_iter()
            .map(|group| GroupAhead { left: group.preceding.len(), following: group.following });
        Some(Feedback {
            group_of,
            groups: ahead.collect(),
            is_linked,
            jobs: Vec::with_capacity(jobs),
            due: BinaryHeap::new(),
            submitted: Vec::with_capacity(jobs),
        })
    }

    /// Adds the next job of the workload. Further jobs follow no others.
    pub fn add(&mut self, job: &Job) {
        let id = self.jobs.len();
        self.jobs.push(*job);
        self.submitted.push(Time::MAX);
        if self.is_linked.get(id) != Some(&true) {
            self.due.push(Reverse((job.submission.submit, JobId(id as u32))));
        }
    }

    /// A job has ended, or was cancelled while it waited.
    pub fn on_end(&mut self, id: JobId, now: Time) {
        let Some(&group) = self.group_of.get(id.index()) else { return };
        let Some(group) = self.groups.get_mut(group as usize) else { return };
        group.left -= 1;
        if group.left == 0 {
            let submissions = group.following.drain(..).map(|(job, delay)| Reverse((now + delay, JobId(job))));
            self.due.extend(submissions);
        }
    }

    /// When the next job is submitted. None if that depends on ends, or if all are.
    pub fn next_time(&self) -> Option<Time> {
        self.due.peek().map(|&Reverse((time, _))| time)
    }

    /// Removes the next job that is submitted until now; of those at one instant the first in the log.
    pub fn pop_due(&mut self, now: Time) -> Option<(JobId, Job)> {
        let &Reverse((submit, id)) = self.due.peek().filter(|Reverse((time, _))| *time <= now)?;
        self.due.pop();
        self.submitted[id.index()] = submit;
        let job = self.jobs[id.index()];
        Some((id, Job { submission: Submission { submit, ..job.submission }, ..job }))
    }

    /// When each job was submitted.
    pub fn submitted(&self) -> &[Time] {
        &self.submitted
    }
}
