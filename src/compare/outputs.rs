//! All outputs of the program: their columns, and how an output is known by its header.

use super::difference::listed_differences;
use crate::experiment::OptionForm;
use crate::fidelity::{COMPARED_JOB_COLUMNS, SITE_COLUMN, WINDOW_COLUMNS, listed_fidelity};
use crate::malleable::listed_study;
use crate::meta::listed_meta;
use crate::metrics::{
    Better, COLUMNS, JOB_COLUMNS, ListedColumn, PREDICTION_COLUMNS, SERIES_COLUMNS, WaitReasons, When, listed,
    listed_with_setting,
};
use crate::recommend::listed_recommendation;
use crate::report::{FINDING_COLUMNS, listed_groups, name_columns, request_columns, survey_columns};
use crate::reproduce::{STUDY_RUN_COLUMNS, listed_figures};
use crate::search::{STEP_COLUMNS, compared_columns};
use crate::sweep::{PLAN_COLUMNS, STATUS_COLUMNS};
use crate::wait::{
    answer_columns, calibration_columns, confusion_columns, job_answer_columns, live_columns, wait_columns,
};

/// What the rows of an output are. Outputs with rows of one kind can be compared, in the columns that both have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// Summaries of runs.
    Runs,
    /// Means over runs.
    Means,
    /// Jobs.
    Jobs,
    /// Predictions.
    Predictions,
    /// Groups of jobs.
    Groups,
    /// Points in time.
    Times,
    /// Figures of methods, policies or strategies.
    Figures,
    /// Differences between two outputs.
    Differences,
    /// Others, which are compared with those of the same output alone.
    Others,
}

impl RowKind {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            RowKind::Runs => "runs",
            RowKind::Means => "means over runs",
            RowKind::Jobs => "jobs",
            RowKind::Predictions => "predictions",
            RowKind::Groups => "groups of jobs",
            RowKind::Times => "points in time",
            RowKind::Figures => "figures",
            RowKind::Differences => "differences",
            RowKind::Others => "rows",
        }
    }
}

/// An output of the program.
#[derive(Clone, Debug)]
pub struct KnownOutput {
    /// As in `sim list columns NAME`.
    pub name: &'static str,
    /// The command or the option that writes it.
    pub about: &'static str,
    /// What its rows are.
    pub rows: RowKind,
    /// The columns by which its header is known, with blanks between them; one that begins with `_` is the end of a name.
    marks: &'static str,
    /// In their order.
    pub columns: Vec<ListedColumn>,
}

