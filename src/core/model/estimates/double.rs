//! X2: the users' estimates, doubled (Tsafrir et al., section 11.3).

use super::{Assignment, Sample, Seeds, largest_estimate, no_estimates};
use crate::spec::{Form, Spec};
use crate::time::FOREVER;

pub static FORM: Form =
    Form { name: "x2", about: "the log's own estimates, doubled; needs a log that has estimates", keys: &[] };

/// A job without an estimate counts with the log's largest one, like a site's default limit. A job that runs longer than
/// twice its estimate gets its runtime, and is counted in `short`.
pub fn assign(_: &Spec, jobs: &[Sample], _: Seeds) -> Result<Assignment, String> {
    let largest = largest_estimate(jobs).ok_or_else(|| no_estimates("x2"))?;
    let doubled = |job: &Sample| (2 * job.estimate.unwrap_or(largest)).min(FOREVER);
    let short = jobs.iter().filter(|job| doubled(job) < job.runtime).count() as u64;
    Ok(Assignment { estimates: jobs.iter().map(|job| doubled(job).max(job.runtime)).collect(), cut: 0, short })
}

#[cfg(test)]
mod tests {
    use crate::model::estimates::{Assignment, EstimateModel, Sample};

    #[test]
    fn estimates_are_doubled_and_never_below_the_runtime() {
        let jobs = [(10, Some(60)), (90, Some(60)), (121, Some(60)), (5, None)];
        let jobs = jobs.map(|(runtime, estimate)| Sample { runtime, estimate, user: -1 });
        let doubled = EstimateModel::parse("x2").unwrap().assign(&jobs, 1);
        assert_eq!(doubled, Ok(Assignment { estimates: vec![120, 120, 121, 120], cut: 0, short: 1 }));
    }
}
