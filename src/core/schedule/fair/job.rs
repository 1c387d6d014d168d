//! What is known of a job in both schedules.

use crate::job::ArrivalNumber;
use crate::time::{Seconds, Time};

/// A job that has not left both schedules.
#[derive(Clone, Copy, Debug)]
pub(super) struct FairJob {
    pub arrival: ArrivalNumber,
    pub submit: Time,
    pub estimate: Seconds,
    pub procs: u32,
    /// The account of its user; 0 if there are no accounts.
    pub account: u32,
    /// The prediction in force while it waits in reality; then the one with which it started. 0 if it is not known.
    pub prediction: Seconds,
    /// The same as the scheduler computes with it.
    pub length: Seconds,
    pub real: RealStage,
    pub there: VirtualStage,
}

/// Where a job is in reality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RealStage {
    Waiting,
    Running { start: Time },
    Ended { runtime: Seconds },
    Cancelled,
}

/// Where a job is in the virtual schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VirtualStage {
    Waiting,
    Running {
        start: Time,
        /// When it ends or, if it may go on, when that is decided. [`NEVER`]: when it ends in reality.
        due: Time,
        /// Whether it ends then, because it has ended in reality.
        is_certain: bool,
    },
    Gone,
}

/// The time of an event that is not scheduled.
pub(super) const NEVER: Time = Time::MAX;

impl FairJob {
    /// A job that has left both schedules.
    pub const GONE: FairJob = FairJob {
        arrival: ArrivalNumber(0),
        submit: 0,
        estimate: 1,
        procs: 1,
        account: 0,
        prediction: 1,
        length: 1,
        real: RealStage::Cancelled,
        there: VirtualStage::Gone,
    };

    /// Whether both schedules are done with it.
    pub fn is_gone(&self) -> bool {
        let is_really_gone = matches!(self.real, RealStage::Ended { .. } | RealStage::Cancelled);
        is_really_gone && self.there == VirtualStage::Gone
    }

    /// Whether a job that started virtually at `start` and has run there for its expected length goes on there: it runs in
    /// reality too, and has done so for as long, or for longer than was predicted. (At the end of its estimate this is also so if
    /// it has run for its estimate in reality: then it did not start there later.)
    pub fn goes_on(&self, start: Time, now: Time) -> bool {
        match self.real {
            RealStage::Running { start: really } => really <= start || now - really >= self.prediction,
            _ => false,
        }
    }
}

/// By how much runtimes differ from predictions, over the jobs that have ended in reality.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuntimeCorrection {
    /// One more than the sum of processors times runtimes.
    real: i128,
    /// One more than the sum of processors times predictions.
    predicted: i128,
}

impl Default for RuntimeCorrection {
    fn default() -> RuntimeCorrection {
        RuntimeCorrection { real: 1, predicted: 1 }
    }
}

impl RuntimeCorrection {
    /// A job ends. One that had no prediction is left out.
    pub fn add(&mut self, job: &FairJob, runtime: Seconds) {
        if job.prediction == 0 {
            return;
        }
        let procs = i128::from(job.procs);
        self.real += procs * i128::from(runtime);
        self.predicted += procs * i128::from(job.prediction);
    }

    /// How long a job is expected to run: its prediction times the ratio of the two sums, to the nearest second (halves up), at
    /// least a second and at most its estimate.
    pub fn expected(&self, job: &FairJob) -> Seconds {
        let doubled = i128::from(2 * job.prediction).saturating_mul(self.real).saturating_add(self.predicted);
        let rounded = doubled.div_euclid(2 * self.predicted);
        rounded.clamp(1, job.estimate.into()) as Seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(procs: u32, prediction: Seconds, estimate: Seconds) -> FairJob {
        FairJob { estimate, procs, prediction, real: RealStage::Waiting, ..FairJob::GONE }
    }

    #[test]
    fn predictions_are_corrected_by_the_jobs_that_have_ended() {
        let mut correction = RuntimeCorrection::default();
        assert_eq!(correction.expected(&job(1, 40, 100)), 40);
        // Two processors for 7 seconds where 4 were predicted: 15 to 9.
        correction.add(&job(2, 4, 100), 7);
        assert_eq!(correction.expected(&job(1, 3, 100)), 5);
        // 13.33 and 11.67.
        assert_eq!((correction.expected(&job(1, 8, 100)), correction.expected(&job(1, 7, 100))), (13, 12));
        assert_eq!((correction.expected(&job(1, 8, 10)), correction.expected(&job(1, 1, 1))), (10, 1));
        // 15 to 30: halves are rounded up, and there is at least a second.
        correction.add(&job(21, 1, 100), 0);
        assert_eq!([1, 2, 3, 4].map(|length| correction.expected(&job(1, length, 100))), [1, 1, 2, 2]);
    }

    #[test]
    fn a_job_goes_on_that_runs_in_reality_for_as_long_or_longer_than_predicted() {
        let started = |start| FairJob { real: RealStage::Running { start }, ..job(1, 10, 50) };
        assert!(!job(1, 10, 50).goes_on(100, 110));
        assert!(started(100).goes_on(100, 101) && started(99).goes_on(100, 101));
        assert!(!started(101).goes_on(100, 110) && started(101).goes_on(100, 111));
        let ended = FairJob { real: RealStage::Ended { runtime: 5 }, ..job(1, 10, 50) };
        assert!(!ended.goes_on(100, 120));
    }
}
