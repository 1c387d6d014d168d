//! The predictor of waits as a site would run it: events update it, and it can predict at any time.

use std::borrow::Cow;

use super::classes::{CLASSES, PerClass, WaitClass, normalized};
use super::features::{Features, OCCUPIED, features};
use super::history::{HistoryJob, HistoryWindow, WaitHistory};
use super::knn::{Distance, Neighbours, neighbours};
use super::quick::quick_starter;
use super::schedule::SiteHandler;
use super::state::SiteState;
use super::svm::Classifier;
use crate::job::{JobId, Submission};
use crate::time::{Seconds, Time};

/// The length of the history, and when the probabilities of classes are trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learning {
    /// The number of latest starts that are used (the paper: 5,000).
    pub history: usize,
    /// The number of arrivals before the first training.
    pub first: usize,
    /// The number of arrivals between two trainings.
    pub every: usize,
    /// For the folds of the cross-validation.
    pub seed: u64,
}

impl Default for Learning {
    fn default() -> Self {
        Learning { history: 5000, first: 10_000, every: 5000, seed: 1 }
    }
}

impl Learning {
    /// Whether the probabilities are trained when this many jobs have arrived.
    pub fn is_due(&self, arrivals: usize) -> bool {
        arrivals >= self.first && (arrivals - self.first).is_multiple_of(self.every)
    }
}

/// The predicted wait of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitPrediction {
    /// The weighted average of the waits of similar jobs, in seconds.
    pub point: f64,
    /// Of each class; they sum to 1.
    pub probabilities: PerClass,
    /// Whether it is predicted to wait less than an hour.
    pub quick: bool,
    /// The number of similar jobs.
    pub similar: usize,
    /// The distance within which jobs count as similar.
    pub radius: f64,
    /// The mean wait of similar jobs in each class, in seconds; None for a class without similar jobs.
    pub mean_waits: [Option<f64>; CLASSES],
}

impl WaitPrediction {
    /// The class of the point prediction.
    pub fn class(&self) -> WaitClass {
        WaitClass::of(self.point)
    }

    /// The two ranges of the answer, the more probable one first, with probabilities that sum to 1.
    pub fn two(&self) -> [(WaitClass, f64); 2] {
        let classes = self.class().two_most_probable(&self.probabilities);
        let [first, second] = normalized(classes, &self.probabilities);
        [(classes[0], first), (classes[1], second)]
    }

    /// The mean waits of the two ranges, weighted by their probabilities, in seconds (Kumar and Vadhiyar, section 4,
    /// Exp_Val). A range without similar jobs counts as its midpoint.
    pub fn expected_wait(&self) -> f64 {
        let mean = |class: WaitClass| self.mean_waits[class.index()].unwrap_or(class.midpoint());
        self.two().iter().map(|&(class, probability)| probability * mean(class)).sum()
    }
}

/// The inputs of one prediction.
pub(super) struct PredictionInput<'a> {
    pub job: &'a Submission,
    pub features: &'a Features,
    pub window: &'a HistoryWindow<'a>,
    pub procs: u32,
    pub classifier: Option<&'a Classifier>,
}

impl PredictionInput<'_> {
    /// The prediction and the similar jobs it is computed from; None without a history.
    pub fn predict(&self) -> Option<(WaitPrediction, Neighbours)> {
        let PredictionInput { job, features, window, procs, classifier } = self;
        let similar = neighbours(features, window, Distance::default())?;
        let point = similar.weighted_average(window);
        let mut sums = [(0u64, 0i128); CLASSES];
        for one in &similar.all {
            let wait = window.waits()[one.at];
            let (count, sum) = &mut sums[WaitClass::of(wait as f64).index()];
            (*count, *sum) = (*count + 1, *sum + i128::from(wait));
        }
        // Before the first training the class of the point prediction has probability 1.
        let certain = || std::array::from_fn(|at| f64::from(u8::from(at == WaitClass::of(point).index())));
        let prediction = WaitPrediction {
            point,
            probabilities: classifier.map_or_else(certain, |classifier| classifier.probabilities(features)),
            quick: quick_starter(job, features[OCCUPIED] as i64, *procs, window),
            similar: similar.all.len(),
            radius: similar.radius,
            mean_waits: sums.map(|(count, sum)| (count > 0).then(|| sum as f64 / count as f64)),
        };
        Some((prediction, similar))
    }
}

