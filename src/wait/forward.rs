//! Waits predicted by a simulation of the present queue (Smith, Taylor and Foster, "Using Run-Time Predictions to
//! Estimate Queue Wait Times"). Unlike the other methods it depends on the site's scheduler.

use std::ops::Range;

use super::schedule::SiteSchedule;
use crate::engine::{EngineError, EngineOptions, Named, Simulation};
use crate::experiment::Setting;
use crate::job::{Job, JobId, Submission};
use crate::predict;
use crate::schedule::{self, Policy, View, Waiting};
use crate::time::{Seconds, Time};

/// How the present queue is simulated.
#[derive(Clone, Debug)]
pub struct ForwardSetting {
    /// The scheduler of the site, and the predictor of the runtimes of its jobs.
    pub setting: Setting,
    /// What the simulated scheduler plans with.
    pub plans: ForwardPlans,
}

/// What a simulated scheduler knows of the runtimes of its jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForwardPlans {
    /// The users' estimates, as a site's scheduler does. A job that outlives its estimate misses its deadline, and its
    /// planned end moves by the engine's rule for missed deadlines.
    #[default]
    Estimate,
    /// The predicted runtimes, which are the runtimes of that simulation: its scheduler knows all ends.
    Prediction,
}

/// The waits of the jobs in `wanted`, in seconds, each predicted when the job arrives: running and waiting jobs run as
/// long as predicted, and no other jobs arrive. `watch` is called with the number of finished predictions.
pub fn forward_waits(
    schedule: &SiteSchedule<'_>,
    forward: &ForwardSetting,
    wanted: Range<usize>,
    watch: &dyn Fn(usize),
) -> Result<Vec<Seconds>, EngineError> {
    let setting = &forward.setting;
    // The replay updates the predictor, so that its predictions are those of each job's arrival.
    let jobs = schedule.with_waits();
    let replay = schedule::catalog::parse("replay").expect("replay is in the catalog");
    let policy = Named { name: "replay".to_string(), value: schedule::catalog::build(&replay, &jobs) };
    let mut predictor = predict::catalog::build(&setting.predictor);
    predictor.on_begin(&schedule.facts());
    let predictor = Named { name: setting.predictor.to_string(), value: predictor };
    let options = EngineOptions { unix_start: schedule.unix_start, ..EngineOptions::default() };
    let mut past = Simulation::new(schedule.procs, policy, predictor, options);
    let first_submission = jobs.first().map_or(0, |job| job.submission.submit);
    let mut waits = Vec::with_capacity(wanted.len());
    let mut at = 0;
    for together in jobs[..wanted.end].chunk_by(|a, b| a.submission.submit == b.submission.submit) {
        let now = together[0].submission.submit;
        past.advance_to(now - 1)?;
        for job in together {
            past.submit(job)?;
        }
        past.settle(now)?;
        // No job has started at this instant yet: which ones do is part of the prediction.
        for _ in together {
            if wanted.contains(&at) {
                let target = JobId(at as u32);
                waits.push(forward_wait(&mut past, target, schedule.procs, forward, first_submission)?);
                watch(waits.len());
            }
            at += 1;
        }
        past.pass()?;
    }
    Ok(waits)
}

