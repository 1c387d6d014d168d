//! The quality of predictions: errors of point predictions, how often classes were right, calibration of probabilities.

use super::classes::{CLASSES, WaitClass};
use super::evaluate::{Evaluation, PredictedJob};
use super::method::WaitMethod;
use super::quick::is_quick;
use crate::time::HOUR;

/// How often predictions were right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HitRate {
    /// Predictions that were right.
    pub right: u64,
    /// All predictions.
    pub all: u64,
}

impl HitRate {
    fn count(&mut self, right: bool) {
        self.right += u64::from(right);
        self.all += 1;
    }

    /// The share of right predictions in percent; NaN if there are none at all.
    pub fn percent(&self) -> f64 {
        self.right as f64 / self.all as f64 * 100.0
    }
}

/// The quality of one method.
#[derive(Clone, Debug, Default)]
pub struct WaitFigures {
    /// The method's spec.
    pub method: String,
    /// Jobs for which the method was evaluated and had no answer.
    pub unanswered: u64,
    /// Jobs for which the solver of a regression was stopped before it had found the solution.
    pub stopped: u64,
    /// The sum of errors of `predictions` jobs, each as a share of the response time.
    error: f64,
    /// Jobs with an answer.
    pub predictions: u64,
    /// How often the true class was among the one, two or three predicted classes.
    pub classes: [HitRate; 3],
    /// The same over jobs that waited more than an hour.
    pub slow: [HitRate; 3],
    /// How often the wait was at most the predicted one: for an upper bound, how well it holds.
    pub covered: HitRate,
    /// Numbers of jobs, by true class and then by predicted class.
    pub confusion: [[u64; CLASSES]; CLASSES],
    /// The precision and the recall of the prediction that a job waits less than an hour. None for methods other than
    /// `knn`.
    pub quick: Option<(HitRate, HitRate)>,
}

impl WaitFigures {
    /// The mean percentage error in response time, |predicted - wait| / (wait + estimate) (Kumar and Vadhiyar, section
    /// 5.1, PPE).
    pub fn ppe_percent(&self) -> f64 {
        self.error / self.predictions as f64 * 100.0
    }

    fn add(&mut self, job: &PredictedJob, point: f64) {
        let wait = job.wait as f64;
        self.predictions += 1;
        self.error += (point - wait).abs() / (wait + job.estimate as f64);
        let (truth, class) = (WaitClass::of(wait), WaitClass::of(point));
        let two = class.two_most_probable(&job.probabilities);
        let met = [truth == class, two.contains(&truth), class.neighbourhood().any(|near| near == truth)];
        for (at, met) in met.into_iter().enumerate() {
            self.classes[at].count(met);
            if job.wait > HOUR {
                self.slow[at].count(met);
            }
        }
        self.covered.count(wait <= point);
        self.confusion[truth.index()][class.index()] += 1;
    }
}

/// Predicted probabilities from `low` to `low + 0.1`, and how often the predicted classes were the true ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct CalibrationBin {
    /// The lower bound of the probabilities.
    pub low: f64,
    /// Predicted probabilities in this range; each job has one per class.
    pub count: u64,
    sum: f64,
    happened: u64,
}

impl CalibrationBin {
    /// The mean of the predicted probabilities.
    pub fn predicted(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// The share of these predictions whose class was the true one.
    pub fn observed(&self) -> f64 {
        self.happened as f64 / self.count as f64
    }
}

/// Tenths of the range from 0 to 1.
const BINS: usize = 10;

impl Evaluation {
    /// The figures of each method, in order.
    pub fn figures(&self) -> Vec<WaitFigures> {
        self.points
            .iter()
            .zip(&self.stopped)
            .map(|((method, points), &stopped)| WaitFigures { stopped, ..self.figures_of(method, points) })
            .collect()
    }

    /// Every `step`-th of the jobs, starting with the first: those that regressions were evaluated on.
    pub fn every(&self, step: usize) -> Evaluation {
        let points = self.points.iter();
        Evaluation {
            jobs: self.jobs.iter().step_by(step).copied().collect(),
            points: points.map(|(how, all)| (how.clone(), all.iter().step_by(step).copied().collect())).collect(),
            stopped: self.stopped.clone(),
            regression_every: 1,
            learned: self.learned,
        }
    }

    fn figures_of(&self, method: &WaitMethod, points: &[Option<f64>]) -> WaitFigures {
        let mut figures = WaitFigures { method: method.name(), ..WaitFigures::default() };
        for ((at, job), point) in self.jobs.iter().enumerate().zip(points) {
            match point {
                Some(point) => figures.add(job, *point),
                None if method.is_regression() && !at.is_multiple_of(self.regression_every) => {}
                None => figures.unanswered += 1,
            }
        }
        figures.quick = method.is_knn().then(|| {
            let (mut precision, mut recall) = (HitRate::default(), HitRate::default());
            for job in &self.jobs {
                if job.quick {
                    precision.count(is_quick(job.wait));
                }
                if is_quick(job.wait) {
                    recall.count(job.quick);
                }
            }
            (precision, recall)
        });
        figures
    }

