//! The load of a site: the work of waiting jobs and the remaining work of running jobs, relative to the machine.

use std::cmp::Ordering;

use crate::engine::{Event, Observer};
use crate::job::{JobId, Submission};
use crate::schedule::Machine;
use crate::time::Time;

/// Processor-seconds over processors, as an exact fraction.
///
/// Load is "the ratio of (sum of the cpu times of the queued jobs + sum of the remaining cpu times of the running jobs)
/// and the total system size" (Kumar and Vadhiyar, section 2, after Subramani et al.). Run times are the users'
/// estimates, and a job that has run longer than its estimate has no remaining work.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Processor-seconds.
    pub work: i128,
    /// Processors of the machine.
    pub procs: u32,
}

impl Ord for Load {
    fn cmp(&self, other: &Load) -> Ordering {
        // Fractions are compared by cross-multiplication, so that rounding never decides. (No sum comes near 128 bits.)
        (self.work * i128::from(other.procs)).cmp(&(other.work * i128::from(self.procs)))
    }
}

impl PartialOrd for Load {
    fn partial_cmp(&self, other: &Load) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Load {
    fn eq(&self, other: &Load) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Load {}

/// Computes the work of a site from its events.
#[derive(Clone, Debug, Default)]
pub(super) struct SiteLoadMeter {
    queued: i128,
    running: Vec<RunningWork>,
}

/// A running job: its processors, and when it ends by its estimate.
#[derive(Clone, Copy, Debug)]
struct RunningWork {
    id: JobId,
    procs: u32,
    estimated_end: Time,
}

impl SiteLoadMeter {
    /// The remaining processor-seconds at this time.
    pub fn work(&self, now: Time) -> i128 {
        let left = |job: &RunningWork| i128::from(job.procs) * i128::from((job.estimated_end - now).max(0));
        self.queued + self.running.iter().map(left).sum::<i128>()
    }
}

impl Observer for SiteLoadMeter {
    fn on(&mut self, time: Time, event: &Event<'_>, _machine: &Machine) {
        match event {
            Event::Arrival(arrival) => self.queued += demand(arrival.submission),
            Event::Start(start) => {
                let Submission { procs, estimate, .. } = *start.submission;
                self.queued -= demand(start.submission);
                self.running.push(RunningWork { id: start.job.id, procs, estimated_end: time + estimate });
            }
            Event::End(end) => self.running.retain(|job| job.id != end.job.id),
            Event::Cancellation(cancellation) => self.queued -= demand(cancellation.submission),
            _ => {}
        }
    }
}

fn demand(job: &Submission) -> i128 {
    i128::from(job.procs) * i128::from(job.estimate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Arrival, Cancellation, End, Placed, Start};

    #[test]
    fn loads_are_compared_exactly() {
        let load = |work, procs| Load { work, procs };
        assert!(load(1, 3) < load(1, 2) && load(2, 4) == load(1, 2));
        // One processor-second more in 10^20: the difference is lost in an f64.
        let large = 10i128.pow(20);
        assert!(load(large + 1, 7) > load(large, 7) && (large + 1) as f64 / 7.0 == large as f64 / 7.0);
    }

    #[test]
    fn work_runs_down_and_is_never_negative() {
        let mut meter = SiteLoadMeter::default();
        let on = |meter: &mut SiteLoadMeter, time, event| meter.on(time, &event, &Machine::pool(8));
        let submission = |procs, estimate| Submission::new(0, procs, estimate);
        let (long, short, gone) = (submission(4, 100), submission(2, 50), submission(8, 10));
        let placed = |id| Placed { id: JobId(id), place: id as usize };
        for (id, submission) in [(0, &long), (1, &short), (2, &gone)] {
            on(&mut meter, 0, Event::Arrival(Arrival { job: placed(id), submission }));
        }
        assert_eq!(meter.work(0), 580);
        on(&mut meter, 0, Event::Cancellation(Cancellation { job: placed(2), submission: &gone }));
        assert_eq!(meter.work(0), 500);
        // The first runs for 300 s, beyond its estimate; the second ends after 20.
        let start = |id, submission, runtime| {
            let (prediction, backfilled, inside, answered) = (1, false, None, false);
            let job = placed(id);
            Event::Start(Start { job, submission, runtime, prediction, backfilled, inside, answered, grant: &[] })
        };
        on(&mut meter, 0, start(0, &long, 300));
        on(&mut meter, 10, start(1, &short, 20));
        for (now, work) in [(10, 4 * 90 + 2 * 50), (29, 4 * 71 + 2 * 31)] {
            assert_eq!(meter.work(now), work);
        }
        let end = End { job: placed(1), submission: &short, runtime: 20, prediction: 1, misses: 0 };
        on(&mut meter, 30, Event::End(end));
        for (now, work) in [(30, 4 * 70), (99, 4), (200, 0)] {
            assert_eq!(meter.work(now), work);
        }
    }
}
