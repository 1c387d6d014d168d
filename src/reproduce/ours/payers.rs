//! Gains that few pay for: `fair` beside what gives more to the mean and less to the widest jobs and the longest waits.

use super::{BASE, EASY, logs_of};
use crate::metrics::columns::{AREA_LOSE, USERS_LOSE, WAIT_MAX, WIDE_WAIT_MEAN};
use crate::metrics::{Column, Replicates, RunRow};
use crate::reproduce::figure::Figure;
use crate::reproduce::logs::{
    ArchiveLog, CTC, CURIE, HPC2N, KTH, LANL, RICC, SDSC_BLUE, SDSC_DS, SDSC_SP2, pair_cells,
};
use crate::reproduce::study::{Setup, StepDone, StudyError};
use crate::runs::{PlannedRun, compute_rows};

/// What is compared with EASY.
const CASES: [&str; 5] =
    [BASE, "sjbf:running=estimate/kin", "sjbf:running=estimate,protect=3d/kin", "fair/kin", "fair:accounts=users/kin"];

/// The figures of a prototype in another language, of EASY and of each case: the mean bounded slowdown, then the longest wait and the
/// wait of the widest jobs as multiples of EASY's, then the users who lose and their share of the area in percent. It was tuned on the
/// first three logs.
const PROTOTYPE: [(ArchiveLog, [&str; 1 + CASES.len()]); 9] = [
    (KTH, ["92", "64", "58 1.44 1.10 12 17", "59 1.26 1.07 13 17", "61 1.33 0.93 10 9", "64 1.14 0.90 9 4"]),
    (CTC, ["53", "28", "19 9.6 9.3 11 15", "16 1.18 1.89 11 14", "19 1.21 1.53 10 10", "26 1.21 1.15 13 5"]),
    (SDSC_SP2, ["94", "73", "67 1.75 1.81 15 35", "66 1.14 1.55 17 37", "67 1.04 1.12 13 12", "69 1.04 1.08 15 10"]),
    (SDSC_BLUE, ["35", "19", "14 3.3 1.80 6 7", "14 1.18 1.56 5 4", "15 1.26 1.18 5 3", "16 1.24 1.09 5 2"]),
    (HPC2N, ["89", "74", "69 1.15 1.08 10 7", "70 1.01 1.08 9 1", "76 1.05 1.05 5 1", "77 1.02 1.05 7 1"]),
    (CURIE, ["20", "15", "10 4.6 10 3 3", "8.8 1.64 3.75 3 3", "8.1 1.12 1.01 3 3", "8.6 1.12 1.01 3 2"]),
    (SDSC_DS, ["33", "19", "16 2.2 1.76 7 8", "16 1.57 1.78 8 9", "16 1.25 1.19 8 8", "17 1.21 1.32 7 8"]),
    (LANL, ["73", "43", "34 1.18 1.16 8 2", "34 1.19 1.17 8 2", "35 1.06 1.17 6 2", "40 1.03 1.09 7 0"]),
    (RICC, ["602", "138", "26 8.9 19 5 6", "527 1.27 1.68 22 34", "226 1.76 3.2 20 29", "231 1.27 1.96 14 15"]),
];

const ITS_RUNS: &str = "the prototype's rules of cleaning, of overruns and of replications are not recorded";

/// The processors of the machine that the CTC log is of, without those that batch jobs could not use.
const CTC_PROCS: &str = "338";

/// The number of simulations.
pub fn runs(setup: &Setup) -> usize {
    (setup.logs.len() + setup.others.len()) * CASES.len() * setup.replications as usize
}

