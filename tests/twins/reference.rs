//! The engine against the slow reference simulator: the same outcome for every job of thousands of random workloads.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;
use shadowtime::engine::{EngineOptions, Finished};
use shadowtime::trace::Workload;

use crate::oracle::{
    self, OracleGrowth, OracleJob, OracleLetter, OracleMetric, OracleOutcome, OraclePredictor, OraclePropagation,
    OracleSbh, OracleScheduler, OracleSettings,
};
use crate::random::{check, fewer, workloads};
use crate::support::run_with;

#[test]
fn easy_equals_the_reference() {
    equals_the_reference(101, fewer(4000), OracleScheduler::Easy, predictors());
}

#[test]
fn sjbf_equals_the_reference() {
    equals_the_reference(102, fewer(4000), OracleScheduler::Sjbf, predictors());
}

#[test]
fn conservative_equals_the_reference() {
    equals_the_reference(103, 1500, OracleScheduler::Conservative, predictors());
}

#[test]
fn fcfs_equals_the_reference() {
    equals_the_reference(104, 1000, OracleScheduler::Fcfs, predictors());
}

#[test]
fn every_combination_of_the_keys_of_ruh_equals_the_reference() {
    let rivals = every_ruh();
    assert_eq!(rivals.len(), 4 * 5 * 2 * 2 * 2 * 2);
    for (ruh, seed) in rivals.into_iter().zip((1000..).step_by(2)) {
        equals_the_reference(seed, 10, OracleScheduler::Easy, Just(ruh.clone()));
        equals_the_reference(seed + 1, 10, OracleScheduler::Sjbf, Just(ruh));
    }
}

#[test]
fn every_setting_of_session_based_prediction_equals_the_reference() {
    equals_the_reference(201, 3000, OracleScheduler::Sjbf, session_predictors());
    equals_the_reference(202, 1000, OracleScheduler::Easy, session_predictors());
    equals_the_reference(203, 300, OracleScheduler::Conservative, session_predictors());
}

type Happens = fn(&Finished<'_>, &Workload) -> bool;

/// The random workloads must contain the cases that are difficult to get right; otherwise agreement means little.
#[test]
fn the_random_workloads_bring_about_the_hard_cases() {
    let hard: [(&str, Happens); 8] = [
        ("waits", |job, _| job.wait() > 0),
        ("is backfilled", |job, _| job.outcome.backfilled),
        ("misses a deadline", |job, _| job.outcome.misses > 0),
        ("misses so many that the increments repeat", |job, _| job.outcome.misses > 11),
        ("ends at a deadline that followed a miss", |job, _| {
            job.outcome.misses > 0 && job.outcome.prediction_last == job.job.runtime
        }),
        ("is predicted anew while it waits", |job, _| job.outcome.prediction != job.outcome.prediction_at_start),
        ("is predicted anew while it runs, without a miss", |job, _| {
            job.outcome.misses == 0 && job.outcome.prediction_at_start != job.outcome.prediction_last
        }),
        ("ends as another arrives", |job, workload| {
            workload.jobs.iter().any(|other| other.submission.submit == job.end())
        }),
    ];
    let seen = RefCell::new([0; 8]);
    check(105, 1000, (workloads(), settings(OracleScheduler::Sjbf, predictors())), |(workload, setting)| {
        let outcomes = run_with(&workload, setting.scheduler(), &setting.predictor.spec, setting.engine());
        for (job, outcome) in workload.jobs.iter().zip(&outcomes) {
            let finished = Finished { job, submitted: job.submission.submit, outcome, virtual_start: None };
            for (count, (_, happens)) in seen.borrow_mut().iter_mut().zip(hard) {
                *count += u32::from(happens(&finished, &workload));
            }
        }
        Ok(())
    });
    for ((what, _), count) in hard.iter().zip(seen.into_inner()) {
        assert!(count >= 20, "only {count} times a job {what}");
    }
}

/// A predictor for both simulators: its spec, and its setting in the reference.
#[derive(Clone, Debug)]
struct Predictor {
    spec: String,
    meaning: OraclePredictor,
}

/// The setting for both simulators.
#[derive(Clone, Debug)]
struct Setting {
    scheduler: OracleScheduler,
    predictor: Predictor,
    pass_on_miss: bool,
    inflate: u8,
}

impl Setting {
    fn scheduler(&self) -> &'static str {
        match self.scheduler {
            OracleScheduler::Fcfs => "fcfs",
            OracleScheduler::Easy => "easy",
            OracleScheduler::Sjbf => "sjbf",
            OracleScheduler::Conservative => "conservative",
        }
    }

    fn engine(&self) -> EngineOptions {
        let &Setting { pass_on_miss, inflate, .. } = self;
        EngineOptions { pass_on_miss, inflate: f64::from(inflate), ..EngineOptions::default() }
    }

    fn reference(&self, procs: u32) -> OracleSettings {
        OracleSettings {
            procs: procs.into(),
            scheduler: self.scheduler,
            predictor: self.predictor.meaning.clone(),
            pass_on_miss: self.pass_on_miss,
            inflate: self.inflate.into(),
        }
    }
}

