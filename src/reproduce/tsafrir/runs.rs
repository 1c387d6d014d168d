//! The simulations of Figure 16: EASY with each kind of estimates. Random kinds are simulated with many seeds.

use super::published::PublishedLog;
use crate::experiment::{Setting, simulate};
use crate::metrics::{Measure, summarize};
use crate::model::{EstimateModel, ks_distance, replace_estimates};
use crate::time::Seconds;
use crate::trace::{CleaningCause, Log, Workload};

/// A kind of estimates.
#[derive(Clone, Debug)]
pub(super) struct EstimateKind {
    /// The name in the paper.
    pub label: &'static str,
    /// None for the estimates of the log itself.
    pub model: Option<EstimateModel>,
}

/// One simulation.
#[derive(Clone, Debug)]
pub(super) struct EstimateRun {
    /// The index of the version of a log.
    pub version: usize,
    pub estimates: EstimateKind,
    pub seed: u64,
}

/// The result of a simulation.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimulatedEstimates {
    /// The mean wait in minutes.
    pub wait: f64,
    /// The mean bounded slowdown.
    pub slowdown: f64,
    /// The distance between the distributions of the model's and the log's estimates, in percent. None for the log itself
    /// and for seeds above [`SEEDS_OF_DISTRIBUTIONS`].
    pub distance: Option<f64>,
    /// The number of jobs for which the model had no estimate that is long enough.
    pub short: u64,
}

/// Figures 14 and 15 show this number of seeds.
const SEEDS_OF_DISTRIBUTIONS: u64 = 4;

/// All runs of a version, with seeds from 1 on. Empty if the paper does not simulate it.
pub(super) fn of(version: usize, published: &PublishedLog, seeds: u64) -> Vec<EstimateRun> {
    let Some(models) = &published.models else { return Vec::new() };
    let kinds = [
        ("original", ""),
        ("X2", "x2"),
        ("shfl", "shuffle"),
        ("f0", "f:f=0"),
        ("f1", "f:f=1"),
        ("f3", "f:f=3"),
        ("f10", "f:f=10"),
        ("f100", "f:f=100"),
        ("f300", "f:f=300"),
        ("feit", models.feit),
        ("vanl", models.vanilla),
        ("impr", models.improved),
    ];
    let runs = kinds.into_iter().flat_map(|(label, model)| {
        let model = (!model.is_empty()).then(|| EstimateModel::parse(model).expect("a valid model"));
        // With f = 0, estimates equal runtimes for any seed.
        let is_random = label != "f0" && model.as_ref().is_some_and(EstimateModel::is_random);
        let estimates = EstimateKind { label, model };
        (1..=if is_random { seeds } else { 1 }).map(move |seed| EstimateRun {
            version,
            estimates: estimates.clone(),
            seed,
        })
    });
    runs.collect()
}

impl EstimateRun {
    /// Simulates a version of a log with these estimates.
    pub fn measure(&self, log: &Log, workload: &Workload) -> Result<SimulatedEstimates, String> {
        let mut workload = workload.clone();
        let mut distance = None;
        if let Some(model) = &self.estimates.model {
            replace_estimates(&mut workload, log, model, self.seed)?;
            if self.seed <= SEEDS_OF_DISTRIBUTIONS {
                let own: Vec<Seconds> = log.records.iter().map(|record| record.estimate).filter(|&e| e > 0).collect();
                let made: Vec<Seconds> = workload.jobs.iter().map(|job| job.submission.estimate).collect();
                distance = Some(ks_distance(&own, &made) * 100.0);
            }
        }
        let setting = Setting::parse("easy", "estimate").expect("a valid pair");
        let record = simulate(&workload, &setting, &mut |_| ()).map_err(|error| error.to_string())?;
        let summary = summarize(&workload, &record, &Measure::default());
        let short = workload.cleaning.count(CleaningCause::ModelledShort);
        Ok(SimulatedEstimates { wait: summary.wait_mean / 60.0, slowdown: summary.bsld_mean, distance, short })
    }
}
