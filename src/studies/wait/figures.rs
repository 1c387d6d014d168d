//! The quality of predictions: errors of point predictions, how often classes were right, calibration of probabilities.

use super::classes::{CLASSES, PerClass, WaitClass};
use super::evaluate::{Evaluation, MethodAnswer, PredictedJob};
use super::method::WaitMethod;
use super::quick::is_quick;
use super::sample::LEVELS;
use super::schedule::SiteSchedule;
use crate::job::JobId;
use crate::time::{HOUR, MINUTE, Seconds};

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
    /// The sum of |predicted - wait|, in seconds.
    off: f64,
    /// How often the prediction was at most one minute and at most ten minutes off.
    pub within_minutes: [HitRate; 2],
    /// How often the longer of prediction and wait was at most two and at most three times the other.
    pub within_factors: [HitRate; 2],
    /// For each of [`LEVELS`] how often the wait was at most the bound of this probability, over the jobs with such a bound.
    pub bounds: [HitRate; LEVELS.len()],
    /// The sum of the pinball losses of all bounds, in seconds.
    pinball: f64,
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

    /// The mean of |predicted - wait|, in seconds.
    pub fn mean_error(&self) -> f64 {
        self.off / self.predictions as f64
    }

    /// The mean pinball loss of the bounds, in seconds: a bound of probability p that is too low costs p times the difference
    /// to the wait, one that is too high costs 1 - p times the difference. None if the method gives no bounds.
    pub fn pinball(&self) -> Option<f64> {
        let count: u64 = self.bounds.iter().map(|bound| bound.all).sum();
        (count > 0).then(|| self.pinball / count as f64)
    }

    /// Adds the answer for a job of a schedule, which waited for `wait` from the instant of the answer on.
    pub(super) fn judge(&mut self, schedule: &SiteSchedule<'_>, id: JobId, wait: Seconds, answer: &MethodAnswer) {
        let estimate = schedule.workload.jobs[id.index()].submission.estimate;
        let probabilities = [f64::NAN; CLASSES];
        self.add(&PredictedJob { id, wait, estimate, probabilities, quick: false, similar: 0 }, answer);
    }

    fn add(&mut self, job: &PredictedJob, answer: &MethodAnswer) {
        let (wait, point) = (job.wait as f64, answer.point);
        self.predictions += 1;
        self.stopped += u64::from(answer.stopped);
        let off = (point - wait).abs();
        self.off += off;
        for (within, minutes) in self.within_minutes.iter_mut().zip([1.0, 10.0]) {
            within.count(off <= minutes * MINUTE as f64);
        }
        for (within, factor) in self.within_factors.iter_mut().zip([2.0, 3.0]) {
            within.count(point.max(wait) <= factor * point.min(wait));
        }
        for ((met, level), bound) in self.bounds.iter_mut().zip(LEVELS).zip(answer.bounds) {
            let Some(bound) = bound else { continue };
            met.count(wait <= bound);
            self.pinball += if wait > bound { level * (wait - bound) } else { (1.0 - level) * (bound - wait) };
        }
        self.error += (point - wait).abs() / (wait + job.estimate as f64);
        let (truth, class) = (WaitClass::of(wait), answer.class());
        let two = class.two_most_probable(&answer.probabilities.unwrap_or(job.probabilities));
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
        self.answers.iter().map(|(method, answers)| self.figures_of(method, answers)).collect()
    }

    /// Every `step`-th of the jobs, starting with the first: those that regressions were evaluated on.
    pub fn every(&self, step: usize) -> Evaluation {
        let answers = self.answers.iter();
        Evaluation {
            jobs: self.jobs.iter().step_by(step).copied().collect(),
            answers: answers.map(|(how, all)| (how.clone(), all.iter().step_by(step).copied().collect())).collect(),
            regression_every: 1,
            learned: self.learned,
        }
    }

    /// The first `count` of the jobs.
    pub fn first(&self, count: usize) -> Evaluation {
        let answers = self.answers.iter();
        Evaluation {
            jobs: self.jobs.iter().take(count).copied().collect(),
            answers: answers.map(|(how, all)| (how.clone(), all.iter().take(count).copied().collect())).collect(),
            ..*self
        }
    }

    fn figures_of(&self, method: &WaitMethod, answers: &[Option<MethodAnswer>]) -> WaitFigures {
        let mut figures = WaitFigures { method: method.name(), ..WaitFigures::default() };
        for ((at, job), answer) in self.jobs.iter().enumerate().zip(answers) {
            match answer {
                Some(answer) => figures.add(job, answer),
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

    /// The predicted probabilities of all classes, compared with the true classes: those of the support vector machine, then
    /// those of each method that has its own, with its name.
    pub fn calibrations(&self) -> Vec<(String, Vec<CalibrationBin>)> {
        let learned = self.jobs.iter().map(|job| (job, job.probabilities));
        let learned = ("support vector machine".to_string(), calibration(learned));
        let own = self.answers.iter().filter_map(|(method, answers)| {
            let given: Vec<_> = self
                .jobs
                .iter()
                .zip(answers)
                .filter_map(|(job, answer)| Some((job, (*answer)?.probabilities?)))
                .collect();
            (!given.is_empty()).then(|| (method.name(), calibration(given.into_iter())))
        });
        [learned].into_iter().chain(own).collect()
    }
}

fn calibration<'a>(given: impl Iterator<Item = (&'a PredictedJob, PerClass)>) -> Vec<CalibrationBin> {
    let bin = |at: usize| CalibrationBin { low: at as f64 / BINS as f64, ..CalibrationBin::default() };
    let mut bins: Vec<CalibrationBin> = (0..BINS).map(bin).collect();
    for (job, probabilities) in given.filter(|(_, probabilities)| probabilities[0].is_finite()) {
        let truth = WaitClass::of(job.wait as f64);
        for (class, probability) in WaitClass::all().zip(probabilities) {
            let bin = &mut bins[((probability * BINS as f64) as usize).min(BINS - 1)];
            bin.count += 1;
            bin.sum += probability;
            bin.happened += u64::from(class == truth);
        }
    }
    bins
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
        let bounds = [Some(100.0), None, None, Some(7200.0)];
        let answer = |point: f64, stopped| Some(MethodAnswer { point, bounds, stopped, ..MethodAnswer::default() });
        let points =
            [(0.0, true), (18_000.0, false), (5.0 * 3600.0, true)].map(|(point, stopped)| answer(point, stopped));
        let answers = [&points[..], &[None, answer(1e6, false)]].concat();
        let method = WaitMethod::parse("knn").unwrap();
        let evaluation = Evaluation { jobs, answers: vec![(method, answers)], regression_every: 50, learned: 1 };
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
        assert!((figures.mean_error() - (1800.0 + 10_800.0 + 3600.0 + 996_400.0) / 4.0).abs() < 1e-9);
        assert_eq!((figures.within_minutes[1].right, figures.within_factors.map(|share| share.right)), (0, [1, 2]));
        // The waits are 1,800, 7,200, 14,400 and 3,600 s.
        assert_eq!(figures.bounds.map(|bound| (bound.right, bound.all)), [(0, 4), (0, 0), (0, 0), (3, 4)]);
        let (low, high) = (0.5 * (1700.0 + 7100.0 + 14_300.0 + 3500.0), 0.95 * 7200.0 + 0.05 * (5400.0 + 3600.0));
        assert!((figures.pinball().unwrap() - (low + high) / 8.0).abs() < 1e-9);
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
        let own = MethodAnswer { probabilities: Some([0.25; CLASSES]), ..MethodAnswer::default() };
        let answers = vec![(WaitMethod::parse("simulate:draws=4").unwrap(), vec![Some(own); 4])];
        let calibrations = Evaluation { jobs, answers, regression_every: 1, learned: 1 }.calibrations();
        assert_eq!((calibrations.len(), calibrations[1].0.as_str()), (2, "simulate:draws=4"));
        let quarter = &calibrations[1].1[2];
        assert_eq!((quarter.count, quarter.predicted(), quarter.observed()), (24, 0.25, 4.0 / 24.0));
        let calibration = &calibrations[0].1;
        let tenth = |at: usize| (calibration[at].count, calibration[at].predicted(), calibration[at].observed());
        assert_eq!(tenth(4), (4, 0.45, 0.5));
        assert_eq!(tenth(3), (4, 0.35, 0.25));
        assert_eq!(tenth(1), (4, 0.15, 0.0));
        // Four jobs have three probabilities each in this bin: 0.05, 0 and 0. One of those classes was the true one.
        assert!(calibration[0].count == 12 && (calibration[0].observed() - 1.0 / 12.0).abs() < 1e-12);
        assert_eq!(calibration.iter().map(|bin| bin.count).sum::<u64>(), 24);
    }
}
