//! Helpers of several tests: small workloads and their runs, real logs, tests that are skipped.

use std::io::Write;
use std::path::{Path, PathBuf};

use shadowtime::engine::{EngineOptions, Outcome};
use shadowtime::experiment::{Setting, simulate};
use shadowtime::job::{Job, Submission};
use shadowtime::schedule::LogFacts;
use shadowtime::trace::{WideNumbers, Workload};

/// A job of user 1: (submit, processors, runtime, estimate).
pub fn job(submit: i64, procs: u32, runtime: i64, estimate: i64) -> Job {
    job_of(1, submit, procs, runtime, estimate)
}

/// A job of this user: (submit, processors, runtime, estimate).
pub fn job_of(user: i32, submit: i64, procs: u32, runtime: i64, estimate: i64) -> Job {
    let submission = Submission { user, ..Submission::new(submit, procs, estimate) };
    Job::new(submission, runtime)
}

/// A workload of jobs in order of submission; they get the numbers 1, 2, 3, ...
pub fn workload(procs: u32, jobs: &[Job]) -> Workload {
    let numbered = jobs.iter().zip(0u32..).map(|(job, at)| Job { record: at, number: i64::from(at) + 1, ..*job });
    Workload { label: "test".into(), procs, jobs: numbered.collect(), ..Workload::default() }
}

/// What a scheduler may know of these jobs.
pub fn facts(jobs: &[Job]) -> LogFacts<'_> {
    LogFacts::of_jobs(jobs, WideNumbers::NONE)
}

/// Runs a workload under a scheduler with a predictor, both as specs.
pub fn run(workload: &Workload, scheduler: &str, predictor: &str) -> Vec<Outcome> {
    run_with(workload, scheduler, predictor, EngineOptions::default())
}

pub fn run_with(workload: &Workload, scheduler: &str, predictor: &str, engine: EngineOptions) -> Vec<Outcome> {
    let setting = Setting { engine, ..Setting::parse(scheduler, predictor).unwrap() };
    simulate(workload, &setting, &mut |_| ()).unwrap().outcomes
}

/// The starts of all jobs, in workload order.
pub fn starts(outcomes: &[Outcome]) -> Vec<i64> {
    outcomes.iter().map(|outcome| outcome.start.get().unwrap()).collect()
}

/// A test cannot run, because this machine lacks a log or a program. It is skipped, and says so. With `SHADOWTIME_STRICT=1` it
/// fails.
pub fn missing(test: &str, what: &str) {
    let failure = strict_failure(std::env::var("SHADOWTIME_STRICT").ok().as_deref(), test, what);
    assert!(failure.is_none(), "{}", failure.unwrap_or_default());
    impossible(test, what);
}

/// A test cannot run, because this machine does not allow something, such as mounting a file system. It is always skipped.
pub fn impossible(test: &str, why: &str) {
    // Not captured by the test runner: a skipped test must not look like one that ran.
    let _ = writeln!(std::io::stderr(), "skipped: {test} ({why})");
}

/// Whether all tests run, also the slow ones. `.ci/run` sets the variable.
pub fn in_ci() -> bool {
    std::env::var_os("SHADOWTIME_CI").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Whether this test, which is slow, is not run here. It says so.
pub fn left_to_ci(test: &str) -> bool {
    let is_left = !in_ci();
    if is_left {
        // Not captured by the test runner: a test that is left out must not look like one that ran.
        let _ = writeln!(std::io::stderr(), "left to CI: {test}");
    }
    is_left
}

/// Why a test that lacks something fails, if `SHADOWTIME_STRICT` has this value.
pub fn strict_failure(strict: Option<&str>, test: &str, what: &str) -> Option<String> {
    match strict {
        None | Some("" | "0") => None,
        Some("1") => Some(format!("{test} cannot run: {what}. Without SHADOWTIME_STRICT it is skipped")),
        Some(other) => Some(format!("SHADOWTIME_STRICT is '{other}': write 1 or 0")),
    }
}

/// The folder of real logs, if there is one on this machine.
pub fn real_logs(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("SHADOWTIME_LOGS").filter(|folder| !folder.is_empty());
    if folder.is_none() {
        missing(test, "SHADOWTIME_LOGS names no folder of real logs");
    }
    folder.map(PathBuf::from)
}

/// The log in a folder whose name begins with this text.
pub fn real_log(folder: &Path, name: &str) -> PathBuf {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let begins = |path: &PathBuf| path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name));
    files.into_iter().find(begins).unwrap_or_else(|| panic!("no log {name} in {}", folder.display()))
}
