//! Waits predicted by a simulation of the present queue (Smith, Taylor and Foster, "Using Run-Time Predictions to
//! Estimate Queue Wait Times"). Unlike the other methods it depends on the site's scheduler.

mod closed;
mod draws;
mod snapshot;

pub use closed::{ClosedTime, ClosedTimes};
pub use draws::{PastRatios, RatioHistory};
pub use snapshot::{QueueSnapshot, SnapshotJob};

use std::ops::Range;
use std::sync::Arc;

use super::sample::WaitSample;
use super::schedule::SiteSchedule;
use crate::engine::{EngineError, EngineOptions, Simulation};
use crate::experiment::Setting;
use crate::job::JobId;
use crate::parallel;
use crate::rng::stream;
use crate::schedule::{self, Accounts, LogFacts};
use crate::time::Seconds;
use crate::trace::{RunFacts, TaskArrays};

/// Which jobs of a log are simulated.
#[derive(Clone, Debug)]
pub struct SimulatedJobs {
    /// Their places in the schedule.
    pub range: Range<usize>,
    /// Only every n-th of them, from the first on.
    pub every: usize,
    /// The places of those at whose arrivals all waiting jobs are answered for, in ascending order.
    pub moments: Vec<usize>,
}

impl SimulatedJobs {
    /// These jobs, without answers for others that wait when they arrive.
    pub fn arrivals(range: Range<usize>, every: usize) -> SimulatedJobs {
        SimulatedJobs { range, every, moments: Vec::new() }
    }

    /// Whether the job at this place is one of them.
    pub fn contains(&self, place: usize) -> bool {
        self.range.contains(&place) && (place - self.range.start).is_multiple_of(self.every)
    }

    /// The number of jobs.
    pub fn count(&self) -> usize {
        self.range.len().div_ceil(self.every)
    }

    /// The number of a job among them.
    pub(super) fn number(&self, id: JobId) -> Option<usize> {
        self.contains(id.index()).then(|| (id.index() - self.range.start) / self.every)
    }
}

/// How the present queue is simulated.
#[derive(Clone, Debug)]
pub struct ForwardSetting {
    /// The scheduler of the site, and the predictor of the runtimes of its jobs if they are not drawn.
    pub setting: Setting,
    /// What the simulated scheduler plans with.
    pub plans: ForwardPlans,
    /// How often the queue is simulated with drawn runtimes. 0: once, with predicted runtimes.
    pub draws: usize,
    /// The simulated wait is only used to find past jobs with a similar one, whose waits are the answer.
    pub recalibrate: bool,
}

/// What a simulated scheduler knows of the runtimes of its jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForwardPlans {
    /// The users' estimates, as a site's scheduler does. A job that outlives its estimate misses its deadline, and its
    /// planned end moves by the engine's rule for missed deadlines.
    #[default]
    Estimate,
    /// The predicted or drawn runtimes, which are the runtimes of that simulation: its scheduler knows all ends.
    Prediction,
}

/// How much a set of snapshots may hold before their simulations begin: enough for all threads, and little memory.
const MOST_SNAPSHOTS: usize = 512;
const MOST_JOBS: usize = 50_000;

/// What simulations say of past jobs.
pub struct ForwardWaits {
    /// Of each wanted job, when it arrived.
    pub arrivals: Vec<WaitSample>,
    /// Of the jobs that waited at each wanted moment.
    pub queues: Vec<QueueWaits>,
}

/// What simulations say of the jobs that wait when a job arrives.
pub struct QueueWaits {
    /// The job that arrives.
    pub arriving: JobId,
    /// All jobs that wait, in order of arrival, each with the median of its simulated waits from then on.
    pub medians: Vec<(JobId, Seconds)>,
    /// All simulated waits of some that arrived earlier, by their places among these.
    pub chosen: Vec<(usize, WaitSample)>,
}

/// Of the jobs that wait at a moment at most this number has its whole sample: their waits are much alike.
const MOST_CHOSEN: usize = 5;

