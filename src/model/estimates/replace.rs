//! The estimates of a workload replaced by those of a model.

use super::{EstimateModel, Sample};
use crate::trace::{CleaningReport, Log, Workload};

/// What became of the estimates of a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// Jobs that have an estimate of the model now, that is, all of them.
    pub jobs: u64,
    /// As in [`super::Assignment`].
    pub cut: u64,
    pub short: u64,
    /// Jobs whose estimate happens to be the one they had.
    pub unchanged: u64,
}

/// Gives every job of a workload, which was made from this log, an estimate of the model. What cleaning filled in is not
/// taken for the log's own: to the model such a job has none.
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
        // Nothing of what was filled in is left.
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
