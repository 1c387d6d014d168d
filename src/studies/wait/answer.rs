//! "When will my job start?": the answer for one job, with the similar jobs that it is computed from.

use super::evaluate::{EvaluationPhase, EvaluationPlan, evaluate};
use super::method::WaitMethod;
use super::predictor::{Learning, WaitPrediction, WaitPredictor};
use super::schedule::{SiteHandler, SiteSchedule};
use crate::engine::EngineError;
use crate::job::{JobId, Submission};
use crate::stats::median;
use crate::time::{Seconds, Time};

/// The number of similar jobs listed in an answer.
const SHOWN: usize = 5;

/// The predicted wait of one job, and the state of the site when the job arrives.
#[derive(Clone, Debug)]
pub struct WaitAnswer {
    /// The job that is predicted.
    pub job: Submission,
    /// When the job arrives.
    pub now: Time,
    /// Jobs that wait at that time.
    pub waiting: usize,
    /// Jobs that run at that time.
    pub running: usize,
    /// Processors in use at that time.
    pub occupied: i64,
    /// The number of past jobs that were searched for similar ones.
    pub known: usize,
    /// By similar jobs: the point prediction, the ranges and their probabilities.
    pub prediction: WaitPrediction,
    /// The waits of similar jobs, in seconds: shortest, median, longest.
    pub waits: [Seconds; 3],
    /// The most similar jobs, the nearest first.
    pub nearest: Vec<SimilarJob>,
    /// Other methods by name, with their point predictions in seconds; None if a method has no answer.
    pub others: Vec<(String, Option<f64>)>,
}

/// A past job that is similar to the predicted one.
#[derive(Clone, Copy, Debug)]
pub struct SimilarJob {
    /// Its index in the schedule.
    pub id: JobId,
    /// As it was submitted.
    pub job: Submission,
    /// How long it waited.
    pub wait: Seconds,
    /// From 0 (the same situation) to 1; see [`Distance`](super::Distance).
    pub distance: f64,
}

/// Predicts the wait of a job of the schedule from what was known when it arrived; later events have no influence. None
/// if no job had started by then.
pub fn answer(
    schedule: &SiteSchedule<'_>,
    id: JobId,
    methods: &[WaitMethod],
    learning: Learning,
    threads: usize,
) -> Result<Option<WaitAnswer>, EngineError> {
    // Only the last training counts: it is done once, below.
    let never = Learning { first: usize::MAX, ..learning };
    let mut site = WaitPredictor::new(schedule.workload.procs, never, threads);
    schedule.replay(id.index() + 1, &mut Until { site: &mut site, id, reached: false })?;
    site.learn();
    let job = schedule.workload.jobs[id.index()].submission;
    let Some((prediction, neighbours)) = site.predict_with_neighbours(&job, job.submit) else { return Ok(None) };
    let window = site.window();
    let mut waits: Vec<Seconds> = neighbours.all.iter().map(|one| window.waits()[one.at]).collect();
    let range = waits.iter().min().zip(waits.iter().max());
    let (shortest, longest) = range.map(|(low, high)| (*low, *high)).expect("there is a neighbour");
    let nearest = neighbours.nearest(SHOWN).into_iter().map(|one| SimilarJob {
        id: window.ids()[one.at],
        job: window.jobs()[one.at],
        wait: window.waits()[one.at],
        distance: one.distance,
    });
    let others = methods.iter().filter(|method| method.name() != "knn").cloned().collect::<Vec<_>>();
    // The probabilities are computed already, and point predictions do not depend on them.
    let (learning, probabilities) = (Learning { first: id.index(), ..learning }, false);
    let plan = EvaluationPlan { learning, probabilities, most: 1, regression_every: 1, threads };
    let others = match others.is_empty() {
        true => Vec::new(),
        false => evaluate(schedule, &others, &plan, &|_: EvaluationPhase, _, _| ())?.answers,
    };
    Ok(Some(WaitAnswer {
        job,
        now: job.submit,
        waiting: site.state().waiting().len(),
        running: site.state().running().len(),
        occupied: site.state().occupied(),
        known: site.known(),
        prediction,
        waits: [shortest, median(&mut waits), longest],
        nearest: nearest.collect(),
        others: others
            .into_iter()
            .map(|(method, answers)| (method.name(), answers[0].map(|answer| answer.point)))
            .collect(),
    }))
}

/// Passes events to a predictor until one job arrives.
struct Until<'a> {
    site: &'a mut WaitPredictor,
    id: JobId,
    reached: bool,
}

impl SiteHandler for Until<'_> {
    fn on_arrival(&mut self, id: JobId, job: &Submission, now: Time) {
        self.reached |= id == self.id;
        if !self.reached {
            self.site.on_arrival(id, job, now);
        }
    }

    fn on_start(&mut self, id: JobId, now: Time) {
        if !self.reached {
            self.site.on_start(id, now);
        }
    }

    fn on_end(&mut self, id: JobId, runtime: Seconds, now: Time) {
        if !self.reached {
            self.site.on_end(id, runtime, now);
        }
    }
}
