//! A slow version of `learned`, compared with the library on random workloads and on the embedded log, and steps worked out
//! by hand.
//!
//! The slow version keeps every job with all its times in one list, and computes each feature from the whole list.

use std::f64::consts::PI;

use proptest::prelude::*;
use proptest::sample::select;
use shadowtime::engine::EngineOptions;
use shadowtime::job::{Job, JobId, Submission};
use shadowtime::predict::{Board, Predictor, Stage};
use shadowtime::time::{Seconds, Time};
use shadowtime::trace::demo_workload;

use crate::random::check;
use crate::slow_predictors::{Reference, agree, assert_seen, named_workloads, note};
use crate::support::{job, run, run_with, workload};

#[derive(Clone, Copy, Debug)]
struct Keys {
    loss: &'static str,
    last: &'static str,
    eta: f64,
    lambda: f64,
}

const DEFAULTS: Keys = Keys { loss: "e", last: "runtime", eta: 5000.0, lambda: 4e9 };

impl Keys {
    fn spec(&self) -> String {
        let Keys { loss, last, eta, lambda } = self;
        format!("learned:loss={loss},last={last},eta={eta},lambda={lambda}")
    }
}

struct SlowJob {
    job: Submission,
    features: Vec<f64>,
    first: Seconds,
    /// (runtime, end) and the order of the end.
    ended: Option<(Seconds, Time, usize)>,
}

struct SlowLearned {
    keys: Keys,
    jobs: Vec<SlowJob>,
    ended: usize,
    w: Vec<f64>,
    s: Vec<f64>,
    g: Vec<f64>,
    n_sum: f64,
    n: f64,
    others: Vec<Seconds>,
}

impl SlowLearned {
    fn new(keys: Keys) -> SlowLearned {
        let of = |value: f64| vec![value; 157];
        let (w, s, g) = (of(0.0), of(1e-9), of(1e-9));
        SlowLearned { keys, jobs: Vec::new(), ended: 0, w, s, g, n_sum: 1e-9, n: 1.0, others: Vec::new() }
    }

    fn features(&self, job: &Submission, board: &Board) -> Vec<f64> {
        let now = board.now();
        let e = job.estimate as f64;
        let of_user = || self.jobs.iter().filter(|other| other.job.user == job.user);
        let mut ended: Vec<&SlowJob> = of_user().filter(|other| other.ended.is_some()).collect();
        ended.sort_by_key(|other| std::cmp::Reverse(other.ended.unwrap().2));
        let value = |other: &&SlowJob| {
            let value = if self.keys.last == "asrun" { now - other.job.submit } else { other.ended.unwrap().0 };
            value.min(job.estimate) as f64
        };
        let last: Vec<f64> = ended.iter().take(3).map(value).collect();
        note(["no job has ended", "one job has ended", "two jobs have ended", "three jobs have ended"][last.len()]);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let running: Vec<_> = (0..self.jobs.len())
            .filter(|&at| self.jobs[at].job.user == job.user)
            .filter(|&at| matches!(board.stage(JobId(at as u32)), Stage::Running { .. }))
            .map(|at| (f64::from(self.jobs[at].job.procs), board.elapsed(JobId(at as u32)) as f64))
            .collect();
        if running.len() > 1 {
            note("several jobs of the user run");
        }
        let n = ended.len() as f64;
        let at = |i: usize| last.get(i).copied().unwrap_or(e);
        let mut x = vec![1.0, at(0), at(1), at(2), e];
        x.push(if last.is_empty() { e } else { mean(&last[..last.len().min(2)]) });
        x.push(if last.is_empty() { e } else { mean(&last) });
        let sum_runtime: Seconds = ended.iter().map(|other| other.ended.unwrap().0).sum();
        x.push(if ended.is_empty() { 0.0 } else { sum_runtime as f64 / n });
        x.push(ended.first().map_or(0.0, |other| (now - other.ended.unwrap().1) as f64));
        let sum_procs: u32 = ended.iter().map(|other| other.job.procs).sum();
        x.push(if ended.is_empty() { 0.0 } else { f64::from(job.procs) / (f64::from(sum_procs) / n) });
        x.push(running.iter().map(|(procs, _)| procs).sum());
        x.push(running.iter().map(|(_, elapsed)| elapsed).sum());
        x.push(running.len() as f64);
        x.push(running.iter().fold(0.0, |longest, &(_, elapsed)| longest.max(elapsed)));
        for period in [86_400, 604_800] {
            let second = (board.unix_start() + job.submit).rem_euclid(period);
            let angle = 2.0 * PI * second as f64 / period as f64;
            x.extend([libm::cos(angle), libm::sin(angle)]);
        }
        x.push(job.procs.into());
        assert_eq!(x.len(), 19);
        for i in 1..=16 {
            for j in i + 1..=16 {
                x.push(x[i] * x[j]);
            }
        }
        for i in 1..=18 {
            x.push(x[i] * x[i]);
        }
        assert_eq!(x.len(), 157);
        x
    }