/// The waits of the wanted jobs, in seconds, each predicted when the job arrives: running and waiting jobs run as
/// long as predicted or drawn, and no other jobs arrive. `watch` is called with the number of finished predictions. The result
/// does not depend on the number of threads.
///
/// # Errors
/// If the scheduler or the predictor breaks its contract.
pub fn forward_waits(
    schedule: &SiteSchedule<'_>,
    forward: &ForwardSetting,
    wanted: &SimulatedJobs,
    (seed, threads): (u64, usize),
    watch: &dyn Fn(usize),
) -> Result<ForwardWaits, EngineError> {
    let accounts = Arc::new(Accounts::of(&schedule.workload.jobs, &schedule.workload.wide));
    let arrays = TaskArrays::of(schedule.workload);
    let (mut samples, mut queues) = (Vec::with_capacity(wanted.count()), Vec::new());
    let (mut snapshots, mut held): (Vec<(JobId, QueueSnapshot)>, usize) = (Vec::new(), 0);
    let mut answer = |snapshots: &mut Vec<(JobId, QueueSnapshot)>| {
        let sample = |(id, snapshot): &(JobId, QueueSnapshot)| snapshot.sample_of_last(forward, seed, *id);
        for sample in parallel::map(snapshots, threads, sample, |_| ()) {
            samples.push(sample?);
        }
        watch(samples.len());
        snapshots.clear();
        Ok(())
    };
    each_arrival(schedule, &forward.setting, wanted.range.end, &mut |id, past| {
        if wanted.contains(id.index()) {
            let snapshot = QueueSnapshot::of(past, id, schedule, (&accounts, &arrays));
            if wanted.moments.binary_search(&id.index()).is_ok() {
                let waiting = past.state().0.waiting.iter().map(|waiting| waiting.id).take_while(|other| *other <= id);
                queues.push(snapshot.queue_waits(waiting.collect(), forward, (seed, threads))?);
            }
            held += snapshot.len();
            snapshots.push((id, snapshot));
            if snapshots.len() >= MOST_SNAPSHOTS || held >= MOST_JOBS {
                held = 0;
                return answer(&mut snapshots);
            }
        }
        Ok(())
    })?;
    answer(&mut snapshots)?;
    Ok(ForwardWaits { arrivals: samples, queues })
}

/// The queue that a job of the schedule finds when it arrives, with itself as the last.
///
/// # Errors
/// If the predictor breaks its contract.
pub fn snapshot_at(
    schedule: &SiteSchedule<'_>,
    forward: &ForwardSetting,
    id: JobId,
) -> Result<Option<QueueSnapshot>, EngineError> {
    let mut found = None;
    each_arrival(schedule, &forward.setting, id.index() + 1, &mut |arrived, past| {
        if arrived == id {
            let accounts = Arc::new(Accounts::of(&schedule.workload.jobs, &schedule.workload.wide));
            let arrays = TaskArrays::of(schedule.workload);
            found = Some(QueueSnapshot::of(past, id, schedule, (&accounts, &arrays)));
        }
        Ok(())
    })?;
    Ok(found)
}

/// A replay of a schedule, with the ratios of the jobs that have ended.
type ForwardReplay = Simulation<RatioHistory>;

/// Replays the schedule and calls `visit` for each of the first `jobs` jobs when it has arrived, before any job starts at
/// that instant: which ones do is part of a prediction.
fn each_arrival(
    schedule: &SiteSchedule<'_>,
    setting: &Setting,
    jobs: usize,
    visit: &mut dyn FnMut(JobId, &mut ForwardReplay) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let all = schedule.with_waits();
    let scheduler = schedule::catalog::parse("replay").expect("replay is in the catalog");
    let policy = Setting { scheduler, ..setting.clone() }.policy(&LogFacts::of_jobs(&all, &schedule.workload.wide));
    // The replay updates the predictor and the ratios, so that they are those of each job's arrival.
    let predictor = setting.predictor(&RunFacts::of(schedule.workload));
    let options = EngineOptions { unix_start: schedule.workload.unix_start, ..EngineOptions::default() };
    let mut past = Simulation::observed(schedule.workload.procs, policy, predictor, options, RatioHistory::default());
    let mut at = 0;
    for together in all[..jobs].chunk_by(|a, b| a.submission.submit == b.submission.submit) {
        let now = together[0].submission.submit;
        past.advance_to(now - 1)?;
        for job in together {
            past.submit(job)?;
        }
        past.settle(now)?;
        for _ in together {
            visit(JobId(at), &mut past)?;
            at += 1;
        }
        past.pass()?;
    }
    Ok(())
}

