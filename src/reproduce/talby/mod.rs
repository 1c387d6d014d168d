//! Talby, Tsafrir, Goldberg and Feitelson, "Session-based, estimation-less, and information-less runtime prediction
//! algorithms for parallel and grid job scheduling" (2006): Tables 2, 4, 5 and 6, Figures 2 to 5, and the claims of the text.

mod figures;

use crate::reproduce::logs::{ArchiveLog, CTC, FoundLog, KTH, SDSC_BLUE, SDSC_SP2, grid_cell};
use crate::reproduce::study::{Computed, RESAMPLE, SHAKEN, Setup, StepDone, Study, StudyError, StudyOption};
use crate::runs::{PlannedRun, RunPlan, compute_rows};
use crate::trace::Workload;

use figures::{TalbyRuns, accuracy_histogram, unmatched};

/// Talby, Tsafrir, Goldberg and Feitelson: session-based prediction.
pub const TALBY: Study = Study {
    name: "talby",
    paper: "Talby, Tsafrir, Goldberg and Feitelson: session-based prediction",
    help: "Examples:
  sim reproduce talby --logs logs --quick
      a quick test: less than a minute per core
  sim reproduce talby --logs logs --keep study --format csv
      ten replications; can be stopped and resumed

Tables 2, 4, 5 and 6, Figures 2 to 5 and the claims of the text. Uses the logs SDSC-SP2-1998, CTC-SP2-1996, KTH-SP2-1996 and \
SDSC-BLUE-2000 of the Parallel Workloads Archive, any version. Missing logs are named, and the tables are computed from the others.",
    logs: &[SDSC_SP2, CTC, KTH, SDSC_BLUE],
    options: &[StudyOption::replications([10, 1], SHAKEN), RESAMPLE],
    has_runs: true,
    cost: None,
    unit: "runs",
    steps: |setup| cells(setup, &cases()).len(),
    compute,
};

/// The number of processors of each machine in the paper. Table 1 prints 128 for CTC, but its utilization of 56% implies 512.
fn procs(log: &ArchiveLog) -> &'static str {
    match *log {
        CTC => "512",
        KTH => "100",
        SDSC_BLUE => "1152",
        _ => "128",
    }
}

/// The lists of criteria that the paper names. Both searches give the same result for a list with one criterion, so such
/// lists are not here.
const LISTS: [&str; 4] = ["PE/P/E/*", "E/P/X", "PEX/PX/EX", "PEX/*"];
const ANY: &str = "*";
const SESSIONS: [&str; 4] = ["3", "10", "30", "all"];

const EASY: &str = "easy/estimate";
const RUH: &str = "sjbf/ruh";
const RUH_PROPAGATION: &str = "sjbf/ruh:propagate=on";
const RUH_BY_ARRIVAL: &str = "sjbf/ruh:order=arrival";
const RUH_CAPPED: &str = "sjbf/ruh:cap=on";
const BALANCED: &str = "sjbf/sbh-noest";
const BALANCED_50H: &str = "sjbf/sbh-noest:limit=50h";
const UNBALANCED: &str = "sjbf/sbh-noest:growth=unbalanced";
const CONSTANT: &str = "sjbf/constant";

/// The case of a session-based predictor with these keys.
fn sbh(criteria: &str, search: &str, sessions: &str, propagate: &str) -> String {
    format!("sjbf/sbh:criteria={criteria},search={search},sessions={sessions},propagate={propagate}")
}

fn compute(setup: &Setup, progress: StepDone<'_>) -> Result<Computed, StudyError> {
    let cases = cases();
    let plan = RunPlan::of(cells(setup, &cases));
    let runs = compute_rows(&plan, setup.folder.as_deref(), setup.threads, progress)?;
    let workloads: Vec<Workload> =
        setup.logs.iter().map(|log| log.workload(&[("procs", procs(&log.log))])).collect::<Result<_, _>>()?;
    let study = TalbyRuns { logs: &setup.logs, cases: &cases, rows: &runs.rows, are_years: setup.resample };
    let mut figures = study.tables();
    figures.extend(study.claims());
    figures.push(unmatched(&workloads)?);
    figures.push(study.better_unbalanced());
    figures.extend(accuracy_histogram(&setup.logs, &workloads));
    figures.extend(study.figures_by_log());
    Ok(Computed { figures, runs: Some((plan, runs)) })
}

/// All runs of the study: one cell per replication, log and case, in this order of loops.
fn cells(setup: &Setup, cases: &[String]) -> Vec<PlannedRun> {
    let mut cells = Vec::new();
    for replication in 0..setup.runs_of_each() as u32 {
        for log in &setup.logs {
            cells.extend(cases.iter().map(|case| cell(log, case, replication, setup.of_replications())));
        }
    }
    cells
}

/// Each case is `scheduler/predictor`, followed by ` inflate=F` if predictions are inflated.
fn cases() -> Vec<String> {
    let mut cases: Vec<String> = [EASY, "easy/perfect", "sjbf/perfect", "sjbf/estimate", RUH, RUH_PROPAGATION]
        .iter()
        .chain(&[RUH_BY_ARRIVAL, RUH_CAPPED, BALANCED, BALANCED_50H, UNBALANCED, CONSTANT])
        .chain(&["easy/estimate inflate=2", "easy/perfect inflate=2"])
        .map(|case| case.to_string())
        .collect();
    cases.extend(["60", "600", "3600"].map(|seconds| format!("sjbf/constant:seconds={seconds}")));
    cases.extend(["5m", "1h", "4h"].map(|think| format!("sjbf/sbh:think={think}")));
    cases.extend(["dfs", "bfs"].map(|search| sbh(ANY, search, "all", "on")));
    for list in LISTS {
        for search in ["dfs", "bfs"] {
            for sessions in SESSIONS {
                cases.extend(["on", "ends", "off"].map(|propagate| sbh(list, search, sessions, propagate)));
            }
        }
    }
    cases
}

fn cell(log: &FoundLog, case: &str, replication: u32, more: &[(&str, &str)]) -> PlannedRun {
    let (pair, inflate) = case.split_once(" inflate=").unwrap_or((case, "1"));
    let (scheduler, predictor) = pair.split_once('/').expect("scheduler/predictor");
    let options =
        [("scheduler", scheduler), ("predictor", predictor), ("inflate", inflate), ("procs", procs(&log.log))];
    grid_cell(&log.file, &[&options, more].concat(), replication)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cases_are_those_of_the_paper_and_can_be_run() {
        let cases = cases();
        let log = FoundLog { log: KTH, file: "KTH.swf".into() };
        for (at, case) in cases.iter().enumerate() {
            assert!(!cases[..at].contains(case), "{case} twice");
            cell(&log, case, 3, &[]);
        }
        let command = cell(&log, "easy/perfect inflate=2", 3, &[]).command();
        assert_eq!(
            command,
            "sim --trace KTH.swf --scheduler easy --predictor perfect --procs 100 --shake 30s --seed 3 --inflate 2 --format csv"
        );
    }
}
