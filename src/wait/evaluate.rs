//! How good are predictions of waits on a whole schedule?
//!
//! Every prediction is a function of the jobs that had started when its job came, and of a support vector machine that
//! was learned from such jobs earlier. So one walk over the schedule notes what was known when, and everything dear
//! (learning, distances) is done afterwards on as many threads as there are, with the same results on any number.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::classes::PerClass;
use super::downey::QueueTimes;
use super::features::{Features, features};
use super::forward::forward_waits;
use super::history::{ArrivedJob, HistoryWindow, WaitHistory};
use super::ibl;
use super::method::{MethodKind, WaitMethod};
use super::predictor::{Learning, PredictionInput};
use super::qbets::Qbets;
use super::schedule::{SiteHandler, SiteSchedule};
use super::state::SiteState;
use super::svm::{Classifier, TrainingSet};
use crate::engine::EngineError;
use crate::job::{JobId, Submission};
use crate::model::QueueTimeMethod;
use crate::parallel;
use crate::time::{Seconds, Time};

/// Jobs that one thread predicts before it looks for more.
const SHARE: usize = 64;

/// What is evaluated.
#[derive(Clone, Debug)]
pub struct EvaluationPlan {
    /// Learned first right before the first predicted job (`learning.first` is the number of jobs before it).
    pub learning: Learning,
    /// How many jobs are predicted at most.
    pub most: usize,
    /// Regressions, which take long, are asked about every so many of these jobs.
    pub regression_every: usize,
    /// Whether probabilities are learned at all; the class of the similar jobs' average is certain otherwise.
    pub probabilities: bool,
    pub threads: usize,
}

impl Default for EvaluationPlan {
    fn default() -> Self {
        EvaluationPlan {
            learning: Learning::default(),
            most: 50_000,
            regression_every: 50,
            probabilities: true,
            threads: 1,
        }
    }
}

impl EvaluationPlan {
    /// The jobs that are predicted, of so many.
    pub fn predicted(&self, jobs: usize) -> Range<usize> {
        let first = self.learning.first.min(jobs);
        first..first.saturating_add(self.most).min(jobs)
    }
}

/// What is under way, for progress bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationPhase {
    Simulating,
    Learning,
    Predicting,
}

/// A job that was predicted, and what does not depend on the method.
#[derive(Clone, Copy, Debug)]
pub struct PredictedJob {
    pub id: JobId,
    pub wait: Seconds,
    pub estimate: Seconds,
    /// Of each class; they sum to 1.
    pub probabilities: PerClass,
    /// Predicted to start within the hour.
    pub quick: bool,
    /// How many similar jobs there were.
    pub similar: usize,
}

/// Predictions for a stretch of jobs.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// In workload order.
    pub jobs: Vec<PredictedJob>,
    /// Each method with its point predictions, one for each of these jobs: none where it had no answer, or was not asked.
    pub points: Vec<(WaitMethod, Vec<Option<f64>>)>,
    /// Which of these jobs regressions were asked about: every so many.
    pub regression_every: usize,
    /// How often the probabilities were learned.
    pub learned: usize,
}

/// A job to predict: how many starts were known when it came, and how often the probabilities had been learned.
struct PredictionTarget {
    id: JobId,
    features: Features,
    known: usize,
    lessons: usize,
}

/// What a walk over the schedule notes.
struct ReplayNotes {
    history: WaitHistory,
    targets: Vec<PredictionTarget>,
    /// How many starts were known at each lesson.
    lessons: Vec<usize>,
    /// Bounds at each target, for each method that is one of QBETS.
    bounds: Vec<Vec<Option<Seconds>>>,
    /// Queue times at each target, for each method that is one of Downey's.
    queue_times: Vec<Vec<Option<f64>>>,
}

