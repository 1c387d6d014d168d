//! Random workloads on which events coincide on purpose, and how a property is checked on them.

use std::any::Any;
use std::fmt::Debug;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestRng, TestRunner};
use shadowtime::job::Job;
use shadowtime::trace::Workload;

use crate::support::{in_ci, job_of, workload};

/// Checks a property on random cases and shows the smallest that breaks it. A fifth of `cases` are always the same. If
/// SHADOWTIME_SEED is set, a tenth are drawn from it: `.ci/run` sets it to the number of the day, so that over the days many
/// more cases are tried than in one run.
pub fn check<S>(seed: u64, cases: u32, strategy: S, property: impl Fn(S::Value) -> TestCaseResult)
where
    S: Strategy<Value: 'static> + 'static,
{
    let strategy = strategy.prop_map(|value| Box::new(value) as Box<dyn Case>).boxed();
    check_any(seed, cases, &strategy, &|case| {
        let case: Box<dyn Any> = case;
        property(*case.downcast().expect("a value of the strategy"))
    });
}

/// A number of cases for [`check`] that take long: a quarter of them, but all in CI.
pub fn fewer(cases: u32) -> u32 {
    if in_ci() { cases } else { cases.div_ceil(4) }
}

/// A random case of any type.
trait Case: Any + Debug {}

impl<T: Any + Debug> Case for T {}

/// As [`check`]; compiled once for all of them.
fn check_any(
    seed: u64,
    cases: u32,
    strategy: &BoxedStrategy<Box<dyn Case>>,
    property: &dyn Fn(Box<dyn Case>) -> TestCaseResult,
) {
    let fixed = (0, cases.div_ceil(5));
    let new = new_seed().map(|day| (day, cases.div_ceil(10)));
    for (day, cases) in [fixed].into_iter().chain(new) {
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&day.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        if let Err(error) = TestRunner::new_with_rng(config, rng).run(strategy, property) {
            panic!("SHADOWTIME_SEED={day} repeats this case: {error}");
        }
    }
}

/// What the variable SHADOWTIME_SEED says.
fn new_seed() -> Option<u64> {
    let seed = std::env::var("SHADOWTIME_SEED").ok().filter(|seed| !seed.is_empty());
    seed.map(|seed| seed.parse().expect("SHADOWTIME_SEED is a number"))
}

/// The user of jobs whose user is not known.
const UNKNOWN: i32 = -1;

/// Up to 60 jobs of up to four users on up to 16 processors. Round numbers make many events coincide.
pub fn workloads() -> impl Strategy<Value = Workload> {
    let (procs, users, tempo) = (1..=16u32, 1..=4usize, select(vec![1, 1, 10, 60, 600]));
    let drafts = prop_oneof![vec(drafts(short_runtimes()), 1..=60), vec(drafts(all_runtimes()), 1..=60)];
    (procs, users, tempo, drafts).prop_map(|(procs, users, tempo, drafts)| {
        let mut submit = 0;
        let jobs = drafts.into_iter().map(|draft| {
            submit += draft.gap * tempo;
            let user = [1, 2, 3, UNKNOWN][draft.user % users];
            let needs = (draft.procs - 1) % procs + 1;
            let mut job = job_of(user, submit, needs, draft.runtime, draft.estimate);
            (job.submission.executable, job.submission.queue) = (draft.executable, draft.queue);
            Job { recorded_wait: Some(draft.wait).into(), ..job }
        });
        workload(procs, &jobs.collect::<Vec<_>>())
    })
}

/// A job before it is fitted to a machine, a number of users and a pace of arrivals.
#[derive(Clone, Debug)]
struct Draft {
    gap: i64,
    procs: u32,
    runtime: i64,
    estimate: i64,
    user: usize,
    executable: i32,
    queue: i32,
    wait: i64,
}

fn drafts(runtimes: impl Strategy<Value = i64>) -> impl Strategy<Value = Draft> {
    let gap = prop_oneof![5 => Just(0), 4 => 1..=5i64, 1 => 1..=60i64];
    let procs = prop_oneof![2 => 1..=2u32, 2 => 1..=5u32, 1 => 1..=16u32];
    let names = (0..4usize, -1..3i32, -1..2i32);
    let wait = prop_oneof![Just(0), 1..=100i64];
    (gap, procs, with_estimates(runtimes), names, wait).prop_map(|(gap, procs, times, names, wait)| {
        let ((runtime, estimate), (user, executable, queue)) = (times, names);
        Draft { gap, procs, runtime, estimate, user, executable, queue, wait }
    })
}

/// Seconds, in round numbers.
fn short_runtimes() -> impl Strategy<Value = i64> {
    prop_oneof![3 => select(vec![1, 2, 3, 5, 10, 30, 60]), 1 => 1..=10i64]
}

/// Mostly seconds and minutes, some hours, and a few weeks, which take every step of a growing prediction.
/// (A job predicted to take a second that takes 61 or 361 ends just where a raised prediction says.)
fn all_runtimes() -> impl Strategy<Value = i64> {
    prop_oneof![
        10 => select(vec![1, 2, 3, 5, 10, 30, 60, 61, 361]),
        5 => 1..=300i64,
        3 => select(vec![1_800, 3_600, 3_661, 7_200, 40_000]),
        1 => 3_600..=3_000_000i64,
    ]
}

/// Estimates are right, above or below, or have nothing to do with the runtime.
fn with_estimates(runtimes: impl Strategy<Value = i64>) -> impl Strategy<Value = (i64, i64)> {
    let ratio = select(vec![(1, 1), (1, 1), (2, 1), (5, 1), (1, 2), (1, 10)]);
    let unrelated = option::weighted(0.3, select(vec![1, 5, 60, 600, 3_600, 36_000]));
    (runtimes, ratio, unrelated).prop_map(|(runtime, (times, over), unrelated)| {
        let related = (runtime * times / over).max(1);
        (runtime, unrelated.unwrap_or(related))
    })
}
