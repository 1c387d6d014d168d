//! How good are predictions of waits on a whole schedule?
//!
//! Every prediction is a function of the jobs that had started when the predicted job arrived, and of a support vector
//! machine that was trained on such jobs earlier. So one replay of the schedule records what was known at which time.
//! The slow parts (training, distances) follow on all threads, with the same results on any number of threads.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::classes::{PerClass, WaitClass};
use super::downey::predicted_wait;
use super::features::{Features, features};
use super::forward::{ForwardSetting, SimulatedJobs};
use super::history::{HistoryJob, HistoryWindow, WaitHistory};
use super::ibl;
use super::knn::{Distance, Neighbour, neighbours, weighted_average};
use super::method::{MethodKind, WaitMethod};
use super::predictor::{Learning, PredictionInput};
use super::qbets::Qbets;
use super::regression::RegressionPoint;
use super::sample::{LEVELS, WaitSample};
use super::schedule::{SiteHandler, SiteSchedule};
use super::simulated_log::SimulatedLog;
use super::state::SiteState;
use super::svm::{Classifier, TrainingSet};
use crate::engine::EngineError;
use crate::job::{JobId, Submission};
use crate::model::{Lifetimes, QueueTimeMethod};
use crate::parallel;
use crate::time::{Seconds, Time};

/// The number of jobs that a thread predicts before it takes more.
const SHARE: usize = 64;

/// Which jobs are predicted, and how.
#[derive(Clone, Debug)]
pub struct EvaluationPlan {
    /// `learning.first` is also the number of jobs before the first predicted one: the first training is right before
    /// it.
    pub learning: Learning,
    /// The number of predicted jobs, at most.
    pub most: usize,
    /// Regressions are slow: they predict every `regression_every`-th of these jobs only.
    pub regression_every: usize,
    /// Whether probabilities of classes are trained. If not, the class of the point prediction has probability 1.
    pub probabilities: bool,
    /// The results do not depend on it.
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
    /// The indices of the predicted jobs in a workload of `jobs` jobs.
    pub fn predicted(&self, jobs: usize) -> Range<usize> {
        let first = self.learning.first.min(jobs);
        first..first.saturating_add(self.most).min(jobs)
    }
}

/// What [`evaluate`] is doing, for progress bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationPhase {
    /// Simulating the queue that each job finds, for the method `simulate`.
    Simulating,
    /// Training the probabilities of classes.
    Learning,
    /// Predicting by similar jobs.
    Predicting,
}

/// A predicted job, with the values that are the same for all methods.
#[derive(Clone, Copy, Debug)]
pub struct PredictedJob {
    /// Its index in the schedule.
    pub id: JobId,
    /// The actual wait.
    pub wait: Seconds,
    /// The user's estimate of the run time.
    pub estimate: Seconds,
    /// Of each class; they sum to 1. NaN if no job had started before.
    pub probabilities: PerClass,
    /// Whether it is predicted to wait less than an hour.
    pub quick: bool,
    /// The number of similar jobs, by the mean distance.
    pub similar: usize,
}

/// What a method says about one job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MethodAnswer {
    /// The predicted wait, in seconds.
    pub point: f64,
    /// For each of [`LEVELS`] a wait that is not exceeded with this probability; None if the method does not say.
    pub bounds: [Option<f64>; LEVELS.len()],
    /// The method's own probabilities of classes. None if it has none; those of [`PredictedJob`] are used then.
    pub probabilities: Option<PerClass>,
    /// Whether the solver of a regression was stopped before it had found the solution.
    pub stopped: bool,
}

impl MethodAnswer {
    fn point(point: f64) -> MethodAnswer {
        MethodAnswer { point, ..MethodAnswer::default() }
    }

    /// A point prediction with the quantiles of a sample.
    fn with_bounds(point: f64, sample: &WaitSample) -> MethodAnswer {
        MethodAnswer { bounds: sample.quantiles().map(|wait| Some(wait as f64)), ..MethodAnswer::point(point) }
    }

    /// The answer that a sample of waits gives: its median, its quantiles, and the shares of classes in it.
    pub fn of_sample(sample: &WaitSample) -> MethodAnswer {
        let probabilities = Some(sample.probabilities());
        MethodAnswer { probabilities, ..MethodAnswer::with_bounds(sample.median() as f64, sample) }
    }

    /// The predicted class: the method's most probable one, or that of the point prediction if the method has no probabilities
    /// or if it is as probable.
    pub fn class(&self) -> WaitClass {
        let of_point = WaitClass::of(self.point);
        self.probabilities.map_or(of_point, |probabilities| of_point.or_more_probable(&probabilities))
    }

