//! A support vector machine that predicts the probability of each class of waits.
//!
//! There is one machine for each pair of classes, a sigmoid over its decisions (Platt, by five-fold cross-validation),
//! and the coupling of the pairs (Wu, Lin and Weng). The classifiers of scikit-learn and LIBSVM predict probabilities
//! in the same way. The solver and the fits are those of the crate `libsvm-rs`. Its own cross-validation shuffles with
//! a generator that all threads share; here the folds have their own random stream, so that training gives the same
//! result on any number of threads.

use libsvm_rs::probability::{multiclass_probability, sigmoid_predict, sigmoid_train};
use libsvm_rs::train::svm_train;
use libsvm_rs::{SvmModel, SvmNode, SvmParameter, SvmProblem, predict::predict_values};
use rand::seq::SliceRandom;

use super::classes::{CLASSES, PerClass, WaitClass};
use super::features::{FEATURES, Features};
use super::history::HistoryWindow;
use super::scale::FeatureScale;
use crate::parallel;
use crate::rng::stream;

const FOLDS: usize = 5;
/// The smallest probability of a class of a pair (LIBSVM, `svm_predict_probability`).
const CERTAIN: f64 = 1e-7;
/// 1 / number of features.
const GAMMA: f64 = 1.0 / FEATURES as f64;

/// The jobs of a history with their classes.
pub struct TrainingSet {
    scale: FeatureScale,
    rows: Vec<Vec<SvmNode>>,
    dense: Vec<Features>,
    classes: Vec<WaitClass>,
    /// The classes that occur, in order.
    present: Vec<WaitClass>,
    seed: u64,
}

/// Two classes, as indices into the classes that occur.
#[derive(Clone, Copy, Debug)]
pub struct ClassPair {
    first: usize,
    second: usize,
}

/// The classifier of one pair: each support vector with its weight towards the first class.
#[derive(Clone, Debug)]
pub struct PairClassifier {
    pair: ClassPair,
    /// Indices into the jobs of the training set, and in a [`Classifier`] into its vectors.
    weights: Vec<(usize, f64)>,
    rho: f64,
    sigmoid: (f64, f64),
}

/// Predicts the probabilities of classes.
#[derive(Clone, Debug)]
pub struct Classifier {
    scale: FeatureScale,
    present: Vec<WaitClass>,
    /// The support vectors of all pairs, without duplicates.
    vectors: Vec<Features>,
    pair_classifiers: Vec<PairClassifier>,
}

impl TrainingSet {
    /// None if the window is empty.
    pub fn of(window: &HistoryWindow<'_>, seed: u64) -> Option<TrainingSet> {
        // Otherwise LIBSVM prints its progress.
        libsvm_rs::set_quiet(true);
        let (scale, dense) = FeatureScale::learn((0..window.len()).map(|at| window.features(at)));
        let classes: Vec<_> = window.waits().iter().map(|&wait| WaitClass::of(wait as f64)).collect();
        let present: Vec<_> = WaitClass::all().filter(|class| classes.contains(class)).collect();
        let rows = dense.iter().map(nodes).collect();
        (!present.is_empty()).then_some(TrainingSet { scale, rows, dense, classes, present, seed })
    }

    /// The pairs of classes to train on. They are independent of each other, so they can be trained in parallel.
    pub fn pairs(&self) -> Vec<ClassPair> {
        let count = self.present.len();
        (0..count).flat_map(|first| (first + 1..count).map(move |second| ClassPair { first, second })).collect()
    }

    /// Trains the classifier of one pair.
    pub fn train(&self, pair: ClassPair) -> PairClassifier {
        let [first, second] = [pair.first, pair.second].map(|at| self.present[at]);
        let jobs: Vec<usize> =
            (0..self.rows.len()).filter(|&at| self.classes[at] == first || self.classes[at] == second).collect();
        let label = |at: usize| if self.classes[at] == first { 1.0 } else { -1.0 };
        let train = |jobs: &[usize]| {
            let labels = jobs.iter().map(|&at| label(at)).collect();
            let instances = jobs.iter().map(|&at| self.rows[at].clone()).collect();
            svm_train(&SvmProblem { labels, instances }, &parameters())
        };
        let mut shuffled = jobs.clone();
        shuffled.shuffle(&mut stream(self.seed, &format!("svm folds {} {}", first.number(), second.number())));
        let (mut decisions, mut labels) = (Vec::new(), Vec::new());
        for fold in 0..FOLDS {
            let held_out = fold * jobs.len() / FOLDS..(fold + 1) * jobs.len() / FOLDS;
            let others = [&shuffled[..held_out.start], &shuffled[held_out.end..]].concat();
            // With fewer than two classes there is nothing to solve (LIBSVM, `svm_binary_svc_probability`).
            let sum: f64 = others.iter().map(|&at| label(at)).sum();
            let model = (sum.abs() < others.len() as f64).then(|| train(&others));
            for &at in &shuffled[held_out] {
                decisions.push(
                    model.as_ref().map_or(sum.signum() * f64::from(u8::from(sum != 0.0)), |model| {
                        decision(model, &self.rows[at])
                    }),
                );
                labels.push(label(at));
            }
        }
        let sigmoid = sigmoid_train(&decisions, &labels);
        let model = train(&jobs);
        let sign = f64::from(model.label[0]);
        let weight = |(at, coefficient): (&usize, &f64)| (jobs[at - 1], sign * coefficient);
        let weights = model.sv_indices.iter().zip(&model.sv_coef[0]).map(weight).collect();
        PairClassifier { pair, weights, rho: sign * model.rho[0], sigmoid }
    }

