//! How loaded a site is: the work that waits and the work that is left of what runs, over the machine.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::job::Submission;
use crate::time::{Seconds, Time};

/// Processor-seconds over processors, exactly.
///
/// Load is "the ratio of (sum of the cpu times of the queued jobs + sum of the remaining cpu times of the running jobs)
/// and the total system size" (Kumar and Vadhiyar, section 2, after Subramani et al.); how long jobs take is what their
/// users estimate, and a job that outlives its estimate has nothing left.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub work: i128,
    pub procs: u32,
}

impl Load {
    /// In seconds: how long the whole machine would be busy.
    pub fn seconds(self) -> f64 {
        self.work as f64 / f64::from(self.procs)
    }
}

impl Ord for Load {
    fn cmp(&self, other: &Load) -> Ordering {
        // Fractions are compared by multiplying across: no rounding may decide. (No sum comes near 128 bits.)
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

/// Keeps the work of a site as jobs come and go, at the cost of a heap operation a job.
#[derive(Clone, Debug, Default)]
pub(super) struct LoadMeter {
    queued: i128,
    /// Of the running jobs that have not reached their estimate: the sum of procs x (start + estimate), and of procs.
    due: i128,
    procs: i128,
    /// When each of those has nothing left: at its end or at its estimate, whichever comes first.
    leaving: BinaryHeap<Reverse<(Time, u32, Time)>>,
}

impl LoadMeter {
    pub fn queue(&mut self, job: &Submission) {
        self.queued += demand(job);
    }

    /// A job leaves the queue, whatever for.
    pub fn unqueue(&mut self, job: &Submission) {
        self.queued -= demand(job);
    }

    pub fn start(&mut self, job: &Submission, runtime: Seconds, now: Time) {
        let due = now + job.estimate;
        self.due += i128::from(job.procs) * i128::from(due);
        self.procs += i128::from(job.procs);
        self.leaving.push(Reverse((now + runtime.min(job.estimate), job.procs, due)));
    }

    /// Time goes on.
    pub fn advance_to(&mut self, now: Time) {
        while let Some(&Reverse((leaves, procs, due))) = self.leaving.peek()
            && leaves <= now
        {
            self.leaving.pop();
            self.due -= i128::from(procs) * i128::from(due);
            self.procs -= i128::from(procs);
        }
    }

    /// Processor-seconds at the present time, which must have been told.
    pub fn work(&self, now: Time) -> i128 {
        debug_assert!(self.leaving.peek().is_none_or(|Reverse((leaves, ..))| *leaves > now));
        self.queued + self.due - i128::from(now) * self.procs
    }
}

fn demand(job: &Submission) -> i128 {
    i128::from(job.procs) * i128::from(job.estimate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_compared_exactly() {
        let load = |work, procs| Load { work, procs };
        assert!(load(1, 3) < load(1, 2) && load(2, 4) == load(1, 2));
        // One processor-second more in 10^20: no f64 would see it.
        let large = 10i128.pow(20);
        assert!(load(large + 1, 7) > load(large, 7) && load(large + 1, 7).seconds() == load(large, 7).seconds());
    }

    #[test]
    fn work_runs_down_and_is_never_negative() {
        let mut meter = LoadMeter::default();
        let job = |procs, estimate| Submission::new(0, procs, estimate);
        meter.queue(&job(4, 100));
        meter.queue(&job(2, 50));
        assert_eq!(meter.work(0), 500);
        // The first runs for 300 s, beyond its estimate; the second ends after 20.
        meter.unqueue(&job(4, 100));
        meter.start(&job(4, 100), 300, 0);
        meter.unqueue(&job(2, 50));
        meter.start(&job(2, 50), 20, 10);
        for (now, work) in [(10, 4 * 90 + 2 * 50), (29, 4 * 71 + 2 * 31), (30, 4 * 70), (99, 4), (200, 0)] {
            meter.advance_to(now);
            assert_eq!(meter.work(now), work);
        }
    }
}
