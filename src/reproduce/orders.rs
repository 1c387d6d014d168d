//! Orders of the queue: Table V of Zhang, Dai, He, Bao and Xie, "RLScheduler: an automated HPC batch job scheduler using
//! reinforcement learning" (SC'20), as the README of its program has it.

use super::figure::Figure;
use super::logs::{ArchiveLog, FoundLog, HPC2N, SDSC_SP2};
use super::study::{Computed, Setup, StepDone, Study, StudyError};
use crate::experiment::{Setting, simulate};
use crate::metrics::{Measure, summarize};
use crate::parallel;
use crate::trace::Workload;

/// The logs of the table that are real.
const LOGS: [ArchiveLog; 2] = [SDSC_SP2, HPC2N];

/// Zhang, Dai, He, Bao and Xie: orders of the queue.
pub const ORDERS: Study = Study {
    name: "orders",
    paper: "Zhang, Dai, He, Bao and Xie: orders of the queue, with and without backfilling",
    logs: &LOGS,
    replications: [1, 1],
    days: [0, 0],
    unit: "orders",
    steps: |setup| setup.logs.len() * NAMES.len() * 2,
    compute,
};

/// The jobs of a window.
const WINDOW: usize = 1024;

/// The orders: the name in the table, and ours.
const NAMES: [(&str, &str); 5] =
    [("FCFS", "fcfs"), ("WFP3", "wfp3"), ("UNICEF", "unicef"), ("SJF", "spf"), ("F1", "f1")];

/// The mean bounded slowdowns of each log, first without and then with backfilling.
const PUBLISHED: [[[&str; NAMES.len()]; 2]; LOGS.len()] = [
    [["1727.54", "3000.88", "1848.45", "2680.55", "1232.06"], ["1595.12", "1083.12", "548.01", "2167.84", "1098.22"]],
    [["297.18", "426.99", "609.77", "157.71", "118.01"], ["127.38", "97.39", "175.12", "122.04", "71.95"]],
];

const REASON: &str =
    "the windows of the paper are not recorded, and slowdowns of windows differ by orders of magnitude";

fn compute(setup: &Setup, progress: StepDone<'_>) -> Result<Computed, StudyError> {
    let mut logs = Vec::new();
    for found in &setup.logs {
        let workload = found.workload(&[])?;
        let windows: Vec<Workload> = windows(&workload, setup.windows).collect();
        if windows.len() < setup.windows {
            let why = format!("{} has fewer than {} jobs", found.log.name, setup.windows * WINDOW);
            return Err(StudyError::Usage(why));
        }
        logs.push((found, windows));
    }
    let mut cases = Vec::new();
    for log in &logs {
        for (backfilling, scheduler) in ["fcfs", "easy"].into_iter().enumerate() {
            cases.extend((0..NAMES.len()).map(|order| (log, backfilling, scheduler, order)));
        }
    }
    type OrderCase<'a> = (&'a (&'a FoundLog, Vec<Workload>), usize, &'static str, usize);
    let figure = |((found, windows), backfilling, scheduler, order): &OrderCase<'_>| {
        let (name, ours) = NAMES[*order];
        let setting = Setting::parse(&format!("{scheduler}:queue={ours}"), "estimate").expect("a valid setting");
        let slowdown = |window: &Workload| -> Result<f64, StudyError> {
            Ok(summarize(window, &simulate(window, &setting, &mut |_| ())?, &Measure::default()).bsld_mean)
        };
        let values = windows.iter().map(slowdown).collect::<Result<Vec<f64>, _>>()?;
        let log = LOGS.iter().position(|log| *log == found.log).expect("a log of the study");
        let table = ["bounded slowdown without backfilling", "bounded slowdown with backfilling"][*backfilling];
        let note = format!("mean of {} consecutive windows of {WINDOW} jobs, from the first job on", values.len());
        let figure = Figure::mean_of((table, found.log.name, name), PUBLISHED[log][*backfilling][*order], &values);
        Ok(figure.noted(&note).because(REASON))
    };
    let figures = parallel::map(&cases, setup.threads, figure, progress).into_iter();
    Ok(figures.collect::<Result<Vec<Figure>, StudyError>>()?.into())
}

/// The first windows of a log. Each begins with an empty machine.
fn windows(workload: &Workload, most: usize) -> impl Iterator<Item = Workload> + '_ {
    workload.jobs.chunks_exact(WINDOW).take(most).map(|jobs| workload.with_jobs(jobs.to_vec()))
}
