//! "When will my job start?": the answer for one job, and what it is made of.

use super::evaluate::{EvaluationPhase, EvaluationPlan, evaluate};
use super::method::WaitMethod;
use super::predictor::{Learning, WaitPrediction, WaitPredictor};
use super::schedule::{SiteHandler, SiteSchedule};
use crate::engine::EngineError;
use crate::job::{JobId, Submission};
use crate::stats::median;
use crate::time::{Seconds, Time};

/// How many similar jobs are shown.
const SHOWN: usize = 5;

/// What is to be said of one job.
#[derive(Clone, Debug)]
pub struct WaitAnswer {
    pub job: Submission,
    pub now: Time,
    /// The site when it comes.
    pub waiting: usize,
    pub running: usize,
    pub occupied: i64,
    /// How many past jobs were looked at.
    pub known: usize,
    pub prediction: WaitPrediction,
    /// The waits of similar jobs: shortest, median, longest.
    pub waits: [Seconds; 3],
    /// The most similar jobs, the nearest first.
    pub nearest: Vec<SimilarJob>,
    /// Point predictions of other methods.
    pub others: Vec<(String, Option<f64>)>,
}

/// A past job that is much like the one asked about.
#[derive(Clone, Copy, Debug)]
pub struct SimilarJob {
    pub id: JobId,
    pub job: Submission,
    pub wait: Seconds,
    pub distance: f64,
}

/// Answers for a job of the schedule as it could have been answered when it came: what happened later does not matter.
/// None if no job had started by then.
pub fn answer(
    schedule: &SiteSchedule<'_>,
    id: JobId,
    methods: &[WaitMethod],
    learning: Learning,
    threads: usize,
) -> Result<Option<WaitAnswer>, EngineError> {
    let never = Learning { first: usize::MAX, ..learning };
    let mut site = WaitPredictor::new(schedule.procs, never, threads);
    schedule.replay(id.index() + 1, &mut Until { site: &mut site, id, reached: false })?;
    site.learn();
    let job = schedule.jobs[id.index()].submission;
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
    // The probabilities are there already, and points do not need them.
    let (learning, probabilities) = (Learning { first: id.index(), ..learning }, false);
    let plan = EvaluationPlan { learning, probabilities, most: 1, regression_every: 1, threads };
    let others = match others.is_empty() {
        true => Vec::new(),
        false => evaluate(schedule, &others, &plan, &|_: EvaluationPhase, _, _| ())?.points,
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
        others: others.into_iter().map(|(method, points)| (method.name(), points[0])).collect(),
    }))
}

/// Tells a site what happens until a job arrives.
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

    fn on_end(&mut self, id: JobId, _runtime: Seconds, now: Time) {
        if !self.reached {
            self.site.on_end(id, now);
        }
    }
}
