//! Waiting and running jobs by user, which are predicted again whenever one of them ends. Jobs that no criterion can tell
//! apart are in one group until they are late, so that each group is predicted once, however many jobs it has.
//!
//! With `late.rs` it must equal `propagate` of tests/suite/oracle.rs, which predicts job by job.

use std::collections::VecDeque;
use std::ops::Range;

use super::late::{Late, LateState};
use super::twins::{Twins, push_tightly};
use crate::job::JobId;
use crate::time::Seconds;

/// All users' jobs that wait or run. Users and twins are numbered from 0.
#[derive(Debug, Default)]
pub struct ActiveJobs {
    users: Vec<UserJobs>,
    /// By twins: the index of their group among their user's groups, or `NOWHERE`.
    place: Vec<u32>,
    /// Empty queues, to be used for later groups.
    spare: Vec<VecDeque<JobId>>,
}

#[derive(Debug, Default)]
pub struct UserJobs {
    pub late: Late,
    /// The groups of all others, none of them empty.
    pub groups: Vec<Group>,
}

/// Twins that wait or run and are not late.
#[derive(Debug)]
pub struct Group {
    pub twins: Twins,
    /// In order of arrival.
    pub jobs: VecDeque<JobId>,
    /// The prediction last made for all of them; none where they may differ. It is in force for all but the jobs that had
    /// already run that long when it was made.
    pub prediction: Option<Seconds>,
}

impl Group {
    /// The indexes of the jobs whose ids are in this range.
    pub fn places(&self, ids: &Range<JobId>) -> Range<usize> {
        // Mostly all of them.
        let from =
            if self.jobs.front() >= Some(&ids.start) { 0 } else { self.jobs.partition_point(|id| *id < ids.start) };
        let to = if self.jobs.back() < Some(&ids.end) {
            self.jobs.len()
        } else {
            self.jobs.partition_point(|id| *id < ids.end)
        };
        from..to
    }

    /// A prediction was made for one of them only.
    fn note_prediction_of_one(&mut self, prediction: Seconds) {
        self.prediction = self.prediction.filter(|common| *common == prediction);
    }
}

const NOWHERE: u32 = u32::MAX;

impl ActiveJobs {
    /// A user's jobs.
    pub fn of(&mut self, user: usize) -> &mut UserJobs {
        if self.users.len() <= user {
            self.users.resize_with(user + 1, UserJobs::default);
        }
        &mut self.users[user]
    }

    /// A job arrives and is given this prediction.
    pub fn arrive(&mut self, id: JobId, user: usize, twins: Twins, prediction: Seconds) {
        while self.place.len() <= twins.index() {
            push_tightly(&mut self.place, NOWHERE);
        }
        let at = self.place[twins.index()] as usize;
        if let Some(group) = self.of(user).groups.get_mut(at) {
            group.jobs.push_back(id);
            group.note_prediction_of_one(prediction);
            return;
        }
        let mut jobs = self.spare.pop().unwrap_or_default();
        jobs.push_back(id);
        let groups = &mut self.users[user].groups;
        self.place[twins.index()] = groups.len() as u32;
        groups.push(Group { twins, jobs, prediction: Some(prediction) });
    }

    /// A prediction was made for one job that is not late.
    pub fn note_prediction(&mut self, user: usize, twins: Twins, prediction: Seconds) {
        self.users[user].groups[self.place[twins.index()] as usize].note_prediction_of_one(prediction);
    }

    /// A job ends or is withdrawn. Returns its state, if it was late.
    pub fn end(&mut self, id: JobId, user: usize, twins: Twins) -> Option<LateState> {
        let late = self.users[user].late.end(id);
        if late.is_none() {
            self.leave_group(id, user, twins);
        }
        late
    }

    /// A job is late from now on, or no longer there.
    pub fn leave_group(&mut self, id: JobId, user: usize, twins: Twins) {
        let at = self.place[twins.index()] as usize;
        let groups = &mut self.users[user].groups;
        let jobs = &mut groups[at].jobs;
        if jobs.front() == Some(&id) {
            jobs.pop_front();
        } else if let Ok(place) = jobs.binary_search(&id) {
            jobs.remove(place);
        }
        if jobs.is_empty() {
            self.spare.push(groups.swap_remove(at).jobs);
            self.place[twins.index()] = NOWHERE;
            if let Some(moved) = groups.get(at) {
                self.place[moved.twins.index()] = at as u32;
            }
        }
    }
}
