//! When will jobs that wait now start? By simulations of the present queue, corrected by what happened to past jobs.

use std::ops::Range;

use super::back_test::BackTest;
use super::forward::{ClosedTimes, ForwardSetting, QueueSnapshot, SimulatedJobs};
use super::recalibrate::OpenQueue;
use super::sample::WaitSample;
use super::schedule::SiteSchedule;
use super::seen::{QueueAhead, SeenQueues};
use super::simulated_log::SimulatedLog;
use crate::engine::EngineError;
use crate::job::JobId;
use crate::parallel;
use crate::sort::sort_by_key;
use crate::time::{Seconds, Time};

/// The number of latest jobs of the log from which some are judged.
pub const JUDGED_JOBS: usize = 5000;

/// Every n-th of them is.
pub const JUDGED_EVERY: usize = 50;

/// Every n-th past job is simulated: enough to find similar ones, and an answer within seconds.
const PAST_EVERY: usize = 5;

/// The number of simulations of the queue that a past job found.
const PAST_DRAWS: usize = 30;

/// If the queues that past jobs found have more jobs than this together, some 500 each, fewer of them are simulated.
const LARGE_PAST: usize = 1_000_000;

/// The most jobs in all their simulations then.
const MOST_PAST: usize = 4_000_000;

/// The same for Slurm's rules on nodes, where a job takes about twenty times as long: 5,157 jobs of a site with 38 nodes would
/// take minutes. They are then simulated at least this number of times: the median of fewer draws says little.
const MOST_PAST_ON_NODES: usize = 250_000;
const FEWEST_PAST_DRAWS: usize = 5;

/// The most jobs in all simulations of the present queue. A longer queue is simulated less often, but at least 20 times: of fewer
/// waits even the longest is exceeded with a probability above 5%.
const MOST_PRESENT: usize = 1_000_000;
const FEWEST_DRAWS: usize = 20;

/// If more jobs than this have arrived since the last start, they do not count as latest jobs: they cannot be judged.
const LONG_QUEUE: usize = 500;

/// With fewer past answers than this, ranges mean little.
pub const FEW_ANSWERS: usize = 200;

/// How live answers are made.
#[derive(Clone, Debug)]
pub struct LivePlan {
    /// How the queue is simulated.
    pub forward: ForwardSetting,
    /// The number of latest starts among which similar jobs are sought.
    pub history: usize,
    /// For the draws.
    pub seed: u64,
    /// The results do not depend on it.
    pub threads: usize,
}

/// When some jobs of the queue will start, and how far that can be trusted.
#[derive(Clone, Debug)]
pub struct LiveAnswer {
    /// One for each job that was asked for.
    pub jobs: Vec<LiveWait>,
    /// How often the queue was simulated.
    pub draws: usize,
    /// How good such answers were lately, at the arrivals of jobs: for every 50th of the last 5,000 jobs of the log.
    pub arrivals: BackTest,
    /// How good they were for jobs that waited when these arrived: at most 5 at each arrival.
    pub waiting: BackTest,
    /// The number of latest jobs from which the arrivals were taken.
    pub judged_of: usize,
    /// The number of past jobs among which similar ones were sought.
    pub past: usize,
    /// The widest of them, in processors, and the longest, by its estimate.
    pub largest: (u32, Seconds),
    /// The longest queues that past jobs found, and the longest wait.
    pub seen: SeenQueues,
}

/// When a job of the queue will start.
#[derive(Clone, Debug)]
pub struct LiveWait {
    /// Its waits from now on. None ends in a closed time.
    pub sample: WaitSample,
    /// When it cannot start because of outages.
    pub closed: ClosedTimes,
    /// Whether they are recalibrated. Otherwise they are as simulated: that was asked for, or too few past jobs are known.
    pub recalibrated: bool,
    /// The median of its simulated waits, before any recalibration.
    pub simulated: Seconds,
    /// The jobs that wait and arrived before it.
    pub ahead: QueueAhead,
}