/// All outputs with lists of columns.
pub fn known_outputs() -> Vec<KnownOutput> {
    use RowKind::{Differences, Figures, Groups, Jobs, Means, Others, Predictions, Runs, Times};
    let output = |name, about, rows, marks, columns| KnownOutput { name, about, rows, marks, columns };
    let mut runs: Vec<ListedColumn> = COLUMNS.iter().map(|column| column.listed()).collect();
    let study_runs = [listed(STUDY_RUN_COLUMNS), runs.clone()].concat();
    // The column `options` is the last.
    let site = ListedColumn::other(SITE_COLUMN.0, SITE_COLUMN.1, When::WhatIf);
    runs.splice(runs.len() - 1..runs.len() - 1, WaitReasons::listed().into_iter().chain([site]));
    let [schedules, fidelity_groups] = listed_fidelity();
    let [policies, sites, placed_jobs] = listed_meta();
    let [study, allocations, pairs] = listed_study();
    let means =
        "means over runs, of sim --replications and sim sweep --group-by: each figure with its interval (_ci95)";
    let recommended = "sim recommend: means over runs, as above, of each candidate";
    vec![
        output("runs", "sim, sim sweep", Runs, "scheduler predictor", runs.clone()),
        output("means", means, Means, "rows _ci95", runs),
        output("jobs", "sim --jobs-out", Jobs, "job", listed_with_setting(JOB_COLUMNS)),
        output(
            "predictions",
            "sim --predictions-out",
            Predictions,
            "job time event cause",
            listed_with_setting(PREDICTION_COLUMNS),
        ),
        output("groups", "sim --by-out", Groups, "key value jobs", listed_groups()),
        output("series", "sim --series-out", Times, "time waiting", listed_with_setting(SERIES_COLUMNS)),
        output("fidelity", "sim fidelity", Runs, "scheduler predictor start_error", schedules),
        output("fidelity-groups", "sim fidelity --by-out", Groups, "key value start_error", fidelity_groups),
        output(
            "fidelity-jobs",
            "sim fidelity --jobs-out",
            Jobs,
            "job wait_recorded",
            listed_with_setting(COMPARED_JOB_COLUMNS),
        ),
        output(
            "fidelity-windows",
            "sim fidelity --windows-out",
            Times,
            "time wait_recorded",
            listed_with_setting(WINDOW_COLUMNS),
        ),
        output("trace", "sim trace info", Others, "records skipped_lines", listed(&survey_columns())),
        output("findings", "sim trace validate", Others, "finding line", listed(FINDING_COLUMNS)),
        output("names", "--names-out", Others, "kind number", listed(&name_columns())),
        output("requests", "sim trace convert --requests-out", Jobs, "job cpus tasks", listed(&request_columns())),
        output("search", "sim search", Others, "name error_min", listed(&compared_columns())),
        output("search-history", "sim search --history-out", Others, "search step", listed(STEP_COLUMNS)),
        output("wait", "sim wait", Figures, "method predictions", listed(&wait_columns())),
        output("wait-job", "sim wait ask --at", Jobs, "job distance", listed(&answer_columns())),
        output("wait-queue", "sim wait ask --queue", Jobs, "job stage", listed(&live_columns())),
        output("wait-jobs", "sim wait --jobs-out", Jobs, "method job", listed(&job_answer_columns())),
        output(
            "wait-confusion",
            "sim wait --confusion-out",
            Others,
            "method predicted_class jobs",
            listed(&confusion_columns()),
        ),
        output(
            "wait-calibration",
            "sim wait --calibration-out",
            Others,
            "low high observed",
            listed(&calibration_columns()),
        ),
        output("meta", "sim meta", Figures, "policy wait_mean", policies),
        output("meta-sites", "sim meta --sites-out", Figures, "policy site own_jobs", sites),
        output("meta-jobs", "sim meta --jobs-out", Jobs, "policy origin job", placed_jobs),
        output("malleable", "sim malleable", Figures, "strategy", study),
        output("malleable-jobs", "sim malleable --jobs-out", Jobs, "strategy job", allocations),
        output("malleable-scatter", "sim malleable --scatter-out", Others, "strategy job actual", pairs),
        output("sweep-plan", "sim sweep --dry-run", Others, "cell command", listed(PLAN_COLUMNS)),
        output(
            "sweep-status",
            "sim sweep status, sim sweep merge",
            Others,
            "cells done missing",
            listed(STATUS_COLUMNS),
        ),
        output("recommend", recommended, Means, "part broken_guards answer", listed_recommendation()),
        output("reproduce", "sim reproduce", Others, "study published measured", listed_figures()),
        output("reproduce-runs", "sim reproduce talby --cells-out", Runs, "command scheduler predictor", study_runs),
        output("compare", "sim compare", Differences, "column first second change", listed_differences()),
    ]
}

impl KnownOutput {
    /// The output with this header. None if there is none. If it has the marks of several outputs, the most marks count, and
    /// of equally many those of the later output.
    pub fn of(header: &[String]) -> Option<KnownOutput> {
        let has =
            |mark: &str| header.iter().any(|name| name == mark || (mark.starts_with('_') && name.ends_with(mark)));
        let marked = known_outputs().into_iter().filter(|output| output.marks.split(' ').all(has));
        marked.max_by_key(|output| output.marks.split(' ').count())
    }

