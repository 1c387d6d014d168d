//! What all searches share: their limits, their steps, and the best set so far.

use std::cell::Cell;
use std::time::Instant;

use super::judge::{Judge, Score};
use crate::parallel;
use crate::predict::templates::Template;

/// When a search stops before it is finished.
pub struct SearchLimits<'a> {
    /// After this number of evaluated sets; None for no limit.
    pub evaluations: Option<u64>,
    /// At this instant; None for no limit. (The result then depends on the speed of the machine.)
    pub deadline: Option<Instant>,
    /// When this returns true.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
    /// The results do not depend on it, unless there is a deadline.
    pub threads: usize,
}

/// One step of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchStep {
    /// Which search, if there are several: `mean,act`, `lr,rel with node ranges`.
    pub search: String,
    /// Counted from 0 within its search.
    pub step: usize,
    /// Sets evaluated so far, including those of this step.
    pub evaluations: u64,
    /// The mean error of the best set of this step, in minutes.
    pub best: f64,
    /// The mean over the sets of this step, in minutes.
    pub mean: f64,
    /// The mean error of the worst set of this step, in minutes.
    pub worst: f64,
    /// The best set of this step.
    pub templates: Vec<Template>,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct FoundSet {
    /// The best set of all steps.
    pub templates: Vec<Template>,
    /// Its errors.
    pub score: Score,
    /// All steps, in order.
    pub steps: Vec<SearchStep>,
    /// Whether a limit was reached before the search was finished.
    pub stopped: bool,
}

/// A search in progress.
pub(super) struct SearchRun<'a> {
    pub judge: &'a Judge<'a>,
    limits: &'a SearchLimits<'a>,
    evaluations: Cell<u64>,
    /// Called after each step.
    watch: &'a dyn Fn(&SearchStep),
    found: Option<(Vec<Template>, Score)>,
    steps: Vec<SearchStep>,
}

impl<'a> SearchRun<'a> {
    pub fn new(judge: &'a Judge<'a>, limits: &'a SearchLimits<'a>, watch: &'a dyn Fn(&SearchStep)) -> SearchRun<'a> {
        SearchRun { judge, limits, evaluations: Cell::new(0), watch, found: None, steps: Vec::new() }
    }

    /// Evaluates sets on all threads. None once a limit is reached.
    pub fn judge(&self, sets: &[Vec<Template>]) -> Option<Vec<Score>> {
        let limits = self.limits;
        let over = || (limits.stopped)() || limits.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let evaluations = self.evaluations.get() + sets.len() as u64;
        if limits.evaluations.is_some_and(|limit| evaluations > limit) {
            return None;
        }
        let score = |set: &Vec<Template>| (!over()).then(|| self.judge.score(set));
        let scores: Option<Vec<Score>> = parallel::map(sets, limits.threads, score, |_| ()).into_iter().collect();
        self.evaluations.set(evaluations);
        scores
    }

    /// Records a step, and keeps its best set if it is the best so far.
    pub fn step(&mut self, search: &str, step: usize, sets: &[Vec<Template>], scores: &[Score]) {
        let best = best_of(scores);
        let errors: Vec<f64> = scores.iter().map(Score::minutes).collect();
        let made = SearchStep {
            search: search.to_string(),
            step,
            evaluations: self.evaluations.get(),
            best: errors[best],
            mean: errors.iter().sum::<f64>() / errors.len() as f64,
            worst: errors.iter().copied().fold(f64::MIN, f64::max),
            templates: sets[best].clone(),
        };
        (self.watch)(&made);
        self.steps.push(made);
        if self.found.as_ref().is_none_or(|(_, score)| scores[best].error < score.error) {
            self.found = Some((sets[best].clone(), scores[best]));
        }
    }

    pub fn finish(self, stopped: bool) -> Option<FoundSet> {
        let (templates, score) = self.found?;
        Some(FoundSet { templates, score, steps: self.steps, stopped })
    }
}

/// The index of the smallest error, the first of equal ones.
pub(super) fn best_of(scores: &[Score]) -> usize {
    (0..scores.len()).min_by_key(|&at| scores[at].error).expect("at least one set was evaluated")
}