fn settings(
    scheduler: OracleScheduler,
    predictors: impl Strategy<Value = Predictor>,
) -> impl Strategy<Value = Setting> {
    let inflate = prop_oneof![2 => Just(1), 1 => Just(2), 1 => Just(3)];
    (predictors, any::<bool>(), inflate).prop_map(move |(predictor, pass_on_miss, inflate)| Setting {
        scheduler,
        predictor,
        pass_on_miss,
        inflate,
    })
}

fn predictors() -> impl Strategy<Value = Predictor> {
    let named = |spec: &str, meaning| Just(Predictor { spec: spec.to_string(), meaning });
    let easy_plus_plus = OraclePredictor::Ruh {
        window: 2,
        metric: OracleMetric::Mean,
        by_arrival: false,
        propagate: false,
        running: false,
        cap: true,
    };
    let constant = select(vec![1, 2, 5, 60, 600]).prop_map(|seconds| Predictor {
        spec: format!("constant:seconds={seconds}"),
        meaning: OraclePredictor::Constant { seconds },
    });
    prop_oneof![
        1 => named("perfect", OraclePredictor::Perfect),
        2 => constant,
        1 => named("estimate", OraclePredictor::Estimate),
        1 => named("easy++", easy_plus_plus),
        6 => select(every_ruh()),
    ]
}

const METRICS: [(&str, OracleMetric); 5] = [
    ("median", OracleMetric::Median),
    ("mean", OracleMetric::Mean),
    ("min", OracleMetric::Min),
    ("max", OracleMetric::Max),
    ("last", OracleMetric::Last),
];

