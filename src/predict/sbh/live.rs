//! Jobs in the system by user, for predictors that predict them anew whenever one of them ends. Jobs that no criterion can
//! tell apart stand in one group until they are late, so that a user with thousands of them is asked about once.

use std::collections::VecDeque;
use std::ops::Range;

use super::late::{Late, Standing};
use super::twins::{Twins, push_tightly};
use crate::job::JobId;
use crate::time::Seconds;

/// All users' jobs that wait or run. Users and twins are numbered from 0.
#[derive(Debug, Default)]
pub struct Live {
    users: Vec<UserJobs>,
    /// By twins: where among their user's groups they stand, if there are any.
    place: Vec<u32>,
    /// Room for groups to come.
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
    /// What was last said of all of them; none where it may differ. It is in force for all but those who had run that long
    /// when it was said.
    pub said: Option<Seconds>,
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

    /// This was said of one of them alone.
    fn hear_of_one(&mut self, said: Seconds) {
        self.said = self.said.filter(|common| *common == said);
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

    /// A job arrives, and this is said of it.
    pub fn arrive(&mut self, id: JobId, user: usize, twins: Twins, said: Seconds) {
        while self.place.len() <= twins.index() {
            push_tightly(&mut self.place, NOWHERE);
        }
        let at = self.place[twins.index()] as usize;
        if let Some(group) = self.of(user).groups.get_mut(at) {
            group.jobs.push_back(id);
            group.hear_of_one(said);
            return;
        }
        let mut jobs = self.spare.pop().unwrap_or_default();
        jobs.push_back(id);
        let groups = &mut self.users[user].groups;
        self.place[twins.index()] = groups.len() as u32;
        groups.push(Group { twins, jobs, said: Some(said) });
    }

    /// This is said of a job that is not late, and of it alone.
    pub fn say(&mut self, user: usize, twins: Twins, said: Seconds) {
        self.users[user].groups[self.place[twins.index()] as usize].hear_of_one(said);
    }

    /// A job ends or is withdrawn. How it stood, if it was late.
    pub fn end(&mut self, id: JobId, user: usize, twins: Twins) -> Option<Standing> {
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
