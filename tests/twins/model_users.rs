//! Users assigned to the jobs of a model, and wanted loads.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use shadowtime::experiment::{Setting, simulate};
use shadowtime::job::{Job, Submission};
use shadowtime::metrics::{Measure, Summary, summarize};
use shadowtime::model::{Downey, LOAD_TOLERANCE, LoadMeter, Lublin, LublinClass, ModelJob, meet_load};
use shadowtime::rng::stream;

use crate::support::workload;

const MODEL: Lublin = Lublin { jobs: 5000, procs: 128, only: None, users: Some(40), gap_factor: 0.5, seed: 1 };

fn jobs(model: Lublin, jobs: usize) -> Vec<ModelJob> {
    Lublin { jobs, ..model }.jobs().collect()
}

#[test]
fn jobs_of_a_program_are_alike_and_belong_to_one_user() {
    let jobs = jobs(MODEL, 50_000);
    let mut programs: BTreeMap<i32, Vec<&ModelJob>> = BTreeMap::new();
    jobs.iter().for_each(|job| programs.entry(job.executable).or_default().push(job));
    for runs in programs.values() {
        assert!(
            runs.iter().all(|run| (run.user, run.procs, run.queue) == (runs[0].user, runs[0].procs, runs[0].queue))
        );
        // Within 15% or so, and whole seconds cut off.
        let (short, long) = runs.iter().fold((i64::MAX, 0), |(a, b), run| (a.min(run.runtime), b.max(run.runtime)));
        assert!(long as f64 <= (short + 1) as f64 * (0.15 * 9.0f64).exp(), "{short} to {long}");
    }
    // Sessions have ten jobs, and half of them a new program.
    let runs = 50_000.0 / programs.len() as f64;
    assert!((17.0..23.0).contains(&runs), "{runs} jobs a program");
    let mut users: Vec<_> = jobs.iter().map(|job| job.user).collect();
    users.sort_unstable();
    users.dedup();
    assert_eq!(users, (1..=40).collect::<Vec<_>>());
    // The first user has ten times as many sessions as the tenth.
    let of = |user| jobs.iter().filter(|job| job.user == user).count() as f64;
    assert!((4.0..25.0).contains(&(of(1) / of(10))), "{} {}", of(1), of(10));
}

#[test]
fn any_number_of_users_finds_work() {
    for users in [1, 2, 10, 11, 20, 1000, 1_000_000] {
        let jobs = jobs(Lublin { users: Some(users), ..MODEL }, 3000);
        assert!(jobs.iter().all(|job| (1..=users as i32).contains(&job.user) && job.executable > 0));
        let downey: Vec<_> =
            Downey { jobs: 3000, procs: 128, users: Some(users), gap_factor: 1.0, seed: 1 }.jobs().collect();
        assert!(downey.iter().all(|job| (1..=users as i32).contains(&job.user) && job.executable > 0));
    }
}

/// Arrivals are the model's own, and sizes and runtimes are distributed as without users. There are about 20 jobs per
/// program and the numbers vary, so that a million jobs have as much information as 25,000 independent ones.
#[test]
fn users_leave_the_model_as_it_is() {
    for class in [LublinClass::Batch, LublinClass::Interactive] {
        let model = Lublin { only: Some(class), ..MODEL };
        let (with, without) = (jobs(model, 1_000_000), jobs(Lublin { users: None, ..model }, 1_000_000));
        assert!(with.iter().zip(&without).all(|(a, b)| a.submit == b.submit));
        let largest_distance = |value: fn(&ModelJob) -> i64| {
            let sorted = |jobs: &[ModelJob]| {
                let mut values: Vec<_> = jobs.iter().map(value).collect();
                values.sort_unstable();
                values
            };
            let (with, without) = (sorted(&with), sorted(&without));
            let below = |values: &[i64], place| values.partition_point(|&value| value <= place) as f64 / 1e6;
            let distance = |&place: &i64| (below(&with, place) - below(&without, place)).abs();
            without.iter().step_by(500).map(distance).fold(0.0, f64::max)
        };
        // One in a thousand for 25,000 against a million; and the spread of 15% may add a little.
        let critical = 1.95 / 25_000f64.sqrt();
        for (what, distance) in
            [("size", largest_distance(|job| job.procs.into())), ("runtime", largest_distance(|job| job.runtime))]
        {
            assert!(distance < critical, "{class:?} {what}: {distance:.4}, critical {critical:.4}");
        }
    }
}

