//! The state of the machine and its queue over time, in equal steps.

use crate::engine::{Arrival, Cancellation, End, Observer, Start};
use crate::time::{Seconds, Time};

/// One step of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SeriesStep {
    /// When the step begins. The counts are those after all events of this instant.
    pub time: Time,
    /// Jobs in the queue.
    pub waiting: u64,
    /// Jobs that run.
    pub running: u64,
    /// The processors of the running jobs.
    pub procs_used: u64,
    /// The processors that the waiting jobs need.
    pub procs_waiting: u64,
    /// The share of the machine that is used from here to the next step, 0 to 1.
    pub utilization: f64,
}

/// The most steps of a series: about a gigabyte.
const MOST_STEPS: usize = 20_000_000;

/// Observes a simulation and makes a series of it.
#[derive(Clone, Debug)]
pub struct Series {
    step: Seconds,
    procs: u32,
    steps: Vec<SeriesStep>,
    /// The present state. Its time is that of the last event.
    now: SeriesStep,
    /// When the next step begins.
    next: Time,
    /// The processor-seconds used since the last step.
    used: i128,
    is_full: bool,
}

impl Series {
    /// A series in steps of so many seconds, from the first submission on.
    pub fn new(procs: u32, first_submit: Time, step: Seconds) -> Series {
        let now = SeriesStep { time: first_submit, ..SeriesStep::default() };
        Series { step, procs, steps: Vec::new(), now, next: first_submit, used: 0, is_full: false }
    }

    /// The steps, after the simulation.
    ///
    /// # Errors
    /// If there are more steps than fit into memory.
    pub fn finish(mut self) -> Result<Vec<SeriesStep>, String> {
        self.end_step(self.now.time);
        match self.is_full {
            true => Err(format!("the series has more than {MOST_STEPS} steps: choose a longer --series-step")),
            false => Ok(self.steps),
        }
    }

    /// Passes to the time of an event, which has not happened yet.
    fn advance(&mut self, time: Time) {
        while self.next < time {
            self.pass(self.next);
            self.end_step(self.next);
            self.is_full |= self.steps.len() == MOST_STEPS;
            if self.is_full {
                self.next = Time::MAX;
                break;
            }
            self.steps.push(self.now);
            self.next += self.step;
        }
        self.pass(time);
    }

    fn pass(&mut self, time: Time) {
        self.used += i128::from(self.now.procs_used) * i128::from(time - self.now.time);
        self.now.time = time;
    }

    /// Computes the utilization of the last step, which ends here.
    fn end_step(&mut self, end: Time) {
        let used = std::mem::take(&mut self.used) as f64;
        if let Some(last) = self.steps.last_mut() {
            last.utilization = used / (f64::from(self.procs) * (end - last.time) as f64);
        }
    }
}

impl Observer for Series {
    fn on_arrival(&mut self, arrival: &Arrival<'_>) {
        self.advance(arrival.time);
        self.now.waiting += 1;
        self.now.procs_waiting += u64::from(arrival.submission.procs);
    }

    fn on_start(&mut self, start: &Start<'_>) {
        self.advance(start.time);
        let procs = u64::from(start.submission.procs);
        self.now.waiting -= 1;
        self.now.procs_waiting -= procs;
        self.now.running += 1;
        self.now.procs_used += procs;
    }

    fn on_end(&mut self, end: &End<'_>) {
        self.advance(end.time);
        self.now.running -= 1;
        self.now.procs_used -= u64::from(end.submission.procs);
    }

    fn on_cancellation(&mut self, cancellation: &Cancellation<'_>) {
        self.advance(cancellation.time);
        self.now.waiting -= 1;
        self.now.procs_waiting -= u64::from(cancellation.submission.procs);
    }
}
