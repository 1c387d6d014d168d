//! The scheduler `fair` in schedules worked out by hand, and what the program says of its virtual schedule. Predictions are exact,
//! so the virtual schedule is EASY with the users' estimates.

use shadowtime::job::Job;

use crate::support::{Folder, job, job_of, run, sim, sim_ok, starts, workload};

/// Runs jobs on four processors with the predictor `perfect`, and compares their starts with those worked out by hand.
#[track_caller]
fn expect(scheduler: &str, jobs: &[Job], by_hand: &[i64]) {
    let outcomes = run(&workload(4, jobs), scheduler, "perfect");
    assert_eq!(starts(&outcomes), by_hand, "starts under {scheduler}");
}

/// A job whose estimate is its runtime: (submit, processors, runtime).
fn exact(submit: i64, procs: u32, runtime: i64) -> Job {
    job(submit, procs, runtime, runtime)
}

#[test]
fn the_next_job_of_the_virtual_schedule_is_protected_if_it_is_urgent() {
    // Job 2 needs the whole machine and waits for job 1, in both schedules. Job 3 ends in time by its prediction of 2 s, but not by
    // its estimate of 9 s.
    let jobs = [exact(0, 3, 4), exact(1, 4, 2), job(2, 1, 2, 9)];
    expect("fair", &jobs, &[0, 4, 6]);
    // No job is urgent.
    expect("fair:urgent=1.1", &jobs, &[0, 4, 2]);
}

#[test]
fn a_job_that_has_waited_for_longest_is_protected() {
    // At 10 job 2 starts virtually. No job has waited longer there, so job 3 may not start first, although only it is urgent.
    let jobs = [exact(0, 4, 10), exact(1, 3, 5), exact(2, 4, 5)];
    expect("fair:urgent=1", &jobs, &[0, 10, 15]);
    // Before, another job has waited for 20 s. Now the same three jobs come at 30, and job 4 has waited for 9 s only.
    let jobs = [exact(0, 4, 20), exact(0, 4, 1), exact(30, 4, 10), exact(31, 3, 5), exact(32, 4, 5)];
    expect("fair:urgent=1", &jobs, &[0, 20, 30, 45, 40]);
    expect("fair:urgent=1.1", &jobs, &[0, 20, 30, 40, 45]);
    // Both are urgent, and start in order of arrival.
    expect("fair:urgent=0.75", &jobs, &[0, 20, 30, 40, 45]);
}

#[test]
fn wide_jobs_are_tried_first() {
    // Job 2 waits for job 1. At 2 either job 3 starts or job 4; afterwards there is no time for the other before job 2.
    let jobs = [exact(0, 2, 10), exact(1, 4, 5), exact(2, 1, 3), exact(2, 2, 6)];
    expect("fair", &jobs, &[0, 10, 15, 2]);
    expect("fair:wide=0.6", &jobs, &[0, 10, 2, 15]);
}

#[test]
fn others_are_tried_by_classes_of_predictions() {
    // One processor is free until 100. Predictions of up to a minute are of one class.
    let jobs = [exact(0, 3, 100), exact(1, 4, 10), exact(2, 1, 50), exact(2, 1, 20)];
    expect("fair", &jobs, &[0, 100, 2, 52]);
    expect("fair:scan=spf", &jobs, &[0, 100, 22, 2]);
    // 61 s are of the next class.
    let jobs = [exact(0, 3, 200), exact(1, 4, 10), exact(2, 1, 61), exact(2, 1, 60)];
    expect("fair", &jobs, &[0, 200, 62, 2]);
}

/// Job 2 waits for job 1 until 1000. One processor is left. Job 3 starts virtually at 1, by arrival; in reality job 4 is of a lower
/// class and starts. At 51 job 5 would be next, but the user of job 3 has lost 50 s, and 30 s are tolerated.
fn jobs_of_users() -> [Job; 5] {
    [exact(0, 3, 1000), exact(0, 4, 10), job_of(7, 1, 1, 300, 300), job_of(8, 1, 1, 50, 50), job_of(8, 10, 1, 50, 50)]
}

#[test]
fn jobs_of_users_who_are_behind_are_tried_early() {
    expect("fair", &jobs_of_users(), &[0, 1000, 101, 1, 51]);
    expect("fair:accounts=users", &jobs_of_users(), &[0, 1000, 51, 1, 351]);
    // With another job that ends earlier, the user has lost 30 s when it ends, which are tolerated.
    let mut jobs = jobs_of_users();
    (jobs[3].runtime, jobs[3].submission.estimate) = (30, 30);
    expect("fair:accounts=users", &jobs, &[0, 1000, 81, 1, 31]);
    (jobs[3].runtime, jobs[3].submission.estimate) = (31, 31);
    expect("fair:accounts=users", &jobs, &[0, 1000, 32, 1, 332]);
}

/// The column is there if a scheduler has a virtual schedule, and empty for others.
#[test]
fn virtual_waits_are_a_column_of_the_jobs() {
    let folder = Folder::new();
    let mut log = String::from("; MaxProcs: 4\n");
    for (at, job) in jobs_of_users().iter().enumerate() {
        let submission = &job.submission;
        let (submit, procs, user) = (submission.submit, submission.procs, submission.user);
        let (number, runtime, estimate) = (at + 1, job.runtime, submission.estimate);
        log += &format!("{number} {submit} -1 {runtime} {procs} -1 -1 {procs} {estimate} -1 1 {user} 1 1 1 1 -1 -1\n");
    }
    let log = folder.write("users.swf", log);
    let column = |scheduler: &str| -> Option<Vec<String>> {
        let jobs = sim_ok(&[&log, "--scheduler", scheduler, "--predictor", "perfect", "--jobs-out", "-"]);
        let mut reader = csv::Reader::from_reader(jobs.as_bytes());
        let at = reader.headers().unwrap().iter().position(|name| name == "virtual_wait")?;
        Some(reader.records().map(|row| row.unwrap()[at].to_string()).collect())
    };
    // Job 3 runs virtually until 301, then job 4 until 351, then job 5.
    let waits = ["0", "1000", "0", "300", "341"];
    assert_eq!(column("fair").unwrap(), waits);
    assert_eq!(column("easy"), None);
    assert_eq!(column("easy,fair").unwrap(), [["", "", "", "", ""], waits].concat());
}

#[test]
fn keys_of_fair() {
    let listed = sim_ok(&["list", "schedulers"]);
    assert!(listed.contains("fair"), "{listed}");
    let ran = sim(&["--scheduler", "fair:wide=-1"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("wide") && ran.err.contains("at least 0"), "{}", ran.err);
}
