//! Our own claims: reservations by estimates, and `kin`, on every log of a folder; answers about waits on five of them.
//!
//! Nothing was tuned to the logs of the claim. The predictor and its coefficients come from the specification, where they
//! were found on KTH, CTC and SDSC-SP2.

mod waits;

use std::path::{Path, PathBuf};

use crate::experiment::{Options, Setting};
use crate::metrics::{RunRow, Summary};
use crate::runs::{PlannedRun, compute_rows};
use crate::stats::mean_and_half_width;
use crate::time::DAY;
use crate::trace::Source;

use crate::reproduce::figure::{At, Figure};
use crate::reproduce::logs::{
    ATLAS, ArchiveLog, CTC, CURIE, FoundLog, HPC2N, KTH, LANL, NASA, RICC, SDSC_BLUE, SDSC_DS, SDSC_PAR_96, SDSC_SP2,
    THUNDER,
};
use crate::reproduce::study::{Setup, Study, StudyError, StudyForm};

/// The logs of the archive that the study knows by name.
pub const OURS_LOGS: [ArchiveLog; 13] =
    [KTH, CTC, SDSC_SP2, SDSC_BLUE, HPC2N, CURIE, THUNDER, RICC, SDSC_DS, LANL, ATLAS, NASA, SDSC_PAR_96];

/// The logs of the claim: nobody tuned to them.
const OF_THE_CLAIM: [ArchiveLog; 7] = [SDSC_BLUE, HPC2N, CURIE, THUNDER, RICC, SDSC_DS, LANL];

pub(in crate::reproduce) const FORM: StudyForm = StudyForm {
    name: "ours",
    paper: "Our own claims: reservations by estimates, the predictor kin, and answers about waits",
    logs: &OURS_LOGS,
    build: |setup| {
        let replications = if setup.quick { 1 } else { 6 };
        Ok(Box::new(Ours { setup, others: Vec::new(), replications }))
    },
};

const EASY: &str = "easy/estimate";
const BASE: &str = "sjbf/easy++";

/// The settings of the claims, each with the claimed bound of its geometric mean.
const CASES: [(&str, &str); 3] = [
    ("sjbf:running=estimate/easy++", "<0.92"),
    ("sjbf:running=estimate/kin", "<0.82"),
    ("sjbf:running=estimate/kin:learn=off", ""),
];

/// Mean bounded slowdowns of `kin` with and without learning in a second implementation.
const SECOND: [(ArchiveLog, [&str; 2]); 3] =
    [(KTH, ["58.4", "53.6"]), (CTC, ["18.3", "21.0"]), (SDSC_SP2, ["64.6", "61.6"])];

/// The study on all logs of a folder.
pub struct Ours {
    /// The logs of the archive, the threads, and the folder of kept runs.
    pub setup: Setup,
    /// Other logs in the folder.
    pub others: Vec<PathBuf>,
    /// The number of runs of each case: the first on the log as it is, the others on shaken copies of it.
    pub replications: usize,
}

/// The runs of one log.
struct OfLog<'a> {
    name: String,
    /// None for a log that is not of the archive.
    log: Option<ArchiveLog>,
    /// For EASY and then for each case, one row per replication.
    cases: Vec<&'a [RunRow]>,
}

impl Study for Ours {
    fn name(&self) -> &'static str {
        FORM.name
    }

    fn logs(&self) -> &[FoundLog] {
        &self.setup.logs
    }

    fn steps(&self) -> (usize, &'static str) {
        (self.runs() + waits::steps(&self.setup), "runs")
    }

    fn figures(&self, progress: &(dyn Fn(usize) + Sync)) -> Result<Vec<Figure>, StudyError> {
        let known = self.setup.logs.iter().map(|found| (found.log.name.to_string(), Some(found.log), &found.file));
        let label = |file: &PathBuf| Source::from_argument(&file.to_string_lossy()).label();
        let logs: Vec<_> = known.chain(self.others.iter().map(|file| (label(file), None, file))).collect();
        let mut cells = Vec::new();
        for (_, _, file) in &logs {
            for setting in std::iter::once(EASY).chain(CASES.map(|(setting, _)| setting)) {
                cells.extend((0..self.replications as u32).map(|number| cell(file, setting, number)));
            }
        }
        let runs = compute_rows(&cells, self.setup.folder.as_deref(), self.setup.threads, progress)?;
        let of_cases = runs.rows.chunks(self.replications).collect::<Vec<_>>();
        let all: Vec<OfLog<'_>> = logs
            .into_iter()
            .zip(of_cases.chunks(1 + CASES.len()))
            .map(|((name, log, _), cases)| OfLog { name, log, cases: cases.to_vec() })
            .collect();
        let mut figures = self.claims(&all);
        figures.extend(all.iter().flat_map(slowdowns));
        figures.extend(all.iter().flat_map(longest_waits));
        figures.extend(all.iter().flat_map(losers));
        figures.extend(all.iter().flat_map(learning));
        figures.extend(waits::figures(&self.setup, &|done| progress(self.runs() + done))?);
        Ok(figures)
    }
}

impl Ours {
    /// The number of simulations of whole logs.
    fn runs(&self) -> usize {
        (self.setup.logs.len() + self.others.len()) * (1 + CASES.len()) * self.replications
    }

