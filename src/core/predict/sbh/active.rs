//! Waiting and running jobs by user. They are predicted again whenever one of them ends. Jobs of one type are in one group
//! until they are late, so that each group is predicted once, independent of its number of jobs.
//!
//! With `late.rs` it must equal `propagate` of tests/twins/oracle.rs, which predicts job by job.

use std::collections::VecDeque;
use std::ops::Range;

use super::job_types::{JobType, push_tightly};
use super::late::{ActiveJob, Late, LateState};
use crate::job::ArrivalNumber;
use crate::time::Seconds;

/// The jobs of all users that wait or run. Users and job types are numbered from 0.
#[derive(Debug, Default)]
pub struct ActiveJobs {
    users: Vec<UserJobs>,
    /// By job type: the index of its group among its user's groups, or `NOWHERE`.
    place: Vec<u32>,
    /// Empty queues, to be used for later groups.
    spare: Vec<VecDeque<ActiveJob>>,
}

/// The jobs of one user that wait or run.
#[derive(Debug, Default)]
pub struct UserJobs {
    pub late: Late,
    /// The groups of the jobs that are not late. No group is empty.
    pub groups: Vec<TypeGroup>,
}

/// The jobs of one type that wait or run and are not late.
#[derive(Debug)]
pub struct TypeGroup {
    pub job_type: JobType,
    /// In order of arrival.
    pub jobs: VecDeque<ActiveJob>,
    /// The prediction last made for all of them. None if their predictions may differ. It is in force for all jobs except
    /// those that had already run that long when it was made.
    pub prediction: Option<Seconds>,
}

impl TypeGroup {
    /// The indexes of the jobs that arrived in this range.
    #[inline]
    pub fn places(&self, range: &Range<ArrivalNumber>) -> Range<usize> {
        // Usually the range contains all jobs.
        let before = |bound: ArrivalNumber| self.jobs.partition_point(|job| job.arrival < bound);
        let is_from = |job: &ActiveJob| job.arrival >= range.start;
        let is_before = |job: &ActiveJob| job.arrival < range.end;
        let from = if self.jobs.front().is_some_and(is_from) { 0 } else { before(range.start) };
        let to = if self.jobs.back().is_none_or(is_before) { self.jobs.len() } else { before(range.end) };
        from..to
    }

    /// Notes that a prediction was made for a single job of the group.
    fn note_prediction_of_one(&mut self, prediction: Seconds) {
        self.prediction = self.prediction.filter(|common| *common == prediction);
    }
}

const NOWHERE: u32 = u32::MAX;

impl ActiveJobs {
    /// The jobs of a user.
    #[inline]
    pub fn of(&mut self, user: usize) -> &mut UserJobs {
        if self.users.len() <= user {
            self.users.resize_with(user + 1, UserJobs::default);
        }
        &mut self.users[user]
    }

    /// Adds a job that arrives and has this prediction.
    #[inline]
    pub fn arrive(&mut self, job: ActiveJob, user: usize, job_type: JobType, prediction: Seconds) {
        while self.place.len() <= job_type.index() {
            push_tightly(&mut self.place, NOWHERE);
        }
        let at = self.place[job_type.index()] as usize;
        if let Some(group) = self.of(user).groups.get_mut(at) {
            group.jobs.push_back(job);
            group.note_prediction_of_one(prediction);
            return;
        }
        let mut jobs = self.spare.pop().unwrap_or_default();
        jobs.push_back(job);
        let groups = &mut self.users[user].groups;
        self.place[job_type.index()] = groups.len() as u32;
        groups.push(TypeGroup { job_type, jobs, prediction: Some(prediction) });
    }

    /// Notes that a prediction was made for a single job that is not late.
    pub fn note_prediction(&mut self, user: usize, job_type: JobType, prediction: Seconds) {
        self.users[user].groups[self.place[job_type.index()] as usize].note_prediction_of_one(prediction);
    }

    /// Removes a job that ends or is withdrawn. Returns its state if it was late.
    #[inline]
    pub fn end(&mut self, job: ActiveJob, user: usize, job_type: JobType) -> Option<LateState> {
        let late = self.users[user].late.end(job);
        if late.is_none() {
            self.leave_group(job, user, job_type);
        }
        late
    }

    /// Removes a job from its group, because it is late from now on or is gone.
    pub fn leave_group(&mut self, job: ActiveJob, user: usize, job_type: JobType) {
        let at = self.place[job_type.index()] as usize;
        let groups = &mut self.users[user].groups;
        let jobs = &mut groups[at].jobs;
        if jobs.front() == Some(&job) {
            jobs.pop_front();
        } else if let Ok(place) = jobs.binary_search(&job) {
            jobs.remove(place);
        }
        if jobs.is_empty() {
            self.spare.push(groups.swap_remove(at).jobs);
            self.place[job_type.index()] = NOWHERE;
            if let Some(moved) = groups.get(at) {
                self.place[moved.job_type.index()] = at as u32;
            }
        }
    }
}