impl LivePlan {
    /// Answers for waiting jobs of a snapshot, by their places. The history are the first `arrived` jobs of the schedule, as far
    /// as they are known at the instant of the snapshot. `watch` is called with the number of past jobs that are simulated, and of
    /// all of them.
    ///
    /// # Errors
    /// If the scheduler breaks its contract.
    pub fn answer(
        &self,
        schedule: &SiteSchedule<'_>,
        arrived: usize,
        (snapshot, wanted): (&QueueSnapshot, &[usize]),
        watch: &dyn Fn(usize, usize),
    ) -> Result<LiveAnswer, EngineError> {
        let starts = known_starts(schedule, arrived, snapshot.now);
        // Nothing is known of jobs that have arrived later.
        let last = starts.iter().map(|id| id.index() + 1).max().unwrap_or(0);
        let latest = if arrived - last > LONG_QUEUE { last } else { arrived };
        let judged = latest.saturating_sub(JUDGED_JOBS)..latest;
        let (past_jobs, draws) = self.past_jobs(schedule, judged.clone());
        let forward = ForwardSetting { draws: self.forward.draws.min(draws), ..self.forward.clone() };
        let watch = |done| watch(done, past_jobs.count());
        let log = SimulatedLog::new(schedule, &forward, past_jobs.clone(), &starts, (self.seed, self.threads), &watch)?;
        let (_, window) = log.past(starts.len(), self.history);
        let draws = self.forward.draws.min((MOST_PRESENT / snapshot.len().max(1)).max(FEWEST_DRAWS));
        let jobs = self.present(snapshot, wanted, draws, (&log, starts.len(), past_jobs.every))?;
        let past = PastLog { schedule, starts: &starts, log: &log, now: snapshot.now };
        let (arrivals, waiting) =
            (self.judge_arrivals(&past, judged.clone()), self.judge_waiting(&past, past_jobs.every));
        let seen = SeenQueues::of(schedule, past_jobs.range.start..latest, snapshot.now);
        let (past, largest) = (window.len(), log.largest(window));
        Ok(LiveAnswer { jobs, draws, arrivals, waiting, judged_of: judged.len(), past, largest, seen })
    }

    /// Simulates the present queue and corrects the waits of the wanted jobs by those of past jobs. `known` starts of the log are
    /// known, and every n-th job of it is simulated.
    fn present(
        &self,
        snapshot: &QueueSnapshot,
        wanted: &[usize],
        draws: usize,
        (log, known, every): (&SimulatedLog<'_>, usize, usize),
    ) -> Result<Vec<LiveWait>, EngineError> {
        let forward = ForwardSetting { draws, ..self.forward.clone() };
        let simulated = snapshot.samples(&forward, self.seed, self.threads)?;
        let closed = snapshot.waiting.iter().zip(&simulated);
        let closed = closed.map(|(job, simulated)| ClosedTimes::new(snapshot.closed_times(job), simulated));
        let closed: Vec<ClosedTimes> = closed.collect();
        // Past jobs tell how long a job waits for processors, without the times in which it cannot start anyway.
        let medians = simulated.iter().zip(&closed).map(|(simulated, closed)| closed.without(simulated.median()));
        let waiting = snapshot.waiting.iter().map(|job| &job.submission).zip(medians);
        let queue = OpenQueue::new(snapshot.now, every, waiting);
        let mut ahead = vec![QueueAhead::default()];
        for job in &snapshot.waiting {
            let mut more = ahead[ahead.len() - 1];
            more.add(&job.submission);
            ahead.push(more);
        }
        let (past, window) = log.past(known, self.history);
        let answer = |&own: &usize| {
            let corrected = self.forward.recalibrate.then(|| queue.recalibrated(own, past, window.clone())).flatten();
            let delay = (snapshot.waiting[own].submission.submit - snapshot.now).max(0);
            let corrected = corrected.map(|sample| sample.map(|wait| closed[own].with(wait + delay)));
            LiveWait {
                recalibrated: corrected.is_some(),
                sample: corrected.unwrap_or_else(|| simulated[own].clone()),
                closed: closed[own].clone(),
                simulated: simulated[own].median(),
                ahead: ahead[own],
            }
        };
        Ok(parallel::map(wanted, self.threads, answer, |_| ()))
    }

    /// Which past jobs are simulated, and how often: those among which similar ones are sought, and those that are judged. Deep
    /// queues take long: then fewer jobs are simulated, and less often.
    fn past_jobs(&self, schedule: &SiteSchedule<'_>, judged: Range<usize>) -> (SimulatedJobs, usize) {
        let moments: Vec<usize> = judged.clone().step_by(JUDGED_EVERY).collect();
        let Range { start: judged_from, end: last } = judged;
        if !self.forward.recalibrate {
            return (SimulatedJobs { range: judged_from..last, every: JUDGED_EVERY, moments }, PAST_DRAWS);
        }
        let submits = |place: usize| schedule.workload.jobs[place].submission.submit;
        let ends = schedule.workload.jobs[..last].iter().zip(schedule.starts).map(|(job, start)| start + job.runtime);
        let mut ends: Vec<Time> = ends.collect();
        ends.sort_unstable();
        let jobs = |every: usize| {
            let before = self.history.min(judged_from) / every * every;
            SimulatedJobs { range: judged_from - before..last, every, moments: moments.clone() }
        };
        // The jobs that ran or waited when these arrived.
        let present = |every: usize| -> usize {
            let found = |place: usize| place.saturating_sub(ends.partition_point(|end| *end <= submits(place))) + 1;
            jobs(every).range.step_by(every).map(found).sum()
        };
        let is_slurm = self.forward.setting.scheduler.name() == "slurm" && schedule.workload.shapes.is_some();
        let (most, fewest) = match is_slurm {
            true => (MOST_PAST_ON_NODES, FEWEST_PAST_DRAWS),
            false if present(PAST_EVERY) <= LARGE_PAST => return (jobs(PAST_EVERY), PAST_DRAWS),
            false => (MOST_PAST, 1),
        };
        let mut rarer = [1, 2, 5, 10, 20, 50].map(|times| times * PAST_EVERY).into_iter();
        let every = rarer.find(|every| present(*every) * fewest <= most).unwrap_or(100 * PAST_EVERY);
        (jobs(every), (most / present(every).max(1)).clamp(fewest, PAST_DRAWS))
    }

    /// Judges the answers that some past jobs would have had when they arrived.
    fn judge_arrivals(&self, past: &PastLog<'_>, jobs: Range<usize>) -> BackTest {
        let mut test = BackTest::default();
        for id in jobs.step_by(JUDGED_EVERY).map(|at| JobId(at as u32)) {
            let (at, known) = past.at_arrival(id);
            let sample = match self.forward.recalibrate {
                true => past.log.recalibrated(id, known, self.history),
                false => past.log.sample(id).cloned(),
            };
            if let Some(sample) = sample {
                test.judge(past.schedule, (id, at), &sample, past.now);
            }
        }
        test
    }

    /// Judges the answers that some jobs would have had while they waited. Every n-th job of the log is simulated.
    fn judge_waiting(&self, past: &PastLog<'_>, every: usize) -> BackTest {
        let mut test = BackTest::default();
        for found in past.log.queues() {
            let (at, known) = past.at_arrival(found.arriving);
            let submission = |id: JobId| &past.schedule.workload.jobs[id.index()].submission;
            let waiting = found.medians.iter().map(|(id, median)| (submission(*id), *median));
            let queue = OpenQueue::new(at, every, waiting);
            let (answers, window) = past.log.past(known, self.history);
            for (place, simulated) in &found.chosen {
                let recalibrated = || queue.recalibrated(*place, answers, window.clone());
                let corrected = self.forward.recalibrate.then(recalibrated).flatten();
                let id = found.medians[*place].0;
                test.judge(past.schedule, (id, at), corrected.as_ref().unwrap_or(simulated), past.now);
            }
        }
        test
    }
}

/// What is known of the past.
struct PastLog<'a> {
    schedule: &'a SiteSchedule<'a>,
    /// In the order in which the jobs started.
    starts: &'a [JobId],
    log: &'a SimulatedLog<'a>,
    now: Time,
}