    /// Whether rows of the two can be compared.
    pub fn is_like(&self, other: &KnownOutput) -> bool {
        self.rows == other.rows && (self.rows != RowKind::Others || self.name == other.name)
    }

    /// What its rows are, in words.
    pub fn rows_in_words(&self) -> String {
        match self.rows {
            RowKind::Others => format!("rows of {}", self.about),
            rows => rows.name().to_string(),
        }
    }

    /// Whether the column at this index of the header says what a row is about.
    pub fn is_key(&self, header: &[String], at: usize) -> bool {
        let name = header[at].as_str();
        // A swept option, or a swept key of one: `load`, `predictor.window`.
        let option = name.split_once('.').map_or(name, |(option, _)| option);
        let first_other = match self.rows {
            RowKind::Means => Some("rows"),
            RowKind::Differences => Some("column"),
            _ => None,
        };
        self.columns.iter().any(|column| column.is_key && column.name == name)
            || (self.rows == RowKind::Runs && OptionForm::find(option).is_some())
            // The columns that the rows are grouped or matched by come first.
            || first_other.is_some_and(|first| Some(at) < header.iter().position(|column| column == first))
    }

    /// Whether lower or higher values of a column are better. None if neither is.
    pub fn better(&self, name: &str) -> Option<Better> {
        self.columns.iter().find(|column| column.name == name)?.better
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_tell_what_a_file_is_and_which_columns_are_labels() {
        for (header, name, keys) in [
            (
                "trace,procs,scheduler,predictor,jobs,dropped,wait_mean,baseline,predictor.window,load,options",
                "runs",
                "trace,procs,scheduler,predictor,baseline,predictor.window,load,options",
            ),
            ("scheduler,seed,rows,wait_mean,wait_mean_ci95,options", "means", "scheduler,seed,options"),
            ("trace,scheduler,predictor,rows,jobs,jobs_ci95,options", "means", "trace,scheduler,predictor,options"),
            ("job,user,submit,start,procs,runtime", "jobs", "job"),
            ("setting,job,user,wait", "jobs", "setting,job"),
            ("policy,origin,site,job,wait", "meta-jobs", "policy,origin,job"),
            ("job,time,prediction,event,cause", "predictions", "job,time,event,cause"),
            ("setting,job,time,prediction,event,cause", "predictions", "setting,job,time,event,cause"),
            ("setting,key,value,jobs,area_pct", "groups", "setting,key,value"),
            ("time,waiting,running", "series", "time"),
            ("method,predictions,ppe_pct", "wait", "method"),
        ] {
            let header: Vec<String> = header.split(',').map(str::to_string).collect();
            let output = KnownOutput::of(&header).unwrap();
            assert_eq!(output.name, name);
            let found: Vec<_> =
                (0..header.len()).filter(|&at| output.is_key(&header, at)).map(|at| &*header[at]).collect();
            assert_eq!(found.join(","), keys);
        }
        assert!(KnownOutput::of(&["demo".to_string(), "128".to_string()]).is_none());
    }

    /// The header of each output is known as its own, its keys are columns, and no name is there twice.
    #[test]
    fn every_output_is_known_by_its_columns() {
        for output in known_outputs().into_iter().filter(|output| output.name != "means") {
            let header: Vec<String> = output.columns.iter().map(|column| column.name.clone()).collect();
            assert_eq!(KnownOutput::of(&header).map(|found| found.name), Some(output.name));
            assert!(output.columns.iter().any(|column| column.is_key), "{}", output.name);
            let names: std::collections::BTreeSet<_> = header.iter().collect();
            assert_eq!(names.len(), header.len(), "{}", output.name);
            assert!(output.columns.iter().all(|column| !column.about.is_empty() && !column.about.ends_with('.')));
        }
    }
}
