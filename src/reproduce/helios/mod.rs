//! Hu, Sun, Yan, Wen and Zhang, "Characterization and prediction of deep learning workloads in large-scale GPU datacenters"
//! (SC'21): the scheduler QSSF of Helios on GPU clusters, by the model of the authors' simulator.
//!
//! [`cluster`] has the logs with their virtual clusters, [`qssf`] the scheduler as the authors' program runs it. The question
//! that the paper does not ask: how much of the gain comes from predictions, and how much from passing a job that does not fit?

mod cluster;
mod qssf;

use super::figure::Figure;
use super::logs::{ArchiveLog, FoundLog, log};
use super::study::{Computed, Setup, StepDone, Study, StudyError};
use crate::engine::{Finished, RunRecord};
use crate::experiment::Setting;
use crate::parallel;
use crate::stats::percentile;
use crate::time::Seconds;
use crate::trace::Workload;

use cluster::{GpuLog, MODEL_COLUMN, NO_PREDICTION, Published, first_look};

/// The folders and files of the study. The first is a part of Venus: two virtual clusters in September 2020.
const LOGS: [ArchiveLog; 6] = [
    log("Venus, 2 clusters", "helios_venus_2vc", ""),
    log("Venus", "Venus/cluster_log", ""),
    log("Earth", "Earth/cluster_log", ""),
    log("Saturn", "Saturn/cluster_log", ""),
    log("Uranus", "Uranus/cluster_log", ""),
    log("Philly", "Philly/cluster_log", ""),
];

/// Hu, Sun, Yan, Wen and Zhang: predicted durations on GPU clusters.
pub const HELIOS: Study = Study {
    name: "helios",
    paper: "Hu, Sun, Yan, Wen and Zhang: predicted durations on GPU clusters",
    logs: &LOGS,
    replications: [6, 1],
    days: [0, 0],
    unit: "runs",
    steps: |setup| setup.logs.len() * (MODEL.len() + PREDICTORS.len() * SCHEDULERS.len()) * setup.replications as usize,
    compute,
};

/// The schedulers of the authors' simulator: the name there, and ours. QSSF has its own order while nothing waits.
const MODEL: [(&str, &str); 3] = [
    ("FIFO", "fcfs:placement=consolidate/estimate"),
    ("SJF", "fcfs:queue=spf,placement=consolidate/perfect"),
    ("QSSF", ""),
];

/// The schedulers of the table that the paper does not have. Each takes the queue in the order of Q.
const SCHEDULERS: [(&str, &str); 3] = [("blocking", "fcfs"), ("EASY", "easy"), ("SJBF", "sjbf")];

/// Its predictors: in words, the order of the queue, and ours. A log of a GPU cluster has no estimates, so the first knows nothing.
const PREDICTORS: [(&str, &str, &str); 6] = [
    (NO_PREDICTION, "fcfs", "estimate"),
    ("fewest GPUs first, no prediction", "saf", "estimate"),
    ("area by kin", "saf", "kin"),
    ("area by easy++", "saf", "easy++"),
    ("area by user history (ruh)", "saf", "ruh"),
    ("area by the true runtime", "saf", "perfect"),
];

/// One run of the study.
enum Case {
    /// A scheduler of the authors' program.
    Model(usize),
    /// A predictor and a scheduler of the table.
    Crossed(usize, usize),
    /// The same with the authors' predictions.
    Given(usize, usize),
}

/// What is measured of a run: of all jobs first, then of each virtual cluster.
struct Measured {
    waits: Vec<f64>,
    completions: Vec<f64>,
    long_waits: Vec<f64>,
}

fn compute(setup: &Setup, progress: StepDone<'_>) -> Result<Computed, StudyError> {
    let mut figures = Vec::new();
    let (mut done, steps) = (0, (HELIOS.steps)(setup) / setup.logs.len().max(1));
    for found in &setup.logs {
        let log = GpuLog::read(found)?;
        figures.extend(figures_of(&log, setup, &|finished| progress(done + finished))?);
        done += steps;
    }
    Ok(figures.into())
}

fn figures_of(log: &GpuLog, setup: &Setup, progress: StepDone<'_>) -> Result<Vec<Figure>, StudyError> {
    let mut cases: Vec<Case> =
        (0..MODEL.len()).filter(|at| !MODEL[*at].1.is_empty() || !log.given.is_empty()).map(Case::Model).collect();
    let schedulers = 0..SCHEDULERS.len();
    cases.extend(
        (0..PREDICTORS.len())
            .flat_map(|predictor| schedulers.clone().map(move |scheduler| Case::Crossed(predictor, scheduler))),
    );
    cases.extend(
        (0..log.given.len()).flat_map(|given| schedulers.clone().map(move |scheduler| Case::Given(given, scheduler))),
    );
    let workloads: Vec<Workload> =
        (0..setup.replications as u32).map(|number| log.shaken(number)).collect::<Result<_, _>>()?;
    let runs: Vec<(&Case, &Workload)> =
        cases.iter().flat_map(|case| workloads.iter().map(move |workload| (case, workload))).collect();
    let run = |(case, workload): &(&Case, &Workload)| measure(case, log, workload);
    let measured =
        parallel::map(&runs, setup.threads, run, progress).into_iter().collect::<Result<Vec<_>, StudyError>>()?;
    let mut figures = Vec::new();
    for (case, runs) in cases.iter().zip(measured.chunks(setup.replications as usize)) {
        figures.extend(figures_of_case(case, log, runs));
    }
    // The first two cases are FIFO and SJF.
    let completions = |case: usize| measured[case * setup.replications as usize..].iter().map(|run| run.completions[0]);
    let ratios: Vec<f64> =
        completions(0).zip(completions(1)).take(setup.replications as usize).map(|(fifo, sjf)| fifo / sjf).collect();
    let place = ("completion under FIFO, divided by that under SJF", log.name, MODEL_COLUMN);
    figures.push(Figure::first_of(place, log.published_ratio(), &ratios));
    figures.extend(log.not_measured());
    figures.extend(log.correlations());
    // All figures of a table together, in the order in which the tables first come.
    let tables: Vec<String> = figures.iter().map(|figure| figure.table.clone()).collect();
    figures.sort_by_key(|figure| tables.iter().position(|table| *table == figure.table));
    Ok(figures)
}

