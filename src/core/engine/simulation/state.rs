//! Reading the state of a simulation.

use super::Simulation;
use crate::engine::gate::Gate;
use crate::engine::never::NeverStarted;
use crate::engine::observer::{Observer, PredictionMade};
use crate::engine::recorder::{GivenAreas, Outcome, Preempted};
use crate::job::JobId;
use crate::predict::Board;
use crate::schedule::{Asked, Machine};
use crate::time::{Seconds, Time};

impl<O: Observer> Simulation<O> {
    /// The clock, in seconds of simulated time.
    pub fn now(&self) -> Time {
        self.board.board().now()
    }

    /// The queue and the running jobs as the policy sees them, with the predictions in force.
    pub fn machine(&mut self) -> &Machine {
        self.apply_predictions();
        &self.machine
    }

    /// [`Simulation::machine`], [`Simulation::board`] and [`Simulation::observer`] together.
    pub fn state(&mut self) -> (&Machine, &Board, &O) {
        self.apply_predictions();
        (&self.machine, self.board.board(), &self.observers.1)
    }

    /// The number of jobs that wait or run.
    pub(in crate::engine) fn in_system(&self) -> usize {
        self.machine.waiting.len() + self.machine.running.len()
    }

    /// Submissions, stages and predictions.
    pub fn board(&self) -> &Board {
        self.board.board()
    }

    /// The outcome of a job so far.
    pub fn outcome(&self, id: JobId) -> Outcome {
        self.observers.0.outcome(id, self.board.place(id))
    }

    /// What the jobs that have started were given of the nodes. None on a pool of processors.
    pub fn given(&self) -> Option<GivenAreas> {
        self.observers.0.given
    }

    /// When each job started in the virtual schedule of the scheduler, in order of submission. To be called once, after the last
    /// event. None if there is no such schedule.
    pub fn take_virtual_starts(&mut self) -> Option<Vec<Time>> {
        if self.scheduler.answers {
            self.ask(Asked::VirtualStarts);
        }
        self.decisions.virtual_starts.take()
    }

    /// The jobs that made way for others so far. None if the policy stops no jobs.
    pub fn preempted(&self) -> Option<Preempted> {
        self.scheduler.preempts.then_some(self.observers.0.preempted)
    }

    /// The jobs that were dropped so far because they can never start.
    pub fn never_started(&self) -> &NeverStarted {
        &self.never
    }

    /// The jobs that were cancelled while they ran, with their runtimes.
    pub fn cut_runs(&self) -> &[(JobId, Seconds)] {
        &self.observers.0.cut
    }

    /// The gate, if there is one.
    pub fn gate(&self) -> Option<&Gate> {
        self.gate.as_deref()
    }

    /// The outcomes of all jobs in order of submission, and all predictions if
    /// [`EngineOptions::keep_history`](crate::engine::EngineOptions::keep_history) is set.
    pub fn into_outcomes(self) -> (Vec<Outcome>, Option<Vec<PredictionMade>>) {
        (self.observers.0.outcomes, self.observers.0.history)
    }

    /// The additional observer.
    pub fn observer(&self) -> &O {
        &self.observers.1
    }

    /// The additional observer, to change it.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observers.1
    }
}