/// A run of generated jobs on a busy machine; all users estimate two days.
fn run(made: &[ModelJob], pair: &str) -> Summary {
    let job = |job: &ModelJob| {
        let submission = Submission::new(job.submit, job.procs, 172_800);
        let submission = Submission { user: job.user, executable: job.executable, queue: job.queue, ..submission };
        Job::new(submission, job.runtime)
    };
    let workload = workload(128, &made.iter().map(job).collect::<Vec<_>>());
    let record = simulate(&workload, &Setting::parse_pair(pair).unwrap(), &mut |_| ()).unwrap();
    summarize(&workload, &record, &Measure::default())
}

/// The same jobs and users, but assigned to each other at random, so that a user's history has no information.
#[test]
fn those_who_learn_from_history_gain_by_users() {
    let jobs = jobs(Lublin { gap_factor: 0.45, ..MODEL }, 5000);
    let mut names: Vec<_> = jobs.iter().map(|job| (job.user, job.executable)).collect();
    names.shuffle(&mut stream(1, "shuffled users"));
    let shuffled = jobs.iter().zip(names).map(|(job, (user, executable))| ModelJob { user, executable, ..*job });
    let shuffled: Vec<_> = shuffled.collect();
    for predictor in ["sjbf/ruh", "sjbf/sbh", "sjbf/sbh-noest"] {
        let (with, without) = (run(&jobs, predictor), run(&shuffled, predictor));
        assert!(with.ra_mean > without.ra_mean + 0.15, "{predictor}: {} {}", with.ra_mean, without.ra_mean);
        assert!(with.wait_mean < without.wait_mean, "{predictor}: {} {}", with.wait_mean, without.wait_mean);
    }
}

fn assert_met<Jobs: Iterator<Item = ModelJob>>(wanted: f64, procs: u32, made: impl Fn(f64) -> Jobs, night: i64) {
    let met = meet_load(wanted, procs, &made, &mut |_| ()).unwrap();
    let mut meter = LoadMeter::default();
    made(met.gap_factor).for_each(|job| meter.add(&job));
    assert_eq!(met.load, meter.load(procs));
    let (first, last) = (made(met.gap_factor).next().unwrap(), made(met.gap_factor).last().unwrap());
    let tolerance = LOAD_TOLERANCE.max(0.55 * night as f64 / (last.submit - first.submit) as f64);
    assert!((met.load / wanted - 1.0).abs() <= tolerance, "{procs}: {}, asked for {wanted}", met.load);
}

#[test]
fn loads_are_met() {
    for (seed, (procs, wanted)) in (0..).zip([(1, 0.5), (3, 0.9), (64, 1.1), (128, 0.85), (1000, 0.1), (93_312, 4.0)]) {
        for users in [None, Some(40)] {
            let lublin = |gap_factor| Lublin { procs, users, gap_factor, seed, ..MODEL }.jobs();
            assert_met(wanted, procs, lublin, 0);
            // The last job cannot come at night.
            let downey = |gap_factor| Downey { jobs: 5000, procs, users, gap_factor, seed }.jobs();
            assert_met(wanted, procs, downey, 12 * 3600);
        }
    }
    // A single job has no load.
    assert_eq!(meet_load(0.5, 128, |_| Lublin { jobs: 1, ..MODEL }.jobs(), &mut |_| ()), None);
}
