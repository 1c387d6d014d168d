//! Predictions of waits by their definitions: a site that keeps every job it has seen in one list and looks through all
//! of them whenever it is asked. The reference for `WaitPredictor`, `Classifier` and the policy `least-predicted`.

use libsvm_rs::predict::predict_values;
use libsvm_rs::probability::{multiclass_probability, sigmoid_predict, sigmoid_train};
use libsvm_rs::train::svm_train;
use libsvm_rs::{SvmModel, SvmNode, SvmParameter, SvmProblem};
use rand::RngExt;
use rand::seq::SliceRandom;
use shadowtime::job::{JobId, Submission};
use shadowtime::rng::stream;
use shadowtime_studies::wait::{
    Classifier, HistoryJob, Learning, SiteHandler, WaitHistory, WaitPrediction, WaitPredictor,
};

const HOUR: i64 = 3600;
const CLASSES: usize = 6;
const FEATURES: usize = 19;
type Features = [f64; FEATURES];

/// The classes of waits: up to 1, 3, 6, 12 and 24 hours, and more.
fn class(wait: f64) -> usize {
    [1, 3, 6, 12, 24].iter().filter(|&&hours| wait > (hours * HOUR) as f64).count()
}

/// The middle of each class; 36 hours for the last.
const MIDPOINTS: [f64; CLASSES] = [1800.0, 7200.0, 16_200.0, 32_400.0, 64_800.0, 129_600.0];

struct Seen {
    job: Submission,
    features: Features,
    /// Start and end, once it has started.
    ran: Option<(i64, i64)>,
}

impl Seen {
    fn wait(&self) -> f64 {
        self.ran.map_or(f64::NAN, |(start, _)| (start - self.job.submit) as f64)
    }
}

pub struct SlowSite {
    procs: u32,
    learning: Learning,
    /// All jobs that have come, in order.
    seen: Vec<Seen>,
    /// Jobs that have come at the present instant and wait, but are not among those seen until it is over.
    coming: Vec<Submission>,
    /// Those that have started, in order of their starts.
    started: Vec<usize>,
    learned: Option<SlowClassifier>,
}

impl SlowSite {
    pub fn new(procs: u32, learning: Learning) -> SlowSite {
        SlowSite { procs, learning, seen: Vec::new(), coming: Vec::new(), started: Vec::new(), learned: None }
    }

    pub fn starts(&self) -> usize {
        self.started.len()
    }

    /// A job has arrived at the present instant: for later arrivals it is waiting.
    pub fn announce(&mut self, job: &Submission) {
        self.coming.push(*job);
    }

    /// The present instant is over: its ends are known; its starts and arrivals follow as calls.
    pub fn end_of_instant(&mut self) {
        self.coming.clear();
    }

    /// A job joins the queue. Returns its place among the site's jobs.
    pub fn arrive(&mut self, job: &Submission, now: i64) -> usize {
        self.seen.push(Seen { job: *job, features: self.features(job, now), ran: None });
        let (came, Learning { first, every, seed, .. }) = (self.seen.len(), self.learning);
        if came == first || (came > first && (came - first) % every == 0) {
            let rows = self.history().map(|seen| (seen.features, class(seen.wait()))).collect::<Vec<_>>();
            self.learned = (!rows.is_empty()).then(|| SlowClassifier::learn(&rows, seed));
        }
        came - 1
    }

    pub fn start(&mut self, at: usize, now: i64, runtime: i64) {
        self.seen[at].ran = Some((now, now + runtime));
        self.started.push(at);
    }

    /// The latest jobs that have started, the oldest first.
    fn history(&self) -> impl DoubleEndedIterator<Item = &Seen> {
        self.started[self.started.len().saturating_sub(self.learning.history)..].iter().map(|&at| &self.seen[at])
    }

    fn waiting(&self) -> impl Iterator<Item = &Seen> {
        self.seen.iter().filter(|seen| seen.ran.is_none())
    }

    fn running(&self, now: i64) -> impl Iterator<Item = (&Seen, i64)> {
        self.seen.iter().filter_map(move |seen| seen.ran.filter(|ran| ran.1 > now).map(|(start, _)| (seen, start)))
    }

    fn occupied(&self, now: i64) -> i64 {
        self.running(now).map(|(seen, _)| i64::from(seen.job.procs)).sum()
    }

