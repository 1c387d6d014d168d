//! A set of templates beside other predictors: all asked when a job starts, on the log's own schedule.

use std::ops::Range;

use super::judge::Score;
use crate::engine::{self, EngineError, EngineOptions, Named};
use crate::parallel;
use crate::predict::{self, PredictAtStart};
use crate::report::Cell;
use crate::schedule;
use crate::trace::Workload;

/// The rivals: a predictor, and what it is called in tables.
pub const RIVALS: [(&str, &str); 8] = [
    ("gibbons", "gibbons"),
    ("gibbons:data=rel", "gibbons relative"),
    ("downey", "downey median"),
    ("downey:point=mean", "downey mean"),
    ("ruh", "ruh"),
    ("sbh", "sbh"),
    ("estimate", "estimate"),
    ("smith:templates=()", "overall mean"),
];

/// How a predictor did.
#[derive(Clone, Debug)]
pub struct Rival {
    pub name: String,
    pub predictor: String,
    pub score: Score,
    /// On the part of the log that was searched on, if that is another.
    pub trained: Option<Score>,
}

/// Runs predictors, given with their names, over a workload whose jobs know their waits. The jobs in `counted` are
/// judged; those in `trained` apart from them.
pub fn rivals(
    workload: &Workload,
    predictors: &[(String, String)],
    counted: Range<usize>,
    trained: Option<Range<usize>>,
    threads: usize,
    watch: impl Fn(usize) + Sync,
) -> Result<Vec<Rival>, EngineError> {
    let judge = |(predictor, name): &(String, String)| {
        let spec = predict::catalog::parse(predictor).expect("a spec that was checked");
        let replay = schedule::catalog::parse("replay").expect("a scheduler of ours");
        let asked = PredictAtStart::new(predict::catalog::build(&spec)).expect("all of the catalog can predict again");
        let record = engine::run(
            workload.procs,
            &workload.jobs,
            Named { name: "replay".to_string(), value: schedule::catalog::build(&replay, &workload.jobs) },
            Named { name: predictor.clone(), value: Box::new(asked) },
            EngineOptions::default(),
            &mut |_| (),
        )?;
        let score = |range: Range<usize>| {
            let mut score = Score::default();
            for finished in record.finished(&workload.jobs).skip(range.start).take(range.len()) {
                score.add(finished.job.runtime, finished.outcome.prediction_at_start, finished.outcome.inside);
            }
            score
        };
        let (name, predictor) = (name.clone(), spec.to_string());
        Ok(Rival { name, predictor, score: score(counted.clone()), trained: trained.clone().map(score) })
    };
    parallel::map(predictors, threads, judge, watch).into_iter().collect()
}

impl Rival {
    /// `name,jobs,error_min,error_pct,answered,error_answered_min,inside_pct` and, where the search had a part of its
    /// own, `train_error_min,train_error_pct`; then `predictor`.
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
