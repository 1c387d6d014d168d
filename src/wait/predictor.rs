//! The predictor of waits as a site would run it: told what happens, asked whenever someone wants to know.

use std::borrow::Cow;

use super::classes::{CLASSES, PerClass, WaitClass, normalized};
use super::features::{Features, OCCUPIED, features};
use super::history::{ArrivedJob, HistoryWindow, WaitHistory};
use super::knn::{Neighbours, neighbours};
use super::quick::quick_starter;
use super::schedule::SiteHandler;
use super::state::SiteState;
use super::svm::Classifier;
use crate::job::{JobId, Submission};
use crate::time::{Seconds, Time};

/// What a predictor of waits remembers, and when it learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learning {
    /// How many of the latest starts count (the paper: 5,000).
    pub history: usize,
    /// The probabilities are learned first after so many arrivals, and then again after every so many.
    pub first: usize,
    pub every: usize,
    /// The folds of cross-validation are drawn by it.
    pub seed: u64,
}

impl Default for Learning {
    fn default() -> Self {
        Learning { history: 5000, first: 10_000, every: 5000, seed: 1 }
    }
}

impl Learning {
    /// Whether the probabilities are learned when so many jobs have arrived.
    pub fn is_due(&self, arrivals: usize) -> bool {
        arrivals >= self.first && (arrivals - self.first).is_multiple_of(self.every)
    }
}

/// What is predicted of a job's wait.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitPrediction {
    /// The weighted average of similar jobs' waits, in seconds.
    pub point: f64,
    /// Of each class; they sum to 1.
    pub probabilities: PerClass,
    /// Whether it is predicted to wait less than an hour.
    pub quick: bool,
    /// How many jobs are similar, and within which distance.
    pub similar: usize,
    pub radius: f64,
    /// The mean wait of similar jobs in each class that has any.
    pub mean_waits: [Option<f64>; CLASSES],
}

impl WaitPrediction {
    /// The class of the point prediction.
    pub fn class(&self) -> WaitClass {
        WaitClass::of(self.point)
    }

    /// The two ranges that are given, the likelier first, with probabilities that sum to 1.
    pub fn two(&self) -> [(WaitClass, f64); 2] {
        let classes = self.class().two_most_probable(&self.probabilities);
        let [first, second] = normalized(classes, &self.probabilities);
        [(classes[0], first), (classes[1], second)]
    }

    /// The two ranges' mean waits, weighted by their probabilities (Kumar and Vadhiyar, section 4, Exp_Val); a range
    /// without similar jobs counts as its middle.
    pub fn expected_wait(&self) -> f64 {
        let mean = |class: WaitClass| self.mean_waits[class.index()].unwrap_or(class.midpoint());
        self.two().iter().map(|&(class, probability)| probability * mean(class)).sum()
    }
}

/// What is known when a job comes, and what it is asked about.
pub(super) struct PredictionInput<'a> {
    pub job: &'a Submission,
    pub features: &'a Features,
    pub window: &'a HistoryWindow<'a>,
    pub procs: u32,
    pub classifier: Option<&'a Classifier>,
}

