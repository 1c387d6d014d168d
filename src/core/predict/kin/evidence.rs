//! What is known about a job: values for its runtime, each with a weight. They come from the user's past jobs, from jobs
//! of all users with estimates of the same class, and from the job's own estimate.

use super::coefficients::{COUNT, Coefficients, OF_CLASS, OF_ESTIMATE, SIMILARITIES, TIME};
use super::elementary::{exp_all, ln_all};
use super::past::{KinClasses, KinHistory, PastColumn, executable};
use super::power_mean::PowerMean;
use crate::job::Submission;
use crate::predict::smith::category::whole_seconds;
use crate::time::Seconds;

/// The scale of the Laplace distribution of ln runtime around ln value.
const SPREAD: f64 = 0.2;
/// The density at a value that has all the weight. 98% of the likelihood is around the values.
const PEAK: f64 = 0.98 / (2.0 * SPREAD);
/// The density everywhere else: the other 2% are spread evenly over a range of 12 in ln runtime.
const EVEN: f64 = 0.02 / 12.0;
/// Weights whose logarithms are within this need no scaling.
const LARGEST_LN: f64 = 300.0;

/// The job that is predicted, with the logarithms that are needed many times.
pub struct Query {
    pub job: Submission,
    estimate: f64,
    ln_estimate: f64,
    ln_procs: f64,
    /// See [`PowerMean::unit`].
    unit: f64,
    raised_estimate: f64,
}

impl Query {
    pub fn new(job: &Submission, mean: &PowerMean) -> Query {
        let estimate = job.estimate as f64;
        let ln_estimate = libm::log(estimate);
        let unit = mean.unit(estimate, ln_estimate);
        let raised_estimate = mean.raise(estimate / unit);
        Query { job: *job, estimate, ln_estimate, ln_procs: libm::log(f64::from(job.procs)), unit, raised_estimate }
    }

    /// Whether another job of the user differs from this one at most in its time of submission, as far as `kin` looks.
    pub fn is_of_one_series(&self, other: &Submission) -> bool {
        let seen = |job: &Submission| (job.estimate, job.procs, job.executable, job.queue);
        seen(&self.job) == seen(other)
    }
}

/// The past of a user and of everybody.
pub struct Past<'a> {
    pub history: &'a KinHistory,
    /// The number of jobs of the history that count.
    pub capacity: usize,
    pub classes: &'a KinClasses,
}

impl<'a> Past<'a> {
    fn column(&self, column: PastColumn) -> &'a [f64] {
        self.history.column(column, self.capacity)
    }
}

/// The weights of all values for one job. In this order: the estimate, the ratios of the class and the user's past jobs,
/// both the oldest first. Sums run the other way.
#[derive(Default)]
pub struct Evidence {
    /// ln(1 + place) by place; the newest job has the place 0.
    ln_places: Vec<f64>,
    /// How similar the past jobs are, one column per kind of similarity. The time of submission is the last one.
    features: [Vec<f64>; SIMILARITIES],
    /// The logarithms of all weights by everything but the time of submission, which alone differs between the jobs of a
    /// series. They come in the order of `weights`.
    ln_weights: Vec<f64>,
    /// The weights of the first values, those that do not come from the user's past jobs: the same for all jobs of a series.
    others: Vec<f64>,
    weights: Vec<f64>,
    /// The values as they are averaged.
    raised: Vec<f64>,
    /// The likelihood of a runtime by each value alone.
    densities: Vec<f64>,
}

impl Evidence {
    /// Finds all values for a job, with their weights by the present coefficients.
    pub fn collect(&mut self, query: &Query, past: &Past<'_>, coefficients: &Coefficients, mean: &PowerMean) {
        self.compare(query, past);
        let (ratios, _) = past.classes.of(query.ln_estimate);
        self.raised.clear();
        self.raised.push(query.raised_estimate);
        self.raised.extend(ratios.iter().map(|ratio| (query.estimate * ratio).max(1.0) / query.unit));
        mean.raise_all(&mut self.raised[1..]);
        let runtimes = past.column(PastColumn::Runtime);
        if query.unit == 1.0 {
            let raised = past.column(PastColumn::Raised).iter().zip(runtimes);
            let cut = |(&raised, &runtime)| if runtime < query.estimate { raised } else { query.raised_estimate };
            self.raised.extend(raised.map(cut));
        } else {
            self.raised.extend(runtimes.iter().map(|runtime| mean.raise(runtime.min(query.estimate) / query.unit)));
        }
        self.add_up(ratios.len(), coefficients);
        self.weigh_by_time(query, past, coefficients);
    }

    /// Compares the job with all past jobs of its user, in everything but the time.
    fn compare(&mut self, query: &Query, past: &Past<'_>) {
        let (job, count) = (&query.job, past.column(PastColumn::Estimate).len());
        while self.ln_places.len() < count {
            self.ln_places.push(libm::log(1.0 + self.ln_places.len() as f64));
        }
        let ln_places = &self.ln_places[..count];
        let [place, same_estimate, estimate, same_procs, procs, same_executable, same_queue, _] = &mut self.features;
        place.clear();
        place.extend(ln_places.iter().rev());
        equal(same_estimate, past.column(PastColumn::Estimate), query.estimate);
        distance(estimate, past.column(PastColumn::LnEstimate), query.ln_estimate);
        equal(same_procs, past.column(PastColumn::Procs), f64::from(job.procs));
        distance(procs, past.column(PastColumn::LnProcs), query.ln_procs);
        equal(same_executable, past.column(PastColumn::Executable), executable(job));
        equal(same_queue, past.column(PastColumn::Queue), f64::from(job.queue));
    }

