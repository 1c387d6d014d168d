//! Compares a set of templates with other predictors. All of them predict when a job starts, on the log's own schedule.

use std::ops::Range;

use super::judge::Score;
use super::search_run::SearchStep;
use crate::engine::{self, EngineError, EngineOptions, Outcome};
use crate::experiment::Setting;
use crate::metrics::{Column, When, column_list};
use crate::parallel;
use crate::predict::RunFacts;
use crate::predict::templates::Template;
use crate::schedule::LogFacts;
use crate::trace::Workload;

/// The predictors to compare with: their specs, and their names in tables.
pub const COMPARED_PREDICTORS: [(&str, &str); 8] = [
    ("gibbons", "gibbons"),
    ("gibbons:data=rel", "gibbons relative"),
    ("downey", "downey median"),
    ("downey:point=mean", "downey mean"),
    ("ruh", "ruh"),
    ("sbh", "sbh"),
    ("estimate", "estimate"),
    ("smith:templates=()", "overall mean"),
];

/// The errors of one predictor.
#[derive(Clone, Debug)]
pub struct ComparedPredictor {
    /// As in tables.
    pub name: String,
    /// Its spec.
    pub predictor: String,
    /// On the counted jobs.
    pub score: Score,
    /// On the jobs that the search used, if those are other jobs.
    pub trained: Option<Score>,
}

/// Runs predictors, given as pairs of spec and name, over a workload with recorded waits. The score is over the jobs in
/// `counted`; a second score is over those in `trained`, if given. `watch` is called with the number of finished
/// predictors.
///
/// # Errors
///
/// If a simulation fails.
///
/// # Panics
///
/// If a spec does not parse.
pub fn compare_predictors(
    workload: &Workload,
    predictors: &[(String, String)],
    counted: Range<usize>,
    trained: Option<Range<usize>>,
    threads: usize,
    watch: impl Fn(usize) + Sync,
) -> Result<Vec<ComparedPredictor>, EngineError> {
    let judge = |(predictor, name): &(String, String)| {
        let setting = Setting::parse("replay", predictor).expect("a spec that was checked");
        let record = engine::run(
            workload.procs,
            &workload.jobs,
            setting.policy(&LogFacts::of_jobs(&workload.jobs, &workload.wide)),
            setting.predictor(&RunFacts::of(workload)),
            EngineOptions { predict_at_start: true, unix_start: workload.unix_start, ..setting.engine },
            &mut |_| (),
        )?;
        let score = |range: Range<usize>| {
            let mut score = Score::default();
            for (_, finished) in record.finished_in(&workload.jobs, range) {
                let Outcome { prediction_at_start, answered, inside, .. } = *finished.outcome;
                score.add(finished.job.runtime, prediction_at_start, answered, inside);
            }
            score
        };
        let (name, predictor) = (name.clone(), setting.predictor.to_string());
        Ok(ComparedPredictor { name, predictor, score: score(counted.clone()), trained: trained.clone().map(score) })
    };
    parallel::map(predictors, threads, judge, watch).into_iter().collect()
}

/// A predictor as a row, with the seed of the search if it has one.
pub type ComparedRow<'a> = (&'a ComparedPredictor, Option<u64>);

/// The columns of compared predictors.
pub fn compared_columns<'a>() -> Vec<Column<ComparedRow<'a>>> {
    Vec::from(column_list! {
        |row: ComparedRow<'a>|
        key "name" "the predictor in tables" row.0.name.clone();
        label "jobs" "jobs that are predicted" row.0.score.jobs;
        real "error_min" "mean error in minutes" row.0.score.minutes(), lower;
        percent "error_pct" "the same in percent of the mean runtime" row.0.score.percent(), lower;
        count "answered" "jobs whose prediction had a confidence interval"
            Some(row.0.score.answered as u64).filter(|&answered| answered > 0);
        real "error_answered_min" "mean error of these in minutes" row.0.score.minutes_answered(), lower;
        percent "inside_pct" "percentage of these that ended within it" row.0.score.inside_percent();
        real "train_error_min" "mean error in minutes on the jobs of the search"
            row.0.trained.as_ref().map(|score| score.minutes()), lower, only(When::Training);
        percent "train_error_pct" "the same in percent"
            row.0.trained.as_ref().map(|score| score.percent()), lower, only(When::Training);
        label "predictor" "its spec" row.0.predictor.clone();
        label "seed" "of a genetic search" row.1;
    })
}

/// The columns of `--history-out`.
pub static STEP_COLUMNS: &[Column<SearchStep>] = &column_list! {
    |step: SearchStep|
    key "search" "which search, if there are several" step.search.clone();
    key "step" "counted from 0" step.step;
    count "evaluations" "sets evaluated so far" step.evaluations;
    real "best_min" "the mean error of the best set of this step in minutes" step.best, lower;
    real "mean_min" "the mean over the sets of this step" step.mean, lower;
    real "worst_min" "the mean error of the worst set" step.worst, lower;
    text "templates" "the best set" Template::print_set(&step.templates);
};