fn switch(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// Any setting of `sbh` and of `sbh-noest`.
fn session_predictors() -> impl Strategy<Value = Predictor> {
    use OracleLetter::{E, P, Q, X};
    let criteria = select(vec![
        ("PE/P/E/*", vec![vec![P, E], vec![P], vec![E], vec![]]),
        ("E/P/X", vec![vec![E], vec![P], vec![X]]),
        ("PEX/PX/EX", vec![vec![P, E, X], vec![P, X], vec![E, X]]),
        ("PX/P/X/*", vec![vec![P, X], vec![P], vec![X], vec![]]),
        ("PQ/Q/*", vec![vec![P, Q], vec![Q], vec![]]),
        ("P/E", vec![vec![P], vec![E]]),
        ("*", vec![vec![]]),
    ]);
    let (sessions, think) = (select(vec![None, Some(1), Some(2), Some(3)]), select(vec![1, 5, 60, 1200]));
    let growth = prop_oneof![
        3 => Just(OracleGrowth::WithEstimates),
        1 => (select(vec![2.0, 10.0]), select(vec![60, 3_600, 360_000]), select(vec![1, 30]))
            .prop_map(|(factor, limit, default)| OracleGrowth::Balanced { factor, limit, default }),
        1 => (select(vec![1.5, 10.0]), select(vec![1, 30]))
            .prop_map(|(factor, default)| OracleGrowth::Unbalanced { factor, default }),
    ];
    let propagation = select(vec![
        ("on", OraclePropagation::On),
        ("on", OraclePropagation::On),
        ("ends", OraclePropagation::Ends),
        ("off", OraclePropagation::Off),
    ]);
    (criteria, any::<bool>(), sessions, think, select(METRICS.to_vec()), propagation, growth).prop_map(
        |((text, criteria), dfs, sessions, think, (word, metric), (spreads, propagate), growth)| {
            let search = if dfs { "dfs" } else { "bfs" };
            let depth = sessions.map_or("all".to_string(), |sessions: usize| sessions.to_string());
            let common = format!(
                "criteria={text},search={search},sessions={depth},think={think},metric={word},propagate={spreads}"
            );
            let spec = match growth {
                OracleGrowth::WithEstimates => format!("sbh:{common}"),
                OracleGrowth::Balanced { factor, limit, default } => {
                    format!("sbh-noest:{common},factor={factor},limit={limit},default={default}")
                }
                OracleGrowth::Unbalanced { factor, default } => {
                    format!("sbh-noest:{common},growth=unbalanced,factor={factor},default={default}")
                }
            };
            let sbh = OracleSbh { criteria, dfs, sessions, think, metric, propagate, growth };
            Predictor { spec, meaning: OraclePredictor::Sbh(sbh) }
        },
    )
}

fn every_ruh() -> Vec<Predictor> {
    let mut every = Vec::new();
    for window in 1..=4 {
        for (word, metric) in METRICS {
            for bits in 0..16 {
                let [by_arrival, propagate, running, cap] = [8, 4, 2, 1].map(|bit| bits & bit != 0);
                let ([p, r, c], o) =
                    ([propagate, running, cap].map(switch), if by_arrival { "arrival" } else { "end" });
                every.push(Predictor {
                    spec: format!("ruh:window={window},metric={word},order={o},propagate={p},running={r},cap={c}"),
                    meaning: OraclePredictor::Ruh { window, metric, by_arrival, propagate, running, cap },
                });
            }
        }
    }
    every
}

fn equals_the_reference(
    seed: u64,
    cases: u32,
    scheduler: OracleScheduler,
    predictors: impl Strategy<Value = Predictor> + 'static,
) {
    check(seed, cases, (workloads(), settings(scheduler, predictors)), |(workload, setting)| {
        both_agree(&workload, &setting)
    });
}

fn both_agree(workload: &Workload, setting: &Setting) -> TestCaseResult {
    let outcomes = run_with(workload, setting.scheduler(), &setting.predictor.spec, setting.engine());
    let jobs = workload.jobs.iter().map(|job| OracleJob {
        submit: job.submission.submit,
        procs: job.submission.procs.into(),
        runtime: job.runtime,
        estimate: job.submission.estimate,
        user: job.submission.user.into(),
        executable: job.submission.executable.into(),
        queue: job.submission.queue.into(),
    });
    let expected = oracle::simulate(setting.reference(workload.procs), &jobs.collect::<Vec<_>>());
    prop_assert_eq!(outcomes.len(), expected.len());
    for ((job, outcome), expected) in workload.jobs.iter().zip(&outcomes).zip(expected) {
        let finished = Finished { job, submitted: job.submission.submit, outcome, virtual_start: None };
        let turnaround = (finished.end() - job.submission.submit) as f64;
        let found = OracleOutcome {
            start: finished.start(),
            prediction_arrival: outcome.prediction,
            prediction_start: outcome.prediction_at_start,
            prediction_last: outcome.prediction_last,
            misses: outcome.misses.into(),
            backfilled: outcome.backfilled,
            ai: outcome.ai_seconds / turnaround,
            ra: outcome.ra_seconds / turnaround,
        };
        // Everything except the accuracies must be exactly equal.
        let near = (found.ai - expected.ai).abs() < 1e-9 && (found.ra - expected.ra).abs() < 1e-9;
        let rest = OracleOutcome { ai: expected.ai, ra: expected.ra, ..found.clone() };
        prop_assert!(near && rest == expected, "job {} became\n  {found:?}\nand not\n  {expected:?}", job.number);
    }
    Ok(())
}
