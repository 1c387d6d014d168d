//! How good live answers were for past jobs. Jobs that arrived and jobs that already waited are judged separately.

use super::evaluate::MethodAnswer;
use super::figures::{HitRate, WaitFigures};
use super::sample::WaitSample;
use super::schedule::SiteSchedule;
use crate::job::JobId;
use crate::time::{Seconds, Time};

/// With fewer judged answers than this nothing is known of a time for 95%.
pub const FEWEST_JUDGED: usize = 50;

/// The time for 95% is said only if at least this share of the judged jobs started by theirs.
pub const LEAST_HELD: f64 = 0.9;

/// The judged answers of one kind.
#[derive(Clone, Debug, Default)]
pub struct BackTest {
    /// How good they were. A job that still waits counts with what it has waited so far.
    pub figures: WaitFigures,
    /// What the judged jobs that have started waited from the instant of their answers on, in ascending order.
    started: Vec<Seconds>,
}

impl BackTest {
    /// Judges an answer of the past that is known at `now`. It was given at the instant `at`.
    ///
    /// It is judged only if its time for 95% is over. Then it is known whether the job had started by that time, also if it still
    /// waits. Judging all that have started, and only these, would leave out the longest waits.
    pub fn judge(&mut self, schedule: &SiteSchedule<'_>, (id, at): (JobId, Time), sample: &WaitSample, now: Time) {
        if at + sample.quantile(0.95) > now {
            return;
        }
        let start = schedule.starts[id.index()];
        // One that has not started by now waits at least a second longer.
        let wait = start.min(now + 1) - at;
        if start <= now {
            self.started.insert(self.started.partition_point(|other| *other <= wait), wait);
        }
        self.figures.judge(schedule, id, wait, &MethodAnswer::of_sample(sample));
    }

    /// The number of judged answers.
    pub fn judged(&self) -> usize {
        self.figures.predictions as usize
    }

    /// How many of the judged jobs started by their times for 95%.
    pub fn held(&self) -> HitRate {
        self.figures.bounds[3]
    }

    /// Whether these are enough to say a time for 95%.
    pub fn has_held(&self) -> bool {
        self.held().right as f64 >= LEAST_HELD * self.judged() as f64
    }

    /// The wait within which this share of the judged jobs started. None if fewer have started so far.
    pub fn within(&self, share: f64) -> Option<Seconds> {
        let needed = (share * self.judged() as f64 - 1e-9).ceil().max(1.0) as usize;
        self.started.get(needed - 1).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Job, Submission};
    use crate::trace::Workload;

    /// Ten jobs that arrive at 0. Nine start at 10, 20, ..., 90. The last one still waits at the end.
    #[test]
    fn an_answer_is_judged_when_its_time_is_over() {
        let submission = Submission::new(0, 1, 50);
        let job = Job::new(submission, 1);
        let (jobs, starts): (Vec<Job>, Vec<Time>) = (1..=10).map(|at| (job, at * 10)).unzip();
        let workload = Workload { procs: 4, jobs, ..Workload::default() };
        let schedule = SiteSchedule::new(&workload, &starts);
        let answer = |seconds: Seconds, now: Time| {
            let mut test = BackTest::default();
            let sample = WaitSample::new(vec![seconds; 20]);
            (0..10).for_each(|id| test.judge(&schedule, (JobId(id), 0), &sample, now));
            test
        };
        // At 99 it is not known yet whether all start by 100.
        assert_eq!(answer(100, 99).judged(), 0);
        let late = answer(50, 99);
        assert_eq!((late.judged(), late.held(), late.has_held()), (10, HitRate { right: 5, all: 10 }, false));
        assert_eq!([0.05, 0.5, 0.9, 0.95].map(|share| late.within(share)), [Some(10), Some(50), Some(90), None]);
        // Exactly nine of ten are enough. The last one waits for longer than 99 s.
        assert!(answer(90, 99).has_held() && !answer(89, 99).has_held());
        assert_eq!(answer(99, 99).held().right, 9);
        assert_eq!((answer(100, 100).held().right, answer(100, 100).within(0.95)), (10, Some(100)));
        // From 35 on the first three have started, and the others wait from then on.
        let mut waiting = BackTest::default();
        (3..10).for_each(|id| waiting.judge(&schedule, (JobId(id), 35), &WaitSample::new(vec![20]), 200));
        assert_eq!((waiting.held(), waiting.within(1.0)), (HitRate { right: 2, all: 7 }, Some(65)));
    }
}
