//! Talby, Tsafrir, Goldberg and Feitelson, "Session-based, estimation-less, and information-less runtime prediction
//! algorithms for parallel and grid job scheduling" (2006): Tables 2, 4, 5 and 6, Figures 2 to 5, and the claims of the text.

mod figures;

use std::path::Path;
use std::sync::OnceLock;

use crate::experiment::{OptionForm, Options};
use crate::metrics::RunRow;
use crate::report::temporary_folder;
use crate::sweep::{GridCell, Keys, Shard, Store, run};
use crate::text::counted;
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
    runs: OnceLock<TalbyRuns>,
}

/// The finished runs of the study.
pub struct TalbyRuns {
    /// One row per cell, in the order of [`Talby::cells`].
    pub rows: Vec<RunRow>,
    /// The number of runs that were already in the folder of the study.
    pub reused: usize,
    /// The number of runs that were computed by this call.
    pub computed: usize,
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
                let runs = self.run(progress)?;
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
    pub fn cells(&self) -> Vec<GridCell> {
        let mut cells = Vec::new();
        for replication in 0..self.replications {
            for log in &self.setup.logs {
                cells.extend(self.cases.iter().map(|case| cell(log, case, replication)));
            }
        }
        cells
    }

    /// The finished runs. None before [`Study::figures`] has been called.
    pub fn runs(&self) -> Option<&TalbyRuns> {
        self.runs.get()
    }

    /// Runs all cells with the code of sweeps.
    fn run(&self, progress: &(dyn Fn(usize) + Sync)) -> Result<TalbyRuns, StudyError> {
        let cells = self.cells();
        // Without a folder for the runs, a temporary one is used and then removed.
        let kept = self.setup.folder.clone();
        let folder = kept.clone().map_or_else(|| temporary_folder(&std::env::temp_dir()), Ok)?;
        let rows = self.run_in(&folder, &cells, progress);
        if kept.is_none() {
            let _ = std::fs::remove_dir_all(&folder);
        }
        rows
    }

    fn run_in(
        &self,
        folder: &Path,
        cells: &Vec<GridCell>,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<TalbyRuns, StudyError> {
        let store = Store::open(folder)?;
        let keys = Keys::of(cells, &store, self.setup.threads);
        let report = run(cells, &keys, &store, Shard::WHOLE, self.setup.threads, &|done, all| {
            progress(cells.len() - all + done);
        })?;
        let store = Store::open(folder)?;
        let row = |(cell, key): (&GridCell, &Option<u128>)| {
            let mut row = key.map(|key| store.row(key)).transpose()?.flatten();
            row.iter_mut().for_each(|row| row.label.trace = cell.source().label());
            Ok(row)
        };
        let rows: Result<Vec<Option<RunRow>>, StudyError> = cells.iter().zip(&keys.keys).map(row).collect();
        if let Some(failure) = report.failures.first() {
            let (count, again) = (report.failures.len(), cells[failure.cell].command());
            let runs = counted(count as u64, "run");
            let message = format!("{runs} failed, the first: {}\n  again: {again}", failure.message);
            return Err(StudyError::Simulation(message));
        }
        let rows: Vec<RunRow> = rows?.into_iter().flatten().collect();
        if rows.len() < cells.len() {
            let lost = counted((cells.len() - rows.len()) as u64, "finished run");
            return Err(StudyError::Simulation(format!("missing from {}: {lost}", folder.display())));
        }
        Ok(TalbyRuns { rows, reused: report.reused, computed: report.computed })
    }

    /// The cleaned jobs of each log, the same as in the runs of the study.
    fn workloads(&self) -> Result<Vec<Workload>, StudyError> {
        let workload = |log: &FoundLog| {
            let GridCell { options, .. } = cell(log, EASY, 0);
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

fn cell(log: &FoundLog, case: &str, replication: usize) -> GridCell {
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
    set("replication", &replication.to_string());
    GridCell { trace: Some(log.file.to_string_lossy().into_owned()), options }
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
