//! One user's running jobs, for predictors that predict them anew whenever one of them ends. Jobs of which everything
//! but their start is the same are in one class, so that a user with thousands of them is asked about once.

use super::sessions::{Match, When};
use super::twins::Twins;
use crate::job::JobId;
use crate::time::{Seconds, Time};

#[derive(Debug, Default)]
pub struct Running {
    /// In order of arrival.
    pub runners: Vec<Runner>,
    /// One that nobody is in any more may become another.
    pub classes: Vec<Class>,
}

#[derive(Clone, Copy, Debug)]
pub struct Runner {
    pub id: JobId,
    /// The place of its class, if it is in one.
    class: u32,
    pub start: Time,
}

/// All that a predictor asks about a running job but its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub twins: Twins,
    /// The prediction in force.
    pub prediction: Seconds,
    /// If it is late, when it is thought to end: it matches with its prediction though it still runs.
    pub late: Option<When>,
}

impl Standing {
    /// How it matches, if it is late.
    pub fn as_match(&self) -> Option<Match> {
        self.late.map(|when| Match { runtime: self.prediction, when })
    }
}

/// The running jobs of one standing.
#[derive(Debug)]
pub struct Class {
    pub standing: Standing,
    pub members: u32,
    /// None of them started later.
    pub latest_start: Time,
    /// What the present propagation says of them; whoever started after this instant adopts it.
    pub said: Seconds,
    pub adopts_after: Time,
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

impl Running {
    /// Where a job stands among the runners, if it runs.
    pub fn find(&self, id: JobId) -> Option<usize> {
        self.runners.binary_search_by_key(&id, |runner| runner.id).ok()
    }

    pub fn start(&mut self, id: JobId, standing: Standing, now: Time) {
        let class = self.enter(standing, now);
        let at = self.runners.partition_point(|other| other.id < id);
        self.runners.insert(at, Runner { id, class, start: now });
    }

    pub fn standing(&self, at: usize) -> Standing {
        self.classes[self.runners[at].class as usize].standing
    }

    /// Takes a runner out of its class until it gets another standing. Returns the one it had.
    pub fn set_aside(&mut self, at: usize) -> Standing {
        let standing = self.standing(at);
        self.leave(self.runners[at].class);
        self.runners[at].class = NOWHERE;
        standing
    }

    /// A runner that was set aside has this standing now.
    pub fn put_back(&mut self, at: usize, standing: Standing) {
        self.runners[at].class = self.enter(standing, self.runners[at].start);
    }

    /// The class of a runner if it is one that adopts what was said of it.
    pub fn adopting(&self, at: usize) -> Option<&Class> {
        let runner = self.runners[at];
        self.classes.get(runner.class as usize).filter(|class| runner.start > class.adopts_after)
    }

    /// A runner adopts what was said of its class.
    pub fn adopt(&mut self, at: usize) {
        let Runner { class, start, .. } = self.runners[at];
        let Class { standing, said, heir, .. } = self.classes[class as usize];
        self.leave(class);
        if let Some(known) = self.classes.get_mut(heir as usize) {
            known.join(start);
            self.runners[at].class = heir;
            return;
        }
        let heir = self.enter(Standing { prediction: said, ..standing }, start);
        self.runners[at].class = heir;
        if let Some(class) = self.classes.get_mut(class as usize) {
            class.heir = heir;
        }
    }

    /// A job ends; the standing it had.
    pub fn end(&mut self, id: JobId) -> Option<Standing> {
        let at = self.find(id)?;
        let standing = self.set_aside(at);
        self.runners.remove(at);
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
