//! The machine: who waits, who runs, what is free, in the orders that policies want to see.

use crate::job::JobId;
use crate::schedule::{Move, Queue, Running, RunningJobs, View, Waiting};
use crate::time::{Seconds, Time};

#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub procs: u32,
    pub free: i64,
    pub waiting: Queue,
    pub running: RunningJobs,
    /// Running jobs that have been predicted anew and do not stand where they should yet.
    moves: Vec<Move>,
    /// Since the last pass nothing has happened but arrivals.
    pub quiet: bool,
    inflate: f64,
}

impl Machine {
    pub fn new(procs: u32, inflate: f64) -> Self {
        Machine {
            procs,
            free: i64::from(procs),
            waiting: Queue::default(),
            running: RunningJobs::default(),
            moves: Vec::new(),
            quiet: false,
            inflate,
        }
    }

    pub fn view(&self, now: Time) -> View<'_> {
        let Machine { procs, free, ref waiting, ref running, quiet, .. } = *self;
        View { now, procs, free, waiting, running, quiet }
    }

    /// A prediction for the scheduler's own arithmetic: times the factor, to the nearest second. A longer prediction is
    /// longer here too (the factor is at least 1), so that both give one order.
    fn length(&self, prediction: Seconds) -> Seconds {
        if self.inflate == 1.0 {
            return prediction;
        }
        ((prediction as f64 * self.inflate + 0.5).floor() as Seconds).max(prediction)
    }

    /// A job arrives; it gets its prediction right after.
    pub fn enqueue(&mut self, id: JobId, procs: u32) {
        self.waiting.push(Waiting { id, procs, prediction: 0, length: 0 });
    }

    /// Takes a job out of the queue; none if it does not wait.
    pub fn withdraw(&mut self, id: JobId) -> Option<Waiting> {
        self.quiet = false;
        self.waiting.remove(id)
    }

    /// A waiting job is predicted, for the first time if there is no old prediction; the job as it is then.
    pub fn predict_waiting(&mut self, id: JobId, old: Seconds, new: Seconds) -> Option<&Waiting> {
        self.quiet &= old == 0;
        let length = self.length(new);
        self.waiting.predict(id, new, length)
    }

    pub fn start(&mut self, job: Waiting, now: Time) {
        self.free -= i64::from(job.procs);
        self.running.insert(Running { id: job.id, procs: job.procs, end: now + job.length });
    }

    /// A running job is predicted anew; it moves when all who do are known.
    pub fn predict_running(&mut self, id: JobId, start: Time, old: Seconds, new: Seconds) {
        self.quiet = false;
        self.moves.push(Move { id, from: start + self.length(old), to: start + self.length(new) });
    }

    /// They are known.
    pub fn move_running(&mut self) {
        self.running.change(&mut self.moves);
    }

    /// A running job ends.
    pub fn release(&mut self, id: JobId, start: Time, prediction: Seconds) {
        self.quiet = false;
        let job = self.running.remove(start + self.length(prediction), id);
        self.free += i64::from(job.procs);
    }
}
