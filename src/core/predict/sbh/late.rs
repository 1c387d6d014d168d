//! One user's late jobs: those that have outlived their prediction and still run. They match other jobs by their current
//! prediction. Late jobs that differ only in their start are in one class, so that each class is predicted once,
//! independent of its number of jobs.
//!
//! With `active.rs` it must equal `propagate` of tests/twins/oracle.rs, which predicts job by job.

use super::job_types::JobType;
use super::sessions::{Match, When};
use crate::job::{ArrivalNumber, JobId};
use crate::time::{Seconds, Time};

/// A job that waits or runs. Jobs are in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ActiveJob {
    pub arrival: ArrivalNumber,
    pub id: JobId,
}

#[derive(Debug, Default)]
pub struct Late {
    /// In order of arrival.
    pub jobs: Vec<LateJob>,
    /// An empty class is reused for another state.
    pub classes: Vec<LateClass>,
}

#[derive(Clone, Copy, Debug)]
pub struct LateJob {
    pub job: ActiveJob,
    /// The index of its class, or `NOWHERE`.
    class: u32,
    start: Time,
}

/// The state of a late job, except its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateState {
    pub job_type: JobType,
    /// The prediction in force.
    pub prediction: Seconds,
    /// Its position in the order of ends while it runs.
    pub when: When,
}

impl LateState {
    /// How it matches other jobs: with its prediction in place of the unknown runtime.
    pub fn as_match(&self) -> Match {
        Match { runtime: self.prediction, when: self.when }
    }
}

/// The late jobs with equal states.
#[derive(Debug)]
pub struct LateClass {
    pub state: LateState,
    pub members: u32,
    /// An upper bound on their starts.
    latest_start: Time,
    /// The prediction of the present propagation. The jobs that started after `adopts_after` adopt it.
    pub proposed: Seconds,
    adopts_after: Time,
    /// The index of the class to which adopting jobs move, or `NOWHERE` before the first of them.
    successor: u32,
}

/// The index of no class.
const NOWHERE: u32 = u32::MAX;

impl LateClass {
    /// Sets the prediction of the present propagation. Returns whether any job may adopt it: a job that already has this
    /// prediction, or has already run that long, does not.
    pub fn propose(&mut self, proposed: Seconds, now: Time) -> bool {
        self.proposed = proposed;
        self.adopts_after = if proposed == self.state.prediction { Time::MAX } else { now - proposed };
        self.successor = NOWHERE;
        self.latest_start > self.adopts_after
    }

    fn join(&mut self, start: Time) {
        self.members += 1;
        self.latest_start = self.latest_start.max(start);
    }
}

impl Late {
    /// The index of a job in `jobs`, if it is late.
    pub fn find(&self, job: ActiveJob) -> Option<usize> {
        self.jobs.binary_search_by_key(&job, |late| late.job).ok()
    }

    /// Adds a job that started at `start` and is late from now on.
    pub fn add(&mut self, job: ActiveJob, state: LateState, start: Time) {
        let class = self.enter(state, start);
        let at = self.jobs.partition_point(|other| other.job < job);
        self.jobs.insert(at, LateJob { job, class, start });
    }

    pub fn state(&self, at: usize) -> LateState {
        self.classes[self.jobs[at].class as usize].state
    }

    /// Removes a job from its class until [`Late::put_back`]. Returns its state.
    pub fn set_aside(&mut self, at: usize) -> LateState {
        let state = self.state(at);
        self.leave(self.jobs[at].class);
        self.jobs[at].class = NOWHERE;
        state
    }

    /// Gives a state to a job that was set aside.
    pub fn put_back(&mut self, at: usize, state: LateState) {
        self.jobs[at].class = self.enter(state, self.jobs[at].start);
    }

    /// The class of a job, if the job adopts the proposed prediction of the class.
    pub fn adopting(&self, at: usize) -> Option<&LateClass> {
        let job = self.jobs[at];
        self.classes.get(job.class as usize).filter(|class| job.start > class.adopts_after)
    }

    /// Moves a job that adopts the proposed prediction to the class of its new state.
    pub fn adopt(&mut self, at: usize) {
        let LateJob { class, start, .. } = self.jobs[at];
        let LateClass { state, proposed, successor, .. } = self.classes[class as usize];
        self.leave(class);
        if let Some(known) = self.classes.get_mut(successor as usize) {
            known.join(start);
            self.jobs[at].class = successor;
            return;
        }
        let successor = self.enter(LateState { prediction: proposed, ..state }, start);
        self.jobs[at].class = successor;
        if let Some(class) = self.classes.get_mut(class as usize) {
            class.successor = successor;
        }
    }

    /// Removes a job that ends. Returns its state if it was late.
    #[inline]
    pub fn end(&mut self, job: ActiveJob) -> Option<LateState> {
        let at = self.find(job)?;
        let state = self.set_aside(at);
        self.jobs.remove(at);
        Some(state)
    }

    /// Lowers the bounds on starts after no job adopted a proposal.
    pub fn settle(&mut self) {
        for class in &mut self.classes {
            class.latest_start = class.latest_start.min(class.adopts_after);
        }
    }

    fn enter(&mut self, state: LateState, start: Time) -> u32 {
        let mut free = self.classes.len();
        for (at, class) in self.classes.iter_mut().enumerate() {
            if class.members == 0 {
                free = at;
            } else if class.state == state {
                class.join(start);
                return at as u32;
            }
        }
        let proposed = state.prediction;
        let class =
            LateClass { state, members: 1, latest_start: start, proposed, adopts_after: Time::MAX, successor: NOWHERE };
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
