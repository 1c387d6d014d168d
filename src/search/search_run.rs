//! What all searches share: where they are, when they must stop, and what they have found.

use std::cell::Cell;
use std::time::Instant;

use super::judge::{Judge, Score};
use crate::parallel;
use crate::predict::templates::Template;

/// When a search ends before it is through.
pub struct Limits<'a> {
    /// After so many sets have been judged.
    pub evaluations: Option<u64>,
    /// At this instant. (What is found then depends on the machine.)
    pub deadline: Option<Instant>,
    /// When somebody says so.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
    pub threads: usize,
}

/// One step of a search: the best set after it.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchStep {
    /// Which search, where there are several: `mean,act`, `lr,rel with node ranges`.
    pub search: String,
    pub step: usize,
    /// Sets judged so far, this step's included.
    pub evaluations: u64,
    /// Mean errors in minutes: of the best set of this step, of all, of the worst.
    pub best: f64,
    pub mean: f64,
    pub worst: f64,
    pub templates: Vec<Template>,
}

/// What a search has found.
#[derive(Clone, Debug)]
pub struct Found {
    pub templates: Vec<Template>,
    pub score: Score,
    pub steps: Vec<SearchStep>,
    /// Whether it was stopped before it was through.
    pub stopped: bool,
}

/// A search under way.
pub(super) struct SearchRun<'a> {
    pub judge: &'a Judge<'a>,
    limits: &'a Limits<'a>,
    evaluations: Cell<u64>,
    /// Told after each step.
    watch: &'a dyn Fn(&SearchStep),
    found: Option<(Vec<Template>, Score)>,
    steps: Vec<SearchStep>,
}

impl<'a> SearchRun<'a> {
    pub fn new(judge: &'a Judge<'a>, limits: &'a Limits<'a>, watch: &'a dyn Fn(&SearchStep)) -> SearchRun<'a> {
        SearchRun { judge, limits, evaluations: Cell::new(0), watch, found: None, steps: Vec::new() }
    }

    /// Judges sets on all threads; None once a limit is reached.
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

    /// Puts down a step, and its best set if it is the best so far.
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

    pub fn finish(self, stopped: bool) -> Option<Found> {
        let (templates, score) = self.found?;
        Some(Found { templates, score, steps: self.steps, stopped })
    }
}

/// The first of those with the least error.
pub(super) fn best_of(scores: &[Score]) -> usize {
    (0..scores.len()).min_by_key(|&at| scores[at].error).expect("something was judged")
}
