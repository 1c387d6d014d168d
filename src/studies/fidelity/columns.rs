//! The columns of all outputs of `sim fidelity`.

use super::figures::FidelityFigures;
use super::moving::SameWindows;
use super::rows::{ComparedJob, FidelityRow};
use crate::metrics::{Cell, Column, Shown, column_list};
use crate::time::print_duration;

/// The columns of figures, of a schedule and of a group of jobs.
pub static FIDELITY_COLUMNS: &[Column<FidelityFigures>] = &column_list! {
    |figures: FidelityFigures|
    count "jobs" "jobs that are compared" figures.jobs, heading("jobs");
    duration "wait_recorded" "mean recorded wait in seconds" Cell::Seconds(figures.recorded), heading("recorded wait");
    duration "wait_simulated" "mean simulated wait in seconds"
        Cell::Seconds(figures.simulated), heading("simulated wait");
    duration "wait_difference" "the second less the first" Cell::Seconds(figures.difference());
    real "wait_difference_pct" "the same in percent of the first"
        figures.difference_pct(), shown(Shown::Improvement), heading("differs by");
    percent "moving_error_pct" "error of the moving mean of waits in percent"
        figures.moving.map(|moving| moving.percent), lower, heading("moving error");
    duration "moving_error" "the same in seconds" figures.moving.map(|moving| Cell::Seconds(moving.seconds)), lower;
    count "windows" "windows of the moving mean" figures.moving.map_or(0, |moving| moving.windows);
    duration "start_error" "mean seconds between the simulated and the recorded start"
        Cell::Seconds(figures.start_error), lower, heading("start error");
    real "rank_correlation" "Spearman's, of simulated and recorded waits"
        figures.rank_correlation, shown(Shown::Index), higher, heading("rank correlation");
    percent "within_1m_pct" "percentage of jobs that start so near to their recorded start"
        figures.near_pct(0), higher, heading("within 1m");
    percent "within_10m_pct" "percentage of jobs that start so near to their recorded start"
        figures.near_pct(1), higher, heading("within 10m");
    percent "within_60m_pct" "percentage of jobs that start so near to their recorded start"
        figures.near_pct(2), higher, heading("within 60m");
    label "verdict" "near, tendency only or not this site: how well these waits are simulated" figures.verdict().name();
};

/// The columns before the figures of a schedule, and those after them.
pub fn schedule_columns<'a>() -> [Vec<Column<FidelityRow<'a>>>; 2] {
    [
        Vec::from(column_list! {
            |row: FidelityRow<'a>|
            key "trace" "the label of the log" row.heading.workload.label.clone();
            key "procs" "processors of the machine" row.heading.workload.procs;
            key "scheduler" "the scheduler" row.scheduler.clone();
            key "predictor" "the predictor of runtimes" row.predictor.clone();
        }),
        Vec::from(column_list! {
            |row: FidelityRow<'a>|
            label "without_wait" "jobs that are left out because the log has no wait of them" row.heading.without_wait;
            label "dropped" "records of the log that did not become jobs, and jobs that can never start" row.dropped;
            label "window" "the length of the windows" print_duration(row.heading.window);
            key "options" "other options that change the result" row.heading.options.to_string();
        }),
    ]
}

/// The columns of compared jobs.
pub static COMPARED_JOB_COLUMNS: &[Column<ComparedJob>] = &column_list! {
    |job: ComparedJob|
    key "job" "the number of the job in the log" job.number;
    label "user" "the user's number, or with --names the name; -1 if unknown" job.user.clone();
    label "queue" "the queue's number, or with --names the name; -1 if unknown" job.queue.clone();
    label "submit" "when it was submitted, in seconds of the log" job.waits.submit;
    label "procs" "processors" job.procs;
    duration "wait_recorded" "recorded wait in seconds" job.waits.recorded;
    duration "wait_simulated" "simulated wait in seconds" job.waits.simulated;
    duration "difference" "the second less the first" job.waits.simulated - job.waits.recorded;
    label "log_id" "the id of the job in the log, such as JobIDRaw" job.log_id.clone();
};

/// The columns of windows of the moving mean.
pub static WINDOW_COLUMNS: &[Column<SameWindows>] = &column_list! {
    |window: SameWindows|
    key "time" "when the window begins, in seconds of the log" window.begin;
    label "jobs" "jobs that were submitted in it" window.jobs;
    duration "wait_recorded" "their mean recorded wait in seconds" Cell::Seconds(window.means().0);
    duration "wait_simulated" "their mean simulated wait in seconds" Cell::Seconds(window.means().1);
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fidelity::NEAR;
    use crate::time::MINUTE;

    #[test]
    fn shares_are_named_by_their_limits() {
        let names: Vec<_> = FIDELITY_COLUMNS.iter().filter_map(|column| column.name.strip_prefix("within_")).collect();
        assert_eq!(names, NEAR.map(|seconds| format!("{}m_pct", seconds / MINUTE)));
    }
}