    /// Makes a classifier of the results of all pairs.
    pub fn finish(self, mut pair_classifiers: Vec<PairClassifier>) -> Classifier {
        let mut places = vec![None; self.dense.len()];
        let mut vectors = Vec::new();
        let mut place = |job: usize| {
            *places[job].get_or_insert_with(|| {
                vectors.push(self.dense[job]);
                vectors.len() - 1
            })
        };
        let weights = pair_classifiers.iter_mut().flat_map(|trained| &mut trained.weights);
        weights.for_each(|(job, _)| *job = place(*job));
        Classifier { scale: self.scale, present: self.present, vectors, pair_classifiers }
    }
}

fn parameters() -> SvmParameter {
    SvmParameter { gamma: GAMMA, c: 1.0, probability: false, ..SvmParameter::default() }
}

pub(super) fn nodes(row: &Features) -> Vec<SvmNode> {
    row.iter().zip(1..).map(|(&value, index)| SvmNode { index, value }).collect()
}

/// Above 0 for the class labelled +1, whichever class comes first in the training data.
fn decision(model: &SvmModel, row: &[SvmNode]) -> f64 {
    let mut values = [0.0];
    predict_values(model, row, &mut values);
    values[0] * f64::from(model.label[0])
}

impl Classifier {
    /// Trains on a window of history with `threads` threads; None if the window is empty.
    pub fn train(window: &HistoryWindow<'_>, seed: u64, threads: usize) -> Option<Classifier> {
        let set = TrainingSet::of(window, seed)?;
        let trained = parallel::map(&set.pairs(), threads, |&pair| set.train(pair), |_| ());
        Some(set.finish(trained))
    }

    /// The probability of each class; they sum to 1. A class that does not occur in the history has probability 0.
    pub fn probabilities(&self, features: &Features) -> PerClass {
        let count = self.present.len();
        let mut all = [0.0; CLASSES];
        if count == 1 {
            all[self.present[0].index()] = 1.0;
            return all;
        }
        let target = self.scale.apply(features);
        let kernels: Vec<f64> = self.vectors.iter().map(|vector| kernel(vector, &target)).collect();
        let mut pairwise = vec![vec![0.0; count]; count];
        for PairClassifier { pair, weights, rho, sigmoid } in &self.pair_classifiers {
            let decision = weights.iter().map(|&(vector, weight)| weight * kernels[vector]).sum::<f64>() - rho;
            let first = sigmoid_predict(decision, sigmoid.0, sigmoid.1).clamp(CERTAIN, 1.0 - CERTAIN);
            pairwise[pair.first][pair.second] = first;
            pairwise[pair.second][pair.first] = 1.0 - first;
        }
        let mut probabilities = vec![pairwise[0][1], pairwise[1][0]];
        if count > 2 {
            probabilities.resize(count, 0.0);
            multiclass_probability(count, &pairwise, &mut probabilities);
        }
        let sum: f64 = probabilities.iter().sum();
        for (class, probability) in self.present.iter().zip(probabilities) {
            all[class.index()] = probability / sum;
        }
        all
    }
}

