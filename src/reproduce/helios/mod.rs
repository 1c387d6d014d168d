//! Hu, Sun, Yan, Wen and Zhang, "Characterization and prediction of deep learning workloads in large-scale GPU datacenters"
//! (SC'21): the scheduler QSSF of Helios on GPU clusters, by the model of the authors' simulator.
//!
//! [`cluster`] has the logs with their virtual clusters, [`qssf`] the scheduler as the authors' program runs it. The question
//! that the paper does not ask: how much of the gain comes from predictions, and how much from passing a job that does not fit?

mod cluster;
mod qssf;

use super::figure::Figure;
use super::logs::{ArchiveLog, FoundLog, log};
use super::study::{Computed, SHAKEN, Setup, StepDone, Study, StudyError, StudyOption};
use crate::engine::{Finished, RunRecord};
use crate::experiment::Setting;
use crate::parallel;
use crate::sort::sort_by_key;
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
    help: "Examples:
  sim reproduce helios --logs helios --quick
      a quick test: a second
  sim reproduce helios --logs helios
      six runs of each setting, for intervals

The scheduler QSSF, and how much of its gain comes from predictions. Uses what of this is in the folder: helios_venus_2vc*.csv (two \
virtual clusters of Venus in September 2020), and the logs of HeliosData and Philly as the authors have prepared them: \
Venus/cluster_log.csv, Earth/cluster_log.csv and so on. Beside them: Venus_vc_config.csv (the nodes of each virtual cluster; \
philly_vc.csv for Philly) and, if they are there, the published predictions Venus_Sept_lgb.csv and Venus_Sept_ebm.csv, plain or \
.gz. See `sim help gpus`.",
    logs: &LOGS,
    options: &[StudyOption::replications([6, 1], SHAKEN)],
    has_runs: false,
    cost: None,
    unit: "runs",
    steps: |setup| {
        setup.logs.len() * (MODEL.len() + (PREDICTORS.len() + GIVEN) * SCHEDULERS.len()) * setup.replications as usize
    },
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

/// The tables of predictions that authors have published, at most.
const GIVEN: usize = 2;

/// A scheduler with its predictions.
struct GpuCase {
    row: String,
    column: &'static str,
    /// None: QSSF as the authors' program runs it, with the first of their predictions.
    setting: Option<Setting>,
    published: Published,
}

/// The cases of a log, the schedulers of the authors' simulator first.
fn cases(log: &GpuLog) -> Result<Vec<GpuCase>, StudyError> {
    let mut cases = Vec::new();
    for (name, pair) in MODEL {
        let setting = (!pair.is_empty()).then(|| Setting::parse_pair(pair).expect("a valid setting"));
        if setting.is_some() || !log.given.is_empty() {
            let (row, published) = (name.to_string(), log.published(name));
            cases.push(GpuCase { row, column: MODEL_COLUMN, setting, published });
        }
    }
    let ours = PREDICTORS.map(|(row, order, predictor)| (row.to_string(), order, predictor.to_string()));
    let row = |name: &str| format!("area by the authors' predictions ({name})");
    let theirs = log.given.iter().map(|given| (row(given.name), "saf", given.spec()));
    for (row, order, predictor) in ours.into_iter().chain(theirs) {
        for (column, scheduler) in SCHEDULERS {
            let scheduler = format!("{scheduler}:queue={order},placement=consolidate");
            let setting =
                Setting::parse(&scheduler, &predictor).map_err(|error| StudyError::Usage(error.to_string()))?;
            cases.push(GpuCase { row: row.clone(), column, setting: Some(setting), published: Published::NONE });
        }
    }
    Ok(cases)
}

