//! How well a set of templates predicts the jobs of a log, on the log's own schedule.
//!
//! The prediction of a template does not depend on the other templates of the set. So each template predicts the whole
//! log once, and its predictions are cached. To evaluate a set, the prediction with the smallest confidence interval is
//! chosen for each job.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use super::categories::Categories;
use crate::engine::{self, Event, Observer, Simulation};
use crate::experiment::Setting;
use crate::job::Job;
use crate::predict::RunFacts;
use crate::predict::category::{Category, Confidence, data_point, whole_seconds};
use crate::predict::templates::{Data, Template};
use crate::schedule::{LogFacts, Machine};
use crate::time::{Seconds, Time};
use crate::trace::WideNumbers;

/// The confidence of intervals during the search, in percent, as in the paper.
const CONFIDENCE: f64 = 90.0;
/// The size of the cache of predictions, in bytes.
const KEPT: usize = 1 << 29;

/// The errors of predictions made when jobs start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// The number of jobs.
    pub jobs: usize,
    /// The sum of absolute errors, in seconds.
    pub error: i64,
    /// The sum of run times, in seconds.
    pub runtime: i64,
    /// Jobs that were predicted by a category of past jobs. (In the search the other jobs are predicted by their
    /// estimates.)
    pub answered: usize,
    /// The sum of their absolute errors, in seconds.
    pub error_answered: i64,
    /// How many of them have a confidence interval.
    pub with_interval: usize,
    /// How many of these have a run time within the interval.
    pub inside: usize,
}

impl Score {
    /// Adds a job. `answered` says whether the prediction comes from past jobs; `inside`, whether the run time is within
    /// the confidence interval, if there is one.
    pub fn add(&mut self, runtime: Seconds, prediction: Seconds, answered: bool, inside: Option<bool>) {
        let error = (runtime - prediction).abs();
        self.jobs += 1;
        self.error += error;
        self.runtime += runtime;
        if answered {
            self.answered += 1;
            self.error_answered += error;
        }
        if let Some(inside) = inside {
            self.with_interval += 1;
            self.inside += usize::from(inside);
        }
    }

    /// The mean error in minutes.
    pub fn minutes(&self) -> f64 {
        self.error as f64 / self.jobs as f64 / 60.0
    }

    /// The mean error as percent of the mean runtime.
    pub fn percent(&self) -> f64 {
        self.error as f64 / self.runtime as f64 * 100.0
    }

    /// The mean run time in minutes.
    pub fn mean_runtime_minutes(&self) -> f64 {
        self.runtime as f64 / self.jobs as f64 / 60.0
    }

    /// The mean error in minutes over the jobs that a category predicted; None if there are none.
    pub fn minutes_answered(&self) -> Option<f64> {
        (self.answered > 0).then(|| self.error_answered as f64 / self.answered as f64 / 60.0)
    }

    /// Of the jobs with a confidence interval, the share whose run time is within it; None if there are none.
    pub fn inside_percent(&self) -> Option<f64> {
        (self.with_interval > 0).then(|| self.inside as f64 / self.with_interval as f64 * 100.0)
    }
}

/// Evaluates sets of templates on one log.
pub struct Judge<'a> {
    jobs: &'a [Job],
    /// The jobs that are scored.
    counted: Range<usize>,
    events: Vec<LogEvent>,
    categories: Categories,
    actual: Vec<i64>,
    relative: Vec<i64>,
    confidence: Confidence,
    tracks: Mutex<Tracks>,
}

/// A start or an end in the log, by the job's index.
#[derive(Clone, Copy, Debug)]
enum LogEvent {
    Start(u32),
    End(u32),
}

/// Records the starts and ends of a simulation.
struct EventRecorder(Vec<LogEvent>);

impl Observer for EventRecorder {
    fn on(&mut self, _time: Time, event: &Event<'_>, _machine: &Machine) {
        match event {
            Event::Start(start) => self.0.push(LogEvent::Start(start.job.id.0)),
            Event::End(end) => self.0.push(LogEvent::End(end.job.id.0)),
            _ => {}
        }
    }
}