impl PredictionInput<'_> {
    /// The prediction with the jobs that it is made of; none without a history.
    pub fn predict(&self) -> Option<(WaitPrediction, Neighbours)> {
        let PredictionInput { job, features, window, procs, classifier } = self;
        let similar = neighbours(features, window)?;
        let point = similar.weighted_average(window);
        let mut sums = [(0u64, 0i128); CLASSES];
        for one in &similar.all {
            let wait = window.waits()[one.at];
            let (count, sum) = &mut sums[WaitClass::of(wait as f64).index()];
            (*count, *sum) = (*count + 1, *sum + i128::from(wait));
        }
        // Before anything was learned the point prediction's class is all there is.
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

/// Told by [`super::SiteOrder`], it hears of a simulation in the order in which waits are predicted.
impl SiteHandler for WaitPredictor {
    fn on_arrival(&mut self, id: JobId, job: &Submission, now: Time) {
        WaitPredictor::on_arrival(self, id, job, now);
    }

    fn on_start(&mut self, id: JobId, now: Time) {
        WaitPredictor::on_start(self, id, now);
    }

    fn on_end(&mut self, id: JobId, _runtime: Seconds, now: Time) {
        WaitPredictor::on_end(self, id, now);
    }

    fn on_cancellation(&mut self, id: JobId) {
        WaitPredictor::on_cancellation(self, id);
    }
}

/// Predicts waits at one site by similar jobs, a support vector machine and quick starters.
///
/// It is told of arrivals, starts and ends as they happen, and learns from nothing else: what it says of a job depends on
/// no wait that is not over. Whoever tells it, a replayed log or a simulation that is stepped, it says the same. Asking
/// changes nothing.
///
/// ```
/// use shadowtime::job::{JobId, Submission};
/// use shadowtime::wait::{Learning, WaitPredictor};
///
/// let mut site = WaitPredictor::new(64, Learning::default(), 1);
/// site.on_arrival(JobId(0), &Submission::new(0, 64, 3600), 0);
/// site.on_start(JobId(0), 0);
/// site.on_arrival(JobId(1), &Submission::new(10, 64, 3600), 10);
/// site.on_end(JobId(0), 1800);
/// site.on_start(JobId(1), 1800);
/// let answer = site.predict(&Submission::new(1900, 64, 3600), 1900).unwrap();
/// // The second job came, as this one does, to a full machine: it waited 1790 seconds.
/// assert!(answer.point > 1700.0 && answer.quick);
/// ```
#[derive(Clone, Debug)]
pub struct WaitPredictor {
    procs: u32,
    learning: Learning,
    threads: usize,
    state: SiteState,
    history: WaitHistory,
    /// Those that wait.
    waiting: Vec<ArrivedJob>,
    arrivals: usize,
    classifier: Option<Classifier>,
}

impl WaitPredictor {
    /// A site of so many processors that nothing is known of yet. It learns on so many threads, which changes nothing else.
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

    /// A job joins the queue.
    pub fn on_arrival(&mut self, id: JobId, job: &Submission, now: Time) {
        self.waiting.push(ArrivedJob { id, job: *job, features: features(job, &self.state, now) });
        self.state.arrive(id, job);
        self.arrivals += 1;
        if self.learning.is_due(self.arrivals) {
            self.learn();
        }
    }

    /// A waiting job starts: its wait is known from now on. Nothing happens if it does not wait.
    pub fn on_start(&mut self, id: JobId, now: Time) {
        if self.state.start(id, now)
            && let Some(arrived) = self.withdraw(id)
        {
            self.history.push(&arrived, now - arrived.job.submit);
        }
    }

    /// A running job ends. Nothing happens if it does not run.
    pub fn on_end(&mut self, id: JobId, _now: Time) {
        self.state.end(id);
    }

    /// A waiting job is withdrawn; nothing is learned from it.
    pub fn on_cancellation(&mut self, id: JobId) {
        if self.state.cancel(id) {
            self.withdraw(id);
        }
    }

    fn withdraw(&mut self, id: JobId) -> Option<ArrivedJob> {
        let at = self.waiting.iter().position(|arrived| arrived.id == id)?;
        Some(self.waiting.swap_remove(at))
    }

    /// Learns the probabilities from the history as it is now.
    pub fn learn(&mut self) {
        self.classifier = Classifier::train(&self.window(), self.learning.seed, self.threads);
    }

    /// What is to be expected of a job that arrives now; none without a history.
    pub fn predict(&self, job: &Submission, now: Time) -> Option<WaitPrediction> {
        self.predict_behind(job, &[], now)
    }

    /// The same of a job that arrives behind others, of which it has not been told yet.
    pub fn predict_behind(&self, job: &Submission, ahead: &[(JobId, Submission)], now: Time) -> Option<WaitPrediction> {
        let mut state = Cow::Borrowed(&self.state);
        ahead.iter().for_each(|(id, other)| state.to_mut().arrive(*id, other));
        self.predict_at(job, &state, now).map(|(prediction, _)| prediction)
    }

    /// The same with the similar jobs, by their places in [`WaitPredictor::window`].
    pub fn predict_with_neighbours(&self, job: &Submission, now: Time) -> Option<(WaitPrediction, Neighbours)> {
        self.predict_at(job, &self.state, now)
    }

    fn predict_at(&self, job: &Submission, state: &SiteState, now: Time) -> Option<(WaitPrediction, Neighbours)> {
        let (features, window) = (features(job, state, now), self.window());
        let classifier = self.classifier.as_ref();
        PredictionInput { job, features: &features, window: &window, procs: self.procs, classifier }.predict()
    }

    /// The jobs that count.
    pub fn window(&self) -> HistoryWindow<'_> {
        self.history.window(self.history.len(), self.learning.history)
    }

    /// How many starts are known of, at most the history's length.
    pub fn known(&self) -> usize {
        self.window().len()
    }

    pub fn state(&self) -> &SiteState {
        &self.state
    }
}