/// How long a waiting job waits from now on if all run times are as predicted. `first_submission` is that of the past.
fn forward_wait(
    past: &mut Simulation,
    target: JobId,
    procs: u32,
    forward: &ForwardSetting,
    first_submission: Time,
) -> Result<Seconds, EngineError> {
    let now = past.now();
    let (view, board) = past.view_and_board();
    let job = |id: JobId, submit| {
        let (submission, runtime) = (Submission { submit, ..*board.job(id) }, board.prediction(id));
        Job { submission, runtime, recorded_wait: None.into(), record: 0, number: i64::from(id.0) }
    };
    // A running job is submitted when it started, and starts at once: all running jobs fit together, and none waits. So
    // the simulated scheduler has its start, its planned end and the deadlines that it has missed. Predictions are longer
    // than jobs have run, so all of them still run now.
    let mut running: Vec<Job> =
        view.running.iter().map(|running| job(running.id, now - board.elapsed(running.id))).collect();
    running.sort_by_key(|job| (job.submission.submit, job.number));
    let ahead = view.waiting.iter().filter(|waiting| waiting.id <= target);
    let waiting: Vec<Job> = ahead.map(|waiting| job(waiting.id, now)).collect();
    // The jobs of a log may use more processors than the machine has by its header.
    let in_use: u64 = running.iter().map(|job| u64::from(job.submission.procs)).sum();
    let widest = waiting.iter().map(|job| u64::from(job.submission.procs)).max().unwrap_or(0);
    let procs = u64::from(procs).max(in_use).max(widest).min(u64::from(u32::MAX)) as u32;
    let jobs = [running, waiting].concat();
    // The numbers of these jobs are their ids in the past.
    let submits = jobs.iter().map(|job| board.job(JobId(job.number as u32)).submit).collect();
    let knowledge = match forward.plans {
        ForwardPlans::Estimate => "estimate",
        ForwardPlans::Prediction => "perfect",
    };
    let predictor = predict::catalog::parse(knowledge).expect("a predictor of the catalog");
    let setting = &forward.setting;
    let mut policy = schedule::catalog::build(&setting.scheduler, &jobs);
    policy.set_first_submission(first_submission);
    let policy = Box::new(WithSubmissions { policy, submits });
    let policy = Named { name: setting.scheduler.to_string(), value: policy as Box<dyn Policy> };
    let predictor = Named { name: knowledge.to_string(), value: predict::catalog::build(&predictor) };
    let mut future = Simulation::new(procs, policy, predictor, setting.engine);
    for job in &jobs {
        future.submit(job)?;
    }
    let target = JobId(jobs.len() as u32 - 1);
    while let Some(next) = future.next_event() {
        future.settle(next)?;
        if future.pass()?.contains(&target) {
            return Ok(next - now);
        }
    }
    unreachable!("every job starts once all before it have ended")
}

/// A policy that is given the true submission times of jobs, which arrive later in the simulation of the present queue.
/// Orders of the queue may depend on how long jobs have waited.
struct WithSubmissions {
    policy: Box<dyn Policy>,
    /// By id.
    submits: Vec<Time>,
}

impl Policy for WithSubmissions {
    fn set_first_submission(&mut self, submit: Time) {
        self.policy.set_first_submission(submit);
    }

    fn on_arrival(&mut self, id: JobId, job: &Submission) {
        self.policy.on_arrival(id, &Submission { submit: self.submits[id.index()], ..*job });
    }

    fn pass(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        self.policy.pass(view, starts);
    }

    fn reservations(&mut self, view: &View<'_>, most: usize, reserved: &mut Vec<(JobId, Time)>) {
        self.policy.reservations(view, most, reserved);
    }

    fn on_prediction(&mut self, job: &Waiting) {
        self.policy.on_prediction(job);
    }

    fn on_cancellation(&mut self, job: &Waiting) {
        self.policy.on_cancellation(job);
    }

    fn wakes_at(&self) -> Option<Time> {
        self.policy.wakes_at()
    }

    fn counts_running_by_estimates(&self) -> bool {
        self.policy.counts_running_by_estimates()
    }