/// Runs the log's own schedule. It does not depend on the size of the machine or on predictions.
fn replay(jobs: &[Job], observer: &mut EventRecorder) {
    let setting = Setting::parse("replay", "estimate").expect("the setting is valid");
    let policy = setting.policy(&LogFacts::of_jobs(jobs, WideNumbers::NONE));
    let predictor = setting.predictor(&RunFacts::default());
    let simulation = Simulation::observed(1, policy, predictor, setting.engine, observer);
    engine::run_simulation(simulation, jobs, &mut |_| ()).expect("a log in order of submission can be replayed");
}

/// A template's prediction of each job: the half-width of its interval, infinite if there is no prediction, and the
/// predicted run time.
type Track = Vec<(f64, Seconds)>;

/// A cache of tracks. The least recently used ones are dropped.
#[derive(Default)]
struct Tracks {
    kept: FxHashMap<Template, (u64, Arc<Track>)>,
    /// Templates by the time of their last use.
    order: std::collections::BTreeMap<u64, Template>,
    clock: u64,
}

impl Tracks {
    fn get(&mut self, template: &Template) -> Option<Arc<Track>> {
        self.clock += 1;
        let (used, track) = self.kept.get_mut(template)?;
        self.order.remove(used);
        *used = self.clock;
        self.order.insert(self.clock, *template);
        Some(track.clone())
    }

    fn keep(&mut self, template: &Template, track: &Arc<Track>) {
        self.clock += 1;
        if let Some((used, _)) = self.kept.insert(*template, (self.clock, track.clone())) {
            self.order.remove(&used);
        }
        self.order.insert(self.clock, *template);
        let room = (KEPT / (track.len() * size_of::<(f64, Seconds)>()).max(1)).max(1);
        while self.kept.len() > room
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.kept.remove(&oldest);
        }
    }
}

impl<'a> Judge<'a> {
    /// `jobs` must have recorded waits. All of them become part of the history; those in `counted` are scored.
    pub fn new(jobs: &'a [Job], counted: Range<usize>) -> Judge<'a> {
        let mut events = EventRecorder(Vec::with_capacity(2 * jobs.len()));
        replay(jobs, &mut events);
        let EventRecorder(events) = events;
        let points = |data| jobs.iter().map(|job| data_point(data, job.runtime, job.submission.estimate)).collect();
        Judge {
            jobs,
            counted,
            events,
            categories: Categories::of(jobs),
            actual: points(Data::Actual),
            relative: points(Data::Relative),
            confidence: Confidence::new(CONFIDENCE),
            tracks: Mutex::default(),
        }
    }

    /// Evaluates a set.
    pub fn score(&self, templates: &[Template]) -> Score {
        let tracks: Vec<Arc<Track>> = templates.iter().map(|template| self.track(template)).collect();
        let mut score = Score::default();
        for at in self.counted.clone() {
            // Of equal intervals the earlier template is chosen.
            let mut best = (f64::INFINITY, self.jobs[at].submission.estimate);
            for track in &tracks {
                if track[at].0 < best.0 {
                    best = track[at];
                }
            }
            let (interval, prediction) = best;
            let runtime = self.jobs[at].runtime;
            let inside = (runtime - prediction).abs() as f64 <= interval;
            let answered = interval.is_finite();
            score.add(runtime, prediction, answered, answered.then_some(inside));
        }
        score
    }

    fn track(&self, template: &Template) -> Arc<Track> {
        if let Some(track) = self.tracks.lock().expect("no thread panics while it holds the lock").get(template) {
            return track;
        }
        let track = Arc::new(self.make_track(template));
        self.tracks.lock().expect("no thread panics while it holds the lock").keep(template, &track);
        track
    }

    /// Predicts every job of the log with one template.
    fn make_track(&self, template: &Template) -> Track {
        let (category_of, count) = self.categories.number(template);
        let mut categories = vec![Category::default(); count];
        let points = match template.data {
            Data::Actual => &self.actual,
            Data::Relative => &self.relative,
        };
        let mut track = vec![(f64::INFINITY, 0); self.jobs.len()];
        for event in &self.events {
            match *event {
                LogEvent::End(at) => {
                    let at = at as usize;
                    let procs = self.jobs[at].submission.procs;
                    categories[category_of[at] as usize].add(template, points[at], procs);
                }
                LogEvent::Start(at) => {
                    let at = at as usize;
                    let category = &categories[category_of[at] as usize];
                    if let Some(answer) = category.answer(template, &self.jobs[at].submission, &self.confidence) {
                        track[at] = (answer.interval, whole_seconds(answer.value));
                    }
                }
            }
        }
        track
    }
}
