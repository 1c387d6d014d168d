//! Gaussier, Glesser, Reis and Trystram, "Improving backfilling by using machine learning to predict running times" (SC'15):
//! mean bounded slowdowns and longest flow times, as the authors' own program has them.

use crate::engine::RunRecord;
use crate::experiment::{OptionForm, Options, Setting, simulate};
use crate::metrics::RunRow;
use crate::metrics::columns::BSLD_MEAN;
use crate::parallel;
use crate::runs::{PlannedRun, compute_rows};
use crate::trace::{Workload, read};

use super::figure::Figure;
use super::logs::{ArchiveLog, CTC, CURIE, FoundLog, KTH, SDSC_BLUE, SDSC_SP2};
use super::study::{Setup, Study, StudyError, StudyForm};

/// The logs of the paper that are used here.
pub const GAUSSIER_LOGS: [ArchiveLog; 5] = [KTH, CTC, SDSC_SP2, SDSC_BLUE, CURIE];

pub(super) const FORM: StudyForm = StudyForm {
    name: "gaussier",
    paper: "Gaussier, Glesser, Reis and Trystram: runtimes predicted by machine learning",
    logs: &GAUSSIER_LOGS,
    build: |setup| {
        let replications = if setup.quick { 1 } else { 6 };
        Ok(Box::new(Gaussier { setup, replications }))
    },
};

/// A setting of the paper: its name there, ours, and the mean bounded slowdowns in the order of the logs.
struct Case {
    name: &'static str,
    setting: &'static str,
    published: [&'static str; GAUSSIER_LOGS.len()],
}

const CASES: [Case; 4] = [
    Case { name: "EASY", setting: "easy/estimate", published: ["92.6", "49.6", "87.9", "36.5", "202.1"] },
    Case { name: "EASY++", setting: "sjbf/easy++", published: ["63.5", "85.8", "79.4", "21.0", ""] },
    Case { name: "E-Loss, increments, SJBF", setting: "sjbf/learned", published: ["51.4", "20.5", "75.0", "13.0", ""] },
    Case { name: "clairvoyant SJBF", setting: "sjbf/perfect", published: ["49.8", "17.6", "56.8", "13.2", "12.1"] },
];

/// The longest flow times in millions of seconds, of EASY and of E-Loss, in the order of the logs.
const FLOW_TIMES: [(usize, [&str; 4]); 2] = [(0, [".31", ".34", ".46", ".46"]), (2, [".95", "6.93", "12.1", "2.94"])];

/// Why some figures differ.
fn reason(case: &Case, log: &ArchiveLog) -> &'static str {
    match (case.setting, *log) {
        ("sjbf/learned", SDSC_BLUE) => {
            "no reading of the paper and of its program that was tried gives the published figure (20 to 48 in thirty readings \
             of another implementation)"
        }
        ("easy/estimate" | "sjbf/perfect", CURIE) => {
            "the header counts three kinds of nodes; with the 80,640 processors of the thin nodes EASY has 238, clairvoyant SJBF 17"
        }
        _ => "",
    }
}

/// The study on the logs that were found.
pub struct Gaussier {
    /// The logs, the threads, and the folder of kept runs.
    pub setup: Setup,
    /// The number of runs of each case: the first on the log as it is, the others on shaken copies of it.
    pub replications: usize,
}

impl Study for Gaussier {
    fn name(&self) -> &'static str {
        FORM.name
    }

    fn logs(&self) -> &[FoundLog] {
        &self.setup.logs
    }

    fn steps(&self) -> (usize, &'static str) {
        (self.setup.logs.len() * CASES.len() * self.replications, "runs")
    }

    fn figures(&self, progress: &(dyn Fn(usize) + Sync)) -> Result<Vec<Figure>, StudyError> {
        let logs = &self.setup.logs;
        let of_case = |log: &FoundLog, case: &Case| -> Vec<PlannedRun> {
            (0..self.replications as u32).map(|number| cell(log, case, number)).collect()
        };
        let cells: Vec<_> = logs.iter().flat_map(|log| CASES.iter().flat_map(move |case| of_case(log, case))).collect();
        let runs = compute_rows(&cells, self.setup.folder.as_deref(), self.setup.threads, progress)?;
        let mut rows = runs.rows.chunks(self.replications);
        let mut figures = Vec::new();
        for log in logs {
            for case in &CASES {
                figures.push(slowdown(log, case, rows.next().expect("every case has runs")));
            }
        }
        figures.extend(self.flow_times()?);
        Ok(figures)
    }
}

/// The mean bounded slowdown of a case on a log.
fn slowdown(log: &FoundLog, case: &Case, rows: &[RunRow]) -> Figure {
    let published = case.published[place(log)];
    let values: Vec<f64> = rows.iter().map(|row| row.summary.bsld_mean).collect();
    let at = (BSLD_MEAN.about, log.log.name, case.name);
    let note = if log.log == CTC { "338 processors, as in the paper" } else { "" };
    Figure::new(at, published, values[0], note).over(&values).because(reason(case, &log.log))
}

impl Gaussier {
    /// The longest time from submission to end, on the logs as they are.
    fn flow_times(&self) -> Result<Vec<Figure>, StudyError> {
        let pairs: Vec<_> = self
            .setup
            .logs
            .iter()
            .filter(|log| place(log) < 4)
            .flat_map(|log| FLOW_TIMES.iter().map(move |flow| (log, flow)))
            .collect();
        let figure = |(log, (case, published)): &(&FoundLog, &(usize, [&str; 4]))| {
            let case = &CASES[*case];
            let PlannedRun { options, .. } = cell(log, case, 0);
            let workload = options.clean_out(&mut read(&log.source(), options.read_options(), &mut |_| ())?)?;
            let record = simulate(&workload, &options.setting(), &mut |_| ())?;
            let at = ("longest flow time, in millions of seconds", log.log.name, case.name);
            Ok(Figure::new(at, published[place(log)], longest_flow(&workload, &record) / 1e6, "on the log as it is"))
        };
        parallel::map(&pairs, self.setup.threads, figure, |_| ()).into_iter().collect()
    }
}

fn longest_flow(workload: &Workload, record: &RunRecord) -> f64 {
    let flows = record.finished(&workload.jobs).map(|job| job.end() - job.job.submission.submit);
    flows.max().unwrap_or(0) as f64
}

/// The place of a log in the order of the published figures.
fn place(log: &FoundLog) -> usize {
    GAUSSIER_LOGS.iter().position(|other| *other == log.log).expect("a log of the study")
}

/// A run of the study. Runtimes end at the estimate, as in the authors' program.
fn cell(log: &FoundLog, case: &Case, replication: u32) -> PlannedRun {
    let setting = Setting::parse_pair(case.setting).expect("a valid case");
    let mut options = Options { scheduler: setting.scheduler, predictor: setting.predictor, ..Options::default() };
    let mut set = |name: &str, value: &str| {
        let option = OptionForm::find(name).expect("an option of the main command");
        option.set(&mut options, value).unwrap_or_else(|why| panic!("--{name} {value}: {why}"));
    };
    set("overrun", "kill");
    if log.log == CTC {
        set("procs", "338");
    }
    PlannedRun { trace: Some(log.file.to_string_lossy().into_owned()), options: options.replicated(replication) }
}
