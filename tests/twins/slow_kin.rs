//! A slow version of `kin`, compared with the library on random workloads and on the embedded log, and steps worked out by
//! hand.
//!
//! The slow version keeps every ended job in one list. For each prediction it goes through the whole list, and it takes
//! logarithms, exponentials and powers from the standard library.

use proptest::prelude::*;
use proptest::sample::select;
use shadowtime::engine::Outcome;
use shadowtime::job::{Job, JobId, Submission};
use shadowtime::predict::{Board, Predictor, Stage};
use shadowtime::time::Seconds;
use shadowtime::trace::{Shaping, demo_workload, shape};

use crate::random::check;
use crate::slow_predictors::{Reference, agree, assert_seen, named_workloads, nearest_to, note};
use crate::support::{job_of, run, workload};

#[derive(Clone, Copy, Debug)]
struct Keys {
    learn: bool,
    history: usize,
    power: f64,
    propagate: bool,
}

const DEFAULTS: Keys = Keys { learn: true, history: 32, power: 0.5, propagate: true };

impl Keys {
    fn spec(&self) -> String {
        let Keys { learn, history, power, propagate } = self;
        let word = |on: &bool| if *on { "on" } else { "off" };
        format!("kin:learn={},history={history},power={power},propagate={}", word(learn), word(propagate))
    }
}

struct SlowKin {
    keys: Keys,
    theta: [f64; 10],
    squares: [f64; 10],
    /// In order of termination.
    ended: Vec<(Submission, Seconds)>,
    /// All jobs that have arrived.
    arrived: Vec<(JobId, i32)>,
    others: Vec<Seconds>,
}

/// A value for the runtime, and its ten features.
struct Term {
    value: f64,
    phi: [f64; 10],
}

fn class(estimate: Seconds) -> i64 {
    (2.0 * (estimate as f64).ln()).round() as i64
}

impl SlowKin {
    fn new(keys: Keys) -> SlowKin {
        SlowKin {
            keys,
            theta: [-0.85, 1.2, -0.45, 0.45, -0.6, 0.55, 0.9, -0.2, -2.5, -1.1],
            squares: [1.0; 10],
            ended: Vec::new(),
            arrived: Vec::new(),
            others: Vec::new(),
        }
    }

    fn terms(&self, job: &Submission) -> Vec<Term> {
        let mut terms = Vec::new();
        let e = job.estimate as f64;
        let of_user: Vec<_> = self.ended.iter().rev().filter(|(past, _)| past.user == job.user).collect();
        if of_user.len() > self.keys.history {
            note("a history is cut");
        }
        for (i, (past, runtime)) in of_user.into_iter().take(self.keys.history).enumerate() {
            if past.executable == -1 && job.executable == -1 {
                note("two unknown executables");
            }
            if past.queue == -1 && job.queue == -1 {
                note("two unknown queues");
            }
            if *runtime > job.estimate {
                note("a runtime is cut at the estimate");
            }
            let same = |equal: bool| f64::from(u8::from(equal));
            let ratio = |a: f64, b: f64| (a / b).ln().abs();
            let phi = [
                ((1 + i) as f64).ln(),
                same(past.estimate == job.estimate),
                ratio(past.estimate as f64, e),
                same(past.procs == job.procs),
                ratio(past.procs.into(), job.procs.into()),
                same(past.executable == job.executable && past.executable != -1),
                same(past.queue == job.queue),
                (1.0 + (job.submit - past.submit).abs() as f64 / 60.0).ln(),
                0.0,
                0.0,
            ];
            terms.push(Term { value: (*runtime).min(job.estimate) as f64, phi });
        }
        let of_class: Vec<_> =
            self.ended.iter().rev().filter(|(past, _)| class(past.estimate) == class(job.estimate)).collect();
        if of_class.len() > 16 {
            note("a class is cut");
        }
        for (past, runtime) in of_class.into_iter().take(16) {
            let value = e * (*runtime as f64 / past.estimate as f64).min(1.0);
            if value < 1.0 {
                note("a ratio gives less than a second");
            }
            let mut phi = [0.0; 10];
            phi[8] = 1.0;
            terms.push(Term { value: value.max(1.0), phi });
        }
        let mut phi = [0.0; 10];
        phi[9] = 1.0;
        terms.push(Term { value: e, phi });
        terms
    }

