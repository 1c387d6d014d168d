//! Whether the time for 95% of an answer can be relied on: what such answers were worth in the past, and whether the past has seen
//! such a queue at all.

use super::back_test::{BackTest, FEWEST_JUDGED};
use super::live::{LiveAnswer, LiveWait};
use crate::job::Submission;
use crate::report::{counted, percent};
use crate::text::counted_as;
use crate::time::{Seconds, readable_duration};

/// The levels of an answer: "start at 50%, 80% and 95%".
pub const SHOWN: [(f64, &str); 3] = [(0.5, "50%"), (0.8, "80%"), (0.95, "95%")];

/// Of fewer drawn waits even the longest is exceeded with a probability above 5%.
pub const FEWEST_DRAWS: usize = 19;

/// Whether the time for 95% can be relied on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reliability {
    /// At least 90% of the judged past answers of this kind held.
    Held,
    /// Fewer held. These are the waits within which 50%, 80% and 95% of the judged jobs started.
    NotHeld([Seconds; 3]),
    /// The past of the log does not tell, for this reason.
    Unknown(String),
}

impl Reliability {
    /// The word in outputs.
    pub fn word(&self) -> &'static str {
        match self {
            Reliability::Held => "yes",
            Reliability::NotHeld(_) => "no",
            Reliability::Unknown(_) => "unknown",
        }
    }

    /// The reason why the past does not tell.
    pub fn doubt(&self) -> Option<&str> {
        match self {
            Reliability::Unknown(doubt) => Some(doubt),
            _ => None,
        }
    }

    /// The waits for 50%, 80% and 95% that can be said: those of the answer if such answers held, and otherwise what happened to
    /// past jobs, but none in a closed time. None if the past does not tell.
    pub fn waits(&self, answer: &LiveWait) -> Option<[Seconds; 3]> {
        match self {
            Reliability::Held => Some(SHOWN.map(|(level, _)| answer.sample.quantile(level))),
            Reliability::NotHeld(within) => Some(within.map(|wait| answer.closed.with(wait))),
            Reliability::Unknown(_) => None,
        }
    }
}

/// How many judged answers did not hold, in words: "no time is 95% sure: ...".
pub fn not_held(test: &BackTest, within: &[Seconds; 3]) -> String {
    let held = percent(test.held().percent() / 100.0);
    let answers = counted_as(test.judged() as u64, "past answer", "past answers");
    format!(
        "no time is 95% sure: of {answers} only {held} held; on this site, 95% of such jobs started within {}",
        readable_duration(within[2] as f64)
    )
}

impl LiveAnswer {
    /// The judged answers of the kind that a job has, which has waited for `age`.
    pub fn back_test(&self, age: Seconds) -> &BackTest {
        if age > 0 { &self.waiting } else { &self.arrivals }
    }

    /// Whether the answer for a job can be relied on, which has waited for `age`. `recalibrate` is what was asked for, `procs` the
    /// size of the machine.
    pub fn reliability(
        &self,
        (job, age): (&Submission, Seconds),
        answer: &LiveWait,
        (recalibrate, procs): (bool, u32),
    ) -> Reliability {
        if let Some(doubt) =
            self.too_little(age, recalibrate).or_else(|| self.unseen((job, age), answer, (recalibrate, procs)))
        {
            return Reliability::Unknown(doubt);
        }
        let test = self.back_test(age);
        if test.has_held() {
            return Reliability::Held;
        }
        match SHOWN.map(|(level, _)| test.within(level)) {
            [Some(half), Some(most), Some(nearly_all)] => Reliability::NotHeld([half, most, nearly_all]),
            _ => {
                let held = percent(test.held().percent() / 100.0);
                let answers = counted_as(test.judged() as u64, "past answer", "past answers");
                Reliability::Unknown(format!(
                    "of {answers} only {held} held, and more than 5% of these jobs have not started yet"
                ))
            }
        }
    }

    /// Why there is too little evidence.
    fn too_little(&self, age: Seconds, recalibrate: bool) -> Option<String> {
        if !recalibrate && self.draws < FEWEST_DRAWS {
            let draws = counted(self.draws as u64, "simulation");
            return Some(format!("{draws} cannot give a time for 95%, {FEWEST_DRAWS} are needed (see --draws)"));
        }
        let judged = self.back_test(age).judged();
        let kind = if age > 0 { "for jobs that already waited" } else { "for jobs that arrived" };
        let answers = counted_as(judged as u64, "past answer", "past answers");
        (judged < FEWEST_JUDGED)
            .then(|| format!("only {answers} {kind} can be judged, {FEWEST_JUDGED} are needed: a longer log has more"))
    }