impl QueueSnapshot {
    /// The waits of the last waiting job, whose number in the log seeds the draws.
    fn sample_of_last(&self, forward: &ForwardSetting, seed: u64, id: JobId) -> Result<WaitSample, EngineError> {
        if forward.draws == 0 {
            return Ok(WaitSample::new(vec![self.wait_of_last(forward, &mut |job| job.predicted)?]));
        }
        let mut rng = stream(seed, &format!("runtimes at the arrival of job {}", id.0));
        let mut waits = Vec::with_capacity(forward.draws);
        while waits.len() < forward.draws {
            let draw =
                &mut |job: &SnapshotJob| draws::draw(&job.ratios, job.submission.estimate, job.elapsed, &mut rng);
            waits.push(self.wait_of_last(forward, draw)?);
            // What starts now does not depend on runtimes, if the scheduler does not know them.
            if waits == [0] && forward.plans == ForwardPlans::Estimate {
                waits = vec![0; forward.draws];
            }
        }
        Ok(WaitSample::new(waits))
    }

    /// What simulations say of all waiting jobs. The last of them arrives now.
    fn queue_waits(
        &self,
        waiting: Vec<JobId>,
        forward: &ForwardSetting,
        (seed, threads): (u64, usize),
    ) -> Result<QueueWaits, EngineError> {
        let arriving = waiting[waiting.len() - 1];
        let earlier = self.waiting.iter().filter(|job| job.submission.submit < self.now).count();
        if earlier == 0 {
            return Ok(QueueWaits { arriving, medians: Vec::new(), chosen: Vec::new() });
        }
        let samples = self.samples(forward, seed.wrapping_add(u64::from(arriving.0)), threads)?;
        let medians = waiting.into_iter().zip(samples.iter().map(WaitSample::median)).collect();
        // In the middle of parts of equal lengths.
        let count = earlier.min(MOST_CHOSEN);
        let places = (0..count).map(|part| (2 * part + 1) * earlier / (2 * count));
        let chosen = places.map(|place| (place, samples[place].clone())).collect();
        Ok(QueueWaits { arriving, medians, chosen })
    }

