//! Jobs in the system by user, for predictors that predict them anew whenever one of them ends. Waiting jobs that no
//! criterion can tell apart stand in one group, so that a user with thousands of them is asked about once.

use std::collections::VecDeque;
use std::ops::Range;

use super::running::{Running, Standing};
use super::twins::{Twins, push_tightly};
use crate::job::JobId;
use crate::time::{Seconds, Time};

/// All users' jobs that wait or run. Users and twins are numbered from 0.
#[derive(Debug, Default)]
pub struct Live {
    users: Vec<UserJobs>,
    /// By twins: where among their user's groups they stand, if any waits.
    place: Vec<u32>,
    /// Room for groups to come.
    spare: Vec<VecDeque<JobId>>,
}

#[derive(Debug, Default)]
pub struct UserJobs {
    pub running: Running,
    /// The groups of waiting jobs, none of them empty.
    pub groups: Vec<Group>,
}

/// Waiting twins.
#[derive(Debug)]
pub struct Group {
    pub twins: Twins,
    /// In order of arrival.
    pub jobs: VecDeque<JobId>,
    /// The prediction in force for all of them; none where they may differ.
    pub prediction: Option<Seconds>,
}

impl Group {
    /// Where those stand that have these ids.
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
}

const NOWHERE: u32 = u32::MAX;

impl Live {
    /// A user's jobs.
    pub fn of(&mut self, user: usize) -> &mut UserJobs {
        if self.users.len() <= user {
            self.users.resize_with(user + 1, UserJobs::default);
        }
        &mut self.users[user]
    }

    /// A job arrives and waits, with this prediction.
    pub fn wait(&mut self, id: JobId, user: usize, twins: Twins, prediction: Seconds) {
        while self.place.len() <= twins.index() {
            push_tightly(&mut self.place, NOWHERE);
        }
        let at = self.place[twins.index()] as usize;
        if let Some(group) = self.of(user).groups.get_mut(at) {
            group.jobs.push_back(id);
            group.prediction = group.prediction.filter(|common| *common == prediction);
            return;
        }
        let mut jobs = self.spare.pop().unwrap_or_default();
        jobs.push_back(id);
        let groups = &mut self.users[user].groups;
        self.place[twins.index()] = groups.len() as u32;
        groups.push(Group { twins, jobs, prediction: Some(prediction) });
    }

    /// A waiting job starts.
    pub fn start(&mut self, id: JobId, user: usize, standing: Standing, now: Time) {
        self.withdraw(id, user, standing.twins);
        self.users[user].running.start(id, standing, now);
    }

    /// A waiting job waits no longer.
    pub fn withdraw(&mut self, id: JobId, user: usize, twins: Twins) {
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
