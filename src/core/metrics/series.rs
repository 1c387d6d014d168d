//! The state of the machine and its queue over time, in equal steps.

use super::column::{Column, column_list};
use super::probe::Probe;
use crate::engine::{Event, Observer};
use crate::schedule::Machine;
use crate::text::counted;
use crate::time::{DAY, HOUR, MINUTE, Seconds, Time, print_duration};

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

/// The columns of `--series-out`.
pub static SERIES_COLUMNS: &[Column<SeriesStep>] = &column_list! {
    |step: SeriesStep|
    key "time" "when the step begins, in seconds of the log" step.time;
    count "waiting" "jobs in the queue" step.waiting;
    count "running" "jobs that run" step.running;
    count "procs_used" "processors of the running jobs" step.procs_used;
    count "procs_waiting" "processors that the waiting jobs need" step.procs_waiting;
    fraction "utilization" "share of the machine that is used up to the next step" step.utilization, higher;
};

/// The most steps of a series: half a gigabyte of memory, and as much text.
const MOST_STEPS: u64 = 10_000_000;

/// Observes a simulation and makes a series of it.
#[derive(Clone, Debug)]
pub struct Series {
    step: Seconds,
    procs: u32,
    steps: Vec<SeriesStep>,
    /// The present state. Its time is that of the last event.
    now: SeriesStep,
    first: Time,
    /// When the next step begins.
    next: Time,
    /// The processor-seconds used since the last step.
    used: i128,
}

impl Series {
    /// A series in steps of so many seconds, from the first submission on.
    pub fn new(procs: u32, first_submit: Time, step: Seconds) -> Series {
        let now = SeriesStep { time: first_submit, ..SeriesStep::default() };
        Series { step, procs, steps: Vec::new(), now, first: first_submit, next: first_submit, used: 0 }
    }

    /// The steps, after the simulation.
    ///
    /// # Errors
    /// If there are too many: see [`Series::check_length`].
    pub fn finish(mut self) -> Result<Vec<SeriesStep>, String> {
        Series::check_length(self.now.time - self.first, self.step)?;
        self.end_step(self.now.time);
        Ok(self.steps)
    }

    /// Checks that a series of this length does not have too many steps. The submissions of a log say it before a simulation.
    ///
    /// # Errors
    /// If it has more than 10 million. The message has a step that would do.
    pub fn check_length(length: Seconds, step: Seconds) -> Result<(), String> {
        let length = length.max(0).unsigned_abs();
        let rows = length.div_ceil(step.max(1).unsigned_abs());
        if rows <= MOST_STEPS {
            return Ok(());
        }
        let least = length.div_ceil(MOST_STEPS);
        let unit = [DAY, HOUR, MINUTE].map(Seconds::unsigned_abs).into_iter().find(|unit| *unit <= least).unwrap_or(1);
        let enough = print_duration(least.next_multiple_of(unit).cast_signed());
        let (rows, most) = (counted(rows, "row"), counted(MOST_STEPS, "row"));
        Err(format!("the series would have {rows}, and {most} are the most: use --series-step {enough}, or longer"))
    }

    /// Passes to the time of an event, which has not happened yet.
    fn advance(&mut self, time: Time) {
        while self.next < time {
            self.pass(self.next);
            self.end_step(self.next);
            if self.steps.len() as u64 == MOST_STEPS {
                // The end is an error.
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

impl Probe for Series {
    fn observer(&mut self) -> Option<&mut dyn Observer> {
        Some(self)
    }
}

impl Observer for Series {
    fn on(&mut self, time: Time, event: &Event<'_>, _machine: &Machine) {
        let submission = match event {
            Event::Arrival(arrival) => arrival.submission,
            Event::Start(start) => start.submission,
            // The end of a cancelled job follows.
            Event::Preemption(preemption) if preemption.is_requeued => preemption.submission,
            Event::End(end) => end.submission,
            Event::Cancellation(cancellation) => cancellation.submission,
            _ => return,
        };
        self.advance(time);
        let (now, procs) = (&mut self.now, u64::from(submission.procs));
        if matches!(event, Event::Start(_) | Event::Cancellation(_)) {
            (now.waiting, now.procs_waiting) = (now.waiting - 1, now.procs_waiting - procs);
        }
        if matches!(event, Event::End(_) | Event::Preemption(_)) {
            (now.running, now.procs_used) = (now.running - 1, now.procs_used - procs);
        }
        if matches!(event, Event::Arrival(_) | Event::Preemption(_)) {
            (now.waiting, now.procs_waiting) = (now.waiting + 1, now.procs_waiting + procs);
        }
        if matches!(event, Event::Start(_)) {
            (now.running, now.procs_used) = (now.running + 1, now.procs_used + procs);
        }
    }
}