    /// The predicted probabilities of all classes, compared with the true classes.
    pub fn calibration(&self) -> Vec<CalibrationBin> {
        let bin = |at: usize| CalibrationBin { low: at as f64 / BINS as f64, ..CalibrationBin::default() };
        let mut bins: Vec<CalibrationBin> = (0..BINS).map(bin).collect();
        for job in self.jobs.iter().filter(|job| job.probabilities[0].is_finite()) {
            let truth = WaitClass::of(job.wait as f64);
            for (class, probability) in WaitClass::all().zip(job.probabilities) {
                let bin = &mut bins[((probability * BINS as f64) as usize).min(BINS - 1)];
                bin.count += 1;
                bin.sum += probability;
                bin.happened += u64::from(class == truth);
            }
        }
        bins
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::JobId;

    fn judged(wait: i64, estimate: i64, quick: bool) -> PredictedJob {
        let probabilities = [0.45, 0.35, 0.15, 0.05, 0.0, 0.0];
        PredictedJob { id: JobId(0), wait, estimate, probabilities, quick, similar: 1 }
    }

    #[test]
    fn figures_by_hand() {
        let jobs = vec![
            judged(1800, 1800, true),
            judged(7200, 1800, true),
            judged(4 * HOUR, HOUR, false),
            judged(60, 60, false),
            judged(3600, 60, false),
        ];
        // True and predicted classes: 1 and 1, 2 and 3, 3 and 3, 1 and no prediction, 1 and 6.
        let points = vec![Some(0.0), Some(18_000.0), Some(5.0 * 3600.0), None, Some(1e6)];
        let method = WaitMethod::parse("knn").unwrap();
        let evaluation =
            Evaluation { jobs, points: vec![(method, points)], stopped: vec![2], regression_every: 50, learned: 1 };
        let figures = &evaluation.figures()[0];
        assert_eq!((figures.predictions, figures.unanswered, figures.stopped), (4, 1, 2));
        let errors = [1800.0 / 3600.0, 10_800.0 / 9000.0, 3600.0 / (5.0 * 3600.0), (1e6 - 3600.0) / 3660.0];
        assert!((figures.ppe_percent() - errors.iter().sum::<f64>() / 4.0 * 100.0).abs() < 1e-9);
        // The two classes for a prediction of class 3 are 2 and 3, the most probable ones next to it.
        let rights: Vec<u64> = figures.classes.iter().map(|share| share.right).collect();
        assert_eq!((rights, figures.classes[0].all), (vec![2, 3, 3], 4));
        let rights: Vec<u64> = figures.slow.iter().map(|share| share.right).collect();
        assert_eq!((rights, figures.slow[0].all), (vec![1, 2, 2], 2));
        assert_eq!(figures.covered, HitRate { right: 3, all: 4 });
        let mut confusion = [[0; CLASSES]; CLASSES];
        (confusion[0][0], confusion[1][2], confusion[2][2], confusion[0][5]) = (1, 1, 1, 1);
        assert_eq!(figures.confusion, confusion);
        // One of two predicted jobs was quick; one of the two quick jobs (an hour is not quick) was predicted.
        assert_eq!(figures.quick, Some((HitRate { right: 1, all: 2 }, HitRate { right: 1, all: 2 })));
        assert!((figures.classes[0].percent() - 50.0).abs() < 1e-9 && HitRate::default().percent().is_nan());
    }

    #[test]
    fn probabilities_against_what_happened() {
        let jobs = vec![judged(0, 1, true), judged(0, 1, true), judged(2 * HOUR, 1, true), judged(30 * HOUR, 1, true)];
        let calibration = Evaluation { jobs, points: Vec::new(), stopped: Vec::new(), regression_every: 1, learned: 1 };
        let calibration = calibration.calibration();
        let tenth = |at: usize| (calibration[at].count, calibration[at].predicted(), calibration[at].observed());
        assert_eq!(tenth(4), (4, 0.45, 0.5));
        assert_eq!(tenth(3), (4, 0.35, 0.25));
        assert_eq!(tenth(1), (4, 0.15, 0.0));
        // Four jobs have three probabilities each in this bin: 0.05, 0 and 0. One of those classes was the true one.
        assert!(calibration[0].count == 12 && (calibration[0].observed() - 1.0 / 12.0).abs() < 1e-12);
        assert_eq!(calibration.iter().map(|bin| bin.count).sum::<u64>(), 24);
    }
}