    fn weight(&self, term: &Term) -> f64 {
        self.theta.iter().zip(term.phi).map(|(theta, phi)| theta * phi).sum::<f64>().exp()
    }

    fn predict(&mut self, id: JobId, board: &mut Board) {
        let job = *board.job(id);
        let (terms, power) = (self.terms(&job), self.keys.power);
        let sum: f64 = terms.iter().map(|term| self.weight(term) * term.value.powf(power)).sum();
        let total: f64 = terms.iter().map(|term| self.weight(term)).sum();
        let said = nearest_to((sum / total).powf(1.0 / power));
        self.others.extend(said.others.iter().map(|other| (*other).min(job.estimate)));
        board.predict(id, said.seconds.min(job.estimate));
    }

    fn learn(&mut self, job: &Submission, runtime: Seconds) {
        let terms = self.terms(job);
        let total: f64 = terms.iter().map(|term| self.weight(term)).sum();
        let pi: Vec<f64> = terms.iter().map(|term| self.weight(term) / total).collect();
        let (r, b) = (runtime as f64, 0.2);
        let l: Vec<f64> =
            terms.iter().map(|term| 0.98 / (2.0 * b) * (-(term.value.ln() - r.ln()).abs() / b).exp()).collect();
        let all = 0.02 / 12.0 + pi.iter().zip(&l).map(|(pi, l)| pi * l).sum::<f64>();
        for m in 0..10 {
            let of_term = |k: usize| pi[k] * (l[k] / all - 1.0 + 0.02 / (12.0 * all)) * terms[k].phi[m];
            let g: f64 = (0..terms.len()).map(of_term).sum();
            self.squares[m] += g * g;
            self.theta[m] += 0.1 * g / self.squares[m].sqrt();
        }
    }
}

impl Predictor for SlowKin {
    fn on_arrival(&mut self, id: JobId, board: &mut Board) {
        self.predict(id, board);
        self.arrived.push((id, board.job(id).user));
    }

    fn on_termination(&mut self, id: JobId, runtime: Seconds, board: &mut Board) {
        let job = *board.job(id);
        if self.keys.learn {
            self.learn(&job, runtime);
        }
        self.ended.push((job, runtime));
        if !self.keys.propagate {
            return;
        }
        for (other, user) in self.arrived.clone() {
            if user == job.user && board.stage(other) == Stage::Waiting {
                let before = board.prediction(other);
                self.predict(other, board);
                if board.prediction(other) != before {
                    note("propagation changes a prediction");
                }
            }
        }
    }
}

impl Reference for SlowKin {
    fn take_others(&mut self) -> Vec<Seconds> {
        std::mem::take(&mut self.others)
    }
}

#[test]
fn kin_equals_the_slow_version() {
    let keys = (any::<bool>(), select(vec![1, 2, 5, 32]), select(vec![0.5, 0.5, 0.3, 1.0, 2.5]), any::<bool>());
    let keys = keys.prop_map(|(learn, history, power, propagate)| Keys { learn, history, power, propagate });
    check(304, 5000, (named_workloads(), keys), |(workload, keys)| {
        agree(&workload, &keys.spec(), || Box::new(SlowKin::new(keys)))
    });
    assert_seen(&[
        "a history is cut",
        "a class is cut",
        "a runtime is cut at the estimate",
        "a ratio gives less than a second",
        "two unknown executables",
        "two unknown queues",
        "propagation changes a prediction",
    ]);
}