    fn value(&self, x: &[f64]) -> f64 {
        (0..157).fold(0.0, |sum, i| sum + self.w[i] * x[i])
    }

    // Indexed as the formulas are.
    #[allow(clippy::needless_range_loop)]
    fn learn(&mut self, x: &[f64], r: f64, p: f64) {
        for i in 0..157 {
            if x[i].abs() > self.s[i] {
                self.w[i] *= self.s[i] / x[i].abs();
                self.s[i] = x[i].abs();
            }
        }
        self.n_sum += (0..157).fold(0.0, |sum, i| sum + x[i].powi(2) / self.s[i].powi(2));
        let err = self.value(x) - r;
        if err > 0.0 {
            note("a prediction is too long");
        }
        let slope = match self.keys.loss {
            "squared" => 2.0 * err,
            "abs" if err > 0.0 => 1.0,
            "abs" if err < 0.0 => -1.0,
            "abs" => 0.0,
            _ if err > 0.0 => 2.0 * err * (1.0 + libm::log(r * p)),
            _ => -(1.0 + libm::log(r * p)),
        };
        for i in 0..157 {
            let g = slope * x[i] + self.keys.lambda * self.w[i];
            self.g[i] += g * g;
            self.w[i] -= self.keys.eta * g / ((self.n_sum * self.g[i] / self.n).sqrt() * self.s[i]);
        }
        self.n += 2.0;
    }
}

impl Predictor for SlowLearned {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        let job = *board.job(id);
        let features = self.features(&job, board);
        let value = self.value(&features).abs();
        let whole = |value: f64| (value.floor() as Seconds).max(1).min(job.estimate);
        let first = whole(value);
        if (2..job.estimate).contains(&first) {
            note("a prediction below the estimate");
        }
        // A whole number up to the last digits of a float.
        if (value - value.round()).abs() < 1e-9 * value.max(1.0) {
            self.others.extend([whole(value.round() - 1.0), whole(value.round())]);
        }
        self.jobs.push(SlowJob { job, features, first, ended: None });
        board.predict(id, first);
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        self.ended += 1;
        self.jobs[id.index()].ended = Some((runtime, board.now(), self.ended));
        let (x, p) = (self.jobs[id.index()].features.clone(), self.jobs[id.index()].job.procs);
        self.learn(&x, runtime as f64, p.into());
    }

    fn on_deadline_missed(&mut self, id: JobId, board: &mut Board) {
        const MINUTES: [i64; 11] = [1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000];
        let k = board.misses(id) as usize;
        let increment = 60 * MINUTES[k.min(11) - 1];
        let e = board.job(id).estimate;
        if board.prediction(id) >= e {
            note("a miss at the estimate");
            return board.predict(id, board.prediction(id) + increment);
        }
        let answer = e.min(self.jobs[id.index()].first + increment);
        if answer > board.elapsed(id) {
            note("a miss below the estimate");
            board.predict(id, answer);
        } else {
            board.predict(id, e);
        }
    }
}

impl Reference for SlowLearned {
    fn take_others(&mut self) -> Vec<Seconds> {
        std::mem::take(&mut self.others)
    }
}

