//! One user's late jobs, those that run on though their prediction has run out, for predictors by which such a job matches
//! others. Late jobs of which everything but their start is the same are in one class, so that a user with thousands of
//! them is asked about once.

use super::sessions::{Match, When};
use super::twins::Twins;
use crate::job::JobId;
use crate::time::{Seconds, Time};

#[derive(Debug, Default)]
pub struct Late {
    /// In order of arrival.
    pub jobs: Vec<LateJob>,
    /// One that nobody is in any more may become another.
    pub classes: Vec<Class>,
}

#[derive(Clone, Copy, Debug)]
pub struct LateJob {
    pub id: JobId,
    /// The place of its class, if it is in one.
    class: u32,
    start: Time,
}

/// All that a predictor asks about a late job but its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub twins: Twins,
    /// The prediction in force.
    pub prediction: Seconds,
    /// When it is thought to end.
    pub when: When,
}

impl Standing {
    /// How it matches: with its prediction though it still runs.
    pub fn as_match(&self) -> Match {
        Match { runtime: self.prediction, when: self.when }
    }
}

/// The late jobs of one standing.
#[derive(Debug)]
pub struct Class {
    pub standing: Standing,
    pub members: u32,
    /// None of them started later.
    latest_start: Time,
    /// What the present propagation says of them; whoever started after this instant adopts it.
    pub said: Seconds,
    adopts_after: Time,
    /// The place of the class that they are in then, once somebody is.
    heir: u32,
}

/// The place of no class.
const NOWHERE: u32 = u32::MAX;

impl Class {
    /// The present propagation says this of them. Tells whether any may adopt it: nobody does who has it already or has
    /// run that long.
    pub fn hear(&mut self, said: Seconds, now: Time) -> bool {
        self.said = said;
        self.adopts_after = if said == self.standing.prediction { Time::MAX } else { now - said };
        self.heir = NOWHERE;
        self.latest_start > self.adopts_after
    }

    fn join(&mut self, start: Time) {
        self.members += 1;
        self.latest_start = self.latest_start.max(start);
    }
}

impl Late {
    /// Where a job stands among them, if it is late.
    pub fn find(&self, id: JobId) -> Option<usize> {
        self.jobs.binary_search_by_key(&id, |job| job.id).ok()
    }

    /// A job that has run from then on is late.
    pub fn add(&mut self, id: JobId, standing: Standing, start: Time) {
        let class = self.enter(standing, start);
        let at = self.jobs.partition_point(|other| other.id < id);
        self.jobs.insert(at, LateJob { id, class, start });
    }

    pub fn standing(&self, at: usize) -> Standing {
        self.classes[self.jobs[at].class as usize].standing
    }

    /// Takes a job out of its class until it gets another standing. Returns the one it had.
    pub fn set_aside(&mut self, at: usize) -> Standing {
        let standing = self.standing(at);
        self.leave(self.jobs[at].class);
        self.jobs[at].class = NOWHERE;
        standing
    }

    /// A job that was set aside has this standing now.
    pub fn put_back(&mut self, at: usize, standing: Standing) {
        self.jobs[at].class = self.enter(standing, self.jobs[at].start);
    }

    /// The class of a job if it is one that adopts what was said of it.
    pub fn adopting(&self, at: usize) -> Option<&Class> {
        let job = self.jobs[at];
        self.classes.get(job.class as usize).filter(|class| job.start > class.adopts_after)
    }

    /// A job adopts what was said of its class.
    pub fn adopt(&mut self, at: usize) {
        let LateJob { class, start, .. } = self.jobs[at];
        let Class { standing, said, heir, .. } = self.classes[class as usize];
        self.leave(class);
        if let Some(known) = self.classes.get_mut(heir as usize) {
            known.join(start);
            self.jobs[at].class = heir;
            return;
        }
        let heir = self.enter(Standing { prediction: said, ..standing }, start);
        self.jobs[at].class = heir;
        if let Some(class) = self.classes.get_mut(class as usize) {
            class.heir = heir;
        }
    }

    /// A job ends; the standing it had, if it was late.
    pub fn end(&mut self, id: JobId) -> Option<Standing> {
        let at = self.find(id)?;
        let standing = self.set_aside(at);
        self.jobs.remove(at);
        Some(standing)
    }

    /// Everybody has adopted what it should.
    pub fn settle(&mut self) {
        for class in &mut self.classes {
            class.latest_start = class.latest_start.min(class.adopts_after);
        }
    }

    fn enter(&mut self, standing: Standing, start: Time) -> u32 {
        let mut free = self.classes.len();
        for (at, class) in self.classes.iter_mut().enumerate() {
            if class.members == 0 {
                free = at;
            } else if class.standing == standing {
                class.join(start);
                return at as u32;
            }
        }
        let said = standing.prediction;
        let class = Class { standing, members: 1, latest_start: start, said, adopts_after: Time::MAX, heir: NOWHERE };
        match self.classes.get_mut(free) {
            Some(place) => *place = class,
            None => self.classes.push(class),
        }
        free as u32
    }

    fn leave(&mut self, class: u32) {
        let class = &mut self.classes[class as usize];
        class.members -= 1;
        if class.members > 0 {
            return;
        }
        while self.classes.last().is_some_and(|class| class.members == 0) {
            self.classes.pop();
        }
    }
}