    /// A bound that holds with this probability. It is also the point prediction.
    fn bound(bound: f64, probability: f64) -> MethodAnswer {
        let bounds = LEVELS.map(|level| (level == probability).then_some(bound));
        MethodAnswer { bounds, ..MethodAnswer::point(bound) }
    }
}

impl From<RegressionPoint> for MethodAnswer {
    fn from(found: RegressionPoint) -> MethodAnswer {
        MethodAnswer { stopped: found.stopped, ..MethodAnswer::point(found.wait) }
    }
}

/// The predictions of several methods for consecutive jobs.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The predicted jobs, in workload order.
    pub jobs: Vec<PredictedJob>,
    /// Each method with its answers, one per job. None where the method has no answer, or was not evaluated because it is a
    /// regression.
    pub answers: Vec<(WaitMethod, Vec<Option<MethodAnswer>>)>,
    /// Regressions were evaluated on every `regression_every`-th of these jobs.
    pub regression_every: usize,
    /// How often the probabilities were trained.
    pub learned: usize,
}

/// A job to predict: the number of starts known when it arrived, and the number of trainings before it.
struct PredictionTarget {
    id: JobId,
    features: Features,
    known: usize,
    trainings: usize,
}

/// What a replay of the schedule records.
struct ReplayNotes {
    history: WaitHistory,
    targets: Vec<PredictionTarget>,
    /// The number of starts known at each training.
    trainings: Vec<usize>,
    /// The bound for each target, one list per QBETS method.
    bounds: Vec<Vec<Option<Seconds>>>,
    /// The queue time for each target, one list per Downey method.
    queue_times: Vec<Vec<Option<f64>>>,
}

/// Predicts the waits of consecutive jobs of a schedule by several methods. `watch` is called with the phase, the
/// number of finished units and the number of all units of the phase.
pub fn evaluate(
    schedule: &SiteSchedule<'_>,
    methods: &[WaitMethod],
    plan: &EvaluationPlan,
    watch: &(dyn Fn(EvaluationPhase, usize, usize) + Sync),
) -> Result<Evaluation, EngineError> {
    let mut notes = replay_notes(schedule, methods, plan)?;
    let simulated = methods.iter().map(|method| match &method.way {
        MethodKind::Simulate(forward) => simulated_answers(schedule, forward, &notes, plan, watch).map(Some),
        _ => Ok(None),
    });
    let simulated: Vec<Option<Vec<Option<MethodAnswer>>>> = simulated.collect::<Result<_, _>>()?;
    let classifiers = train_all(&notes, plan, watch);
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
    let mut answers: Vec<(WaitMethod, Vec<Option<MethodAnswer>>)> =
        methods.iter().map(|method| (method.clone(), Vec::with_capacity(predicted.len()))).collect();
    let mut jobs = Vec::with_capacity(predicted.len());
    for (judged, by_method) in predicted {
        jobs.push(judged);
        answers.iter_mut().zip(by_method).for_each(|((_, answers), answer)| answers.push(answer));
    }
    let (mut bounds, mut queue_times) = (notes.bounds.drain(..), notes.queue_times.drain(..));
    for ((method, answers), simulated) in answers.iter_mut().zip(simulated) {
        let replayed: Option<Vec<Option<MethodAnswer>>> = match method.way {
            MethodKind::Qbets { quantile, .. } => bounds.next().map(|bounds| {
                let answer = |bound: Option<Seconds>| Some(MethodAnswer::bound(bound? as f64, quantile));
                bounds.into_iter().map(answer).collect()
            }),
            MethodKind::Downey(_) => {
                queue_times.next().map(|times| times.into_iter().map(|time| time.map(MethodAnswer::point)).collect())
            }
            _ => simulated,
        };
        if let Some(replayed) = replayed {
            *answers = replayed;
        }
    }
    drop((bounds, queue_times));
    let regression_every = plan.regression_every;
    Ok(Evaluation { jobs, answers, regression_every, learned: classifiers.len() })
}

