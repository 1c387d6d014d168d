//! Compares a set of templates with other predictors. All of them predict when a job starts, on the log's own schedule.

use std::ops::Range;

use super::judge::Score;
use crate::engine::{self, EngineError, EngineOptions, Named, Outcome};
use crate::experiment::Setting;
use crate::parallel;
use crate::predict::{PredictAtStart, RunFacts};
use crate::report::Cell;
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
        let Named { name: asked, value } = setting.predictor(&RunFacts::of(workload));
        let record = engine::run(
            workload.procs,
            &workload.jobs,
            setting.policy(&LogFacts::of_jobs(&workload.jobs, &workload.wide)),
            Named { name: asked, value: Box::new(PredictAtStart(value)) },
            EngineOptions { unix_start: workload.unix_start, ..setting.engine },
            &mut |_| (),
        )?;
        let score = |range: Range<usize>| {
            let mut score = Score::default();
            for finished in record.finished(&workload.jobs).skip(range.start).take(range.len()) {
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

impl ComparedPredictor {
    /// `name,jobs,error_min,error_pct,answered,error_answered_min,inside_pct`, then `train_error_min,train_error_pct`
    /// if the search used other jobs, then `predictor`.
    pub fn cells(&self) -> Vec<(&'static str, Cell)> {
        let optional = |value: Option<f64>| value.map_or(Cell::None, Cell::Real);
        let Score { jobs, answered, .. } = self.score;
        let mut cells = vec![
            ("name", Cell::Text(self.name.clone())),
            ("jobs", Cell::Count(jobs as u64)),
            ("error_min", Cell::Real(self.score.minutes())),
            ("error_pct", Cell::Real(self.score.percent())),
            ("answered", if answered > 0 { Cell::Count(answered as u64) } else { Cell::None }),
            ("error_answered_min", optional(self.score.minutes_answered())),
            ("inside_pct", optional(self.score.inside_percent())),
        ];
        if let Some(trained) = &self.trained {
            cells.push(("train_error_min", Cell::Real(trained.minutes())));
            cells.push(("train_error_pct", Cell::Real(trained.percent())));
        }
        cells.push(("predictor", Cell::Text(self.predictor.clone())));
        cells
    }
}
