//! Jobs in the system by user, for predictors that predict them anew whenever one of them ends. Waiting jobs that no
//! criterion can tell apart stand in one group, so that a user with thousands of them is asked about once.

use std::collections::VecDeque;

use super::sessions::{Match, Twins};
use crate::job::JobId;
use crate::time::Seconds;

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
    /// In order of arrival.
    pub running: Vec<Runner>,
    /// The groups of waiting jobs, none of them empty.
    pub groups: Vec<Group>,
}

/// A running job.
#[derive(Clone, Copy, Debug)]
pub struct Runner {
    pub id: JobId,
    pub twins: Twins,
    /// How it matches though it still runs, if it is late.
    pub late: Option<Match>,
}

/// Waiting twins.
#[derive(Debug)]
pub struct Group {
    twins: Twins,
    /// In order of arrival.
    pub jobs: VecDeque<JobId>,
    /// The prediction in force for all of them; none where they may differ.
    pub prediction: Option<Seconds>,
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
        if self.place.len() <= twins.index() {
            self.place.resize(twins.index() + 1, NOWHERE);
        }
        if self.place[twins.index()] == NOWHERE {
            let jobs = self.spare.pop().unwrap_or_default();
            let groups = &mut self.of(user).groups;
            groups.push(Group { twins, jobs, prediction: Some(prediction) });
            self.place[twins.index()] = groups.len() as u32 - 1;
        }
        let at = self.place[twins.index()] as usize;
        let group = &mut self.of(user).groups[at];
        group.jobs.push_back(id);
        group.prediction = group.prediction.filter(|common| *common == prediction);
    }

    /// A waiting job starts.
    pub fn start(&mut self, id: JobId, user: usize, twins: Twins) {
        self.withdraw(id, user, twins);
        let running = &mut self.of(user).running;
        let at = running.partition_point(|other| other.id < id);
        running.insert(at, Runner { id, twins, late: None });
    }

    /// A running job, if it is one.
    pub fn runner(&mut self, id: JobId, user: usize) -> Option<&mut Runner> {
        let running = &mut self.of(user).running;
        running.binary_search_by_key(&id, |runner| runner.id).ok().map(|at| &mut running[at])
    }

    /// A waiting job waits no longer.
    pub fn withdraw(&mut self, id: JobId, user: usize, twins: Twins) {
        let at = self.place[twins.index()] as usize;
        let groups = &mut self.users[user].groups;
        let jobs = &mut groups[at].jobs;
        if let Ok(place) = jobs.binary_search(&id) {
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

    /// A running job ends.
    pub fn end(&mut self, id: JobId, user: usize) -> Option<Runner> {
        let running = &mut self.of(user).running;
        running.binary_search_by_key(&id, |runner| runner.id).ok().map(|at| running.remove(at))
    }
}
