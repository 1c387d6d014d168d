//! What an output contains, told by its header, and which of its columns say what was run.

use std::fmt;

use crate::experiment::OptionForm;

/// What the rows of an output are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// Summaries of runs: `sim`, `sim sweep`.
    Runs,
    /// Means over runs: `--replications`, `--group-by`.
    Means,
    /// Jobs: `--jobs-out`.
    Jobs,
    /// Predictions: `--predictions-out`.
    Predictions,
    /// Groups of jobs: `--by-out`.
    Breakdown,
    /// Points in time: `--series-out`, `--windows-out`.
    Series,
    /// Figures of methods, policies or strategies: `sim wait`, `sim meta`, `sim malleable`.
    Figures,
}

/// The columns before the number of a job that say which run it belongs to.
const RUN_OF_JOB: [&str; 8] = ["setting", "trace", "scheduler", "predictor", "strategy", "view", "method", "policy"];

/// The columns of a summary that say what was run.
const RUN: [&str; 7] = ["setting", "trace", "procs", "scheduler", "predictor", "baseline", "options"];

impl OutputKind {
    /// The kind of an output with these columns. None if it is not an output that can be compared.
    pub fn of(header: &[String]) -> Option<OutputKind> {
        let has = |name: &str| header.iter().any(|column| column == name);
        let first = header.first().map_or("", String::as_str);
        Some(match () {
            () if has("job") && has("time") && has("event") && has("cause") => OutputKind::Predictions,
            () if has("job") => OutputKind::Jobs,
            () if has("key") && has("value") && has("jobs") => OutputKind::Breakdown,
            () if has("time") && (has("waiting") || has("wait_recorded")) => OutputKind::Series,
            () if has("rows") && header.iter().any(|column| column.ends_with("_ci95")) => OutputKind::Means,
            () if has("scheduler") && has("predictor") => OutputKind::Runs,
            () if matches!(first, "method" | "policy" | "strategy") => OutputKind::Figures,
            () => return None,
        })
    }

    /// Whether the column at this index of the header says what a row is about.
    pub fn is_key(self, header: &[String], at: usize) -> bool {
        let name = header[at].as_str();
        match self {
            // The site on which a job ran is a result, the site to which it was submitted is not.
            OutputKind::Jobs => matches!(name, "job" | "origin") || RUN_OF_JOB.contains(&name),
            OutputKind::Predictions => matches!(name, "job" | "time" | "event" | "cause") || RUN_OF_JOB.contains(&name),
            OutputKind::Breakdown => matches!(name, "key" | "value") || RUN_OF_JOB.contains(&name),
            OutputKind::Series => name == "time" || RUN_OF_JOB.contains(&name),
            // The columns that the rows are grouped by come first.
            OutputKind::Means => {
                at < header.iter().position(|column| column == "rows").unwrap_or(0) || RUN.contains(&name)
            }
            OutputKind::Runs => {
                // A swept option, or a swept key of one: `load`, `predictor.window`.
                let option = name.split_once('.').map_or(name, |(option, _)| option);
                RUN.contains(&name) || OptionForm::find(option).is_some()
            }
            OutputKind::Figures => matches!(name, "method" | "policy" | "strategy" | "view"),
        }
    }
}

impl fmt::Display for OutputKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OutputKind::Runs => "runs",
            OutputKind::Means => "means over runs",
            OutputKind::Jobs => "jobs",
            OutputKind::Predictions => "predictions",
            OutputKind::Breakdown => "groups of jobs",
            OutputKind::Series => "points in time",
            OutputKind::Figures => "figures",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_tell_what_a_file_is_and_which_columns_are_labels() {
        for (header, kind, keys) in [
            (
                "trace,procs,scheduler,predictor,jobs,dropped,wait_mean,baseline,predictor.window,load,options",
                OutputKind::Runs,
                "trace,procs,scheduler,predictor,baseline,predictor.window,load,options",
            ),
            ("scheduler,seed,rows,wait_mean,wait_mean_ci95,options", OutputKind::Means, "scheduler,seed,options"),
            ("job,user,submit,start,procs,runtime", OutputKind::Jobs, "job"),
            ("setting,job,user,wait", OutputKind::Jobs, "setting,job"),
            ("policy,origin,site,job,wait", OutputKind::Jobs, "policy,origin,job"),
            ("job,time,prediction,event,cause", OutputKind::Predictions, "job,time,event,cause"),
            ("setting,job,time,prediction,event,cause", OutputKind::Predictions, "setting,job,time,event,cause"),
            ("setting,key,value,jobs,area_pct", OutputKind::Breakdown, "setting,key,value"),
            ("time,waiting,running", OutputKind::Series, "time"),
            ("method,predictions,ppe_pct", OutputKind::Figures, "method"),
        ] {
            let header: Vec<String> = header.split(',').map(str::to_string).collect();
            assert_eq!(OutputKind::of(&header), Some(kind));
            let found: Vec<_> =
                (0..header.len()).filter(|&at| kind.is_key(&header, at)).map(|at| &*header[at]).collect();
            assert_eq!(found.join(","), keys);
        }
        assert_eq!(OutputKind::of(&["demo".to_string(), "128".to_string()]), None);
    }
}