/// Predicts the waits of a stretch of a schedule by several methods. The watcher hears how much of a phase is done.
pub fn evaluate(
    schedule: &SiteSchedule<'_>,
    methods: &[WaitMethod],
    plan: &EvaluationPlan,
    watch: &(dyn Fn(EvaluationPhase, usize, usize) + Sync),
) -> Result<Evaluation, EngineError> {
    let mut notes = walk(schedule, methods, plan)?;
    let wanted = plan.predicted(schedule.jobs.len());
    let simulated = methods.iter().map(|method| match &method.way {
        MethodKind::Simulate(setting) => {
            let watch = |done| watch(EvaluationPhase::Simulating, done, wanted.len());
            forward_waits(schedule, setting, wanted.clone(), &watch).map(Some)
        }
        _ => Ok(None),
    });
    let simulated: Vec<Option<Vec<Seconds>>> = simulated.collect::<Result<_, _>>()?;
    let classifiers = learn(&notes, plan, watch);
    let shares: Vec<Range<usize>> =
        (0..notes.targets.len()).step_by(SHARE).map(|from| from..(from + SHARE).min(notes.targets.len())).collect();
    let done = AtomicUsize::new(0);
    let predict = |share: &Range<usize>| {
        let predicted: Vec<_> =
            share.clone().map(|at| notes.predict(at, schedule, methods, plan, &classifiers)).collect();
        let done = done.fetch_add(share.len(), Ordering::Relaxed) + share.len();
        watch(EvaluationPhase::Predicting, done, notes.targets.len());
        predicted
    };
    let predicted = parallel::map(&shares, plan.threads, predict, |_| ()).concat();
    let mut points: Vec<(WaitMethod, Vec<Option<f64>>)> =
        methods.iter().map(|method| (method.clone(), Vec::with_capacity(predicted.len()))).collect();
    let mut jobs = Vec::with_capacity(predicted.len());
    for (judged, answers) in predicted {
        jobs.push(judged);
        for ((_, points), answer) in points.iter_mut().zip(answers) {
            points.push(answer);
        }
    }
    let (mut bounds, mut queue_times) = (notes.bounds.drain(..), notes.queue_times.drain(..));
    let real = |waits: Vec<Option<Seconds>>| waits.into_iter().map(|wait| wait.map(|wait| wait as f64)).collect();
    for ((method, points), simulated) in points.iter_mut().zip(simulated) {
        let told: Option<Vec<Option<f64>>> = match method.way {
            MethodKind::Qbets { .. } => bounds.next().map(real),
            MethodKind::Downey(_) => queue_times.next(),
            _ => simulated.map(|waits| real(waits.into_iter().map(Some).collect())),
        };
        if let Some(told) = told {
            *points = told;
        }
    }
    drop((bounds, queue_times));
    let regression_every = plan.regression_every;
    Ok(Evaluation { jobs, points, regression_every, learned: classifiers.len() })
}

/// Replays the schedule and notes what was known when.
fn walk(
    schedule: &SiteSchedule<'_>,
    methods: &[WaitMethod],
    plan: &EvaluationPlan,
) -> Result<ReplayNotes, EngineError> {
    let wanted = plan.predicted(schedule.jobs.len());
    let qbets = methods.iter().filter_map(|method| match method.way {
        MethodKind::Qbets { quantile, confidence } => Some(Qbets::new(quantile, confidence, plan.learning.history)),
        _ => None,
    });
    let qbets: Vec<(Qbets, Vec<Option<Seconds>>)> = qbets.map(|qbets| (qbets, Vec::new())).collect();
    let downey = methods.iter().filter_map(|method| match method.way {
        MethodKind::Downey(method) => Some((method, Vec::with_capacity(wanted.len()))),
        _ => None,
    });
    let notes = ReplayNotes {
        history: WaitHistory::of_all(),
        targets: Vec::new(),
        lessons: Vec::new(),
        bounds: Vec::new(),
        queue_times: Vec::new(),
    };
    let mut taker = ReplayRecorder {
        schedule,
        plan,
        wanted: wanted.clone(),
        notes,
        state: SiteState::default(),
        arrived: Vec::with_capacity(schedule.jobs.len()),
        qbets,
        downey: downey.collect(),
        queue_times: QueueTimes::default(),
    };
    schedule.replay(wanted.end, &mut taker)?;
    let ReplayRecorder { mut notes, qbets, downey, .. } = taker;
    notes.queue_times = downey.into_iter().map(|(_, said)| said).collect();
    notes.bounds = qbets.into_iter().map(|(_, said)| said[wanted.clone()].to_vec()).collect();
    Ok(notes)
}

/// Takes the notes of an evaluation while a schedule is replayed.
struct ReplayRecorder<'a> {
    schedule: &'a SiteSchedule<'a>,
    plan: &'a EvaluationPlan,
    wanted: Range<usize>,
    notes: ReplayNotes,
    state: SiteState,
    /// The features of each job that has arrived.
    arrived: Vec<Features>,
    /// Each method of QBETS with its bounds for all jobs that have arrived.
    qbets: Vec<(Qbets, Vec<Option<Seconds>>)>,
    /// Each method of Downey's with its answers for the targets.
    downey: Vec<(QueueTimeMethod, Vec<Option<f64>>)>,
    queue_times: QueueTimes,
}

