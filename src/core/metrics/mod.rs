//! Metrics of a run: performance, accuracy, improvement over a baseline, and means over groups of runs.
//!
//! [`Summary`] has the figures of a run. [`RunRow`] is a run with its figures and those of its baseline. [`COLUMNS`] is the
//! list of what is printed.

mod another_year;
mod breakdown;
mod cell;
mod column;
pub mod columns;
mod fairness;
mod improvement;
mod job;
mod job_rows;
mod limits;
mod lines;
mod measure;
mod pictures;
mod probe;
mod ranking;
mod reasons;
mod replicates;
mod row;
mod series;
mod summary;
mod when;

pub use another_year::{Spread, YearGain, YearGains};
pub use breakdown::{
    Breakdown, GroupBaseline, GroupBy, Grouping, Groupings, RUNTIME_CLASSES, runtime_class, runtime_class_name,
    width_class, width_class_name,
};
pub use cell::{Cell, Cells, plain_zero};
pub use column::column_list;
pub use column::{Column, ListedColumn, Main, Role, SEVERAL_NAME, Shown, cells, listed, listed_with_setting, present};
pub use columns::COLUMNS;
pub use fairness::{Losers, UserChange, UserTotals};
pub use improvement::Better;
pub use job::{JobMetrics, bounded_slowdown};
pub use job_rows::{JOB_COLUMNS, JobRow, PREDICTION_COLUMNS, PredictionRow};
pub use limits::LimitMeter;
pub use lines::{MeanAt, NumberLine, NumberLines};
pub use measure::{Measure, Portion};
pub use pictures::{Gantt, GanttJob, GanttNode, MOST_JOBS, NodeGrants, busiest_window, gantt_nodes, shrink_window};
pub use probe::{AllPredictions, EndedRun, KeptRecord, Probe, Probes, Seen, Watched};
pub use ranking::{Ranking, Standing, rank, times_best};
pub use reasons::{WaitReason, WaitReasonMeter, WaitReasons, reason_on};
pub use replicates::{Condition, Group, Interval, Replicates, Verdict};
pub use row::{Baseline, More, RunLabel, RunRow};
pub use series::{SERIES_COLUMNS, Series, SeriesStep};
pub use summary::{Summary, summarize, summarize_with_users};
pub use when::{Given, When};