    /// Adds up what was compared.
    fn add_up(&mut self, ratios: usize, coefficients: &Coefficients) {
        let Evidence { ln_weights, others, features, .. } = self;
        ln_weights.clear();
        ln_weights.push(coefficients.values[OF_ESTIMATE]);
        ln_weights.resize(1 + ratios, coefficients.values[OF_CLASS]);
        others.clone_from(ln_weights);
        exp_all(others);
        let first = ln_weights.len();
        ln_weights.resize(first + features[0].len(), 0.0);
        for (feature, coefficient) in features[..TIME].iter().zip(coefficients.values) {
            ln_weights[first..].iter_mut().zip(feature).for_each(|(sum, feature)| *sum += coefficient * feature);
        }
    }

    /// Compares the times of submission, and finds the weights by everything. After `collect` this alone gives the weights for
    /// a job that differs from that one only in its time of submission, by the same past and coefficients.
    pub fn weigh_by_time(&mut self, query: &Query, past: &Past<'_>, coefficients: &Coefficients) {
        let Evidence { ln_weights, others, weights, features, .. } = self;
        let time = &mut features[TIME];
        distance(time, past.column(PastColumn::Submit), query.job.submit as f64);
        time.iter_mut().for_each(|apart| *apart = 1.0 + *apart / 60.0);
        ln_all(time);
        weights.clone_from(ln_weights);
        let first = others.len();
        let of_time = coefficients.values[TIME];
        weights[first..].iter_mut().zip(&*time).for_each(|(sum, feature)| *sum += of_time * feature);
        // Coefficients that were learned can become large. Only the ratios of weights matter.
        let largest = largest(weights);
        if largest.abs() > LARGEST_LN {
            weights.iter_mut().for_each(|ln| *ln -= largest);
            exp_all(weights);
        } else {
            weights[..first].copy_from_slice(others);
            exp_all(&mut weights[first..]);
        }
    }

    /// The weighted mean of all values, at least a second and at most the estimate.
    pub fn predict(&self, query: &Query, mean: &PowerMean) -> Seconds {
        let (mut sum, mut total) = (0.0, 0.0);
        for (weight, raised) in self.weights.iter().zip(&self.raised).rev() {
            sum += weight * raised;
            total += weight;
        }
        whole_seconds(mean.lower(sum / total) * query.unit).min(query.job.estimate)
    }

    /// Moves the coefficients so that the values near this runtime get more weight. The runtime is taken to have a density
    /// in ln runtime: a mixture of one Laplace distribution around each value, with the weights as shares, and a small
    /// even part. The step goes up the gradient of its logarithm.
    pub fn learn(&mut self, query: &Query, past: &Past<'_>, runtime: Seconds, coefficients: &mut Coefficients) {
        let Evidence { weights, densities, features, .. } = self;
        let total: f64 = weights.iter().rev().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        find_densities(densities, query, past, libm::log(runtime as f64));
        let all = weights.iter().zip(&*densities).rev().fold(EVEN, |all, (share, density)| all + share * density);
        // How much the likelihood gains from more weight on a value, in place of its weight.
        let pulls = weights;
        for (pull, density) in pulls.iter_mut().zip(&*densities) {
            *pull *= density / all - 1.0 + EVEN / all;
        }
        let jobs = features[0].len();
        let (others, of_jobs) = pulls.split_at(pulls.len() - jobs);
        let features = features.each_ref().map(|column| &column[..jobs]);
        let mut gradients = [0.0; COUNT];
        for (at, pull) in of_jobs.iter().enumerate().rev() {
            for (gradient, column) in gradients.iter_mut().zip(features) {
                *gradient += pull * column[at];
            }
        }
        gradients[OF_CLASS] = others[1..].iter().rev().sum();
        gradients[OF_ESTIMATE] = others[0];
        coefficients.step(&gradients);
    }
}

/// The likelihood of a runtime by each value alone.
fn find_densities(densities: &mut Vec<f64>, query: &Query, past: &Past<'_>, ln_runtime: f64) {
    let (_, ln_ratios) = past.classes.of(query.ln_estimate);
    densities.clear();
    densities.push(query.ln_estimate);
    densities.extend(ln_ratios.iter().map(|ln_ratio| (query.ln_estimate + ln_ratio).max(0.0)));
    densities.extend(past.column(PastColumn::LnRuntime).iter().map(|ln_value| ln_value.min(query.ln_estimate)));
    densities.iter_mut().for_each(|ln_value| *ln_value = -(*ln_value - ln_runtime).abs() / SPREAD);
    exp_all(densities);
    densities.iter_mut().for_each(|density| *density *= PEAK);
}

/// The largest of these numbers. Four are compared at once: one by one, each comparison would wait for the last.
fn largest(numbers: &[f64]) -> f64 {
    let larger = |one: f64, other: f64| if other > one { other } else { one };
    let fours = numbers.chunks_exact(4);
    let rest = fours.remainder().iter().copied().fold(f64::NEG_INFINITY, larger);
    let lanes = fours.fold([rest; 4], |lanes, four| [0, 1, 2, 3].map(|lane| larger(lanes[lane], four[lane])));
    lanes.into_iter().fold(f64::NEG_INFINITY, larger)
}

/// 1 for each past job that has this number, 0 for the others.
fn equal(feature: &mut Vec<f64>, column: &[f64], number: f64) {
    feature.clear();
    feature.extend(column.iter().map(|&other| if other == number { 1.0 } else { 0.0 }));
}

/// How far the past jobs are from this number.
fn distance(feature: &mut Vec<f64>, column: &[f64], number: f64) {
    feature.clear();
    feature.extend(column.iter().map(|other| (other - number).abs()));
}