    /// Table 1 of Kumar and Vadhiyar, in its order.
    fn features(&self, job: &Submission, now: i64) -> Features {
        let demand = |job: &Submission| i64::from(job.procs) * job.estimate;
        let queue = self.waiting().map(|seen| &seen.job).chain(&self.coming);
        let queue: Vec<_> = queue.map(|other| (other, demand(other))).collect();
        let left = |seen: &Seen, start: i64| i64::from(seen.job.procs) * (seen.job.estimate - (now - start)).max(0);
        let machine: Vec<_> = self.running(now).map(|(seen, start)| (&seen.job, left(seen, start))).collect();
        let mut all = vec![i64::from(job.procs), job.estimate];
        for jobs in [&queue, &machine] {
            // A job enters a sorted list behind its equals: its place is one more than the number of jobs not above it.
            all.extend([
                1 + jobs.iter().filter(|(other, _)| other.procs <= job.procs).count() as i64,
                1 + jobs.iter().filter(|(other, _)| other.estimate <= job.estimate).count() as i64,
                1 + jobs.iter().filter(|(other, _)| demand(other) <= demand(job)).count() as i64,
            ]);
            let lower: [Vec<i64>; 3] = [
                jobs.iter().filter(|(other, _)| other.procs < job.procs).map(|(_, work)| *work).collect(),
                jobs.iter().filter(|(other, _)| other.estimate < job.estimate).map(|(_, work)| *work).collect(),
                jobs.iter().filter(|(other, _)| demand(other) < demand(job)).map(|(_, work)| *work).collect(),
            ];
            all.extend([jobs.iter().map(|(_, work)| work).sum(), jobs.len() as i64]);
            all.extend(lower.iter().map(|lower| lower.iter().sum::<i64>()));
        }
        all.push(self.occupied(now));
        std::array::from_fn(|at| all[at] as f64)
    }

    /// Most of the similar jobs of the first history that has any waited less than an hour.
    pub fn is_quick(&self, job: &Submission, now: i64) -> bool {
        let within = |own: f64, other: f64| (other - own).abs() <= 0.25 * own;
        let similar = |seen: &&Seen| {
            within(f64::from(job.procs), f64::from(seen.job.procs))
                && within(job.estimate as f64, seen.job.estimate as f64)
        };
        let occupied = self.occupied(now);
        let as_full = |seen: &&Seen| (seen.features[18] - occupied as f64).abs() <= 0.1 * f64::from(self.procs);
        let near: Vec<_> = self.history().rev().filter(as_full).take(100).filter(similar).collect();
        let mid: Vec<_> = self.history().rev().take(1000).filter(similar).collect();
        let long: Vec<_> = self.history().filter(similar).collect();
        let mostly = |jobs: &[&Seen]| 2 * jobs.iter().filter(|seen| seen.wait() < 3600.0).count() > jobs.len();
        let fits = i64::from(job.procs) <= i64::from(self.procs) - occupied;
        match (near.is_empty(), mid.is_empty()) {
            (false, _) => mostly(&near),
            (true, false) => mostly(&mid) || fits,
            (true, true) => mostly(&long),
        }
    }