#[test]
fn learned_equals_the_slow_version() {
    let keys = (
        select(vec!["e", "e", "squared", "abs"]),
        select(vec!["runtime", "asrun"]),
        // Small steps give predictions below the estimate.
        select(vec![5000.0, 100.0, 5.0, 0.5]),
        select(vec![4e9, 0.0, 1.5]),
    );
    let keys = keys.prop_map(|(loss, last, eta, lambda)| Keys { loss, last, eta, lambda });
    let cases = (named_workloads(), keys, select(vec![None, Some(0), Some(846_820_800), Some(1_000_003)]));
    check(305, 900, cases, |(mut workload, keys, unix_start)| {
        workload.unix_start = unix_start;
        agree(&workload, &keys.spec(), || Box::new(SlowLearned::new(keys)))
    });
    assert_seen(&[
        "no job has ended",
        "one job has ended",
        "two jobs have ended",
        "three jobs have ended",
        "several jobs of the user run",
        "a prediction is too long",
        "a prediction below the estimate",
        "a miss below the estimate",
        "a miss at the estimate",
    ]);
}

#[test]
fn learned_equals_the_slow_version_on_the_embedded_log() {
    for keys in [DEFAULTS, Keys { loss: "squared", last: "asrun", eta: 100.0, lambda: 0.0 }] {
        agree(&demo_workload(), &keys.spec(), || Box::new(SlowLearned::new(keys))).unwrap();
    }
}

const WEEK: Time = 604_800;

/// Submitted at the same hour of the same day of the week, so that both cosines are 1 and both sines 0.
fn weekly(runtimes: [Seconds; 3]) -> Vec<Job> {
    vec![job(0, 1, runtimes[0], 100), job(WEEK, 1, runtimes[1], 100), job(2 * WEEK, 2, runtimes[2], 400)]
}

/// The first job: all weights are 0, and the prediction is 1 second. Its features that are not 0: the first, six of 100
/// (three last runtimes, two means, the estimate), two cosines, the processors; of 8 of them, 28 products; 9 squares. That
/// is 47, so N = 47. All gradients are -(1 + ln 100) x, so each of their weights becomes eta / (sqrt(47) |x|).
///
/// The second job has the same values in these 47 features, and the weights of the others are 0: the value is
/// 47 eta / sqrt(47) = 6.8557 eta, and is rounded down.
#[test]
fn the_first_step_by_hand() {
    for (eta, expected) in [(5.0, 34), (1.0, 6), (10.0, 68), (5000.0, 100), (0.1, 1)] {
        for loss in ["e", "squared", "abs"] {
            let outcomes = run(&workload(4, &weekly([100, 20, 50])), "fcfs", &format!("learned:loss={loss},eta={eta}"));
            assert_eq!([outcomes[0].prediction, outcomes[1].prediction], [1, expected], "{loss}, {eta}");
        }
    }
}

/// The second job's value is 34.28 and its runtime 20: too long by 14.28. The features 7, 8 and 9 are now 100, 604700 and
/// 1, and have products with the eight others and with each other, and squares: 3 + 24 + 3 + 3 = 33 more, so that
/// N = 47 + 80 = 127, and n = 3. Without lambda and with `abs` (slope 1): the old features have the gradients x and -x, G = 2 x^2,
/// and their weights lose 5 / sqrt(127 * 2 / 3) = 0.54339 / |x|, and become 5 / sqrt(47) - 0.54339 = 0.18593 / |x|; those of
/// the new ones become -5 / sqrt(127 / 3) = -0.76847 / |x|.
///
/// Another job as the second, a week later: the last runtime is 20, the second last 100, the means 60 and 60, the mean
/// runtime 60. Of the old features: 0.18593 (1 + 0.2 + 1 + 1 + 1 + 0.6 + 0.6 + 3), the products of 0.2, 1, 1, 1, 0.6, 0.6, 1
/// and 1 (6.4^2 - 4 - 1 - 0.76, halved: 17.6), their squares and that of the processors (0.04 + 5 + 0.72 + 1 = 6.76). Of
/// the new ones, in which the seconds since the last end are 604780, 1.000132 times those of the job before:
/// 0.6 + 1.000132 + 1, its products with 6.4 (16.64), those with each other (0.6 + 0.6 + 1) and the squares (0.36 + 1 + 1).
/// 0.18593 * (8.4 + 17.6 + 6.76) - 0.76847 * (2.6 + 16.64 + 2.2 + 2.36) = 6.091 - 18.290 = -12.2. The prediction is its
/// amount.
#[test]
fn the_second_step_by_hand() {
    let mut jobs = weekly([100, 20, 50]);
    jobs[2] = job(2 * WEEK, 1, 50, 100);
    let outcomes = run(&workload(4, &jobs), "fcfs", "learned:loss=abs,eta=5,lambda=0");
    assert_eq!(outcomes.iter().map(|outcome| outcome.prediction).collect::<Vec<_>>(), [1, 34, 12]);
}