fn kernel(x: &Features, y: &Features) -> f64 {
    let square: f64 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
    libm::exp(-GAMMA * square)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{JobId, Submission};
    use crate::time::HOUR;
    use crate::wait::history::{HistoryJob, WaitHistory};
    use rand::RngExt;

    /// Jobs with waits that grow with the length of the queue; a tenth of them have a random wait instead.
    fn history(count: usize, classes: usize) -> WaitHistory {
        let mut rng = stream(3, "svm test");
        let mut history = WaitHistory::of_all();
        for _ in 0..count {
            let class = rng.random_range(0..classes);
            let noise = |at: usize| if at < 3 { f64::from(rng.random_range(0..50u32)) } else { 5.0 };
            let mut features: Features = std::array::from_fn(noise);
            features[6] = (1000.0f64).powf(class as f64 / 2.0) * rng.random_range(1.0..3.0f64);
            let shown = if rng.random_bool(0.1) { rng.random_range(0..classes) } else { class };
            let wait = [HOUR / 2, 2 * HOUR, 4 * HOUR, 8 * HOUR, 20 * HOUR, 40 * HOUR][shown];
            history.push(&HistoryJob { id: JobId(0), job: Submission::new(0, 1, 1), features }, wait);
        }
        history
    }

    #[test]
    fn probabilities_sum_to_1_and_find_the_class() {
        let history = history(600, 4);
        let (train, test) = (history.window(400, 400), history.window(600, 200));
        let classifier = Classifier::train(&train, 1, 2).unwrap();
        let (mut right, mut of_truth) = (0, 0.0);
        for at in 0..test.len() {
            let probabilities = classifier.probabilities(&test.features(at));
            assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(probabilities.iter().all(|&p| (0.0..=1.0).contains(&p)));
            assert_eq!(probabilities[4..], [0.0, 0.0], "classes that the history does not have");
            let class = WaitClass::of(test.waits()[at] as f64);
            let best = WaitClass::all().max_by(|a, b| probabilities[a.index()].total_cmp(&probabilities[b.index()]));
            right += usize::from(best == Some(class));
            of_truth += probabilities[class.index()];
        }
        // A tenth of the classes was drawn again among four: at most 92.5% can be right, and the probabilities should
        // say so.
        assert!(right >= 175, "{right} of 200");
        assert!((of_truth / 200.0 - 0.87).abs() < 0.06, "{of_truth}");
    }

    /// Our decisions equal those of LIBSVM, and so do the probabilities, except for the shuffle of its folds.
    #[test]
    fn decisions_are_libsvms() {
        let history = history(300, 3);
        let window = history.window(300, 300);
        let set = TrainingSet::of(&window, 1).unwrap();
        let trained: Vec<PairClassifier> = set.pairs().into_iter().map(|pair| set.train(pair)).collect();
        let labels: Vec<f64> = set.classes.iter().map(|class| class.number() as f64).collect();
        let problem = SvmProblem { labels, instances: set.rows.clone() };
        let plain = svm_train(&problem, &parameters());
        let with = svm_train(&problem, &SvmParameter { probability: true, ..parameters() });
        let rows = set.rows.clone();
        let classifier = set.finish(trained);
        let mut apart = 0.0;
        for (at, row) in rows.iter().enumerate() {
            let target = classifier.scale.apply(&window.features(at));
            let mut values = [0.0; 3];
            predict_values(&plain, row, &mut values);
            // LIBSVM orders classes by first appearance.
            let mut by_labels = 0;
            for i in 0..3 {
                for j in i + 1..3 {
                    let (a, b) = (plain.label[i] as usize - 1, plain.label[j] as usize - 1);
                    let (pair, sign) = if a < b { ((a, b), 1.0) } else { ((b, a), -1.0) };
                    let machine =
                        classifier.pair_classifiers.iter().find(|m| (m.pair.first, m.pair.second) == pair).unwrap();
                    let ours: f64 = machine
                        .weights
                        .iter()
                        .map(|&(v, weight)| weight * kernel(&classifier.vectors[v], &target))
                        .sum();
                    let ours = sign * (ours - machine.rho);
                    // The solver stops within a thousandth of the optimum; where exactly depends on the order of the
                    // jobs.
                    assert!((ours - values[by_labels]).abs() < 0.02, "{ours} {}", values[by_labels]);
                    by_labels += 1;
                }
            }
            let (_, theirs) = libsvm_rs::predict::predict_probability(&with, row).unwrap();
            let ours = classifier.probabilities(&window.features(at));
            for (label, theirs) in with.label.iter().zip(theirs) {
                apart += (ours[*label as usize - 1] - theirs).abs() / 900.0;
            }
        }
        assert!(apart < 0.01, "{apart}");
    }

    #[test]
    fn training_is_the_same_on_any_number_of_threads() {
        let history = history(250, 5);
        let window = history.window(250, 250);
        let one = Classifier::train(&window, 1, 1).unwrap();
        for threads in [2, 5] {
            let other = Classifier::train(&window, 1, threads).unwrap();
            for at in 0..50 {
                let features = window.features(at);
                assert_eq!(one.probabilities(&features), other.probabilities(&features));
            }
        }
    }

    #[test]
    fn one_class_is_certain_and_an_empty_history_gives_no_classifier() {
        let one = history(30, 1);
        let window = one.window(30, 30);
        let classifier = Classifier::train(&window, 1, 1).unwrap();
        assert_eq!(classifier.probabilities(&window.features(3)), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert!(Classifier::train(&one.window(0, 5), 1, 1).is_none());
        // A class with a single job: no fold can have it in both training and test data.
        let mut history = history(40, 2);
        history.push(&HistoryJob { id: JobId(0), job: Submission::new(0, 1, 1), features: [9.0; FEATURES] }, 30 * HOUR);
        let classifier = Classifier::train(&history.window(41, 41), 1, 1).unwrap();
        let probabilities = classifier.probabilities(&[9.0; FEATURES]);
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12 && probabilities[5] > 0.0);
    }
}