/// The answers of a simulation of the queue that each target finds.
fn simulated_answers(
    schedule: &SiteSchedule<'_>,
    forward: &ForwardSetting,
    notes: &ReplayNotes,
    plan: &EvaluationPlan,
    watch: &(dyn Fn(EvaluationPhase, usize, usize) + Sync),
) -> Result<Vec<Option<MethodAnswer>>, EngineError> {
    let wanted = plan.predicted(schedule.workload.jobs.len());
    // The history of the first target has simulated waits, too.
    let before = if forward.recalibrate { plan.learning.history.min(wanted.start) } else { 0 };
    let first = wanted.start - before;
    let watch = |done| watch(EvaluationPhase::Simulating, done, wanted.end - first);
    let (seed, threads) = (plan.learning.seed, plan.threads);
    let starts = notes.history.window(notes.history.len(), usize::MAX);
    let jobs = SimulatedJobs::arrivals(first..wanted.end, 1);
    let log = SimulatedLog::new(schedule, forward, jobs, starts.ids(), (seed, threads), &watch)?;
    let answer = |target: &PredictionTarget| {
        let sample = match forward.recalibrate {
            true => log.recalibrated(target.id, target.known, plan.learning.history),
            false => log.sample(target.id).cloned(),
        };
        // One simulation says nothing of ranges.
        sample.map(|sample| match forward.draws == 0 && !forward.recalibrate {
            true => MethodAnswer::point(sample.median() as f64),
            false => MethodAnswer::of_sample(&sample),
        })
    };
    Ok(parallel::map(&notes.targets, threads, answer, |_| ()))
}

/// Replays the schedule and records what was known at which time.
fn replay_notes(
    schedule: &SiteSchedule<'_>,
    methods: &[WaitMethod],
    plan: &EvaluationPlan,
) -> Result<ReplayNotes, EngineError> {
    let wanted = plan.predicted(schedule.workload.jobs.len());
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
        trainings: Vec::new(),
        bounds: Vec::new(),
        queue_times: Vec::new(),
    };
    let mut taker = ReplayRecorder {
        schedule,
        plan,
        wanted: wanted.clone(),
        notes,
        state: SiteState::default(),
        arrived: Vec::with_capacity(schedule.workload.jobs.len()),
        qbets,
        downey: downey.collect(),
        lifetimes: Lifetimes::default(),
    };
    schedule.replay(wanted.end, &mut taker)?;
    let ReplayRecorder { mut notes, qbets, downey, .. } = taker;
    notes.queue_times = downey.into_iter().map(|(_, answers)| answers).collect();
    notes.bounds = qbets.into_iter().map(|(_, answers)| answers[wanted.clone()].to_vec()).collect();
    Ok(notes)
}

/// Records the notes of an evaluation while a schedule is replayed.
struct ReplayRecorder<'a> {
    schedule: &'a SiteSchedule<'a>,
    plan: &'a EvaluationPlan,
    wanted: Range<usize>,
    notes: ReplayNotes,
    state: SiteState,
    /// The features of each job that has arrived.
    arrived: Vec<Features>,
    /// Each QBETS method with its bounds for all jobs that have arrived.
    qbets: Vec<(Qbets, Vec<Option<Seconds>>)>,
    /// Each Downey method with its answers for the targets.
    downey: Vec<(QueueTimeMethod, Vec<Option<f64>>)>,
    lifetimes: Lifetimes,
}

impl SiteHandler for ReplayRecorder<'_> {
    fn on_arrival(&mut self, id: JobId, job: &Submission, now: Time) {
        let features = features(job, &self.state, now);
        self.arrived.push(features);
        self.qbets.iter_mut().for_each(|(qbets, answers)| answers.push(qbets.bound(job.procs)));
        if self.wanted.contains(&id.index()) {
            let (known, trainings) = (self.notes.history.len(), self.notes.trainings.len());
            self.notes.targets.push(PredictionTarget { id, features, known, trainings });
            let procs = self.schedule.workload.procs;
            for (method, answers) in &mut self.downey {
                answers.push(predicted_wait(&self.lifetimes, *method, job, &self.state, procs, now));
            }
        }
        self.state.arrive(id, job);
        let arrivals = id.index() + 1;
        if self.plan.probabilities && arrivals < self.wanted.end && self.plan.learning.is_due(arrivals) {
            self.notes.trainings.push(self.notes.history.len());
        }
    }

    fn on_start(&mut self, id: JobId, now: Time) {
        self.state.start(id, now);
        let (job, wait) = (self.schedule.workload.jobs[id.index()].submission, self.schedule.wait(id));
        self.notes.history.push(&HistoryJob { id, job, features: self.arrived[id.index()] }, wait);
        for (qbets, answers) in &mut self.qbets {
            qbets.observe(job.procs, wait, answers[id.index()]);
        }
    }

    fn on_end(&mut self, id: JobId, runtime: Seconds, _now: Time) {
        self.state.end(id);
        if !self.downey.is_empty() {
            self.lifetimes.add(runtime as f64);
        }
    }
}

