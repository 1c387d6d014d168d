//! Replaces the estimates of a workload by those of a model.

use super::{EstimateModel, Sample};
use crate::trace::{CleaningReport, Log, Workload};

/// The result of [`replace_estimates`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// The number of jobs.
    pub jobs: u64,
    /// As in [`super::Assignment`].
    pub cut: u64,
    /// As in [`super::Assignment`].
    pub short: u64,
    /// The number of jobs whose new estimate equals the old one.
    pub unchanged: u64,
}

/// Replaces the estimate of every job of a workload that was made from this log. The model does not see the estimates that
/// cleaning filled in: such a job has none.
///
/// # Errors
/// As [`EstimateModel::assign`].
pub fn replace_estimates(
    workload: &mut Workload,
    log: &Log,
    model: &EstimateModel,
    seed: u64,
) -> Result<Replaced, String> {
    let recorded = |record: u32| Some(log.records[record as usize].estimate).filter(|&estimate| estimate > 0);
    let jobs = workload.jobs.iter().map(|job| Sample { runtime: job.runtime, estimate: recorded(job.record) });
    let samples: Vec<Sample> = jobs.collect();
    let assignment = model.assign(&samples, seed)?;
    let unchanged = samples.iter().zip(&assignment.estimates).filter(|(job, new)| job.estimate == Some(**new)).count();
    for (job, &estimate) in workload.jobs.iter_mut().zip(&assignment.estimates) {
        job.submission.estimate = estimate;
    }
    let outlived = workload.jobs.iter().filter(|job| job.runtime > job.submission.estimate).count();
    workload.cleaning = CleaningReport {
        // The estimates that cleaning filled in are replaced too.
        filled: 0,
        filled_with: 0,
        overruns: outlived as u64,
        modelled: samples.len() as u64,
        modelled_cut: assignment.cut,
        modelled_short: assignment.short,
        ..workload.cleaning
    };
    Ok(Replaced {
        jobs: samples.len() as u64,
        cut: assignment.cut,
        short: assignment.short,
        unchanged: unchanged as u64,
    })
}