impl SiteHandler for ReplayRecorder<'_> {
    fn on_arrival(&mut self, id: JobId, job: &Submission, now: Time) {
        let features = features(job, &self.state, now);
        self.arrived.push(features);
        self.qbets.iter_mut().for_each(|(qbets, said)| said.push(qbets.bound(job.procs)));
        if self.wanted.contains(&id.index()) {
            let (known, lessons) = (self.notes.history.len(), self.notes.lessons.len());
            self.notes.targets.push(PredictionTarget { id, features, known, lessons });
            for (method, said) in &mut self.downey {
                said.push(self.queue_times.predict(*method, job, &self.state, self.schedule.procs, now));
            }
        }
        self.state.arrive(id, job);
        let arrivals = id.index() + 1;
        if self.plan.probabilities && arrivals < self.wanted.end && self.plan.learning.is_due(arrivals) {
            self.notes.lessons.push(self.notes.history.len());
        }
    }

    fn on_start(&mut self, id: JobId, now: Time) {
        self.state.start(id, now);
        let (job, wait) = (self.schedule.jobs[id.index()].submission, self.schedule.wait(id));
        self.notes.history.push(&ArrivedJob { id, job, features: self.arrived[id.index()] }, wait);
        for (qbets, said) in &mut self.qbets {
            qbets.observe(job.procs, wait, said[id.index()]);
        }
    }

    fn on_end(&mut self, id: JobId, runtime: Seconds, _now: Time) {
        self.state.end(id);
        if !self.downey.is_empty() {
            self.queue_times.observe(runtime);
        }
    }
}

/// Learns all that is to be learned, pairs of classes side by side.
fn learn(
    notes: &ReplayNotes,
    plan: &EvaluationPlan,
    watch: &(dyn Fn(EvaluationPhase, usize, usize) + Sync),
) -> Vec<Option<Classifier>> {
    let Learning { history, seed, .. } = plan.learning;
    let lesson = |&known: &usize| TrainingSet::of(&notes.history.window(known, history), seed);
    let lessons: Vec<Option<TrainingSet>> = parallel::map(&notes.lessons, plan.threads, lesson, |_| ());
    let pairs: Vec<_> = lessons
        .iter()
        .flatten()
        .enumerate()
        .flat_map(|(at, lesson)| lesson.pairs().into_iter().map(move |pair| (at, lesson, pair)))
        .collect();
    let learned = parallel::map(
        &pairs,
        plan.threads,
        |&(at, lesson, pair)| (at, lesson.learn(pair)),
        |done| watch(EvaluationPhase::Learning, done, pairs.len()),
    );
    drop(pairs);
    let mut of_lesson: Vec<Vec<_>> = lessons.iter().flatten().map(|_| Vec::new()).collect();
    learned.into_iter().for_each(|(at, pair)| of_lesson[at].push(pair));
    let mut of_lesson = of_lesson.into_iter();
    lessons.into_iter().map(|lesson| Some(lesson?.finish(of_lesson.next()?))).collect()
}

impl ReplayNotes {
    /// What is said of a target, and each method's point prediction where it is made from a window of history.
    fn predict(
        &self,
        at: usize,
        schedule: &SiteSchedule<'_>,
        methods: &[WaitMethod],
        plan: &EvaluationPlan,
        classifiers: &[Option<Classifier>],
    ) -> (PredictedJob, Vec<Option<f64>>) {
        let PredictionTarget { id, features, known, lessons } = &self.targets[at];
        let window: HistoryWindow<'_> = self.history.window(*known, plan.learning.history);
        let job = &schedule.jobs[id.index()].submission;
        let classifier = lessons.checked_sub(1).and_then(|lesson| classifiers[lesson].as_ref());
        let said = PredictionInput { job, features, window: &window, procs: schedule.procs, classifier }.predict();
        let asked = at.is_multiple_of(plan.regression_every);
        let answer = |method: &WaitMethod| match method.way {
            MethodKind::Knn(None) => said.as_ref().map(|(prediction, _)| prediction.point),
            MethodKind::Knn(Some(regression)) => {
                let (_, neighbours) = said.as_ref().filter(|_| asked)?;
                regression.predict(features, neighbours, &window)
            }
            MethodKind::Ibl { k } => ibl::predict(job, features, &window, k),
            MethodKind::Qbets { .. } | MethodKind::Downey(_) | MethodKind::Simulate(_) => None,
        };
        let judged = PredictedJob {
            id: *id,
            wait: schedule.wait(*id),
            estimate: job.estimate,
            probabilities: said.as_ref().map_or([f64::NAN; _], |(prediction, _)| prediction.probabilities),
            quick: said.as_ref().is_some_and(|(prediction, _)| prediction.quick),
            similar: said.as_ref().map_or(0, |(prediction, _)| prediction.similar),
        };
        (judged, methods.iter().map(answer).collect())
    }
}
