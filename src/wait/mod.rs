//! When will a job start? Predicted from history alone, without knowing the site's scheduler (Kumar and Vadhiyar,
//! "Prediction of Queue Waiting Times for Metascheduling on Parallel Batch Systems").
//!
#![doc = include_str!("../cli/help/waits.md")]

mod answer;
mod classes;
mod downey;
mod evaluate;
mod features;
mod figures;
mod forward;
mod history;
mod ibl;
mod knn;
mod method;
mod predictor;
mod qbets;
mod quick;
mod regression;
mod scale;
mod schedule;
mod state;
mod svm;
mod tables;

pub use answer::{Answer, SimilarJob, answer};
pub use classes::{CLASSES, PerClass, WaitClass, normalized};
pub use evaluate::{Evaluation, Judged, Phase, Plan, evaluate};
pub use features::{FEATURE_NAMES, FEATURES, Features, features};
pub use figures::{CalibrationBin, Figures, Share};
pub use forward::forward_waits;
pub use history::{Arrived, History, Window};
pub use ibl::predict as ibl_prediction;
pub use knn::{Neighbour, Neighbours, distance, distances, neighbours};
pub use method::Method;
pub use predictor::{Learning, WaitPrediction, WaitPredictor};
pub use qbets::{Qbets, rank};
pub use quick::{is_quick, quick_starter};
pub use regression::Regression;
pub use schedule::{Schedule, SiteHandler, SiteOrder};
pub use state::{Present, SiteState};
pub use svm::{Classifier, Lesson};
pub use tables::{
    answer_cells, calibration_cells, confusion_cells, figures_cells, job_cells, write_answer, write_tables,
};
