//! Our own claims: reservations by estimates, and `kin`, on every log of a folder; who pays for gains, with `fair`; answers about
//! waits on five of them.
//!
//! Nothing was tuned to the logs of the claim. The predictor and its coefficients come from the specification, where they
//! were found on KTH, CTC and SDSC-SP2.

mod payers;
mod waits;

use std::path::PathBuf;

use crate::metrics::{RunRow, Summary};
use crate::reproduce::figure::Figure;
use crate::reproduce::logs::{
    ATLAS, ArchiveLog, CTC, CURIE, HPC2N, KTH, LANL, NASA, RICC, SDSC_BLUE, SDSC_DS, SDSC_PAR_96, SDSC_SP2, THUNDER,
    pair_cells,
};
use crate::reproduce::study::{Computed, Setup, StepDone, Study, StudyError};
use crate::runs::compute_rows;
use crate::time::DAY;
use crate::trace::Source;

/// The logs of the claim. Nothing was tuned to them.
const OF_THE_CLAIM: [ArchiveLog; 7] = [SDSC_BLUE, HPC2N, CURIE, THUNDER, RICC, SDSC_DS, LANL];

/// Our own claims, on all logs of a folder.
pub const OURS: Study = Study {
    name: "ours",
    paper: "Our own claims: reservations by estimates, the predictor kin, who pays under fair, and answers about waits",
    logs: &[KTH, CTC, SDSC_SP2, SDSC_BLUE, HPC2N, CURIE, THUNDER, RICC, SDSC_DS, LANL, ATLAS, NASA, SDSC_PAR_96],
    replications: [6, 1],
    days: [0, 0],
    unit: "runs",
    steps: |setup| runs(setup) + payers::runs(setup) + waits::steps(setup),
    compute,
};

/// What sites use, and what the claims are compared with.
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

/// The runs of one log.
struct RunsOfLog<'a> {
    name: String,
    /// None for a log that is not of the archive.
    log: Option<ArchiveLog>,
    /// For EASY and then for each case, one row per replication.
    cases: &'a [&'a [RunRow]],
}

/// The number of simulations of whole logs.
fn runs(setup: &Setup) -> usize {
    (setup.logs.len() + setup.others.len()) * (1 + CASES.len()) * setup.replications as usize
}

/// All logs of the folder with their names: those of the archive, then others.
fn logs_of(setup: &Setup) -> Vec<(String, Option<ArchiveLog>, &PathBuf)> {
    let known = setup.logs.iter().map(|found| (found.log.name.to_string(), Some(found.log), &found.file));
    let others = setup.others.iter().map(|file| (Source::from_argument(&file.to_string_lossy()).label(), None, file));
    known.chain(others).collect()
}

fn compute(setup: &Setup, progress: StepDone<'_>) -> Result<Computed, StudyError> {
    let logs = logs_of(setup);
    let mut cells = Vec::new();
    for (_, _, file) in &logs {
        for setting in std::iter::once(EASY).chain(CASES.map(|(setting, _)| setting)) {
            cells.extend(pair_cells(file, setting, &[("baseline", BASE)], setup.replications));
        }
    }
    let rows = compute_rows(&cells, setup.folder.as_deref(), setup.threads, progress)?.rows;
    let of_cases: Vec<&[RunRow]> = rows.chunks(setup.replications as usize).collect();
    let of_logs = logs.into_iter().zip(of_cases.chunks(1 + CASES.len()));
    let all: Vec<RunsOfLog<'_>> = of_logs.map(|((name, log, _), cases)| RunsOfLog { name, log, cases }).collect();
    let mut figures = claims(&all, setup.replications as usize);
    figures.extend(all.iter().flat_map(slowdowns));
    figures.extend(all.iter().flat_map(longest_waits));
    figures.extend(all.iter().flat_map(losers));
    figures.extend(all.iter().flat_map(learning));
    let before = runs(setup);
    figures.extend(payers::figures(setup, &|done| progress(before + done))?);
    let before = before + payers::runs(setup);
    figures.extend(waits::figures(setup, &|done| progress(before + done))?);
    Ok(figures.into())
}

/// The geometric means over the logs of the claim, of each replication.
fn claims(all: &[RunsOfLog<'_>], replications: usize) -> Vec<Figure> {
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
        let values: Vec<f64> = (0..replications).map(mean).collect();
        let claimed = if missing == 0 { claimed } else { "" };
        Figure::mean_of(("geometric means", SLOWDOWN, setting), claimed, &values).noted(&note)
    };
    CASES.iter().enumerate().map(figure).collect()
}

const SLOWDOWN: &str = "bounded slowdown divided by that of sjbf/easy++";

impl RunsOfLog<'_> {
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

fn slowdowns(of: &RunsOfLog<'_>) -> Vec<Figure> {
    let figure = |(case, (setting, _)): (usize, &(&str, &str))| {
        let values: Vec<f64> = (0..of.cases[0].len()).map(|number| of.slowdown_ratio(case + 1, number)).collect();
        Figure::mean_of((SLOWDOWN, &of.name, setting), "", &values)
    };
    CASES.iter().enumerate().map(figure).collect()
}

fn longest_waits(of: &RunsOfLog<'_>) -> Vec<Figure> {
    let days = of.values(0, |row| row.summary.wait_max / DAY as f64);
    let mut figures = vec![Figure::mean_of(("longest wait, in days", &of.name, EASY), "", &days)];
    let table = "longest wait divided by that of easy/estimate";
    // The replications are paired.
    let ratios = |case: usize, value: &dyn Fn(&RunRow) -> f64| -> Vec<f64> {
        of.cases[case].iter().zip(of.cases[0]).map(|(row, easy)| value(row) / easy.summary.wait_max).collect()
    };
    figures.push(Figure::mean_of((table, &of.name, BASE), "", &ratios(0, &|row| base(row).wait_max)));
    for (case, (setting, _)) in CASES.iter().enumerate() {
        figures.push(Figure::mean_of((table, &of.name, setting), "", &ratios(case + 1, &|row| row.summary.wait_max)));
    }
    figures
}

fn losers(of: &RunsOfLog<'_>) -> Vec<Figure> {
    let lose = |row: &RunRow| row.baseline.as_ref().expect("all runs have a baseline").losers;
    let mut figures = Vec::new();
    for (case, (setting, _)) in CASES.iter().enumerate() {
        let mut add = |table, values: Vec<f64>| {
            figures.push(Figure::mean_of((table, &of.name, setting), "", &values).percent());
        };
        add("users who lose against sjbf/easy++, in percent", of.values(case + 1, |row| lose(row).users_pct));
        add("share of these users in the area, in percent", of.values(case + 1, |row| lose(row).area_pct));
    }
    figures
}

/// `kin` with and without learning, beside a second implementation.
fn learning(of: &RunsOfLog<'_>) -> Vec<Figure> {
    let second = SECOND.iter().find(|(log, _)| of.log == Some(*log)).map_or(["", ""], |(_, published)| *published);
    let figure = |(case, published): (usize, &str)| {
        let values = of.values(case + 1, |row| row.summary.bsld_mean);
        let figure = Figure::mean_of(("bounded slowdown of kin", &of.name, CASES[case].0), published, &values);
        let figure =
            if published.is_empty() { figure } else { figure.noted("published: another implementation of kin") };
        figure.because("that implementation's replications and rules of cleaning are not recorded")
    };
    [1, 2].into_iter().zip(second).map(figure).collect()
}