#[test]
fn kin_equals_the_slow_version_on_the_embedded_log() {
    // Of all its jobs the slow version would take half a minute.
    let workload = shape(demo_workload(), &Shaping { first: Some(2000), ..Shaping::default() }).unwrap();
    for keys in [DEFAULTS, Keys { learn: false, history: 8, power: 1.0, propagate: false }] {
        agree(&workload, &keys.spec(), || Box::new(SlowKin::new(keys))).unwrap();
    }
}

// ---- By hand ----

/// A job of this user: (submit, processors, runtime, estimate), and its executable and queue.
fn named(user: i32, times: (i64, u32, i64, i64), executable: i32, queue: i32) -> Job {
    let (submit, procs, runtime, estimate) = times;
    let mut job = job_of(user, submit, procs, runtime, estimate);
    (job.submission.executable, job.submission.queue) = (executable, queue);
    job
}

fn predictions(outcomes: &[Outcome]) -> Vec<Seconds> {
    outcomes.iter().map(|outcome| outcome.prediction).collect()
}

/// Jobs that run one after the other on a machine that is wide enough.
fn example() -> Vec<Job> {
    vec![
        named(1, (0, 4, 100, 1000), 1, 1),
        named(1, (6000, 4, 400, 1000), 1, 1),
        named(1, (12000, 2, 1, 2000), 2, 1),
        named(2, (12000, 4, 1, 1000), -1, -1),
        named(1, (12000, 1, 1, 10), 1, 1),
    ]
}

/// The first job has only its estimate. The second has one similar job, equal in everything:
/// ln w = 1.2 + 0.45 + 0.55 + 0.9 - 0.2 ln(1 + 6000/60) = 3.1 - 0.2 * 4.61512 = 2.17698, w = 8.81960 for 100 s. The class of
/// 1000 (round(13.8) = 14) has the ratio 0.1, that is 100 s, with w = exp(-2.5) = 0.08208. The estimate has
/// w = exp(-1.1) = 0.33287. (8.81960 * 10 + 0.08208 * 10 + 0.33287 * 31.6228) / 9.23455 = 10.7794, and its square is 116.20.
///
/// The third: 400 s with ln w = -0.45 ln 2 - 0.6 ln 2 + 0.9 - 0.2 ln 101 = -0.75083, w = 0.47198, and 100 s with
/// ln w = -0.85 ln 2 - 1.05 ln 2 + 0.9 - 0.2 ln 201 = -1.47764, w = 0.22818. Its class (15) is empty. The estimate: 2000 s.
/// (0.47198 * 20 + 0.22818 * 10 + 0.33287 * 44.7214) / 1.03302 = 25.7572, and its square is 663.43.
///
/// The fourth is another user's: 400 s and 100 s of the class (0.08208 each) and the estimate of 1000 s.
/// (0.08208 * 30 + 0.33287 * 31.6228) / 0.49704 = 26.1324, and its square is 682.90.
///
/// The fifth: every value is cut at its estimate of 10 s.
#[test]
fn five_jobs_by_hand() {
    let outcomes = run(&workload(16, &example()), "fcfs", "kin:learn=off");
    assert_eq!(predictions(&outcomes), [1000, 116, 663, 683, 10]);
}

/// When the first job ends there is one value only, its estimate: nothing to learn. When the second ends after 400 s, the
/// shares are 0.95506, 0.00889 and 0.03605, the likelihoods 2.45 exp(-5 ln 4) = 0.00239 for both 100 s and
/// 2.45 exp(-5 ln 2.5) = 0.02509 for 1000 s, and L = 0.00167 + 0.00321 = 0.00488. Each similarity of 1 has the gradient
/// 0.95506 (0.00239 / L - 1 + 0.00167 / L) = -0.16020, that of time 4.61512 times as much, the class -0.00149 and the
/// estimate 0.16169. The coefficients become 1.2 - 0.1 * 0.16020 / sqrt(1 + 0.02566) = 1.18418, 0.43418, 0.53418, 0.88418,
/// -0.2 - 0.1 * 0.73932 / sqrt(1 + 0.54659) = -0.25945, -2.50015 and -1.08404; the others have features of 0.
///
/// The third: w = exp(-1.05 ln 2 + 0.88418 - 0.25945 ln 101) = 0.35310, exp(-1.9 ln 2 + 0.88418 - 0.25945 ln 201) = 0.16386
/// and exp(-1.08404) = 0.33823: (0.35310 * 20 + 0.16386 * 10 + 0.33823 * 44.7214) / 0.85519 = 27.8612, squared 776.25.
/// The fourth: (0.08207 * 30 + 0.33823 * 31.6228) / 0.50237 = 26.1915, squared 685.99.
#[test]
fn what_is_learned_by_hand() {
    let outcomes = run(&workload(16, &example()), "fcfs", "kin");
    assert_eq!(predictions(&outcomes), [1000, 116, 776, 686, 10]);
}