/// The figures of all logs. `progress` is called with the number of finished simulations.
pub fn figures(setup: &Setup, progress: StepDone<'_>) -> Result<Vec<Figure>, StudyError> {
    let logs = logs_of(setup);
    let mut cells: Vec<PlannedRun> = Vec::new();
    for (_, log, file) in &logs {
        for case in CASES {
            let options = [("baseline", EASY), ("procs", CTC_PROCS)];
            let options = if *log == Some(CTC) { &options[..] } else { &options[..1] };
            cells.extend(pair_cells(file, case, options, setup.replications));
        }
    }
    let rows = compute_rows(&cells, setup.folder.as_deref(), setup.threads, progress)?.rows;
    let runs: Vec<Replicates<'_>> = rows.chunks(setup.replications as usize).map(Replicates::each).collect();
    let all: Vec<(&str, Option<ArchiveLog>, &[Replicates<'_>])> =
        logs.iter().zip(runs.chunks(CASES.len())).map(|((name, log, _), runs)| (&name[..], *log, runs)).collect();
    let mut figures = geometric_means(&all);
    for (name, log, runs) in &all {
        let prototype = PROTOTYPE.iter().find(|(of, _)| *log == Some(*of)).map(|(_, figures)| *figures);
        figures.extend(of_log(name, prototype.unwrap_or_default(), runs));
    }
    Ok(figures)
}

/// Over all logs but RICC, whose trouble is its own: one user's thousands of equal jobs.
fn geometric_means(all: &[(&str, Option<ArchiveLog>, &[Replicates<'_>])]) -> Vec<Figure> {
    let counted: Vec<_> = all.iter().filter(|(_, log, _)| *log != Some(RICC)).collect();
    let replications = counted.first().map_or(0, |(_, _, runs)| runs[0].count());
    let slowdown = |runs: &Replicates<'_>, number: usize| runs.rows()[number].summary.bsld_mean;
    let mean = |case: usize, number: usize| {
        let logarithm = |(_, _, runs): &&(&str, Option<ArchiveLog>, &[Replicates<'_>])| {
            libm::log(slowdown(&runs[case], number) / slowdown(&runs[0], number))
        };
        libm::exp(counted.iter().map(logarithm).sum::<f64>() / counted.len() as f64)
    };
    let figure = |(case, published): (usize, &str)| {
        let values: Vec<f64> = (0..replications).map(|number| mean(case, number)).collect();
        let at = ("geometric means", "bounded slowdown divided by that of sjbf/easy++, without RICC", CASES[case]);
        let published = if counted.len() == 12 { published } else { "" };
        Figure::mean_of(at, published, &values).because(ITS_RUNS)
    };
    (1..CASES.len()).zip(["0.83", "0.81", "0.87", "0.95"]).map(figure).collect()
}

/// A table of five figures for one log.
fn of_log(name: &str, prototype: [&str; 1 + CASES.len()], runs: &[Replicates<'_>]) -> Vec<Figure> {
    let table = format!("who pays on {name}{}", if name == CTC.name { " with 338 processors" } else { "" });
    let values = |runs: &Replicates<'_>, value: &dyn Fn(&RunRow) -> f64| {
        runs.rows().iter().map(|row| value(row)).collect::<Vec<f64>>()
    };
    let slowdown = "bounded slowdown";
    let of_easy = values(&runs[0], &|row| row.baseline.as_ref().map_or(f64::NAN, |base| base.summary.bsld_mean));
    let mut figures = vec![Figure::mean_of((&table, slowdown, EASY), prototype[0], &of_easy)];
    for ((setting, runs), published) in CASES.iter().zip(runs).zip(&prototype[1..]) {
        let mut published = published.split(' ').chain(std::iter::repeat(""));
        let mut next = || published.next().unwrap_or_default();
        let at = |row: &'static str| -> (&str, &str, &str) { (&table, row, setting) };
        let times = |column: &Column| {
            values(runs, &|row| {
                let of = |summary| column.figure_of(summary).unwrap_or(f64::NAN);
                of(&row.summary) / row.baseline.as_ref().map_or(f64::NAN, |base| of(&base.summary))
            })
        };
        figures.push(Figure::mean_of(at(slowdown), next(), &values(runs, &|row| row.summary.bsld_mean)));
        figures.push(Figure::mean_of(at("longest wait, x EASY"), next(), &times(&WAIT_MAX)));
        figures.push(Figure::mean_of(at("wait of the widest, x EASY"), next(), &times(&WIDE_WAIT_MEAN)));
        figures.push(Figure::new(at("users who lose, %"), next(), runs.mean(&USERS_LOSE).mean).percent());
        figures.push(Figure::new(at("  their share of the area, %"), next(), runs.mean(&AREA_LOSE).mean).percent());
    }
    figures.into_iter().map(|figure| figure.because(ITS_RUNS)).collect()
}