impl PastLog<'_> {
    /// When a job arrived, and how many starts were known then.
    fn at_arrival(&self, id: JobId) -> (Time, usize) {
        let now = self.schedule.workload.jobs[id.index()].submission.submit;
        (now, known_at(self.schedule, self.starts, now, id.index()))
    }
}

/// The first `arrived` jobs that have started by `now`, in the order in which they did. At `now` itself jobs start before others
/// arrive, as in a replay.
fn known_starts(schedule: &SiteSchedule<'_>, arrived: usize, now: Time) -> Vec<JobId> {
    let mut starts: Vec<JobId> = (0..arrived as u32).map(JobId).collect();
    starts.retain(|id| schedule.starts[id.index()] <= now);
    sort_by_key(&mut starts, |id| (schedule.starts[id.index()], *id));
    starts
}

/// How many of these starts were known when the job at this place of the schedule arrived.
fn known_at(schedule: &SiteSchedule<'_>, starts: &[JobId], now: Time, place: usize) -> usize {
    starts.partition_point(|id| (schedule.starts[id.index()], id.index()) < (now, place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Setting;
    use crate::job::{Job, Submission};
    use crate::trace::Workload;
    use crate::wait::forward::ForwardPlans;

    /// One job per second, each in the queue for so long that as many as wanted are there.
    fn past_jobs(present: i64) -> (usize, usize) {
        let submission = |at| Submission::new(at, 1, 50);
        let job = |at| Job::new(submission(at), 1);
        let workload = Workload { procs: 4, jobs: (0..30_000).map(job).collect(), ..Workload::default() };
        let starts: Vec<Time> = (0..30_000).map(|at| at + present - 1).collect();
        let setting = Setting::parse("easy", "estimate").unwrap();
        let forward = ForwardSetting { setting, plans: ForwardPlans::Estimate, draws: 200, recalibrate: true };
        let plan = LivePlan { forward, history: 5000, seed: 1, threads: 1 };
        let (past, draws) = plan.past_jobs(&SiteSchedule::new(&workload, &starts), 25_000..30_000);
        (past.count(), draws)
    }

    /// The time for past jobs is bounded, however deep their queues were.
    #[test]
    fn of_deep_queues_fewer_are_simulated() {
        assert_eq!(past_jobs(100), (2000, 30));
        assert_eq!(past_jobs(500), (2000, 30));
        assert_eq!(past_jobs(1000), (2000, 2));
        assert_eq!(past_jobs(5000), (400, 2));
        assert_eq!(past_jobs(20_000), (200, 1));
    }
}