#[test]
fn power_and_history_by_hand() {
    // Only the last job counts: (0.47198 * 20 + 0.33287 * 44.7214) / 0.80485 = 30.2243, squared 913.51.
    let outcomes = run(&workload(16, &example()), "fcfs", "kin:learn=off,history=1");
    assert_eq!(predictions(&outcomes)[2], 914);
    // (0.47198 * 400 + 0.22818 * 100 + 0.33287 * 2000) / 1.03302 = 849.31.
    let outcomes = run(&workload(16, &example()), "fcfs", "kin:learn=off,power=1");
    assert_eq!(predictions(&outcomes)[2], 849);
}

/// On four processors. The second and third job wait for the first, a week long. When the first ends, both are predicted
/// again, and the second starts. When that ends, the running third keeps its prediction.
#[test]
fn only_waiting_jobs_are_predicted_again() {
    let week = 604_800;
    let jobs = [
        named(1, (0, 4, 100, week), 1, 1),
        named(1, (10, 2, 50, week), 1, 1),
        named(1, (20, 2, 300, week), 1, 1),
        named(2, (30, 4, 1, week), 1, 1),
    ];
    let seen = |predictor: &str| -> Vec<(Seconds, bool, bool)> {
        let outcomes = run(&workload(4, &jobs), "fcfs", predictor);
        let changed = |o: &Outcome| (o.prediction, o.prediction_at_start != o.prediction, o.misses > 0);
        outcomes.iter().map(changed).collect()
    };
    assert_eq!(seen("kin:propagate=off"), [(week, false, false); 4]);
    let (first, rest) = (seen("kin")[0], seen("kin")[1..].to_vec());
    assert_eq!(first, (week, false, false));
    assert!(rest[..2].iter().all(|&(prediction, changed, _)| prediction == week && changed));
    // The class has changed too, but the other user has no jobs that ended.
    assert_eq!(rest[2], (week, false, false));
    let outcomes = run(&workload(4, &jobs), "fcfs", "kin");
    // Both end without a miss, so the last prediction is the one in force at the start.
    assert!(outcomes[1..3].iter().all(|o| o.misses == 0 && o.prediction_last == o.prediction_at_start));
}

/// Large and small powers neither overflow nor lose their digits, whatever is learned.
#[test]
fn any_power_gives_a_prediction_within_the_estimate() {
    let demo = shape(demo_workload(), &Shaping { first: Some(2000), ..Shaping::default() }).unwrap();
    let mean = |power: &str| {
        let outcomes = run(&demo, "fcfs", &format!("kin:power={power}"));
        let within =
            demo.jobs.iter().zip(&outcomes).all(|(job, o)| (1..=job.submission.estimate).contains(&o.prediction));
        assert!(within, "power {power}");
        outcomes.iter().map(|o| o.prediction as f64).sum::<f64>()
    };
    let means = ["1e-300", "1e-10", "1e-3", "0.5", "1", "3", "100", "1e300"].map(mean);
    assert!((means[0] / means[1] - 1.0).abs() < 1e-3 && (means[1] / means[2] - 1.0).abs() < 1e-2, "{means:?}");
    assert!(means.windows(2).all(|pair| pair[0] <= pair[1] * 1.0001), "{means:?}");
}
