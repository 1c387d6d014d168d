//! Talby, Tsafrir, Goldberg and Feitelson, "Session-based, estimation-less, and information-less runtime prediction
//! algorithms for parallel and grid job scheduling" (2006): Tables 2, 4, 5 and 6, Figures 2 to 5, and the claims of the text.

mod figures;

use std::sync::OnceLock;

use crate::experiment::{OptionForm, Options};
use crate::runs::{Computed, PlannedRun, compute_rows};
use crate::trace::{Workload, read};

use crate::reproduce::figure::Figure;
use crate::reproduce::logs::{ArchiveLog, CTC, FoundLog, KTH, SDSC_BLUE, SDSC_SP2};
use crate::reproduce::study::{Setup, Study, StudyError, StudyForm};

use figures::{Measured, unmatched};

/// The logs of the paper.
pub const TALBY_LOGS: [ArchiveLog; 4] = [SDSC_SP2, CTC, KTH, SDSC_BLUE];

pub(in crate::reproduce) const FORM: StudyForm = StudyForm {
    name: "talby",
    paper: "Talby, Tsafrir, Goldberg and Feitelson: session-based prediction",
    logs: &TALBY_LOGS,
    build: |setup| {
        let replications = if setup.quick { 1 } else { 10 };
        Ok(Box::new(Talby::new(setup, replications)))
    },
};

/// The number of processors of each machine in the paper. Table 1 prints 128 for CTC, but its utilization of 56% implies 512.
fn procs(log: &ArchiveLog) -> u32 {
    match *log {
        CTC => 512,
        KTH => 100,
        SDSC_BLUE => 1152,
        _ => 128,
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

/// The study on the logs that were found. Its runs are those of a sweep, so that they can be kept and reused.
pub struct Talby {
    setup: Setup,
    replications: usize,
    /// `scheduler/predictor`, followed by ` inflate=F` if predictions are inflated.
    cases: Vec<String>,
    runs: OnceLock<Computed>,
}

impl Study for Talby {
    fn name(&self) -> &'static str {
        FORM.name
    }

    fn logs(&self) -> &[FoundLog] {
        &self.setup.logs
    }

    fn steps(&self) -> (usize, &'static str) {
        (self.replications * self.setup.logs.len() * self.cases.len(), "runs")
    }

    fn figures(&self, progress: &(dyn Fn(usize) + Sync)) -> Result<Vec<Figure>, StudyError> {
        let runs = match self.runs.get() {
            Some(runs) => runs,
            None => {
                let folder = self.setup.folder.as_deref();
                let runs = compute_rows(&self.cells(), folder, self.setup.threads, progress)?;
                self.runs.get_or_init(|| runs)
            }
        };
        let workloads = self.workloads()?;
        let study = Measured { study: self, rows: &runs.rows };
        let mut figures = study.tables();
        figures.extend(study.claims());
        figures.push(unmatched(&workloads)?);
        figures.push(study.better_unbalanced());
        figures.extend(study.accuracy_histogram(&workloads));
        figures.extend(study.figures_by_log());
        Ok(figures)
    }
}

impl Talby {
    /// The study with this number of runs of each case (at least 1): the first on the log as it is, the others on shaken
    /// copies of it.
    pub fn new(setup: Setup, replications: usize) -> Talby {
        Talby { setup, replications: replications.max(1), cases: cases(), runs: OnceLock::new() }
    }

    /// All runs of the study: one cell per replication, log and case, in this order of loops.
    pub fn cells(&self) -> Vec<PlannedRun> {
        let mut cells = Vec::new();
        for replication in 0..self.replications as u32 {
            for log in &self.setup.logs {
                cells.extend(self.cases.iter().map(|case| cell(log, case, replication)));
            }
        }
        cells
    }

    /// The finished runs. None before [`Study::figures`] has been called.
    pub fn runs(&self) -> Option<&Computed> {
        self.runs.get()
    }

    /// The cleaned jobs of each log, the same as in the runs of the study.
    fn workloads(&self) -> Result<Vec<Workload>, StudyError> {
        let workload = |log: &FoundLog| {
            let PlannedRun { options, .. } = cell(log, EASY, 0);
            Ok(options.clean_out(&mut read(&log.source(), options.read_options(), &mut |_| ())?)?)
        };
        self.setup.logs.iter().map(workload).collect()
    }
}

fn cases() -> Vec<String> {
    let mut cases: Vec<String> = [EASY, "easy/perfect", "sjbf/perfect", "sjbf/estimate", RUH, RUH_PROPAGATION]
        .iter()
        .chain(&[RUH_BY_ARRIVAL, RUH_CAPPED, BALANCED, BALANCED_50H, UNBALANCED, CONSTANT])
        .map(|case| case.to_string())
        .collect();
    cases.extend(["easy/estimate inflate=2", "easy/perfect inflate=2"].map(str::to_string));
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

fn cell(log: &FoundLog, case: &str, replication: u32) -> PlannedRun {
    let mut options = Options::default();
    let mut set = |name: &str, value: &str| {
        let option = OptionForm::find(name).expect("an option of the main command");
        option.set(&mut options, value).unwrap_or_else(|why| panic!("--{name} {value}: {why}"));
    };
    let (pair, inflate) = case.split_once(" inflate=").unwrap_or((case, "1"));
    let (scheduler, predictor) = pair.split_once('/').expect("scheduler/predictor");
    set("scheduler", scheduler);
    set("predictor", predictor);
    set("inflate", inflate);
    set("procs", &procs(&log.log).to_string());
    PlannedRun { trace: Some(log.file.to_string_lossy().into_owned()), options: options.replicated(replication) }
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
            cell(&log, case, 3);
        }
        let command = cell(&log, "easy/perfect inflate=2", 3).command();
        assert_eq!(
            command,
            "sim --trace KTH.swf --scheduler easy --predictor perfect --procs 100 --shake 30s --seed 3 --inflate 2 --format csv"
        );
    }
}
