//! Waits predicted by a simulation of the present queue (Smith, Taylor and Foster, "Using Run-Time Predictions to
//! Estimate Queue Wait Times"). Unlike the other methods it depends on the site's scheduler.

use std::ops::Range;

use super::schedule::SiteSchedule;
use crate::engine::{EngineError, EngineOptions, Named, Simulation};
use crate::experiment::Setting;
use crate::job::{Job, JobId, Submission};
use crate::predict;
use crate::schedule;
use crate::time::Seconds;

/// The waits of the jobs in `wanted`, in seconds, each predicted when the job arrives: running and waiting jobs run as
/// long as predicted, and no other jobs arrive. `watch` is called with the number of finished predictions.
pub fn forward_waits(
    schedule: &SiteSchedule<'_>,
    setting: &Setting,
    wanted: Range<usize>,
    watch: &dyn Fn(usize),
) -> Result<Vec<Seconds>, EngineError> {
    // The replay updates the predictor, so that its predictions are those of each job's arrival.
    let jobs = schedule.with_waits();
    let replay = schedule::catalog::parse("replay").expect("replay is in the catalog");
    let policy = Named { name: "replay".to_string(), value: schedule::catalog::build(&replay, &jobs) };
    let predictor = predict::catalog::build(&setting.predictor);
    let predictor = Named { name: setting.predictor.to_string(), value: predictor };
    let mut past = Simulation::new(schedule.procs, policy, predictor, EngineOptions::default());
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
                waits.push(forward_wait(&mut past, JobId(at as u32), schedule.procs, setting)?);
                watch(waits.len());
            }
            at += 1;
        }
        past.pass()?;
    }
    Ok(waits)
}

/// How long a waiting job waits from now on if all run times are as predicted.
fn forward_wait(past: &mut Simulation, target: JobId, procs: u32, setting: &Setting) -> Result<Seconds, EngineError> {
    let now = past.now();
    let (view, board) = past.view_and_board();
    let job = |id: JobId, submit, runtime| {
        let submission = Submission { submit, ..*board.job(id) };
        Job { submission, runtime, recorded_wait: None.into(), record: 0, number: i64::from(id.0) }
    };
    // A running job is submitted a second ago and runs for its predicted remaining time.
    let mut jobs: Vec<Job> = view
        .running
        .iter()
        .map(|running| job(running.id, now - 1, board.prediction(running.id) - board.elapsed(running.id) + 1))
        .collect();
    let running = jobs.len();
    let ahead = view.waiting.iter().filter(|waiting| waiting.id <= target);
    jobs.extend(ahead.map(|waiting| job(waiting.id, now, waiting.prediction)));
    // The jobs of a log may use more processors than the machine has by its header.
    let in_use: u64 = jobs[..running].iter().map(|job| u64::from(job.submission.procs)).sum();
    let widest = jobs.iter().map(|job| u64::from(job.submission.procs)).max().unwrap_or(0);
    let procs = u64::from(procs).max(in_use).max(widest).min(u64::from(u32::MAX)) as u32;
    let perfect = predict::catalog::parse("perfect").expect("perfect is in the catalog");
    let policy = schedule::catalog::build(&setting.scheduler, &jobs);
    let policy = Named { name: setting.scheduler.to_string(), value: policy };
    let predictor = Named { name: "perfect".to_string(), value: predict::catalog::build(&perfect) };
    let mut future = Simulation::new(procs, policy, predictor, setting.engine);
    let (running, waiting) = jobs.split_at(running);
    for job in running {
        future.submit(job)?;
    }
    if !running.is_empty() {
        future.advance_to(now - 1)?;
    }
    for job in waiting {
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
        let schedule = SiteSchedule { jobs: &jobs, starts: &[0, 100, 20, 150, 160], procs: 4 };
        let waits = |scheduler, predictor| {
            let setting = Setting::parse(scheduler, predictor).unwrap();
            forward_waits(&schedule, &setting, 0..5, &|_| ()).unwrap()
        };
        // The first starts at once; the second when it ends, at 200. The third may be backfilled (it ends at 200), the
        // fourth ends a second too late and waits for the second, and the last waits for the fourth.
        assert_eq!(waits("easy", "estimate"), [0, 190, 0, 230, 250 + 181 - 30]);
        // Without backfilling the third and the fourth wait for the second. (In the replayed schedule the third has
        // started, so it is running when the last job arrives.)
        assert_eq!(waits("fcfs", "estimate"), [0, 190, 230, 230, 250 + 181 - 30]);
    }
}