/// Trains all classifiers. The pairs of classes of all trainings run in parallel.
fn train_all(
    notes: &ReplayNotes,
    plan: &EvaluationPlan,
    watch: &(dyn Fn(EvaluationPhase, usize, usize) + Sync),
) -> Vec<Option<Classifier>> {
    let Learning { history, seed, .. } = plan.learning;
    let training_set = |&known: &usize| TrainingSet::of(&notes.history.window(known, history), seed);
    let trainings: Vec<Option<TrainingSet>> = parallel::map(&notes.trainings, plan.threads, training_set, |_| ());
    let pairs: Vec<_> = trainings
        .iter()
        .flatten()
        .enumerate()
        .flat_map(|(at, training_set)| training_set.pairs().into_iter().map(move |pair| (at, training_set, pair)))
        .collect();
    let learned = parallel::map(
        &pairs,
        plan.threads,
        |&(at, training_set, pair)| (at, training_set.train(pair)),
        |done| watch(EvaluationPhase::Learning, done, pairs.len()),
    );
    drop(pairs);
    let mut of_set: Vec<Vec<_>> = trainings.iter().flatten().map(|_| Vec::new()).collect();
    learned.into_iter().for_each(|(at, pair)| of_set[at].push(pair));
    let mut of_set = of_set.into_iter();
    trainings.into_iter().map(|training_set| Some(training_set?.finish(of_set.next()?))).collect()
}

impl ReplayNotes {
    /// The prediction of a target, and each method's point prediction if it is computed from a window of history.
    fn predict(
        &self,
        at: usize,
        schedule: &SiteSchedule<'_>,
        methods: &[WaitMethod],
        plan: &EvaluationPlan,
        classifiers: &[Option<Classifier>],
    ) -> (PredictedJob, Vec<Option<MethodAnswer>>) {
        let PredictionTarget { id, features, known, trainings } = &self.targets[at];
        let window: HistoryWindow<'_> = self.history.window(*known, plan.learning.history);
        let job = &schedule.workload.jobs[id.index()].submission;
        let classifier = trainings.checked_sub(1).and_then(|training_set| classifiers[training_set].as_ref());
        let by_similar =
            PredictionInput { job, features, window: &window, procs: schedule.workload.procs, classifier }.predict();
        let evaluated = at.is_multiple_of(plan.regression_every);
        // The similar jobs by the other distance, if a method needs them.
        let by_sum = OnceCell::new();
        let by_sum = || by_sum.get_or_init(|| neighbours(features, &window, Distance::Sum)).as_ref();
        let waits = |similar: &[Neighbour]| {
            WaitSample::new(similar.iter().map(|neighbour| window.waits()[neighbour.at]).collect())
        };
        let answer = |method: &WaitMethod| match method.way {
            MethodKind::Knn { point: None, distance: Distance::Mean } => by_similar
                .as_ref()
                .map(|(prediction, similar)| MethodAnswer::with_bounds(prediction.point, &waits(&similar.all))),
            MethodKind::Knn { point: None, distance: Distance::Sum } => by_sum()
                .map(|similar| MethodAnswer::with_bounds(similar.weighted_average(&window), &waits(&similar.all))),
            MethodKind::Knn { point: Some(regression), distance } if evaluated => {
                let similar = match distance {
                    Distance::Mean => by_similar.as_ref().map(|(_, similar)| similar),
                    Distance::Sum => by_sum(),
                };
                regression.predict(features, similar?, &window).map(MethodAnswer::from)
            }
            MethodKind::Ibl { k } => {
                let nearest = ibl::nearest(job, features, &window, k)?;
                Some(MethodAnswer::with_bounds(weighted_average(&nearest, &window), &waits(&nearest)))
            }
            MethodKind::Knn { .. } | MethodKind::Qbets { .. } | MethodKind::Downey(_) | MethodKind::Simulate(_) => None,
        };
        let judged = PredictedJob {
            id: *id,
            wait: schedule.wait(*id),
            estimate: job.estimate,
            probabilities: by_similar.as_ref().map_or([f64::NAN; _], |(prediction, _)| prediction.probabilities),
            quick: by_similar.as_ref().is_some_and(|(prediction, _)| prediction.quick),
            similar: by_similar.as_ref().map_or(0, |(prediction, _)| prediction.similar),
        };
        (judged, methods.iter().map(answer).collect())
    }
}