    /// What the past has not seen.
    fn unseen(
        &self,
        (job, age): (&Submission, Seconds),
        answer: &LiveWait,
        (recalibrate, procs): (bool, u32),
    ) -> Option<String> {
        let ((widest, longest), seen) = (self.largest, self.seen);
        let duration = |seconds: Seconds| readable_duration(seconds as f64);
        if recalibrate && job.procs > widest {
            let widest = counted(u64::from(widest), "processor");
            return Some(format!("no past job that was looked at asked for as many processors (at most {widest})"));
        }
        if recalibrate && job.estimate > longest {
            return Some(format!(
                "no past job that was looked at asked for so long a time (at most {})",
                duration(longest)
            ));
        }
        if age > seen.wait || recalibrate && !answer.recalibrated {
            return Some(format!("no past job waited for so long (at most {})", duration(seen.wait)));
        }
        if answer.ahead.jobs > seen.ahead.jobs {
            let most = counted(seen.ahead.jobs as u64, "job");
            return Some(format!("no past job found so long a queue (at most {most})"));
        }
        (answer.ahead.work > seen.ahead.work).then(|| {
            let most = seen.ahead.work / u128::from(procs.max(1));
            let most = duration(Seconds::try_from(most).unwrap_or(Seconds::MAX));
            format!("no past job found so much work in the queue (at most {most} of the whole machine, by estimates)")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Job, JobId};
    use crate::time::Time;
    use crate::trace::Workload;
    use crate::wait::{ClosedTimes, QueueAhead, SeenQueues, SiteSchedule, WaitSample};

    /// Answers of 10 s for 100 jobs that arrived at 0. So many of them started at once, so many after 500 s, and the others have
    /// not started after 1,000 s.
    fn judged(at_once: usize, late: usize) -> BackTest {
        let submission = Submission::new(0, 1, 50);
        let job = Job::new(submission, 1);
        let start = |at: usize| {
            if at < at_once {
                0
            } else if at < at_once + late {
                500
            } else {
                5000
            }
        };
        let (jobs, starts): (Vec<Job>, Vec<Time>) = (0..100).map(|at| (job, start(at))).unzip();
        let workload = Workload { procs: 4, jobs, ..Workload::default() };
        let (schedule, mut test) = (SiteSchedule::new(&workload, &starts), BackTest::default());
        (0..100).for_each(|id| test.judge(&schedule, (JobId(id), 0), &WaitSample::new(vec![10; 40]), 1000));
        test
    }

    fn reliability(arrivals: BackTest) -> Reliability {
        let seen = SeenQueues { ahead: QueueAhead { jobs: 3, work: 100 }, wait: 500 };
        let (waiting, draws, judged_of, past) = (BackTest::default(), 200, 5000, 1000);
        let (jobs, largest) = (Vec::new(), (4, 100));
        let answer = LiveAnswer { jobs, draws, arrivals, waiting, judged_of, past, largest, seen };
        let (sample, simulated, ahead) = (WaitSample::new(vec![10; 40]), 10, QueueAhead { jobs: 3, work: 100 });
        let wait = LiveWait { sample, closed: ClosedTimes::default(), recalibrated: true, simulated, ahead };
        answer.reliability((&Submission::new(0, 4, 100), 0), &wait, (true, 4))
    }

    #[test]
    fn what_happened_decides() {
        assert_eq!(reliability(judged(90, 10)), Reliability::Held);
        assert_eq!(reliability(judged(90, 0)), Reliability::Held);
        assert_eq!(reliability(judged(89, 11)), Reliability::NotHeld([0, 0, 500]));
        assert_eq!(reliability(judged(40, 55)), Reliability::NotHeld([500, 500, 500]));
        // A range in which 95% started is not known if 6 of 100 still wait.
        let doubt = "of 100 past answers only 89.0% held, and more than 5% of these jobs have not started yet";
        assert_eq!(reliability(judged(89, 5)), Reliability::Unknown(doubt.to_string()));
        let doubt =
            "only 0 past answers for jobs that arrived can be judged, 50 are needed: a longer log has more".to_string();
        assert_eq!(reliability(BackTest::default()), Reliability::Unknown(doubt));
    }
}
