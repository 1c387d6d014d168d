//! The machine: who waits, who runs, what is free, in the orders that policies want to see.

use crate::job::JobId;
use crate::schedule::{Queue, Running, View, Waiting};
use crate::time::{Seconds, Time};

#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub procs: u32,
    pub free: i64,
    pub waiting: Queue,
    /// By predicted end, then by id.
    pub running: Vec<Running>,
    /// Since the last pass nothing has happened but arrivals.
    pub quiet: bool,
    inflate: f64,
}

impl Machine {
    pub fn new(procs: u32, inflate: f64) -> Self {
        Machine { procs, free: i64::from(procs), waiting: Queue::default(), running: Vec::new(), quiet: false, inflate }
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
        self.run(Running { id: job.id, procs: job.procs, end: now + job.length });
    }

    pub fn predict_running(&mut self, id: JobId, start: Time, old: Seconds, new: Seconds) {
        self.quiet = false;
        let (from, end) = (self.place(id, start, old), start + self.length(new));
        let before = |other: &Running| (other.end, other.id) < (end, id);
        // Only those between the old place and the new one move.
        let to = if end > self.running[from].end {
            let behind = from + 1;
            let to = from + self.running[behind..].partition_point(before);
            self.running[from..=to].rotate_left(1);
            to
        } else {
            let to = self.running[..from].partition_point(before);
            self.running[to..=from].rotate_right(1);
            to
        };
        self.running[to].end = end;
    }

    /// A running job ends.
    pub fn release(&mut self, id: JobId, start: Time, prediction: Seconds) {
        let job = self.stop(id, start, prediction);
        self.free += i64::from(job.procs);
    }

    fn run(&mut self, job: Running) {
        let at = self.running.partition_point(|other| (other.end, other.id) < (job.end, job.id));
        self.running.insert(at, job);
    }

    fn stop(&mut self, id: JobId, start: Time, prediction: Seconds) -> Running {
        self.quiet = false;
        let at = self.place(id, start, prediction);
        self.running.remove(at)
    }

    fn place(&self, id: JobId, start: Time, prediction: Seconds) -> usize {
        let end = start + self.length(prediction);
        let at = self.running.binary_search_by_key(&(end, id), |job| (job.end, job.id));
        at.expect("a running job stands at its predicted end")
    }
}