    /// The two most probable of the point prediction's class and its neighbours, each by the mean wait of similar jobs in
    /// it, weighted by their probabilities.
    pub fn expected_wait(&self, job: &Submission, now: i64) -> Option<f64> {
        let own = self.features(job, now);
        let distance = |seen: &Seen| {
            let relative = |x: f64, y: f64| if x == y { 0.0 } else { (x - y).abs() / (x + y) };
            mean(&own.iter().zip(&seen.features).map(|(x, y)| relative(*x, *y)).collect::<Vec<_>>())
        };
        let all: Vec<_> = self.history().map(|seen| (distance(seen), seen.wait())).collect();
        let within = |step: u32| -> Vec<(f64, f64)> {
            all.iter().copied().filter(|(distance, _)| *distance <= f64::from(step) / 20.0).collect()
        };
        let similar = (1..=20).map(within).find(|similar| !similar.is_empty())?;
        let equal: Vec<f64> = similar.iter().filter(|(distance, _)| *distance == 0.0).map(|(_, wait)| *wait).collect();
        let point = match equal.is_empty() {
            false => mean(&equal),
            true => {
                let sum: f64 = similar.iter().map(|(distance, wait)| wait / distance).sum();
                sum / similar.iter().map(|(distance, _)| 1.0 / distance).sum::<f64>()
            }
        };
        let center = class(point);
        let probabilities = match &self.learned {
            Some(learned) => learned.probabilities(&own),
            None => std::array::from_fn(|at| f64::from(u8::from(at == center))),
        };
        let mut near: Vec<usize> = (center.saturating_sub(1)..=(center + 1).min(CLASSES - 1)).collect();
        // Of equal probabilities the class itself, then the shorter wait.
        near.sort_by_key(|&at| (at != center, at));
        near.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
        let [first, second] = [near[0], near[1]];
        let wait = |at: usize| {
            let waits: Vec<f64> = similar.iter().map(|(_, wait)| *wait).filter(|wait| class(*wait) == at).collect();
            if waits.is_empty() { MIDPOINTS[at] } else { mean(&waits) }
        };
        let sum = probabilities[first] + probabilities[second];
        let share = if sum > 0.0 { probabilities[first] / sum } else { 0.5 };
        Some(share * wait(first) + (1.0 - share) * wait(second))
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// One support vector machine for each pair of classes, asked one by one.
pub struct SlowClassifier {
    /// Mean and deviation of each feature's logarithm.
    scale: Vec<(f64, f64)>,
    present: Vec<usize>,
    /// For each pair of classes in order: the machine and the sigmoid of its decisions.
    machines: Vec<(SvmModel, (f64, f64))>,
}

impl SlowClassifier {
    pub fn learn(rows: &[(Features, usize)], seed: u64) -> SlowClassifier {
        libsvm_rs::set_quiet(true);
        let scale: Vec<(f64, f64)> = (0..FEATURES)
            .map(|feature| {
                let logs: Vec<f64> = rows.iter().map(|(row, _)| libm::log1p(row[feature])).collect();
                let mean = mean(&logs);
                (mean, (logs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / logs.len() as f64).sqrt())
            })
            .collect();
        let scaled: Vec<Vec<SvmNode>> = rows.iter().map(|(row, _)| scaled(row, &scale)).collect();
        let present: Vec<usize> = (0..CLASSES).filter(|class| rows.iter().any(|row| row.1 == *class)).collect();
        let mut machines = Vec::new();
        for (first, second) in pairs(&present) {
            let jobs: Vec<usize> = (0..rows.len()).filter(|&at| rows[at].1 == first || rows[at].1 == second).collect();
            let label = |at: &usize| if rows[*at].1 == first { 1.0 } else { -1.0 };
            let train = |jobs: &[usize]| {
                let instances = jobs.iter().map(|&at| scaled[at].clone()).collect();
                let how = SvmParameter { gamma: 1.0 / 19.0, c: 1.0, ..SvmParameter::default() };
                svm_train(&SvmProblem { labels: jobs.iter().map(label).collect(), instances }, &how)
            };
            // The jobs in a random order; each fifth of them is decided by a machine that was trained on the others.
            let mut folds = jobs.clone();
            folds.shuffle(&mut stream(seed, &format!("svm folds {} {}", first + 1, second + 1)));
            let mut decisions = Vec::new();
            for fold in 0..5 {
                let held_out = fold * folds.len() / 5..(fold + 1) * folds.len() / 5;
                let others = [&folds[..held_out.start], &folds[held_out.end..]].concat();
                let of_first = others.iter().filter(|at| label(at) > 0.0).count();
                // With one class only, or without any job, there is nothing to train.
                let trained = (of_first > 0 && of_first < others.len()).then(|| train(&others));
                decisions.extend(folds[held_out].iter().map(|&at| match &trained {
                    Some(model) => decision(model, &scaled[at]),
                    None if others.is_empty() => 0.0,
                    None => {
                        if of_first > 0 {
                            1.0
                        } else {
                            -1.0
                        }
                    }
                }));
            }
            let labels: Vec<f64> = folds.iter().map(label).collect();
            machines.push((train(&jobs), sigmoid_train(&decisions, &labels)));
        }
        SlowClassifier { scale, present, machines }
    }

    pub fn probabilities(&self, features: &Features) -> [f64; CLASSES] {
        let (count, target) = (self.present.len(), scaled(features, &self.scale));
        let mut pairwise = vec![vec![0.0; count]; count];
        let places = pairs(&(0..count).collect::<Vec<_>>());
        for ((i, j), (model, (a, b))) in places.into_iter().zip(&self.machines) {
            pairwise[i][j] = sigmoid_predict(decision(model, &target), *a, *b).clamp(1e-7, 1.0 - 1e-7);
            pairwise[j][i] = 1.0 - pairwise[i][j];
        }
        let mut found = vec![1.0; count];
        match count {
            1 => {}
            2 => found = vec![pairwise[0][1], pairwise[1][0]],
            _ => multiclass_probability(count, &pairwise, &mut found),
        }
        let sum: f64 = found.iter().sum();
        let mut all = [0.0; CLASSES];
        self.present.iter().zip(found).for_each(|(class, probability)| all[*class] = probability / sum);
        all
    }
}

fn pairs(all: &[usize]) -> Vec<(usize, usize)> {
    all.iter().enumerate().flat_map(|(at, first)| all[at + 1..].iter().map(|second| (*first, *second))).collect()
}

/// ln(1 + x), standardised; 0 for a feature that is always the same.
fn scaled(features: &Features, scale: &[(f64, f64)]) -> Vec<SvmNode> {
    let one = |at: usize| {
        let (mean, deviation) = scale[at];
        if deviation > 1e-9 { (libm::log1p(features[at]) - mean) * (1.0 / deviation) } else { 0.0 }
    };
    (0..FEATURES).map(|at| SvmNode { index: at as i32 + 1, value: one(at) }).collect()
}

/// Above 0 for the class labelled +1.
fn decision(model: &SvmModel, row: &[SvmNode]) -> f64 {
    let mut values = [0.0];
    predict_values(model, row, &mut values);
    values[0] * f64::from(model.label[0])
}

/// Jobs of up to `classes` classes of waits, those of one class much alike, in order of their classes or mixed.
fn taught(count: usize, classes: usize, sorted: bool) -> (WaitHistory, Vec<(Features, usize)>) {
    let mut rng = stream(5, "taught");
    let mut rows: Vec<(Features, usize)> = (0..count)
        .map(|_| {
            let shown = rng.random_range(0..classes);
            let mut features: Features = std::array::from_fn(|_| f64::from(rng.random_range(0..20u32)));
            features[5] = 10f64.powi(shown as i32 + 1) * rng.random_range(0.3..3.0);
            (features.map(f64::round), if rng.random_bool(0.1) { rng.random_range(0..classes) } else { shown })
        })
        .collect();
    if sorted {
        rows.sort_by_key(|row| row.1);
    }
    let mut history = WaitHistory::of_all();
    for (features, class) in &rows {
        let arrived = HistoryJob { id: JobId(0), job: Submission::new(0, 1, 1), features: *features };
        history.push(&arrived, MIDPOINTS[*class] as i64);
    }
    (history, rows)
}

#[test]
fn the_classifier_agrees_with_one_machine_for_each_pair_asked_one_by_one() {
    for (count, classes, sorted) in [(150, 2, false), (240, 4, false), (200, 3, true), (30, 6, false), (20, 1, false)] {
        let (history, rows) = taught(count, classes, sorted);
        for seed in [1, 9] {
            let fast = Classifier::train(&history.window(count, count), seed, 1).unwrap();
            let slow = SlowClassifier::learn(&rows, seed);
            for (features, _) in rows.iter().step_by(7) {
                let (fast, slow) = (fast.probabilities(features), slow.probabilities(features));
                let apart = fast.iter().zip(slow).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(apart < 1e-9, "{count} jobs of {classes} classes, seed {seed}: {fast:?} for {slow:?}");
            }
        }
    }
}

/// A history comes in order of time, and times of long waits follow on times of short ones. The folds of the
/// cross-validation are drawn at random: taken in order, most folds would be decided by machines that never saw their
/// class, and the probabilities would be upside down.
#[test]
fn a_history_in_order_of_its_classes_is_learned_like_a_mixed_one() {
    for sorted in [false, true] {
        let (history, rows) = taught(200, 2, sorted);
        let classifier = Classifier::train(&history.window(200, 200), 1, 1).unwrap();
        let given: f64 = rows.iter().map(|(features, class)| classifier.probabilities(features)[*class]).sum();
        // One job in twenty has another class than its features show; the others are told apart easily.
        assert!(given / 200.0 > 0.85, "in order: {sorted}, mean probability of the true class: {}", given / 200.0);
    }
}

/// Point prediction 2 h: class 2 (1 to 3 hours), with classes 1 and 3 beside it. Their probabilities 0.3, 0.1 and 0.5: the
/// two most probable are 3 and 1, 0.5 / 0.8 = 5/8 and 3/8. Similar jobs of class 3 waited 4 h on average; there are none
/// of class 1, whose middle is half an hour: 5/8 x 14,400 + 3/8 x 1,800 = 9,675 s.
#[test]
fn the_expected_wait_by_hand() {
    let prediction = WaitPrediction {
        point: 7200.0,
        probabilities: [0.3, 0.1, 0.5, 0.06, 0.04, 0.0],
        quick: false,
        similar: 3,
        radius: 0.05,
        mean_waits: [None, Some(7000.0), Some(14_400.0), None, None, None],
    };
    let two = prediction.two().map(|(class, probability)| (class.number(), probability));
    assert_eq!(two.map(|(class, _)| class), [3, 1]);
    assert!((two[0].1 - 0.625).abs() < 1e-12 && (two[1].1 - 0.375).abs() < 1e-12);
    assert!((prediction.expected_wait() - 9675.0).abs() < 1e-9);
    // More than a day, with nothing similar and nothing learned of it: half of 36 h and half of 18 h.
    let unknown = WaitPrediction {
        point: 1e6,
        probabilities: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        mean_waits: [None; 6],
        ..prediction
    };
    assert!((unknown.expected_wait() - 27.0 * 3600.0).abs() < 1e-9);
}

/// A site that gets the same events predicts as the definitions, from its first job on: before it is trained, after that,
/// and after it is trained again.
#[test]
fn a_wait_predictor_agrees_with_the_definitions() {
    let learning = Learning { first: 150, every: 120, history: 180, seed: 3 };
    let (mut fast, mut slow) = (WaitPredictor::new(24, learning, 1), SlowSite::new(24, learning));
    let mut rng = stream(8, "a site");
    let (mut now, mut free, mut queue, mut running) = (0, 24, Vec::new(), Vec::new());
    let mut quick = 0;
    for id in 0..600 {
        now += rng.random_range(0..if id / 80 % 2 == 0 { 900 } else { 5000 });
        // The jobs that have ended by now, then the jobs that start, in order of arrival.
        running.sort_unstable();
        while let Some(&(end, id, procs)) = running.first().filter(|job: &&(i64, usize, u32)| job.0 <= now) {
            running.remove(0);
            fast.on_end(JobId(id as u32), 0, end);
            free += procs;
            while let Some(&(id, job, runtime)) =
                queue.first().filter(|job: &&(usize, Submission, i64)| job.1.procs <= free)
            {
                queue.remove(0);
                start(&mut fast, &mut slow, id, end, runtime);
                free -= job.procs;
                running.push((end + runtime, id, job.procs));
                running.sort_unstable();
            }
        }
        let runtime = rng.random_range(60..9000);
        let job = Submission::new(now, rng.random_range(1..=8), runtime * rng.random_range(1..4));
        match (fast.predict_behind(&job, &[], now), slow.expected_wait(&job, now)) {
            (None, None) => assert_eq!(slow.starts(), 0),
            (Some(prediction), Some(expected)) => {
                assert!((prediction.expected_wait() - expected).abs() < 1e-6 * (1.0 + expected), "job {id}");
                assert_eq!(prediction.quick, slow.is_quick(&job, now), "job {id}");
                quick += usize::from(prediction.quick);
            }
            (fast, slow) => panic!("job {id}: {fast:?} for {slow:?}"),
        }
        fast.on_arrival(JobId(id as u32), &job, now);
        assert_eq!(slow.arrive(&job, now), id);
        if queue.is_empty() && job.procs <= free {
            start(&mut fast, &mut slow, id, now, runtime);
            free -= job.procs;
            running.push((now + runtime, id, job.procs));
        } else {
            queue.push((id, job, runtime));
        }
    }
    assert!((100..500).contains(&quick), "{quick}");
}

fn start(fast: &mut WaitPredictor, slow: &mut SlowSite, id: usize, now: i64, runtime: i64) {
    fast.on_start(JobId(id as u32), now);
    slow.start(id, now, runtime);
}