    /// The geometric means over the logs of the claim, of each replication.
    fn claims(&self, all: &[OfLog<'_>]) -> Vec<Figure> {
        let of_claim: Vec<_> = all.iter().filter(|of| of.log.is_some_and(|log| OF_THE_CLAIM.contains(&log))).collect();
        let missing = OF_THE_CLAIM.len() - of_claim.len();
        let note = match missing {
            0 => "over SDSC-BLUE, HPC2N, Curie, Thunder, RICC, SDSC-DS and LANL".to_string(),
            _ => format!("over {} of the 7 logs of the claim", of_claim.len()),
        };
        let figure = |(case, (setting, claimed)): (usize, &(&str, &str))| {
            let mean = |number: usize| {
                let logarithms = of_claim.iter().map(|of| libm::log(of.slowdown_ratio(case + 1, number)));
                libm::exp(logarithms.sum::<f64>() / of_claim.len() as f64)
            };
            let values: Vec<f64> = (0..self.replications).map(mean).collect();
            over(("geometric means", SLOWDOWN, setting), if missing == 0 { claimed } else { "" }, &values).noted(&note)
        };
        CASES.iter().enumerate().map(figure).collect()
    }
}

const SLOWDOWN: &str = "bounded slowdown divided by that of sjbf/easy++";

impl OfLog<'_> {
    /// The bounded slowdown of a case divided by that of the base, in one replication.
    fn slowdown_ratio(&self, case: usize, number: usize) -> f64 {
        let row = &self.cases[case][number];
        row.summary.bsld_mean / base(row).bsld_mean
    }

    /// A value of each replication of a case.
    fn values(&self, case: usize, value: impl Fn(&RunRow) -> f64) -> Vec<f64> {
        self.cases[case].iter().map(value).collect()
    }
}

/// The figures of the base in a run.
fn base(row: &RunRow) -> &Summary {
    &row.baseline.as_ref().expect("all runs have a baseline").summary
}

/// A mean over replications.
fn over(at: At<'_>, published: &str, values: &[f64]) -> Figure {
    let (mean, _) = mean_and_half_width(values);
    Figure::new(at, published, mean, "").over(values)
}

fn slowdowns(of: &OfLog<'_>) -> Vec<Figure> {
    let figure = |(case, (setting, _)): (usize, &(&str, &str))| {
        let values: Vec<f64> = (0..of.cases[0].len()).map(|number| of.slowdown_ratio(case + 1, number)).collect();
        over((SLOWDOWN, &of.name, setting), "", &values)
    };
    CASES.iter().enumerate().map(figure).collect()
}

fn longest_waits(of: &OfLog<'_>) -> Vec<Figure> {
    let days = of.values(0, |row| row.summary.wait_max / DAY as f64);
    let mut figures = vec![over(("longest wait, in days", &of.name, EASY), "", &days)];
    let table = "longest wait divided by that of easy/estimate";
    // The replications are paired.
    let ratios = |case: usize, value: &dyn Fn(&RunRow) -> f64| -> Vec<f64> {
        of.cases[case].iter().zip(of.cases[0]).map(|(row, easy)| value(row) / easy.summary.wait_max).collect()
    };
    figures.push(over((table, &of.name, BASE), "", &ratios(0, &|row| base(row).wait_max)));
    for (case, (setting, _)) in CASES.iter().enumerate() {
        figures.push(over((table, &of.name, setting), "", &ratios(case + 1, &|row| row.summary.wait_max)));
    }
    figures
}

fn losers(of: &OfLog<'_>) -> Vec<Figure> {
    let lose = |row: &RunRow| row.baseline.as_ref().expect("all runs have a baseline").losers;
    let mut figures = Vec::new();
    for (case, (setting, _)) in CASES.iter().enumerate() {
        let users = of.values(case + 1, |row| lose(row).users_pct);
        let area = of.values(case + 1, |row| lose(row).area_pct);
        figures.push(over(("users who lose against sjbf/easy++, in percent", &of.name, setting), "", &users).percent());
        figures.push(over(("share of these users in the area, in percent", &of.name, setting), "", &area).percent());
    }
    figures
}

/// `kin` with and without learning, beside a second implementation.
fn learning(of: &OfLog<'_>) -> Vec<Figure> {
    let second = SECOND.iter().find(|(log, _)| of.log == Some(*log)).map_or(["", ""], |(_, published)| *published);
    let figure = |(case, published): (usize, &str)| {
        let values = of.values(case + 1, |row| row.summary.bsld_mean);
        let figure = over(("bounded slowdown of kin", &of.name, CASES[case].0), published, &values);
        let figure =
            if published.is_empty() { figure } else { figure.noted("published: another implementation of kin") };
        figure.because("that implementation's replications and rules of cleaning are not recorded")
    };
    [1, 2].into_iter().zip(second).map(figure).collect()
}

/// A run of the study, compared with the base.
fn cell(file: &Path, setting: &str, replication: u32) -> PlannedRun {
    let parse = |pair| Setting::parse_pair(pair).expect("a valid setting");
    let Setting { scheduler, predictor, .. } = parse(setting);
    let options = Options { scheduler, predictor, baseline: Some(parse(BASE)), ..Options::default() };
    PlannedRun { trace: Some(file.to_string_lossy().into_owned()), options: options.replicated(replication) }
}