/// Simulates a setting. None: QSSF as the authors' program runs it, with the first of their predictions.
fn simulated(setting: Option<Setting>, log: &GpuLog, workload: &Workload) -> Result<RunRecord, StudyError> {
    match setting {
        Some(setting) => Ok(setting.run(workload, (), &mut |_| ())?),
        None => qssf::run(workload, &log.given[0].table),
    }
}

/// How long each job waits under the schedulers of the authors' simulator: its number, and its waits under FIFO, SJF and QSSF.
///
/// # Errors
/// If the log or a table beside it cannot be read, or there are no predictions.
pub fn helios_waits(found: &FoundLog) -> Result<Vec<(i64, [Seconds; 3])>, StudyError> {
    let log = GpuLog::read(found)?;
    if log.given.is_empty() {
        return Err(StudyError::Usage(format!("there are no predictions beside {}", found.file.display())));
    }
    let workload = log.shaken(0)?;
    let mut waits: Vec<(i64, [Seconds; 3])> = workload.jobs.iter().map(|job| (job.number, [0; 3])).collect();
    for (at, (_, pair)) in MODEL.iter().enumerate() {
        let setting = (!pair.is_empty()).then(|| Setting::parse_pair(pair).expect("a valid setting"));
        let record = simulated(setting, &log, &workload)?;
        waits.iter_mut().zip(record.finished(&workload.jobs)).for_each(|((_, waits), job)| waits[at] = job.wait());
    }
    Ok(waits)
}

/// Simulates a case, and measures it.
fn measure(case: &Case, log: &GpuLog, workload: &Workload) -> Result<Measured, StudyError> {
    let crossed = |scheduler: usize, order: &str, predictor: &str| {
        let scheduler = format!("{}:queue={order},placement=consolidate", SCHEDULERS[scheduler].1);
        Setting::parse(&scheduler, predictor).map_err(|error| StudyError::Usage(error.to_string()))
    };
    let setting = match case {
        Case::Model(at) if MODEL[*at].1.is_empty() => None,
        Case::Model(at) => Some(Setting::parse_pair(MODEL[*at].1).expect("a valid setting")),
        Case::Crossed(predictor, scheduler) => {
            let (_, order, predictor) = PREDICTORS[*predictor];
            Some(crossed(*scheduler, order, predictor)?)
        }
        Case::Given(given, scheduler) => Some(crossed(*scheduler, "saf", &log.given[*given].spec())?),
    };
    let record = simulated(setting, log, workload)?;
    let finished: Vec<Finished<'_>> = record.finished(&workload.jobs).collect();
    let parts = std::iter::once(None).chain(log.clusters_apart().map(Some));
    let (mut waits, mut completions, mut long_waits) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let jobs =
            || finished.iter().filter(|job| part.is_none_or(|(number, _)| job.job.submission.partition == number));
        let mut all: Vec<f64> = jobs().map(|job| job.wait() as f64).collect();
        let completion: f64 = jobs().map(|job| (job.wait() + job.job.runtime) as f64).sum();
        waits.push(all.iter().sum::<f64>() / all.len() as f64);
        completions.push(completion / all.len() as f64);
        long_waits.push(percentile(&mut all, 99.0));
    }
    Ok(Measured { waits, completions, long_waits })
}

/// The figures of a case: three for all jobs, and the mean wait of each virtual cluster.
fn figures_of_case(case: &Case, log: &GpuLog, runs: &[Measured]) -> Vec<Figure> {
    let (row, column, published): (String, &str, Published) = match case {
        Case::Model(at) => (MODEL[*at].0.to_string(), MODEL_COLUMN, log.published(MODEL[*at].0)),
        Case::Crossed(predictor, scheduler) => {
            (PREDICTORS[*predictor].0.to_string(), SCHEDULERS[*scheduler].0, Published::NONE)
        }
        Case::Given(given, scheduler) => (
            format!("area by the authors' predictions ({})", log.given[*given].name),
            SCHEDULERS[*scheduler].0,
            Published::NONE,
        ),
    };
    let values =
        |of: fn(&Measured) -> &Vec<f64>, part: usize| runs.iter().map(|run| of(run)[part]).collect::<Vec<f64>>();
    let table = |what: &str, part: &str| format!("{what}, {part}");
    let mut figures = vec![
        Figure::first_of(
            (&table("mean wait, s", log.name), &row, column),
            published.wait,
            &values(|run| &run.waits, 0),
        ),
        Figure::first_of(
            (&table("mean completion, s", log.name), &row, column),
            published.completion,
            &values(|run| &run.completions, 0),
        ),
        Figure::first_of(
            (&table("99% of waits within, s", log.name), &row, column),
            "",
            &values(|run| &run.long_waits, 0),
        ),
    ];
    for (at, (_, name)) in log.clusters_apart().enumerate() {
        let place = (&*table("mean wait, s", name), &*row, column);
        figures.push(Figure::first_of(place, first_look(name, &row, column), &values(|run| &run.waits, at + 1)));
    }
    figures.into_iter().map(|figure| figure.because(log.reason())).collect()
}
