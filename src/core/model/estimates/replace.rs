//! Replaces the estimates of a workload by those of a model.

use super::{EstimateModel, Sample};
use crate::job::Job;
use crate::trace::{CleaningCause, CleaningReport, Log, Workload};

/// Replaces the estimate of every job of a workload that was made from this log. The model does not see the estimates that
/// cleaning filled in: such a job has none. Returns the number of jobs whose new estimate equals the old one; the other numbers
/// are in [`Workload::cleaning`].
///
/// # Errors
/// As [`EstimateModel::assign`].
pub fn replace_estimates(workload: &mut Workload, log: &Log, model: &EstimateModel, seed: u64) -> Result<u64, String> {
    let recorded = |record: u32| Some(log.records[record as usize].estimate).filter(|&estimate| estimate > 0);
    let sample = |job: &Job| Sample { runtime: job.runtime, estimate: recorded(job.record), user: job.submission.user };
    let samples: Vec<Sample> = workload.jobs.iter().map(sample).collect();
    let assignment = model.assign(&samples, seed)?;
    let unchanged = samples.iter().zip(&assignment.estimates).filter(|(job, new)| job.estimate == Some(**new)).count();
    for (job, &estimate) in workload.jobs.iter_mut().zip(&assignment.estimates) {
        job.submission.estimate = estimate;
    }
    let outlived = workload.jobs.iter().filter(|job| job.runtime > job.submission.estimate).count();
    let CleaningReport { causes, filled_with, .. } = &mut workload.cleaning;
    // The estimates that cleaning filled in are replaced too.
    *filled_with = 0;
    for (cause, count) in [
        (CleaningCause::Filled, 0),
        (CleaningCause::Overrun, outlived as u64),
        (CleaningCause::Modelled, samples.len() as u64),
        (CleaningCause::ModelledCut, assignment.cut),
        (CleaningCause::ModelledShort, assignment.short),
    ] {
        causes.set(cause, count);
    }
    Ok(unchanged as u64)
}
