//! The scheduling policy interface: a look at the machine in, who starts out.

use super::queue::{Queue, Waiting};
use super::running::RunningJobs;
use crate::job::{JobId, Submission};
use crate::time::Time;

/// A scheduling policy. It sees, and decides; only the engine acts.
pub trait Policy: Send {
    /// One scheduling pass: adds to `starts` the waiting jobs that start now, in the order decided.
    ///
    /// The engine checks that they wait and fit; a policy that breaks this ends the simulation with an error.
    fn pass(&mut self, view: &View<'_>, starts: &mut Vec<JobId>);

    /// A job arrives, before the pass. Most policies find all they need in the view.
    fn on_arrival(&mut self, _id: JobId, _job: &Submission) {}

    /// A waiting job has another prediction than the one it arrived with. For policies that keep an index of the queue; so
    /// is the next.
    fn on_prediction(&mut self, _job: &Waiting) {}

    /// A waiting job was cancelled. (Who started is known to whoever started it.)
    fn on_cancellation(&mut self, _job: &Waiting) {}

    /// The next instant at which a pass is due although no job may arrive or end then.
    fn wakes_at(&self) -> Option<Time> {
        None
    }

    /// Whether jobs may start that do not fit: true only for the replay of a log's own schedule.
    fn oversubscribes(&self) -> bool {
        false
    }
}

/// What a policy may look at.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub now: Time,
    /// The machine's processors.
    pub procs: u32,
    /// Idle ones; below 0 where a replayed log used more than there are.
    pub free: i64,
    /// In arrival order, which is that of their ids.
    pub waiting: &'a Queue,
    /// By predicted end, then by id.
    pub running: &'a RunningJobs,
    /// Since the last pass nothing has happened but arrivals: no job has ended, no earlier prediction has changed.
    pub quiet: bool,
}