/// Predicts waits at one site by similar jobs, a support vector machine and quick starters.
///
/// Arrivals, starts and ends update it as they happen. It uses no other data: a prediction never depends on a wait that
/// is not over. The same events give the same predictions, whether they come from a replayed log or from a simulation.
/// A prediction does not change the predictor.
///
/// ```
/// # mod shadowtime {
/// #     pub use {shadowtime_core::*, shadowtime_studies::*};
/// # }
/// use shadowtime::job::{JobId, Submission};
/// use shadowtime::wait::{Learning, SiteHandler, WaitPredictor};
///
/// let mut site = WaitPredictor::new(64, Learning::default(), 1);
/// site.on_arrival(JobId(0), &Submission::new(0, 64, 3600), 0);
/// site.on_start(JobId(0), 0);
/// site.on_arrival(JobId(1), &Submission::new(10, 64, 3600), 10);
/// site.on_end(JobId(0), 1800, 1800);
/// site.on_start(JobId(1), 1800);
/// let answer = site.predict_behind(&Submission::new(1900, 64, 3600), &[], 1900).unwrap();
/// // The second job arrived, like this one, at a full machine: it waited 1790 seconds.
/// assert!(answer.point > 1700.0 && answer.quick);
/// ```
#[derive(Clone, Debug)]
pub struct WaitPredictor {
    procs: u32,
    learning: Learning,
    threads: usize,
    state: SiteState,
    history: WaitHistory,
    /// The waiting jobs.
    waiting: Vec<HistoryJob>,
    arrivals: usize,
    classifier: Option<Classifier>,
}

impl WaitPredictor {
    /// An empty site of `procs` processors. Training uses `threads` threads; the result does not depend on their
    /// number.
    pub fn new(procs: u32, learning: Learning, threads: usize) -> WaitPredictor {
        WaitPredictor {
            procs,
            learning,
            threads,
            state: SiteState::default(),
            history: WaitHistory::of_latest(learning.history),
            waiting: Vec::new(),
            arrivals: 0,
            classifier: None,
        }
    }

    fn remove_waiting(&mut self, id: JobId) -> Option<HistoryJob> {
        let at = self.waiting.iter().position(|arrived| arrived.id == id)?;
        Some(self.waiting.swap_remove(at))
    }

    /// Trains the probabilities on the present history.
    pub fn learn(&mut self) {
        self.classifier = Classifier::train(&self.window(), self.learning.seed, self.threads);
    }

    /// The predicted wait of a job that arrives now, behind the jobs `ahead`; None without a history. Those have not been passed to
    /// [`SiteHandler::on_arrival`] yet.
    pub fn predict_behind(&self, job: &Submission, ahead: &[(JobId, Submission)], now: Time) -> Option<WaitPrediction> {
        let mut state = Cow::Borrowed(&self.state);
        ahead.iter().for_each(|(id, other)| state.to_mut().arrive(*id, other));
        self.predict_at(job, &state, now).map(|(prediction, _)| prediction)
    }

    /// The same without jobs ahead, with the similar jobs as indices into [`WaitPredictor::window`].
    pub fn predict_with_neighbours(&self, job: &Submission, now: Time) -> Option<(WaitPrediction, Neighbours)> {
        self.predict_at(job, &self.state, now)
    }

    fn predict_at(&self, job: &Submission, state: &SiteState, now: Time) -> Option<(WaitPrediction, Neighbours)> {
        let (features, window) = (features(job, state, now), self.window());
        let classifier = self.classifier.as_ref();
        PredictionInput { job, features: &features, window: &window, procs: self.procs, classifier }.predict()
    }

    /// Whether a job that arrives now is predicted to wait less than an hour.
    pub fn is_quick(&self, job: &Submission) -> bool {
        quick_starter(job, self.state.occupied(), self.procs, &self.window())
    }

    /// The latest starts, on which predictions are based.
    pub fn window(&self) -> HistoryWindow<'_> {
        self.history.window(self.history.len(), self.learning.history)
    }

    /// The number of starts in [`WaitPredictor::window`].
    pub fn known(&self) -> usize {
        self.window().len()
    }

    /// The jobs that wait and run now.
    pub fn state(&self) -> &SiteState {
        &self.state
    }
}

/// Behind a [`super::SiteOrder`] the events of a simulation come in the order in which waits are predicted.
impl SiteHandler for WaitPredictor {
    fn on_arrival(&mut self, id: JobId, job: &Submission, now: Time) {
        self.waiting.push(HistoryJob { id, job: *job, features: features(job, &self.state, now) });
        self.state.arrive(id, job);
        self.arrivals += 1;
        if self.learning.is_due(self.arrivals) {
            self.learn();
        }
    }

    /// A waiting job starts: its wait becomes part of the history. Ignored if no such job waits.
    fn on_start(&mut self, id: JobId, now: Time) {
        if self.state.start(id, now)
            && let Some(arrived) = self.remove_waiting(id)
        {
            self.history.push(&arrived, now - arrived.job.submit);
        }
    }

    /// A running job ends. Ignored if no such job runs.
    fn on_end(&mut self, id: JobId, _runtime: Seconds, _now: Time) {
        self.state.end(id);
    }

    /// A waiting job is cancelled; it does not become part of the history.
    fn on_cancellation(&mut self, id: JobId) {
        if self.state.cancel(id) {
            self.remove_waiting(id);
        }
    }
}