/// What is measured of a run.
struct Measured {
    /// The mean waits of all jobs, and of those of each virtual cluster that is shown alone.
    waits: Vec<f64>,
    /// The mean time from submission to end.
    completion: f64,
    /// 99% of the waits are within this.
    long_wait: f64,
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
    let cases = cases(log)?;
    let workloads: Vec<Workload> =
        (0..setup.replications as u32).map(|number| log.shaken(number)).collect::<Result<_, _>>()?;
    let runs: Vec<(&GpuCase, &Workload)> =
        cases.iter().flat_map(|case| workloads.iter().map(move |workload| (case, workload))).collect();
    let run = |(case, workload): &(&GpuCase, &Workload)| measure(case.setting.as_ref(), log, workload);
    let measured =
        parallel::map(&runs, setup.threads, run, progress).into_iter().collect::<Result<Vec<_>, StudyError>>()?;
    let mut figures = Vec::new();
    for (case, runs) in cases.iter().zip(measured.chunks(setup.replications as usize)) {
        figures.extend(figures_of_case(case, log, runs));
    }
    // The first two cases are FIFO and SJF.
    let completions = |case: usize| measured[case * setup.replications as usize..].iter().map(|run| run.completion);
    let ratios: Vec<f64> =
        completions(0).zip(completions(1)).take(setup.replications as usize).map(|(fifo, sjf)| fifo / sjf).collect();
    let place = ("completion under FIFO, divided by that under SJF", log.name, MODEL_COLUMN);
    figures.push(Figure::first_of(place, log.published_ratio(), &ratios));
    figures.extend(log.not_measured());
    figures.extend(log.correlations());
    // All figures of a table together, in the order in which the tables first come.
    let tables: Vec<String> = figures.iter().map(|figure| figure.table.clone()).collect();
    sort_by_key(&mut figures, |figure| tables.iter().position(|table| *table == figure.table));
    Ok(figures)
}

/// Simulates a setting. None: QSSF as the authors' program runs it, with the first of their predictions.
fn simulated(setting: Option<&Setting>, log: &GpuLog, workload: &Workload) -> Result<RunRecord, StudyError> {
    match setting {
        Some(setting) => Ok(setting.run(workload, None, &mut |_| ())?),
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
    for (at, case) in cases(&log)?.iter().take(MODEL.len()).enumerate() {
        let record = simulated(case.setting.as_ref(), &log, &workload)?;
        waits.iter_mut().zip(record.finished(&workload.jobs)).for_each(|((_, waits), job)| waits[at] = job.wait());
    }
    Ok(waits)
}

/// Simulates a setting, and measures it.
fn measure(setting: Option<&Setting>, log: &GpuLog, workload: &Workload) -> Result<Measured, StudyError> {
    let record = simulated(setting, log, workload)?;
    let finished: Vec<Finished<'_>> = record.finished(&workload.jobs).collect();
    let mean = |of: &dyn Fn(&Finished<'_>) -> bool, value: fn(&Finished<'_>) -> Seconds| {
        let values: Vec<f64> = finished.iter().filter(|job| of(job)).map(|job| value(job) as f64).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let mut waits = vec![mean(&|_| true, |job| job.wait())];
    for (number, _) in log.clusters_apart() {
        waits.push(mean(&|job| job.job.submission.partition == number, |job| job.wait()));
    }
    let mut all: Vec<f64> = finished.iter().map(|job| job.wait() as f64).collect();
    let completion = mean(&|_| true, |job| job.wait() + job.job.runtime);
    Ok(Measured { waits, completion, long_wait: percentile(&mut all, 99.0) })
}

/// The figures of a case: three for all jobs, and the mean wait of each virtual cluster.
fn figures_of_case(case: &GpuCase, log: &GpuLog, runs: &[Measured]) -> Vec<Figure> {
    let figure = |what: &str, of: &str, published: &str, values: Vec<f64>| {
        Figure::first_of((&format!("{what}, {of}"), &case.row, case.column), published, &values).because(log.reason())
    };
    let waits = |part: usize| runs.iter().map(|run| run.waits[part]).collect::<Vec<f64>>();
    let completions = runs.iter().map(|run| run.completion).collect();
    let long_waits = runs.iter().map(|run| run.long_wait).collect();
    let mut figures = vec![
        figure("mean wait, s", log.name, case.published.wait, waits(0)),
        figure("mean completion, s", log.name, case.published.completion, completions),
        figure("99% of waits within, s", log.name, "", long_waits),
    ];
    for (at, (_, name)) in (1..).zip(log.clusters_apart()) {
        figures.push(figure("mean wait, s", name, first_look(name, &case.row, case.column), waits(at)));
    }
    figures
}