/// Computed by another program from the same formulas: the values for the third job are -48.54, -48.48, 26.75, -22.89 and,
/// with ten times the step and the times since submission, -981.80.
#[test]
fn the_third_prediction_of_another_program() {
    for (keys, expected) in [
        ("eta=5", 48),
        ("eta=5,lambda=0", 48),
        ("eta=5,lambda=0,loss=squared", 26),
        ("eta=5,lambda=0,loss=abs", 22),
        ("eta=50,last=asrun", 400),
        ("eta=1", 15),
    ] {
        let outcomes = run(&workload(4, &weekly([100, 20, 50])), "fcfs", &format!("learned:{keys}"));
        assert_eq!(outcomes[2].prediction, expected, "{keys}");
    }
}

/// The first prediction of all is 1 second. Each miss adds its increment to that, up to the estimate; the last increment
/// would not be more than the time that has passed.
#[test]
fn misses_add_to_the_first_prediction() {
    let end = |runtime: Seconds, estimate: Seconds| {
        let outcomes = run(&workload(1, &[job(0, 1, runtime, estimate)]), "fcfs", "learned");
        (outcomes[0].misses, outcomes[0].prediction_last)
    };
    let hours = |count: i64| count * 3600;
    let long = hours(1000);
    assert_eq!(end(1, long), (0, 1));
    assert_eq!(end(61, long), (1, 61));
    assert_eq!(end(62, long), (2, 301));
    assert_eq!(end(302, long), (3, 901));
    assert_eq!(end(902, long), (4, 1801));
    assert_eq!(end(1802, long), (5, hours(1) + 1));
    assert_eq!(end(hours(50) + 2, long), (11, hours(100) + 1));
    assert_eq!(end(hours(100) + 2, long), (12, long));
    assert_eq!(end(long + 1, long), (13, long + hours(100)));
    // At the estimate after two misses: the third adds 15 minutes to it.
    assert_eq!(end(200, 250), (2, 250));
    assert_eq!(end(251, 250), (3, 1150));
}

/// The hour of the day counts from the log's first second as the header has it.
#[test]
fn the_clock_is_that_of_the_log() {
    let demo = demo_workload();
    let predictions = |unix_start: Option<Time>, shift: Time| -> Vec<Seconds> {
        let mut workload = demo.clone();
        workload.unix_start = unix_start;
        workload.jobs.iter_mut().for_each(|job| job.submission.submit += shift);
        run(&workload, "sjbf", "learned").iter().map(|outcome| outcome.prediction).collect()
    };
    let plain = predictions(None, 0);
    assert_eq!(predictions(Some(5 * WEEK), 0), plain);
    assert_eq!(predictions(Some(7200), 0), predictions(None, 7200));
    assert_ne!(predictions(Some(7200), 0), plain);
    // What is written in the engine's options does not matter: the workload says it.
    let options = EngineOptions { unix_start: Some(7200), ..EngineOptions::default() };
    let mut workload = demo.clone();
    workload.unix_start = None;
    let outcomes = run_with(&workload, "sjbf", "learned", options);
    assert_eq!(outcomes.iter().map(|outcome| outcome.prediction).collect::<Vec<_>>(), plain);
}