    /// The waits from now on of all waiting jobs, in their order, with drawn runtimes.
    ///
    /// # Errors
    /// As [`QueueSnapshot::simulate`].
    pub fn samples(&self, forward: &ForwardSetting, seed: u64, threads: usize) -> Result<Vec<WaitSample>, EngineError> {
        let draws: Vec<usize> = (0..forward.draws.max(1)).collect();
        let one = |draw: &usize| -> Result<Vec<Seconds>, EngineError> {
            let mut rng = stream(seed, &format!("runtimes of the present queue, draw {draw}"));
            let runtime = &mut |job: &SnapshotJob| match forward.draws {
                0 => job.predicted,
                _ => draws::draw(&job.ratios, job.submission.estimate, job.elapsed, &mut rng),
            };
            let mut waits = vec![0; self.waiting.len()];
            self.simulate(forward, runtime, &mut |place, wait| {
                waits[place] = wait;
                true
            })?;
            Ok(waits)
        };
        let all = parallel::map(&draws, threads, one, |_| ()).into_iter().collect::<Result<Vec<_>, _>>()?;
        let of_job = |place: usize| WaitSample::new(all.iter().map(|waits| waits[place]).collect());
        Ok((0..self.waiting.len()).map(of_job).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Job, Submission};
    use crate::trace::Workload;
    use std::ops::Range;

    /// Runtimes as predicted, one simulation.
    fn predicted(setting: Setting, plans: ForwardPlans) -> ForwardSetting {
        ForwardSetting { setting, plans, draws: 0, recalibrate: false }
    }

    fn points(schedule: &SiteSchedule<'_>, forward: &ForwardSetting, wanted: Range<usize>) -> Vec<Seconds> {
        let wanted = SimulatedJobs::arrivals(wanted, 1);
        let samples = forward_waits(schedule, forward, &wanted, (1, 1), &|_| ()).unwrap().arrivals;
        samples.iter().map(|sample| sample.quantile(0.5)).collect()
    }

    #[test]
    fn waits_by_hand() {
        let job = |submit, procs, runtime, estimate| Job::new(Submission::new(submit, procs, estimate), runtime);
        // 4 processors. One job runs for 100 s on 3 of them, with an estimate of 200 s; the second needs all four for
        // 50 s.
        let jobs =
            vec![job(0, 3, 100, 200), job(10, 4, 50, 50), job(20, 1, 10, 180), job(20, 1, 10, 181), job(30, 4, 5, 5)];
        let workload = Workload { procs: 4, jobs, ..Workload::default() };
        let schedule = SiteSchedule::new(&workload, &[0, 100, 20, 150, 160]);
        let waits = |scheduler, predictor| {
            let setting = Setting::parse(scheduler, predictor).unwrap();
            let forward = predicted(setting, ForwardPlans::Estimate);
            points(&schedule, &forward, 0..5)
        };
        // The first starts at once; the second when it ends, at 200. The third may be backfilled (it ends at 200), the
        // fourth ends a second too late and waits for the second, and the last waits for the fourth.
        assert_eq!(waits("easy", "estimate"), [0, 190, 0, 230, 250 + 181 - 30]);
        // Without backfilling the third and the fourth wait for the second. (In the replayed schedule the third has
        // started, so it is running when the last job arrives.)
        assert_eq!(waits("fcfs", "estimate"), [0, 190, 230, 230, 250 + 181 - 30]);
    }

    /// 4 processors. The first job runs until 100, the second and the third need all four. At 90 the second has waited 80 s
    /// and the third 10 s.
    #[test]
    fn orders_of_the_queue_see_the_true_waits() {
        let job = |submit, estimate| Job::new(Submission::new(submit, 4, estimate), estimate);
        let jobs = vec![job(0, 100), job(10, 50), job(80, 20), job(90, 10)];
        let workload = Workload { procs: 4, jobs, ..Workload::default() };
        let schedule = SiteSchedule::new(&workload, &[0, 100, 150, 170]);
        let wait_of_last = |scheduler| {
            let forward = predicted(Setting::parse(scheduler, "estimate").unwrap(), ForwardPlans::Estimate);
            points(&schedule, &forward, 3..4)[0]
        };
        assert_eq!(wait_of_last("fcfs"), 10 + 50 + 20);
        assert_eq!(wait_of_last("fcfs:queue=spf"), 10);
        // The expansion factors at 100 are 140/50 = 2.8, 40/20 = 2 and 20/10 = 2; at 150 they are 90/20 = 4.5 and 70/10 = 7.
        assert_eq!(wait_of_last("fcfs:queue=expf"), 10 + 50);
        // Only the second has waited for a minute at 100. At 150 the third has, too.
        assert_eq!(wait_of_last("easy:queue=spf,starve=1m"), 10 + 50 + 20);
        assert_eq!(wait_of_last("easy:queue=spf,starve=80s"), 10 + 50);
    }

    /// Ten users submit the jobs of the log, so each has a tenth of the machine, and the user of the running job has used all:
    /// its waiting job has the full age and 2^-10 of the weight of fair share, together less than the new job of another user.
    /// If only the users of the present queue had shares, it would have 2^-2 of that weight and be the first.
    #[test]
    fn shares_are_those_of_all_users_of_the_log() {
        let job =
            |user, submit, estimate| Job::new(Submission { user, ..Submission::new(submit, 4, estimate) }, estimate);
        let past = (3..=10).map(|user| job(user, 0, 60));
        let jobs: Vec<Job> = past.chain([job(1, 1000, 6000), job(1, 1001, 600), job(2, 6990, 60)]).collect();
        let starts: Vec<_> = (0..8).map(|at| at * 60).chain([1000, 7000, 7600]).collect();
        let workload = Workload { procs: 4, jobs, ..Workload::default() };
        let schedule = SiteSchedule::new(&workload, &starts);
        let scheduler = "slurm:order=multifactor,age_weight=900,max_age=1h,fairshare_weight=1000";
        let wait = |scheduler: &str| {
            let forward = predicted(Setting::parse(scheduler, "estimate").unwrap(), ForwardPlans::Estimate);
            points(&schedule, &forward, 10..11)[0]
        };
        assert!(wait(scheduler) < 100, "{}", wait(scheduler));
        assert!(wait("slurm") >= 610, "{}", wait("slurm"));
    }

    /// The order `f1` counts submissions from the first job of the log, though it does not run any more. 100 processors, of
    /// which the second and the third job need all. The second runs until 1,199,999. The ranks of the others are then
    /// 5 100 + 870 log10(1,000,000) = 5720 and 1 + 870 log10(1,100,000) = 5257, so the last job starts first.
    #[test]
    fn orders_of_the_queue_count_from_the_first_job_of_the_log() {
        let job = |submit, procs, estimate| Job::new(Submission::new(submit, procs, estimate), estimate);
        let jobs = vec![job(0, 1, 10), job(999_999, 100, 200_000), job(1_000_000, 100, 100_000), job(1_100_000, 1, 10)];
        let starts = [0, 999_999, 1_200_009, 1_199_999];
        let workload = Workload { procs: 100, jobs, ..Workload::default() };
        let schedule = SiteSchedule::new(&workload, &starts);
        let setting = Setting::parse("fcfs:queue=f1", "estimate").unwrap();
        let forward = predicted(setting, ForwardPlans::Estimate);
        assert_eq!(points(&schedule, &forward, 3..4), [99_999]);
    }

    /// 4 processors. The first job, estimated at 100 s, runs on 3 of them; its predictor says 200 s. The second needs all
    /// four; the third asks for one processor.
    #[test]
    fn jobs_last_as_predicted_and_are_planned_by_estimates() {
        let job = |submit, procs, estimate| Job::new(Submission::new(submit, procs, estimate), 1000);
        let wait_of_last = |jobs: &[Job], scheduler, seconds: u32, plans| {
            let starts: Vec<_> = jobs.iter().enumerate().map(|(at, _)| if at == 0 { 0 } else { 5000 }).collect();
            let workload = Workload { procs: 4, jobs: jobs.to_vec(), ..Workload::default() };
            let schedule = SiteSchedule::new(&workload, &starts);
            let setting = Setting::parse(scheduler, &format!("constant:seconds={seconds}")).unwrap();
            let last = jobs.len() - 1;
            let forward = predicted(setting, plans);
            points(&schedule, &forward, last..jobs.len())[0]
        };
        let (estimate, prediction) = (ForwardPlans::Estimate, ForwardPlans::Prediction);
        // At 20 the third arrives, with an estimate of 150 s. All jobs last 200 s. Planned by estimates, the first ends at
        // 100, so a job of 150 s does not end before the reservation of the second. The first ends at 200, the second
        // runs until 400. Planned by predictions the first ends at 200, and a job of 200 s would end at 220: no better.
        let jobs = [job(0, 3, 100), job(10, 4, 100), job(20, 1, 150)];
        assert_eq!(wait_of_last(&jobs, "easy", 200, estimate), 400 - 20);
        assert_eq!(wait_of_last(&jobs, "easy", 200, prediction), 400 - 20);
        // With an estimate of 80 s the scheduler backfills it, though it would last until 220.
        let jobs = [job(0, 3, 100), job(10, 4, 100), job(20, 1, 80)];
        assert_eq!(wait_of_last(&jobs, "easy", 200, estimate), 0);
        assert_eq!(wait_of_last(&jobs, "easy", 200, prediction), 400 - 20);
        // The first has outlived its estimate of 100 s when the third arrives at 130: it missed the deadline at 100, so
        // its planned end is 160 (a minute more). A job of 30 s is backfilled, one of 31 s is not: it starts when the
        // second, which follows the first at 200, ends.
        for (asked, wait) in [(30, 0), (31, 400 - 130)] {
            let jobs = [job(0, 3, 100), job(10, 4, 100), job(130, 1, asked)];
            assert_eq!(wait_of_last(&jobs, "easy", 200, estimate), wait, "{asked}");
        }
        // At 170 it has missed two deadlines, at 100 and at 160: the planned end is 460, five minutes more. It ends at
        // 200 all the same.
        for (asked, wait) in [(290, 0), (291, 400 - 170)] {
            let jobs = [job(0, 3, 100), job(10, 4, 100), job(170, 1, asked)];
            assert_eq!(wait_of_last(&jobs, "easy", 200, estimate), wait, "{asked}");
        }
    }
}
