//! When will a job start? Predicted from history alone, independent of the site's scheduler (Kumar and Vadhiyar,
//! "Prediction of Queue Waiting Times for Metascheduling on Parallel Batch Systems").
//!
#![cfg_attr(doc, doc = include_str!("../../cli/help/waits.md"))]

mod answer;
mod back_test;
mod classes;
mod downey;
mod evaluate;
mod features;
mod figures;
mod forward;
mod history;
mod ibl;
mod knn;
mod live;
mod live_columns;
#[cfg(feature = "html")]
mod live_page;
mod live_report;
mod live_tables;
mod method;
mod predictor;
mod qbets;
mod quick;
mod recalibrate;
mod regression;
mod reliability;
mod sample;
mod scale;
mod schedule;
mod seen;
mod simulated_log;
mod state;
mod svm;
mod svr;
mod tables;

pub use answer::{SimilarJob, WaitAnswer, answer};
pub use back_test::{BackTest, FEWEST_JUDGED, LEAST_HELD};
pub use classes::{CLASSES, PerClass, WaitClass, normalized};
pub use evaluate::{Evaluation, EvaluationPhase, EvaluationPlan, MethodAnswer, PredictedJob, evaluate};
pub use features::{FEATURES, Features, features};
pub use figures::{CalibrationBin, HitRate, WaitFigures};
pub use forward::{
    ClosedTime, ClosedTimes, ForwardPlans, ForwardSetting, ForwardWaits, PastRatios, QueueSnapshot, QueueWaits,
    RatioHistory, SimulatedJobs, SnapshotJob, forward_waits, snapshot_at,
};
pub use history::{HistoryJob, HistoryWindow, WaitHistory};
pub use knn::{Distance, Neighbour, Neighbours, neighbours};
pub use live::{FEW_ANSWERS, JUDGED_EVERY, JUDGED_JOBS, LiveAnswer, LivePlan, LiveWait};
pub use live_columns::{LiveRow, live_columns};
pub use live_report::{LiveJob, LiveNames, LiveReport};
pub use live_tables::LiveListing;
pub use method::WaitMethod;
pub use predictor::{Learning, WaitPrediction, WaitPredictor};
pub use qbets::{Qbets, rank};
pub use quick::{is_quick, quick_starter};
pub use recalibrate::{OpenQueue, PastAnswers, SimulatedWait};
pub use regression::{Regression, RegressionPoint};
pub use reliability::Reliability;
pub use sample::{LEVELS, SampledWait, WaitSample};
pub use schedule::{SiteHandler, SiteOrder, SiteSchedule, recorded_starts};
pub use seen::{QueueAhead, SeenQueues};
pub use simulated_log::SimulatedLog;
pub use state::{SiteJob, SiteState};
pub use svm::Classifier;
pub use tables::{
    AnswerRow, ConfusionRow, JobAnswerRow, WaitRow, answer_columns, calibration_columns, confusion_columns,
    confusion_rows, job_answer_columns, wait_columns, write_answer, write_job_answers, write_tables,
};