    fn oversubscribes(&self) -> bool {
        self.policy.oversubscribes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_by_hand() {
        let job = |submit, procs, runtime, estimate| Job {
            submission: Submission::new(submit, procs, estimate),
            runtime,
            recorded_wait: None.into(),
            record: 0,
            number: 0,
        };
        // 4 processors. One job runs for 100 s on 3 of them, with an estimate of 200 s; the second needs all four for
        // 50 s.
        let jobs =
            [job(0, 3, 100, 200), job(10, 4, 50, 50), job(20, 1, 10, 180), job(20, 1, 10, 181), job(30, 4, 5, 5)];
        let schedule = SiteSchedule::of_jobs(&jobs, &[0, 100, 20, 150, 160], 4);
        let waits = |scheduler, predictor| {
            let setting = Setting::parse(scheduler, predictor).unwrap();
            let forward = ForwardSetting { setting, plans: ForwardPlans::Estimate };
            forward_waits(&schedule, &forward, 0..5, &|_| ()).unwrap()
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
        let job = |submit, estimate| Job {
            submission: Submission::new(submit, 4, estimate),
            runtime: estimate,
            recorded_wait: None.into(),
            record: 0,
            number: 0,
        };
        let jobs = [job(0, 100), job(10, 50), job(80, 20), job(90, 10)];
        let schedule = SiteSchedule::of_jobs(&jobs, &[0, 100, 150, 170], 4);
        let wait_of_last = |scheduler| {
            let forward = ForwardSetting {
                setting: Setting::parse(scheduler, "estimate").unwrap(),
                plans: ForwardPlans::Estimate,
            };
            forward_waits(&schedule, &forward, 3..4, &|_| ()).unwrap()[0]
        };
        assert_eq!(wait_of_last("fcfs"), 10 + 50 + 20);
        assert_eq!(wait_of_last("fcfs:queue=spf"), 10);
        // The expansion factors at 100 are 140/50 = 2.8, 40/20 = 2 and 20/10 = 2; at 150 they are 90/20 = 4.5 and 70/10 = 7.
        assert_eq!(wait_of_last("fcfs:queue=expf"), 10 + 50);
        // Only the second has waited for a minute at 100. At 150 the third has, too.
        assert_eq!(wait_of_last("easy:queue=spf,starve=1m"), 10 + 50 + 20);
        assert_eq!(wait_of_last("easy:queue=spf,starve=80s"), 10 + 50);
    }

    /// The order `f1` counts submissions from the first job of the log, though it does not run any more. 100 processors, of
    /// which the second and the third job need all. The second runs until 1,199,999. The ranks of the others are then
    /// 5 100 + 870 log10(1,000,000) = 5720 and 1 + 870 log10(1,100,000) = 5257, so the last job starts first.
    #[test]
    fn orders_of_the_queue_count_from_the_first_job_of_the_log() {
        let job = |submit, procs, estimate| Job {
            submission: Submission::new(submit, procs, estimate),
            runtime: estimate,
            recorded_wait: None.into(),
            record: 0,
            number: 0,
        };
        let jobs = [job(0, 1, 10), job(999_999, 100, 200_000), job(1_000_000, 100, 100_000), job(1_100_000, 1, 10)];
        let starts = [0, 999_999, 1_200_009, 1_199_999];
        let schedule = SiteSchedule::of_jobs(&jobs, &starts, 100);
        let setting = Setting::parse("fcfs:queue=f1", "estimate").unwrap();
        let forward = ForwardSetting { setting, plans: ForwardPlans::Estimate };
        assert_eq!(forward_waits(&schedule, &forward, 3..4, &|_| ()).unwrap(), [99_999]);
    }

    /// 4 processors. The first job, estimated at 100 s, runs on 3 of them; its predictor says 200 s. The second needs all
    /// four; the third asks for one processor.
    #[test]
    fn jobs_last_as_predicted_and_are_planned_by_estimates() {
        let job = |submit, procs, estimate| Job {
            submission: Submission::new(submit, procs, estimate),
            runtime: 1000,
            recorded_wait: None.into(),
            record: 0,
            number: 0,
        };
        let wait_of_last = |jobs: &[Job], scheduler, seconds: u32, plans| {
            let starts: Vec<_> = jobs.iter().enumerate().map(|(at, _)| if at == 0 { 0 } else { 5000 }).collect();
            let schedule = SiteSchedule::of_jobs(jobs, &starts, 4);
            let setting = Setting::parse(scheduler, &format!("constant:seconds={seconds}")).unwrap();
            let last = jobs.len() - 1;
            let forward = ForwardSetting { setting, plans };
            forward_waits(&schedule, &forward, last..jobs.len(), &|_| ()).unwrap()[0]
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
