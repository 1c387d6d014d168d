//! The jobs that have ended: of each user, and of each class of estimates.
//!
//! Every property of the jobs has a column of its own, because the loops over them then take several jobs at once.

use super::power_mean::PowerMean;
use crate::job::Submission;
use crate::time::Seconds;

/// The number of ratios that a class keeps.
const CLASS_SIZE: usize = 16;

/// A list of the latest numbers, the oldest first.
#[derive(Default)]
struct Latest(Vec<f64>);

impl Latest {
    /// Adds a number. The list may then have up to twice as many as are wanted, so that old ones are seldom moved out.
    fn push(&mut self, number: f64, wanted: usize) {
        if self.0.len() >= wanted.saturating_mul(2) {
            self.0.drain(..self.0.len() - wanted);
        }
        self.0.push(number);
    }

    fn latest(&self, wanted: usize) -> &[f64] {
        &self.0[self.0.len().saturating_sub(wanted)..]
    }
}

/// The names of the columns of a history.
#[derive(Clone, Copy)]
pub enum PastColumn {
    Estimate,
    LnEstimate,
    Procs,
    LnProcs,
    /// Not a number if unknown, which equals nothing: two unknown executables may be different ones.
    Executable,
    Queue,
    Submit,
    Runtime,
    LnRuntime,
    /// The runtime as it is averaged.
    Raised,
}

const COLUMNS: usize = 10;

/// The last ended jobs of a user.
#[derive(Default)]
pub struct KinHistory([Latest; COLUMNS]);

/// An executable as a number that can be compared.
pub fn executable(job: &Submission) -> f64 {
    if job.executable == -1 { f64::NAN } else { f64::from(job.executable) }
}

impl KinHistory {
    pub fn add(&mut self, job: &Submission, runtime: Seconds, capacity: usize, mean: &PowerMean) {
        let (estimate, procs, runtime) = (job.estimate as f64, f64::from(job.procs), runtime as f64);
        // In the order of `Column`.
        let row: [f64; COLUMNS] = [
            estimate,
            libm::log(estimate),
            procs,
            libm::log(procs),
            executable(job),
            f64::from(job.queue),
            job.submit as f64,
            runtime,
            libm::log(runtime),
            mean.raise(runtime),
        ];
        self.0.iter_mut().zip(row).for_each(|(column, number)| column.push(number, capacity));
    }

    /// A column of the last `capacity` jobs, the oldest first.
    pub fn column(&self, column: PastColumn, capacity: usize) -> &[f64] {
        self.0[column as usize].latest(capacity)
    }
}

/// The last jobs of all users by class of estimates: runtime divided by estimate, at most 1.
#[derive(Default)]
pub struct KinClasses(Vec<KinClass>);

#[derive(Default)]
struct KinClass {
    ratios: Latest,
    ln_ratios: Latest,
}

/// Estimates within a factor of e^(1/2) share a class.
fn class_of(ln_estimate: f64) -> usize {
    (2.0 * ln_estimate + 0.5) as usize
}

impl KinClasses {
    pub fn add(&mut self, job: &Submission, runtime: Seconds) {
        let class = class_of(libm::log(job.estimate as f64));
        if self.0.len() <= class {
            self.0.resize_with(class + 1, KinClass::default);
        }
        let ratio = (runtime as f64 / job.estimate as f64).min(1.0);
        self.0[class].ratios.push(ratio, CLASS_SIZE);
        self.0[class].ln_ratios.push(libm::log(ratio), CLASS_SIZE);
    }

    /// The last ratios of the class of an estimate and their logarithms, the oldest first.
    pub fn of(&self, ln_estimate: f64) -> (&[f64], &[f64]) {
        match self.0.get(class_of(ln_estimate)) {
            None => (&[], &[]),
            Some(class) => (class.ratios.latest(CLASS_SIZE), class.ln_ratios.latest(CLASS_SIZE)),
        }
    }
}
